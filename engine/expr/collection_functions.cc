// combine, conjoin, difference, disjunct, intersect, merge and product, as TinkerPop 3.8 defines
// them: null and what is no collection are errors on both sides. Names of functions are those of
// the steps. Sets keep the order in which their members were met.
#include "engine/expr/collection_functions.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/path/path.h"
#include "core/value_compare.h"
#include "engine/expr/each_row.h"
#include "engine/expr/made_value.h"
#include "engine/result/element_resolver.h"

namespace koios::engine {
namespace {

using Args = std::vector<const Operand*>;
using Maybe = StatusOr<std::optional<Value>>;
using ValueSet = absl::flat_hash_set<Value, ValueHash, ValueEquivalent>;

std::string Encountered(const Value& value) {
  return ", encountered " + std::string(KindName(value.kind())) + ".";
}

// The members of a list, set or path; nullopt: it is none.
std::optional<ValueList> MembersOf(const Value& value) {
  if (value.is_collection()) return value.AsList();
  if (value.kind() == ValueKind::kPath) return ObjectsOf(value);
  return std::nullopt;
}

// Both sides of one row, checked as the reference checks them.
class Sides {
 public:
  Sides(std::string step, const Args& args)
      : step_(std::move(step)), args_(args), of_traversal_(args[2]->constant.AsBool()) {}

