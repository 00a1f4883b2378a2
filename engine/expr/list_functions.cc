// count, sum, min, max, mean, range, tail, dedup and order of what is inside one value. A value
// that is no collection counts as itself, as in TinkerPop.
#include "engine/expr/list_functions.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "core/arithmetic.h"
#include "core/memory.h"
#include "core/memory/charged_growth.h"
#include "core/path/path.h"
#include "core/random.h"
#include "core/value_compare.h"
#include "core/memory/parted_table.h"
#include "engine/account/call_work.h"
#include "engine/effect/hashed_key.h"
#include "engine/effect/member_set.h"
#include "engine/expr/members_in.h"
#include "engine/expr/slice_sort.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

using Maybe = StatusOr<std::optional<Value>>;

// Of a value without members one: itself.
size_t NumMembers(const Value& value) {
  if (value.is_collection()) return value.AsList().size();
  if (value.kind() == ValueKind::kMap) return value.AsMap().size();
  return value.kind() == ValueKind::kPath ? value.AsPath().length() : 1;
}

Status CountFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    return Value::Long(static_cast<int64_t>(NumMembers(args[0]->Get(row))));
  });
}

// A value that has none is its only member.
StatusOr<MembersIn> MembersOrItself(const Value& value) {
  std::optional<MembersIn> members = MembersIn::Of(value);
  if (members.has_value()) return *std::move(members);
  ASSIGN_OR_RETURN(const Value alone, Value::List({value}));
  return *MembersIn::Of(alone);
}

enum class Fold { kSum, kMean, kMin, kMax };

template <Fold kFold>
class Folded {
 public:
  explicit Folded(MembersIn members) : members_(std::move(members)) {}

  StatusOr<bool> Step(size_t* work) {
    for (; next_ < members_.list().size(); ++next_) {
      if (*work == 0) return false;
      const Value& member = members_.list()[next_];
      Spend(member, work);
      if (member.is_null()) continue;
      if constexpr (kFold == Fold::kMin) {
        ASSIGN_OR_RETURN(result_, Min(result_, member));
      } else if constexpr (kFold == Fold::kMax) {
        ASSIGN_OR_RETURN(result_, Max(result_, member));
      } else {
        RETURN_IF_ERROR(sum_.Add(member));
      }
    }
    return true;
  }
  size_t HeldBytes() const { return members_.copied_bytes(); }
  StatusOr<Value> Result() {
    if constexpr (kFold == Fold::kSum) return sum_.Sum();
    if constexpr (kFold == Fold::kMean) return sum_.Mean();
    return std::move(result_);
  }

 private:
  MembersIn members_;
  size_t next_ = 0;
  Value result_;
  NumberSum sum_;
};

template <Fold kFold>
Status FoldFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = Folded<kFold>;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    ASSIGN_OR_RETURN(MembersIn members, MembersOrItself(args[0]->Get(row)));
    if (members.list().empty()) return OkStatus();
    return BeginPart(part, std::move(members));
  });
}

// Members or entries of one value, picked one by one, in the making. Another value has none.
class Picked {
 public:
  explicit Picked(Value from) : from_(std::move(from)) {
    if (from_.kind() == ValueKind::kPath) objects_ = ObjectsOf(from_);
  }

  bool has_members() const {
    return from_.is_collection() || from_.kind() == ValueKind::kPath || is_map();
  }
  bool is_map() const { return from_.kind() == ValueKind::kMap; }
  size_t size() const { return is_map() ? from_.AsMap().size() : list().size(); }
  const ValueList& list() const { return from_.is_collection() ? from_.AsList() : objects_; }
  const ValueMap& map() const { return from_.AsMap(); }
  const Value& from() const { return from_; }

  void Add(size_t i, size_t* work) {
    constexpr size_t kWork = 2;  // two looks at memory
    *work -= std::min(*work, kWork);
    if (is_map()) {
      entries_.Add(from_.AsMap()[i]);
    } else {
      members_.Add(list()[i]);
    }
  }
  bool Gather(size_t* work) { return is_map() ? entries_.Gather(work) : members_.Gather(work); }
  // A map of a map, else of the kind.
  StatusOr<Value> Take(ValueKind kind) {
    return is_map() ? entries_.Take(ValueKind::kMap) : members_.Take(kind);
  }
  size_t HeldBytes() const {
    return BytesOfRoom(objects_) + members_.HeldBytes() + entries_.HeldBytes();
  }

 private:
  Value from_;
  ValueList objects_;  // of a path
  MadeList members_;
  MadeMap entries_;
};

