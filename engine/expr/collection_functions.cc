// combine, conjoin, difference, disjunct, intersect, merge and product, as TinkerPop 3.8 defines
// them: null and what is no collection are errors on both sides. Names of functions are those of
// the steps. Sets keep the order in which their members were met.
#include "engine/expr/collection_functions.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/expr/members_in.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using ValueSet = absl::flat_hash_set<Value, ValueHash, ValueEquivalent>;

std::string Encountered(const Value& value) {
  return ", encountered " + std::string(KindName(value.kind())) + ".";
}

// Both sides of one row, checked as the reference checks them.
class Sides {
 public:
  Sides(std::string step, const Args& args)
      : step_(std::move(step)), args_(args), of_traversal_(args[2]->constant.AsBool()) {}

  StatusOr<MembersIn> Incoming(size_t row) const {
    const Value value = args_[0]->Get(row);
    if (value.is_null()) {
      return InvalidArgument("Incoming traverser for " + step_ + " step can't be null.");
    }
    std::optional<MembersIn> members = MembersIn::Of(value);
    if (members.has_value()) return *std::move(members);
    return InvalidArgument(step_ +
                           " step can only take an array or an Iterable type for incoming "
                           "traversers" +
                           Encountered(value) + " fold() makes a list of all that comes.");
  }

  // An error where the traversal gives nothing.
  StatusOr<Value> Argument(size_t row) const {
    if (args_[1]->Present(row)) return args_[1]->Get(row);
    return InvalidArgument("The traversal argument for " + step_ +
                           " step maps this traverser to no value.");
  }

  StatusOr<MembersIn> Other(size_t row) const {
    ASSIGN_OR_RETURN(const Value value, Argument(row));
    std::optional<MembersIn> members = MembersIn::Of(value);
    if (members.has_value()) return *std::move(members);
    if (of_traversal_) {
      return InvalidArgument("Provided traversal argument for " + step_ +
                             " step must yield an iterable type" +
                             (value.is_null() ? ", not null." : Encountered(value)) +
                             " fold() at its end makes a list.");
    }
    if (value.is_null()) {
      return InvalidArgument("Argument provided for " + step_ + " step can't be null.");
    }
    if (step_ == "merge" && value.kind() == ValueKind::kMap) {
      return InvalidArgument(
          "merge step type mismatch: expected argument to be Iterable but got "
          "Map.");
    }
    return InvalidArgument(step_ + " step can only take an array or an Iterable as an argument" +
                           Encountered(value));
  }

 private:
  const std::string step_;
  const Args& args_;
  const bool of_traversal_;
};

// What a step makes of the members of both sides: a pass goes along one of them.
struct Pass {
  bool second = false;         // along the second
  std::optional<bool> others;  // only those that are among the others, or are not
};
struct CollectionStep {
  const char* name;
  bool is_bounded;  // what comes out is no larger than one side
  bool is_set;      // each once
  size_t num_passes;
  std::array<Pass, 2> passes;
};

constexpr CollectionStep kCombine{"combine", false, false, 2, {{{false, {}}, {true, {}}}}};
constexpr CollectionStep kMerge{"merge", false, true, 2, {{{false, {}}, {true, {}}}}};
constexpr CollectionStep kDifference{"difference", true, true, 1, {{{false, false}, {}}}};
constexpr CollectionStep kIntersect{"intersect", true, true, 1, {{{false, true}, {}}}};
constexpr CollectionStep kDisjunct{"disjunct", false, true, 2, {{{false, false}, {true, false}}}};

// One row of such a step.
class OfBoth {
 public:
  OfBoth(const CollectionStep& step, MembersIn a, MembersIn b)
      : step_(&step), a_(std::move(a)), b_(std::move(b)) {}

