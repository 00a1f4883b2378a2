// The keys by which rows are sorted, and how two of them compare.
#pragma once

#include <compare>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "engine/batch/batch.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"

namespace koios::engine {

// Of an order() without keys, the current value.
std::vector<plan::SortKey> SortKeysOf(const plan::Order& order);

// The key of a row; null where the row does not have it. REQUIRES: not SHUFFLE.
Value SortKeyAt(const Batch& batch, size_t row, const plan::SortKey& key);

// Elements order by their users' ids, not by where they are kept, also inside paths and lists.
Status ElementsToIds(const storage::GraphView& view, std::vector<Value>* keys);

// As the key's direction says.
std::strong_ordering CompareSortKeys(const plan::SortKey& key, const Value& left,
                                     const Value& right);

}  // namespace koios::engine