// Members from `low` on, in the same kind of collection, before `high`; high < 0: to the end.
class Sliced {
 public:
  Sliced(Value value, int64_t low, int64_t high) : picked_(std::move(value)) {
    const auto size = picked_.has_members() ? static_cast<int64_t>(picked_.size()) : 0;
    end_ = static_cast<size_t>(high < 0 ? size : std::min(high, size));
    next_ = std::min(static_cast<size_t>(std::max<int64_t>(low, 0)), end_);
  }

  StatusOr<bool> Step(size_t* work) {
    for (; next_ < end_; ++next_) {
      if (*work == 0) return false;
      picked_.Add(next_, work);
    }
    return picked_.Gather(work);
  }
  size_t HeldBytes() const { return picked_.HeldBytes(); }
  StatusOr<Value> Result() {
    if (!picked_.has_members()) return picked_.from();
    const bool is_set = picked_.from().kind() == ValueKind::kSet;
    return picked_.Take(is_set ? ValueKind::kSet : ValueKind::kList);
  }

 private:
  Picked picked_;
  size_t next_ = 0, end_ = 0;
};

Status RangeFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachValueInParts<Sliced>(context, args, out, args[1]->constant.AsInteger(),
                                  args[2]->constant.AsInteger());
}

Status TailFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = Sliced;
  const int64_t count = args[1]->constant.AsInteger();
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    Value value = args[0]->Get(row);
    const auto size = static_cast<int64_t>(NumMembers(value));
    return BeginPart(part, std::move(value), size - count, -1);
  });
}

// The distinct members of a collection, as a set.
class Distinct {
 public:
  explicit Distinct(Value value) : value_(std::move(value)) {}

  StatusOr<bool> Step(size_t* work) {
    if (!value_.is_collection()) return true;
    const ValueList& members = value_.AsList();
    for (; next_ < members.size(); ++next_) {
      if (*work == 0) return false;
      Spend(members[next_], work);
      if (seen_.Add(members[next_], work)) distinct_.Add(members[next_]);
    }
    return distinct_.Gather(work) && seen_.Free(work);
  }
  size_t HeldBytes() const { return distinct_.HeldBytes() + seen_.HeldBytes(); }
  StatusOr<Value> Result() {
    if (!value_.is_collection()) return value_;
    return distinct_.Take(ValueKind::kSet);
  }

 private:
  Value value_;
  size_t next_ = 0;
  MadeList distinct_;
  SeenValues seen_;
};

Status DedupFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachValueInParts<Distinct>(context, args, out);
}

// n members or entries picked at random, in their order (selection sampling: Knuth 3.4.2, S).
class Sampled {
 public:
  Sampled(Value value, size_t count, Rng* random)
      : picked_(std::move(value)), left_(count), random_(random) {
    const bool has_members = picked_.is_map() || picked_.from().is_collection();
    is_cut_ = has_members && picked_.size() > count;
  }

  StatusOr<bool> Step(size_t* work) {
    if (!is_cut_) return true;
    for (; left_ > 0; ++next_) {
      if (*work == 0) return false;
      *work -= 1;
      if (random_->Uniform(picked_.size() - next_) >= left_) continue;
      picked_.Add(next_, work);
      --left_;
    }
    return picked_.Gather(work);
  }
  size_t HeldBytes() const { return picked_.HeldBytes(); }
  StatusOr<Value> Result() {
    if (!is_cut_) return picked_.from();
    return picked_.Take(ValueKind::kList);
  }

 private:
  Picked picked_;
  bool is_cut_ = false;
  size_t left_ = 0;
  size_t next_ = 0;
  Rng* random_;
};

// list_sample(value, n): a value that has no more members, or none, stays.
Status SampleFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.random == nullptr) return Internal("The plan draws where there is no chance.");
  const auto count = static_cast<size_t>(std::max<int64_t>(args[1]->constant.AsInteger(), 0));
  return EachValueInParts<Sampled>(context, args, out, count, context.random);
}

// A list of maps of one, as one map.
class MapOfEntries {
 public:
  explicit MapOfEntries(Value folded) : folded_(std::move(folded)) {}

  StatusOr<bool> Step(size_t* work) {
    for (; next_ < folded_.AsList().size(); ++next_) {
      if (*work == 0) return false;
      *work -= std::min<size_t>(*work, 2);
      entries_.Add(folded_.AsList()[next_].AsMap()[0]);
    }
    return entries_.Gather(work);
  }
  size_t HeldBytes() const { return entries_.HeldBytes(); }
  StatusOr<Value> Result() { return entries_.Take(ValueKind::kMap); }

