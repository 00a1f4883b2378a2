// count, sum, min, max, mean, range, tail, dedup and order of what is inside one value. A value
// that is no collection counts as itself, as in TinkerPop.
#include "engine/expr/list_functions.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "core/arithmetic.h"
#include "core/path/path.h"
#include "core/random.h"
#include "core/value_compare.h"
#include "engine/effect/member_set.h"
#include "engine/expr/each_row.h"
#include "engine/expr/slice_sort.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;

// Compared or hashed for as much as one comparison or hash of a small value.
constexpr size_t kBytesPerWork = 256;

using Maybe = StatusOr<std::optional<Value>>;

// As EachRow for parts of which one value may be too much for one call: `make(value)` is asked for
// Step(&work) until that is true, then for Result().
template <typename Part, typename Make>
Status EachRowInParts(const EvalContext& context, const Operand& operand, Operand* out,
                      const Make& make) {
  constexpr size_t kWork = 1 << 16;
  struct Rows : FunctionProgress {
    Column column;
    size_t row = 0;
    std::optional<Part> part;  // of `row`
  };
  if (*context.progress == nullptr) *context.progress = std::make_unique<Rows>();
  Rows& rows = *static_cast<Rows*>(context.progress->get());
  for (size_t work = kWork; rows.row < context.rows; ++rows.row) {
    Value result;
    if (out->Present(rows.row)) {
      if (!rows.part.has_value()) rows.part.emplace(make(operand.Get(rows.row)));
      if (work == 0 || !rows.part->Step(&work)) return OkStatus();
      ASSIGN_OR_RETURN(result, rows.part->Result());
      rows.part.reset();
    }
    rows.column.Append(result);
  }
  out->Own(std::move(rows.column));
  context.progress->reset();
  return OkStatus();
}

Status CountFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    int64_t count = 1;
    if (value.is_collection()) count = static_cast<int64_t>(value.AsList().size());
    if (value.kind() == ValueKind::kMap) count = static_cast<int64_t>(value.AsMap().size());
    if (value.kind() == ValueKind::kPath) {
      count = static_cast<int64_t>(value.AsPath().length());
    }
    return Value::Long(count);
  });
}

ValueList Members(const Value& value) {
  if (value.is_collection()) return value.AsList();
  if (value.kind() == ValueKind::kPath) return ObjectsOf(value);
  return {value};
}

enum class Fold { kSum, kMean, kMin, kMax };

template <Fold kFold>
Status FoldFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const ValueList members = Members(args[0]->Get(row));
    if (members.empty()) return std::nullopt;
    Value result;
    NumberSum sum;
    for (const Value& member : members) {
      if (member.is_null()) continue;
      if constexpr (kFold == Fold::kMin || kFold == Fold::kMax) {
        ASSIGN_OR_RETURN(result, kFold == Fold::kMin ? Min(result, member) : Max(result, member));
      } else {
        RETURN_IF_ERROR(sum.Add(member));
      }
    }
    if (kFold == Fold::kSum) {
      ASSIGN_OR_RETURN(result, sum.Sum());
    } else if (kFold == Fold::kMean) {
      ASSIGN_OR_RETURN(result, sum.Mean());
    }
    return result;
  });
}

// Members [low, high) of a collection or map, in the same kind of collection; high < 0: no end.
StatusOr<Value> Slice(const Value& value, int64_t low, int64_t high) {
  const auto cut = [&](const auto& all) {
    const auto size = static_cast<int64_t>(all.size());
    const int64_t end = high < 0 ? size : std::min(high, size);
    const int64_t begin = std::min(std::max<int64_t>(low, 0), end);
    return std::decay_t<decltype(all)>(all.begin() + begin, all.begin() + end);
  };
  if (value.kind() == ValueKind::kList) return Value::List(cut(value.AsList()));
  if (value.kind() == ValueKind::kSet) return Value::Set(cut(value.AsList()));
  if (value.kind() == ValueKind::kMap) return Value::Map(cut(value.AsMap()));
  if (value.kind() == ValueKind::kPath) return Value::List(cut(ObjectsOf(value)));
  return value;
}

Status RangeFunction(const EvalContext& context, const Args& args, Operand* out) {
  const int64_t low = args[1]->constant.AsInteger();
  const int64_t high = args[2]->constant.AsInteger();
  return EachRow(context, out,
                 [&](size_t row) -> Maybe { return Slice(args[0]->Get(row), low, high); });
}