  StatusOr<ValueList> Incoming(size_t row) const {
    const Value value = args_[0]->Get(row);
    if (value.is_null()) {
      return InvalidArgument("Incoming traverser for " + step_ + " step can't be null.");
    }
    std::optional<ValueList> members = MembersOf(value);
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

  StatusOr<ValueList> Other(size_t row) const {
    ASSIGN_OR_RETURN(const Value value, Argument(row));
    std::optional<ValueList> members = MembersOf(value);
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

int64_t BytesOf(const ValueList& members) {
  int64_t bytes = 0;
  for (const Value& member : members) bytes += static_cast<int64_t>(member.ByteSize());
  return bytes;
}

// What one step makes of both sides, neither of which is large by itself.
using OfBoth = StatusOr<Value> (*)(ValueList a, const ValueList& b);

StatusOr<Value> Combined(ValueList a, const ValueList& b) {
  RETURN_IF_ERROR(CheckMadeBytes(BytesOf(a) + BytesOf(b), "combine()"));
  a.insert(a.end(), b.begin(), b.end());
  return Value::List(std::move(a));
}

// The members of `from`, each once, that are in `others` or are not.
void AddDistinct(const ValueList& from, const ValueList& others, bool wanted, ValueList* result) {
  const ValueSet other(others.begin(), others.end());
  ValueSet seen;
  for (const Value& member : from) {
    if (other.contains(member) == wanted && seen.insert(member).second) result->push_back(member);
  }
}

StatusOr<Value> Difference(ValueList a, const ValueList& b) {
  ValueList left;
  AddDistinct(a, b, false, &left);
  return Value::Set(std::move(left));
}

StatusOr<Value> Intersection(ValueList a, const ValueList& b) {
  ValueList both;
  AddDistinct(a, b, true, &both);
  return Value::Set(std::move(both));
}

StatusOr<Value> Disjunction(ValueList a, const ValueList& b) {
  RETURN_IF_ERROR(CheckMadeBytes(BytesOf(a) + BytesOf(b), "disjunct()"));
  ValueList one_side;
  AddDistinct(a, b, false, &one_side);
  AddDistinct(b, a, false, &one_side);
  return Value::Set(std::move(one_side));
}

StatusOr<Value> Merged(ValueList a, const ValueList& b) {
  RETURN_IF_ERROR(CheckMadeBytes(BytesOf(a) + BytesOf(b), "merge()"));
  a.insert(a.end(), b.begin(), b.end());
  return MakeSet(std::move(a));
}

StatusOr<Value> Product(ValueList a, const ValueList& b) {
  // A pair is a list of two: its members and what it is itself.
  constexpr int64_t kPairBytes = 128;
  const auto pairs = static_cast<__int128>(a.size()) * static_cast<__int128>(b.size());
  const auto bytes = static_cast<int64_t>(std::min<__int128>(pairs * kPairBytes, INT64_MAX));
  RETURN_IF_ERROR(CheckMadeBytes(bytes, "product()"));
  ValueList result;
  result.reserve(static_cast<size_t>(pairs));
  for (const Value& first : a) {
    for (const Value& second : b) {
      ASSIGN_OR_RETURN(Value pair, Value::List({first, second}));
      result.push_back(std::move(pair));
    }
  }
  return Value::List(std::move(result));
}

struct CollectionStep {
  const char* name;
  OfBoth of_both;
};

constexpr CollectionStep kCombine{"combine", Combined}, kDifference{"difference", Difference},
    kDisjunct{"disjunct", Disjunction}, kIntersect{"intersect", Intersection},
    kMerge{"merge", Merged}, kProduct{"product", Product};

// step(value, other, of_traversal)
template <const CollectionStep& kStep>
Status BothFunction(const EvalContext& context, const Args& args, Operand* out) {
  const Sides sides(kStep.name, args);
  return EachRow(context, out, [&](size_t row) -> Maybe {
    if (!args[0]->Present(row)) return std::nullopt;
    ASSIGN_OR_RETURN(ValueList a, sides.Incoming(row));
    ASSIGN_OR_RETURN(const ValueList b, sides.Other(row));
    return kStep.of_both(std::move(a), b);
  });
}

// All entries of both; a key of both has the value of the second.
StatusOr<Value> MergedMaps(const Value& a, const Value& b) {
  RETURN_IF_ERROR(CheckMadeBytes(static_cast<int64_t>(a.ByteSize() + b.ByteSize()), "merge()"));
  ValueMap merged = a.AsMap();
  absl::flat_hash_map<Value, size_t, ValueHash, ValueEquivalent> places;
  for (size_t i = 0; i < merged.size(); ++i) places.emplace(merged[i].first, i);
  for (const auto& [key, value] : b.AsMap()) {
    const auto [place, is_new] = places.emplace(key, merged.size());
    if (is_new) {
      merged.emplace_back(key, value);
    } else {
      merged[place->second].second = value;
    }
  }
  return Value::Map(std::move(merged));
}

Status MergeFunction(const EvalContext& context, const Args& args, Operand* out) {
  const Sides sides(kMerge.name, args);
  return EachRow(context, out, [&](size_t row) -> Maybe {
    if (!args[0]->Present(row)) return std::nullopt;
    const Value incoming = args[0]->Get(row);
    if (incoming.kind() == ValueKind::kMap) {
      ASSIGN_OR_RETURN(const Value other, sides.Argument(row));
      if (other.kind() == ValueKind::kMap) return MergedMaps(incoming, other);
      return InvalidArgument("merge step expected provided argument to evaluate to a Map" +
                             Encountered(other));
    }
    ASSIGN_OR_RETURN(ValueList a, sides.Incoming(row));
    ASSIGN_OR_RETURN(const ValueList b, sides.Other(row));
    return Merged(std::move(a), b);
  });
}

// conjoin(value, delimiter): the members as texts, but for nulls, with the delimiter between them.
Status ConjoinFunction(const EvalContext& context, const Args& args, Operand* out) {
  const std::string& delimiter = args[1]->constant.AsString();
  ElementResolver resolver(*context.view, false);
  for (size_t row = 0; row < context.rows; ++row) {
    if (out->Present(row)) resolver.Collect(args[0]->Get(row));
  }
  RETURN_IF_ERROR(resolver.Load());
  return EachRow(context, out, [&](size_t row) -> Maybe {
    ASSIGN_OR_RETURN(const Value value, resolver.Resolve(args[0]->Get(row)));
    if (value.is_null()) {
      return InvalidArgument("Incoming traverser for conjoin step can't be null.");
    }
    const std::optional<ValueList> members = MembersOf(value);
    if (!members.has_value()) {
      return InvalidArgument(
          "conjoin step can only take an array or an Iterable type for incoming traversers" +
          Encountered(value) + " fold() makes a list of all that comes.");
    }
    std::string joined;
    bool first = true;
    for (const Value& member : *members) {
      if (member.is_null()) continue;
      if (!first) joined += delimiter;
      first = false;
      ASSIGN_OR_RETURN(const std::string text, MadeText(member, "conjoin()"));
      RETURN_IF_ERROR(
          CheckMadeBytes(static_cast<int64_t>(joined.size() + text.size()), "conjoin()"));
      joined += text;
    }
    return Value::String(std::move(joined));
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
      {"product", BothFunction<kProduct>},
      {"conjoin", ConjoinFunction},
  };
  return kFunctions;
}

}  // namespace koios::engine