 private:
  Value folded_;
  size_t next_ = 0;
  MadeMap entries_;
};

// like(folded, original): the members in `folded` as what they were taken from: a list, or for a
// map's entries a map; what was no collection is itself again.
Status LikeFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = OneOf<Ready, MapOfEntries>;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    Value folded = args[0]->Get(row);
    Value original = args[1]->Get(row);
    if (original.kind() == ValueKind::kMap) return BeginPart(part, MapOfEntries(std::move(folded)));
    const bool has_members = original.is_collection() || original.kind() == ValueKind::kPath;
    return BeginPart(part, Ready{has_members ? std::move(folded) : std::move(original)});
  });
}

Status IsListFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    return Value::Bool(args[0]->Get(row).is_collection());
  });
}

// Pairs of the members and their places, from 0; as a map from places to members. A map's members
// are its entries.
class Indexed {
 public:
  // Of a map, or of members.
  Indexed(Value map, std::optional<MembersIn> members, bool as_map)
      : map_(std::move(map)), members_(std::move(members)), as_map_(as_map) {}

  StatusOr<bool> Step(size_t* work) {
    constexpr size_t kPairWork = 4;  // two are allocated
    const size_t size = members_.has_value() ? members_->list().size() : map_.AsMap().size();
    RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(size * kPairBytes), "index()"));
    for (; next_ < size; ++next_) {
      if (*work == 0) return false;
      *work -= std::min(*work, kPairWork);
      Value member;
      if (members_.has_value()) {
        member = members_->list()[next_];
      } else {
        ASSIGN_OR_RETURN(member, Value::Map({map_.AsMap()[next_]}));
      }
      Value place = Value::Int(static_cast<int32_t>(next_));
      if (as_map_) {
        places_.Add({std::move(place), std::move(member)});
        continue;
      }
      ASSIGN_OR_RETURN(Value pair, Value::List({std::move(member), std::move(place)}));
      pairs_.Add(std::move(pair));
    }
    return as_map_ ? places_.Gather(work) : pairs_.Gather(work);
  }
  size_t HeldBytes() const {
    return next_ * kPairBytes + (members_.has_value() ? members_->copied_bytes() : 0) +
           places_.HeldBytes() + pairs_.HeldBytes();
  }
  StatusOr<Value> Result() {
    return as_map_ ? places_.Take(ValueKind::kMap) : pairs_.Take(ValueKind::kList);
  }

 private:
  static constexpr size_t kPairBytes = 128;  // a list of two, or of a map its entry

  Value map_;
  std::optional<MembersIn> members_;
  bool as_map_ = false;
  size_t next_ = 0;
  MadeMap places_;
  MadeList pairs_;
};

// index(value, as_map)
Status IndexFunction(const EvalContext& context, const Args& args, Operand* out) {
  const bool as_map = args[1]->constant.AsBool();
  return EachRowInParts<Indexed>(context, out,
                                 [&](size_t row, std::optional<Indexed>* part) -> Status {
                                   Value value = args[0]->Get(row);
                                   if (value.kind() == ValueKind::kMap)
                                     return BeginPart(part, std::move(value), std::nullopt, as_map);
                                   ASSIGN_OR_RETURN(MembersIn members, MembersOrItself(value));
                                   return BeginPart(part, Value(), std::move(members), as_map);
                                 });
}

// The vertices of a collection, by open addressing; filled anew it keeps its memory.
class VertexMembers {
 public:
  void Fill(const ValueList& all) {
    const size_t slots = std::bit_ceil(2 * all.size() + 2);
    shift_ = 64 - std::countr_zero(slots);
    slots_.assign(slots, kFree);
    for (const Value& member : all) {
      if (member.kind() == ValueKind::kVertex)
        slots_[SlotOf(member.AsVertex())] = member.AsVertex();
    }
  }
  bool Contains(VertexRef vertex) const { return slots_[SlotOf(vertex)] == vertex; }
  size_t ByteSize() const { return slots_.capacity() * sizeof(VertexRef); }

 private:
  // Of a partition that no graph has.
  static constexpr VertexRef kFree{~uint64_t{0}};