Status TailFunction(const EvalContext& context, const Args& args, Operand* out) {
  const int64_t count = args[1]->constant.AsInteger();
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    int64_t size = 0;
    if (value.kind() == ValueKind::kMap) {
      size = static_cast<int64_t>(value.AsMap().size());
    } else if (value.is_collection()) {
      size = static_cast<int64_t>(value.AsList().size());
    } else if (value.kind() == ValueKind::kPath) {
      size = static_cast<int64_t>(value.AsPath().length());
    }
    return Slice(value, size - count, -1);
  });
}

// The distinct members of a collection, as a set.
class Distinct {
 public:
  explicit Distinct(Value value) : value_(std::move(value)) {}

  bool Step(size_t* work) {
    if (!value_.is_collection()) return true;
    const ValueList& members = value_.AsList();
    for (; next_ < members.size(); ++next_) {
      if (*work == 0) return false;
      *work -= std::min(*work, 1 + members[next_].FlatBytes() / kBytesPerWork);
      if (seen_.insert(members[next_]).second) distinct_.push_back(members[next_]);
    }
    return true;
  }
  StatusOr<Value> Result() {
    if (!value_.is_collection()) return value_;
    return Value::Set(std::move(distinct_));
  }

 private:
  Value value_;
  size_t next_ = 0;
  ValueList distinct_;
  absl::flat_hash_set<Value, ValueHash, ValueEquivalent> seen_;
};

Status DedupFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRowInParts<Distinct>(context, *args[0], out,
                                  [](Value value) { return Distinct(std::move(value)); });
}

// list_sample(value, n): n members or entries picked at random, in their order; a value that has no
// more, or is no collection, stays.
Status SampleFunction(const EvalContext& context, const Args& args, Operand* out) {
  if (context.random == nullptr) return Internal("The plan draws where there is no chance.");
  const auto count = static_cast<size_t>(std::max<int64_t>(args[1]->constant.AsInteger(), 0));
  const auto pick = [&](const auto& all) {
    std::decay_t<decltype(all)> picked;
    std::sample(all.begin(), all.end(), std::back_inserter(picked), count,
                RandomBits{context.random});
    return picked;
  };
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    if (value.kind() == ValueKind::kMap && value.AsMap().size() > count) {
      return Value::Map(pick(value.AsMap()));
    }
    if (value.is_collection() && value.AsList().size() > count) {
      return Value::List(pick(value.AsList()));
    }
    return value;
  });
}

// like(folded, original): the members in `folded` as what they were taken from: a list, or for a
// map's entries a map; what was no collection is itself again.
Status LikeFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value folded = args[0]->Get(row);
    const Value original = args[1]->Get(row);
    if (original.is_collection() || original.kind() == ValueKind::kPath) return folded;
    if (original.kind() != ValueKind::kMap) return original;
    ValueMap entries;
    for (const Value& entry : folded.AsList()) entries.push_back(entry.AsMap()[0]);
    return Value::Map(std::move(entries));
  });
}

Status IsListFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRow(context, out, [&](size_t row) -> Maybe {
    return Value::Bool(args[0]->Get(row).is_collection());
  });
}