  StatusOr<bool> Step(size_t* work) {
    if (!step_->is_bounded) {
      RETURN_IF_ERROR(CheckMadeBytes(a_.bytes() + b_.bytes(), std::string(step_->name) + "()"));
    }
    for (; pass_ < step_->num_passes; ++pass_) {
      const Pass& pass = step_->passes[pass_];
      if (!Fill(pass, work) || !Go(pass, work) || !others_.Free(work)) return false;
      next_ = num_others_ = 0;
      others_ = {};
    }
    return made_.Gather(work) && seen_.Free(work);
  }
  size_t HeldBytes() const {
    return a_.copied_bytes() + b_.copied_bytes() + others_.HeldBytes() + seen_.HeldBytes() +
           made_.HeldBytes();
  }
  StatusOr<Value> Result() {
    return made_.Take(step_->is_set ? ValueKind::kSet : ValueKind::kList);
  }

 private:
  bool Fill(const Pass& pass, size_t* work) {
    if (!pass.others.has_value()) return true;
    const ValueList& others = pass.second ? a_.list() : b_.list();
    for (; num_others_ < others.size(); ++num_others_) {
      if (*work == 0) return false;
      Spend(others[num_others_], work);
      others_.Add(others[num_others_], work);
    }
    return true;
  }
  bool Go(const Pass& pass, size_t* work) {
    const ValueList& members = pass.second ? b_.list() : a_.list();
    for (; next_ < members.size(); ++next_) {
      if (*work == 0) return false;
      const Value& member = members[next_];
      if (!step_->is_set) {
        *work -= 1;
        made_.Add(member);
        continue;
      }
      Spend(member, work);
      if (pass.others.has_value() && others_.Contains(member) != *pass.others) continue;
      if (seen_.Add(member, work)) made_.Add(member);
    }
    return true;
  }

  const CollectionStep* step_;
  MembersIn a_, b_;
  size_t pass_ = 0;
  size_t num_others_ = 0;  // that are in others_
  size_t next_ = 0;
  SeenValues others_, seen_;
  MadeList made_;
};

// Each of the first with each of the second, row by row of the pairs.
class Pairs {
 public:
  Pairs(MembersIn a, MembersIn b) : a_(std::move(a)), b_(std::move(b)) {}

  StatusOr<bool> Step(size_t* work) {
    const size_t width = b_.list().size();
    const auto pairs = static_cast<__int128>(a_.list().size()) * static_cast<__int128>(width);
    const auto bytes = static_cast<int64_t>(std::min<__int128>(pairs * kPairBytes, INT64_MAX));
    RETURN_IF_ERROR(CheckMadeBytes(bytes, "product()"));
    for (; made_.size() < static_cast<size_t>(pairs);) {
      if (*work == 0) return false;
      *work -= std::min<size_t>(*work, 2);
      const size_t next = made_.size();
      ASSIGN_OR_RETURN(Value pair, Value::List({a_.list()[next / width], b_.list()[next % width]}));
      made_.Add(std::move(pair));
    }
    return made_.Gather(work);
  }
  size_t HeldBytes() const {
    return a_.copied_bytes() + b_.copied_bytes() + made_.size() * kPairBytes + made_.HeldBytes();
  }
  StatusOr<Value> Result() { return made_.Take(ValueKind::kList); }

 private:
  static constexpr int64_t kPairBytes = 128;  // a list of two: its members and what it is itself

  MembersIn a_, b_;
  MadeList made_;
};

// All entries of both; a key of both has the value of the second.
class MergedMaps {
 public:
  MergedMaps(Value a, Value b) : a_(std::move(a)), b_(std::move(b)) {}

  StatusOr<bool> Step(size_t* work) {
    RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(a_.ByteSize() + b_.ByteSize()), "merge()"));
    const size_t first = a_.AsMap().size(), all = first + b_.AsMap().size();
    for (; next_ < all; ++next_) {
      if (*work == 0) return false;
      const auto& entry = next_ < first ? a_.AsMap()[next_] : b_.AsMap()[next_ - first];
      Spend(entry.first, work);
      const size_t place = places_.Add(entry.first, merged_.size(), work);
      if (place == merged_.size()) {
        merged_.Add(entry);
      } else {
        merged_[place].second = entry.second;
      }
    }
    return merged_.Gather(work) && places_.Free(work);
  }
  size_t HeldBytes() const { return merged_.HeldBytes() + places_.HeldBytes(); }
  StatusOr<Value> Result() { return merged_.Take(ValueKind::kMap); }

 private:
  Value a_, b_;
  size_t next_ = 0;
  MadeMap merged_;
  SeenValues places_;
};