  // Where the vertex is, or would be. At least every other slot is free.
  size_t SlotOf(VertexRef vertex) const {
    size_t slot = std::hash<VertexRef>()(vertex) >> shift_;
    while (slots_[slot] != vertex && slots_[slot] != kFree) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  int shift_ = 0;
  std::vector<VertexRef> slots_;
};

// Rows mostly share one collection, over many batches: for the call in one expression, whose
// operator belongs to one worker. For vertices, of few members, a table of their own is made, and
// only when more than a few were looked for: until then a walk is cheaper. It holds the collection,
// so that no other one can have its address.
class LastMembers {
 public:
  void Use(const Value& collection) {
    if (collection_.is_collection() && &collection_.AsList() == &collection.AsList()) return;
    collection_ = collection;
    walks_ = 0;
    has_vertices_ = false;
    members_.reset();
    charge_.Reset();
  }
  // Whether Contains() needs nothing more for the value.
  bool IsReadyFor(const Value& value) const {
    return members_.has_value() ||
           (value.kind() == ValueKind::kVertex && collection_.AsList().size() <= kMostAtOnce);
  }
  // `account`: that is charged for them, if there is one.
  Status Take(MemberSet members, MemoryAccount* account) {
    RETURN_IF_ERROR(Charge(members.ByteSize(), account));
    members_ = std::move(members);
    return OkStatus();
  }
  // REQUIRES: ready for it.
  StatusOr<bool> Contains(const Value& value, MemoryAccount* account) {
    if (members_.has_value()) return members_->Contains(value);
    const ValueList& all = collection_.AsList();
    const VertexRef vertex = value.AsVertex();
    if (walks_ < kMostWalks) {
      ++walks_;
      return std::any_of(all.begin(), all.end(), [vertex](const Value& member) {
        return member.kind() == ValueKind::kVertex && member.AsVertex() == vertex;
      });
    }
    if (!has_vertices_) {
      vertices_.Fill(all);
      RETURN_IF_ERROR(Charge(vertices_.ByteSize(), account));
      has_vertices_ = true;
    }
    return vertices_.Contains(vertex);
  }

 private:
  static constexpr size_t kMostWalks = 3;
  static constexpr size_t kMostAtOnce = size_t{16} << 10;

  Status Charge(size_t bytes, MemoryAccount* account) {
    if (account == nullptr) return OkStatus();
    MemoryCharge charge(account);
    const auto wanted = static_cast<int64_t>(bytes);
    if (!charge.TryResize(wanted)) return account->OverLimit(wanted);
    charge_ = std::move(charge);
    return OkStatus();
  }

  Value collection_;
  size_t walks_ = 0;
  bool has_vertices_ = false;
  VertexMembers vertices_;
  std::optional<MemberSet> members_;
  MemoryCharge charge_;
};

struct PreparedMembers {
  mutable LastMembers last;
};

StatusOr<Prepared> PrepareLastMembers(const Value&) {
  return Prepared{std::make_shared<const PreparedMembers>()};
}

// Where a look for rows' values stands. Between two calls other batches may look into another
// collection, or make the members of this one: what is made here belongs to one row until it is
// whole.
struct Looking : FunctionProgress {
  Column found{Column::Kind::kBool};
  size_t row = 0;
  size_t num_members = 0;  // of the row's collection, that are in there
  MemberSet members;

  bool Fill(const ValueList& all, size_t* work) {
    for (; num_members < all.size(); ++num_members) {
      if (*work == 0) return false;
      Spend(all[num_members], work);
      const size_t moved = *members.moved();
      members.Add(all[num_members]);
      SpendMoved(*members.moved() - moved, work);
    }
    return true;
  }
  MemberSet Take() {
    num_members = 0;
    return std::exchange(members, {});
  }
  size_t HeldBytes() const override { return found.ByteSize() + members.ByteSize(); }
};

// member_of(value, collection): whether it is in there; an error when that is no collection.
Status MemberOfFunction(const EvalContext& context, const Args& args, Operand* out) {
  LastMembers& last = static_cast<const PreparedMembers*>(context.prepared)->last;
  if (*context.progress == nullptr) *context.progress = std::make_unique<Looking>();
  auto& at = static_cast<Looking&>(**context.progress);
  for (size_t work = kWorkOfCall; at.row < context.rows; ++at.row) {
    bool found = false;
    if (out->Present(at.row)) {
      const Value value = args[0]->Get(at.row);
      const Value collection = args[1]->Get(at.row);
      if (!collection.is_collection()) {
        return InvalidArgument("within() and without() of a label need a collection there, and a " +
                               std::string(KindName(collection.kind())) + " comes here.");
      }
      if (work == 0) return OkStatus();
      last.Use(collection);
      if (!last.IsReadyFor(value)) {
        if (!at.Fill(collection.AsList(), &work)) return OkStatus();
        RETURN_IF_ERROR(last.Take(at.Take(), context.account));
      } else if (at.num_members > 0) {
        at.Take();
      }
      Spend(value, &work);
      ASSIGN_OR_RETURN(found, last.Contains(value, context.account));
    }
    at.found.AppendBool(found);
  }
  out->Own(std::move(at.found));
  context.progress->reset();
  return OkStatus();
}

// Tokens sort among strings, by their word.
Value SortKey(const Value& key) {
  if (key.kind() != ValueKind::kToken) return key;
  static constexpr const char* kWords[] = {"id", "label", "key", "value"};
  return Value::String(kWords[static_cast<size_t>(key.AsToken())]);
}

// Members of a collection or entries of a map in order; another value is itself.
class Ordered {
 public:
  Ordered(Value value, bool by_value, bool descending)
      : picked_(std::move(value)), by_value_(by_value), descending_(descending) {
    if (!IsOrdered()) return;
    const size_t size = picked_.size(), bytes = picked_.from().FlatBytes();
    wide_ = bytes > size * kWideBytes;
    if (bytes > 2 * size * sizeof(Value)) more_work_ = kElsewhere;
    sort_.Begin(size, wide_);
  }