// index(value, as_map): pairs of the members and their places, from 0; as a map from places to
// members. A map's members are its entries, and what has none is its only member.
Status IndexFunction(const EvalContext& context, const Args& args, Operand* out) {
  const bool as_map = args[1]->constant.AsBool();
  return EachRow(context, out, [&](size_t row) -> Maybe {
    const Value value = args[0]->Get(row);
    ValueList members;
    if (value.kind() == ValueKind::kMap) {
      for (const auto& entry : value.AsMap()) {
        ASSIGN_OR_RETURN(Value one, Value::Map({entry}));
        members.push_back(std::move(one));
      }
    } else {
      members = Members(value);
    }
    ValueMap places;
    ValueList pairs;
    for (Value& member : members) {
      Value place = Value::Int(static_cast<int32_t>(as_map ? places.size() : pairs.size()));
      if (as_map) {
        places.emplace_back(std::move(place), std::move(member));
        continue;
      }
      ASSIGN_OR_RETURN(Value pair, Value::List({std::move(member), std::move(place)}));
      pairs.push_back(std::move(pair));
    }
    if (as_map) return Value::Map(std::move(places));
    return Value::List(std::move(pairs));
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
// operator belongs to one worker. A set of its members is made only when more than a few vertices
// were looked for: until then a walk is cheaper. It holds the collection, so that no other one can
// have its address.
class LastMembers {
 public:
  void Use(const Value& collection) {
    if (collection_.is_collection() && &collection_.AsList() == &collection.AsList()) return;
    collection_ = collection;
    walks_ = 0;
    has_vertices_ = false;
    members_.reset();
  }
  bool Contains(const Value& value) {
    const ValueList& all = collection_.AsList();
    if (value.kind() == ValueKind::kVertex) {
      const VertexRef vertex = value.AsVertex();
      if (walks_ < kMostWalks) {
        ++walks_;
        return std::any_of(all.begin(), all.end(), [vertex](const Value& member) {
          return member.kind() == ValueKind::kVertex && member.AsVertex() == vertex;
        });
      }
      if (!has_vertices_) vertices_.Fill(all);
      has_vertices_ = true;
      return vertices_.Contains(vertex);
    }
    if (!members_) {
      members_.emplace();
      for (const Value& member : all) members_->Add(member);
    }
    return members_->Contains(value);
  }

 private:
  static constexpr size_t kMostWalks = 3;

  Value collection_;
  size_t walks_ = 0;
  bool has_vertices_ = false;
  VertexMembers vertices_;
  std::optional<MemberSet> members_;
};

struct PreparedMembers {
  mutable LastMembers last;
};

StatusOr<std::shared_ptr<const void>> PrepareLastMembers(const Value&) {
  return std::make_shared<const PreparedMembers>();
}

// member_of(value, collection): whether it is in there; an error when that is no collection.
Status MemberOfFunction(const EvalContext& context, const Args& args, Operand* out) {
  Column column(Column::Kind::kBool);
  LastMembers& members = static_cast<const PreparedMembers*>(context.prepared)->last;
  for (size_t row = 0; row < context.rows; ++row) {
    bool found = false;
    if (out->Present(row)) {
      const Value collection = args[1]->Get(row);
      if (!collection.is_collection()) {
        return InvalidArgument("within() and without() of a label need a collection there, and a " +
                               std::string(KindName(collection.kind())) + " comes here.");
      }
      members.Use(collection);
      found = members.Contains(args[0]->Get(row));
    }
    column.AppendBool(found);
  }
  out->Own(std::move(column));
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
      : value_(std::move(value)), by_value_(by_value), descending_(descending) {
    const size_t size = value_.is_collection()             ? value_.AsList().size()
                        : value_.kind() == ValueKind::kMap ? value_.AsMap().size()
                                                           : 0;
    wide_ = value_.FlatBytes() > size * kWideBytes;
    sort_.Begin(size, wide_);
  }

  bool Step(size_t* work) {
    return sort_.Step([&](uint32_t a, uint32_t b) { return Before(a, b, work); }, work);
  }

  StatusOr<Value> Result() {
    if (value_.is_collection()) {
      ValueList members;
      members.reserve(value_.AsList().size());
      for (const uint32_t i : sort_.order()) members.push_back(value_.AsList()[i]);
      return Value::List(std::move(members));
    }
    if (value_.kind() != ValueKind::kMap) return value_;
    ValueMap entries;
    entries.reserve(value_.AsMap().size());
    for (const uint32_t i : sort_.order()) entries.push_back(value_.AsMap()[i]);
    return Value::Map(std::move(entries));
  }

 private:
  static constexpr size_t kWideBytes = 512;  // of a member, on average

  bool Before(uint32_t a, uint32_t b, size_t* work) const {
    if (value_.is_collection()) return Before(value_.AsList()[a], value_.AsList()[b], work);
    const auto& [key_a, value_a] = value_.AsMap()[a];
    const auto& [key_b, value_b] = value_.AsMap()[b];
    return by_value_ ? Before(value_a, value_b, work)
                     : Before(SortKey(key_a), SortKey(key_b), work);
  }

  bool Before(const Value& a, const Value& b, size_t* work) const {
    if (wide_) *work -= std::min(*work, std::min(a.FlatBytes(), b.FlatBytes()) / kBytesPerWork);
    const auto order = TotalOrder(a, b);
    return descending_ ? order == std::strong_ordering::greater
                       : order == std::strong_ordering::less;
  }

  Value value_;
  bool by_value_ = false;
  bool descending_ = false;
  bool wide_ = false;  // what a comparison costs depends on the members
  SliceSort sort_;
};

// list_order(value, part, descending): a collection by its members; a map by its keys (part "keys")
// or values (part "values").
Status OrderFunction(const EvalContext& context, const Args& args, Operand* out) {
  const bool by_value = args[1]->constant.AsString() == "values";
  const bool descending = args[2]->constant.AsBool();
  return EachRowInParts<Ordered>(context, *args[0], out, [&](Value value) {
    return Ordered(std::move(value), by_value, descending);
  });
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