// step(value, other, of_traversal): `make(part, a, b)` of the members of both sides.
template <typename Part, typename Make>
Status EachRowOfBoth(const char* step, const EvalContext& context, const Args& args, Operand* out,
                     const Make& make) {
  const Sides sides(step, args);
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    if (!args[0]->Present(row)) return OkStatus();
    ASSIGN_OR_RETURN(MembersIn a, sides.Incoming(row));
    ASSIGN_OR_RETURN(MembersIn b, sides.Other(row));
    return make(part, std::move(a), std::move(b));
  });
}

template <const CollectionStep& kStep>
Status BothFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRowOfBoth<OfBoth>(kStep.name, context, args, out,
                               [](auto* part, MembersIn a, MembersIn b) {
                                 return BeginPart(part, kStep, std::move(a), std::move(b));
                               });
}

Status ProductFunction(const EvalContext& context, const Args& args, Operand* out) {
  return EachRowOfBoth<Pairs>("product", context, args, out,
                              [](auto* part, MembersIn a, MembersIn b) {
                                return BeginPart(part, std::move(a), std::move(b));
                              });
}

Status MergeFunction(const EvalContext& context, const Args& args, Operand* out) {
  using Part = OneOf<OfBoth, MergedMaps>;
  const Sides sides(kMerge.name, args);
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    if (!args[0]->Present(row)) return OkStatus();
    Value incoming = args[0]->Get(row);
    if (incoming.kind() == ValueKind::kMap) {
      ASSIGN_OR_RETURN(Value other, sides.Argument(row));
      if (other.kind() == ValueKind::kMap) {
        return BeginPart(part, MergedMaps(std::move(incoming), std::move(other)));
      }
      return InvalidArgument("merge step expected provided argument to evaluate to a Map" +
                             Encountered(other));
    }
    ASSIGN_OR_RETURN(MembersIn a, sides.Incoming(row));
    ASSIGN_OR_RETURN(MembersIn b, sides.Other(row));
    return BeginPart(part, OfBoth(kMerge, std::move(a), std::move(b)));
  });
}

// conjoin(value, delimiter): the members as texts, but for nulls, with the delimiter between them.
Status ConjoinFunction(const EvalContext& context, const Args& args, Operand* out) {
  const JoinedText::Form form{"", args[1]->constant.AsString(), "", /*skips_nulls=*/true};
  using Part = JoinedText;
  return EachRowInParts<Part>(context, out, [&](size_t row, std::optional<Part>* part) -> Status {
    const Value value = args[0]->Get(row);
    if (value.is_null()) {
      return InvalidArgument("Incoming traverser for conjoin step can't be null.");
    }
    std::optional<MembersIn> members = MembersIn::Of(value);
    if (members.has_value()) {
      return BeginPart(part, ResolvedMembers(*std::move(members), context.view, "conjoin()"), form);
    }
    return InvalidArgument(
        "conjoin step can only take an array or an Iterable type for incoming traversers" +
        Encountered(value) + " fold() makes a list of all that comes.");
  });
}

}  // namespace

const std::vector<ScalarKernel>& CollectionFunctions() {
  static const std::vector<ScalarKernel> kFunctions = {
      {"combine", BothFunction<kCombine>},
      {"difference", BothFunction<kDifference>},
      {"disjunct", BothFunction<kDisjunct>},
      {"intersect", BothFunction<kIntersect>},
      {"merge", MergeFunction},
      {"product", ProductFunction},
      {"conjoin", ConjoinFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
