#include "engine/op/fold_operator.h"

#include <algorithm>
#include <map>

#include "core/arithmetic.h"
#include "core/value_compare.h"

namespace koios::engine {
namespace {

StatusOr<Value> Assign(const Value&, const Value& next) { return next; }

template <bool kAnd>
StatusOr<Value> Connect(const Value& a, const Value& b) {
  if (a.kind() != ValueKind::kBool || b.kind() != ValueKind::kBool) {
    return InvalidArgument("The operators and, or take booleans.");
  }
  return Value::Bool(kAnd ? a.AsBool() && b.AsBool() : a.AsBool() || b.AsBool());
}

StatusOr<Value> SumLong(const Value& a, const Value& b) {
  if (!a.is_integer() || !b.is_integer()) {
    return InvalidArgument("The operator sumLong takes integers.");
  }
  return Add(Value::Long(a.AsInteger()), Value::Long(b.AsInteger()));
}

Value MergeMaps(ValueMap into, const ValueMap& more) {
  for (const auto& [key, value] : more) {
    auto known = std::find_if(into.begin(), into.end(), [&key = key](const auto& entry) {
      return Equivalent(entry.first, key);
    });
    if (known == into.end()) {
      into.emplace_back(key, value);
    } else {
      known->second = value;
    }
  }
  return Value::Map(std::move(into));
}

// Two maps in one; into a collection each value goes as one member, a list too, as in TinkerPop.
StatusOr<Value> AddAll(const Value& a, const Value& b) {
  if (a.kind() == ValueKind::kMap && b.kind() == ValueKind::kMap) {
    return MergeMaps(a.AsMap(), b.AsMap());
  }
  if (!a.is_collection() || b.kind() == ValueKind::kMap) {
    return InvalidArgument("The operator addAll adds to a collection, or maps to a map.");
  }
  ValueList all = a.AsList();
  all.push_back(b);
  return a.kind() == ValueKind::kSet ? MakeSet(std::move(all)) : Value::List(std::move(all));
}

StatusOr<Value> Quotient(const Value& a, const Value& b) { return Divide(a, b); }

}  // namespace

FoldOperator FindFoldOperator(const std::string& name) {
  static const std::map<std::string, FoldOperator> operators = {
      {"sum", Add},           {"minus", Subtract}, {"mult", Multiply},  {"div", Quotient},
      {"min", Min},           {"max", Max},        {"assign", Assign},  {"and", Connect<true>},
      {"or", Connect<false>}, {"addAll", AddAll},  {"sumLong", SumLong}};
  const auto found = operators.find(name);
  return found == operators.end() ? nullptr : found->second;
}

}  // namespace koios::engine