  StatusOr<bool> Step(size_t* work) {
    if (!IsOrdered()) return true;
    const auto less = [&](uint32_t a, uint32_t b) { return Before(a, b, work); };
    if (!sort_.Step(less, work)) return false;
    for (; next_ < sort_.order().size(); ++next_) {
      if (*work == 0) return false;
      picked_.Add(sort_.order()[next_], work);
    }
    return picked_.Gather(work);
  }

  size_t HeldBytes() const {
    return sort_.order().size() * SliceSort::kBytes + picked_.HeldBytes();
  }
  StatusOr<Value> Result() {
    if (!IsOrdered()) return picked_.from();
    return picked_.Take(ValueKind::kList);
  }

 private:
  static constexpr size_t kWideBytes = 512;  // of a member, on average
  static constexpr size_t kElsewhere = 2;

  bool IsOrdered() const { return picked_.is_map() || picked_.from().is_collection(); }
  bool Before(uint32_t a, uint32_t b, size_t* work) const {
    if (!picked_.is_map()) return Before(picked_.list()[a], picked_.list()[b], work);
    const auto& [key_a, value_a] = picked_.map()[a];
    const auto& [key_b, value_b] = picked_.map()[b];
    return by_value_ ? Before(value_a, value_b, work)
                     : Before(SortKey(key_a), SortKey(key_b), work);
  }

  bool Before(const Value& a, const Value& b, size_t* work) const {
    if (wide_) Spend(a.FlatBytes() < b.FlatBytes() ? a : b, work);
    *work -= std::min(*work, more_work_);
    const auto order = TotalOrder(a, b);
    return descending_ ? order == std::strong_ordering::greater
                       : order == std::strong_ordering::less;
  }

  Picked picked_;
  bool by_value_ = false;
  bool descending_ = false;
  bool wide_ = false;     // what a comparison costs depends on the members
  size_t more_work_ = 0;  // of one, for what members hold elsewhere
  SliceSort sort_;
  size_t next_ = 0;  // of the sorted ones
};

// list_order(value, part, descending): a collection by its members; a map by its keys (part "keys")
// or values (part "values").
Status OrderFunction(const EvalContext& context, const Args& args, Operand* out) {
  const bool by_value = args[1]->constant.AsString() == "values";
  const bool descending = args[2]->constant.AsBool();
  return EachValueInParts<Ordered>(context, args, out, by_value, descending);
}

}  // namespace

const std::vector<ScalarKernel>& ListFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"list_count", CountFunction},
      {"list_sum", FoldFunction<Fold::kSum>},
      {"list_mean", FoldFunction<Fold::kMean>},
      {"list_min", FoldFunction<Fold::kMin>},
      {"list_max", FoldFunction<Fold::kMax>},
      {"list_range", RangeFunction},
      {"list_tail", TailFunction},
      {"list_dedup", DedupFunction},
      {"list_order", OrderFunction},
      {"list_sample", SampleFunction},
      {"like", LikeFunction},
      {"is_list", IsListFunction},
      {"index", IndexFunction},
      {"member_of", MemberOfFunction, PrepareLastMembers},
  };
  return kFunctions;
}

}  // namespace koios::engine
