#include "engine/op/state/sort_keys.h"

#include "core/value_compare.h"
#include "engine/batch/ordinal.h"
#include "engine/result/element_ids.h"

namespace koios::engine {

std::vector<plan::SortKey> SortKeysOf(const plan::Order& order) {
  std::vector<plan::SortKey> keys(order.keys().begin(), order.keys().end());
  if (keys.empty()) keys.emplace_back();
  return keys;
}

Value SortKeyAt(const Batch& batch, size_t row, const plan::SortKey& key) {
  return batch.Has(key.slot()) ? batch.slots[key.slot()].Get(row) : Value();
}

Status ElementsToIds(const storage::GraphView& view, std::vector<Value>* keys) {
  ElementIds ids(view);
  bool any = false;
  for (const Value& key : *keys) any = ids.Collect(key) || any;
  if (!any) return OkStatus();
  RETURN_IF_ERROR(ids.Load());
  for (Value& key : *keys) {
    ASSIGN_OR_RETURN(key, ids.Resolve(key));
  }
  return OkStatus();
}

std::strong_ordering CompareSortKeys(const plan::SortKey& key, const Value& left,
                                     const Value& right) {
  const bool descends = key.direction() == plan::SortKey::DESC;
  const Value& first = descends ? right : left;
  const Value& second = descends ? left : right;
  return key.ordinal() ? CompareOrdinals(first, second) : TotalOrder(first, second);
}

}  // namespace koios::engine
