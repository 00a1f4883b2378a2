#include "core/compare/in_order.h"

#include <algorithm>
#include <compare>
#include <utility>
#include <vector>

#include "core/value_compare.h"

namespace koios {
namespace {

using Order = std::strong_ordering;

// Of values made by InOrder(): agrees with TotalOrder, and sorts nothing.
Order OrderInOrder(const Value& a, const Value& b) {
  const auto of_lists = [](const ValueList& x, const ValueList& y) {
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (const Order order = OrderInOrder(x[i], y[i]); order != 0) return order;
    }
    return Order(x.size() <=> y.size());
  };
  if (a.kind() != b.kind()) return TotalOrder(a, b);
  switch (a.kind()) {
    case ValueKind::kList:
    case ValueKind::kSet:
      return of_lists(a.AsList(), b.AsList());
    case ValueKind::kMap: {
      const ValueMap &x = a.AsMap(), &y = b.AsMap();
      for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        Order order = OrderInOrder(x[i].first, y[i].first);
        if (order == 0) order = OrderInOrder(x[i].second, y[i].second);
        if (order != 0) return order;
      }
      return x.size() <=> y.size();
    }
    default:
      return TotalOrder(a, b);
  }
}

bool ComesBefore(const ValueMap::value_type& a, const ValueMap::value_type& b) {
  const Order keys = OrderInOrder(a.first, b.first);
  return keys != 0 ? keys < 0 : OrderInOrder(a.second, b.second) < 0;
}

// The value with its sets and maps sorted, and all in it: from the inside, each once. To sort them
// anew whenever two are compared would be exponential in the depth.
Value InOrder(const Value& v) {
  const auto kept = [&v](StatusOr<Value> made) { return made.ok() ? *std::move(made) : v; };
  if (v.is_collection()) {
    ValueList members;
    members.reserve(v.AsList().size());
    for (const Value& member : v.AsList()) members.push_back(InOrder(member));
    if (v.kind() == ValueKind::kList) return kept(Value::List(std::move(members)));
    std::sort(members.begin(), members.end(),
              [](const Value& a, const Value& b) { return OrderInOrder(a, b) < 0; });
    return kept(Value::Set(std::move(members)));
  }
  if (v.kind() != ValueKind::kMap) return v;
  ValueMap entries;
  entries.reserve(v.AsMap().size());
  for (const auto& [key, value] : v.AsMap()) entries.emplace_back(InOrder(key), InOrder(value));
  std::sort(entries.begin(), entries.end(), ComesBefore);
  return kept(Value::Map(std::move(entries)));
}

}  // namespace

ValueList Sorted(const ValueList& list) {
  std::vector<std::pair<Value, const Value*>> members;
  members.reserve(list.size());
  for (const Value& member : list) members.emplace_back(InOrder(member), &member);
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return OrderInOrder(a.first, b.first) < 0; });
  ValueList sorted;
  sorted.reserve(list.size());
  for (const auto& [in_order, member] : members) sorted.push_back(*member);
  return sorted;
}

ValueMap Sorted(const ValueMap& map) {
  std::vector<std::pair<ValueMap::value_type, const ValueMap::value_type*>> entries;
  entries.reserve(map.size());
  for (const auto& entry : map) {
    entries.emplace_back(ValueMap::value_type(InOrder(entry.first), InOrder(entry.second)), &entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return ComesBefore(a.first, b.first); });
  ValueMap sorted;
  sorted.reserve(map.size());
  for (const auto& [in_order, entry] : entries) sorted.push_back(*entry);
  return sorted;
}

}  // namespace koios
