// Properties, as a request sees them that changes the graph: what the base has, with the request's
// changes on top.
#include <algorithm>

#include "storage/transaction/transaction.h"

namespace koios::storage {

// `stored` with the changes of each row (nullptr: none) on top, in key order.
template <typename ElementOf>
Status Transaction::MergeProperties(const PropertyRows& stored, size_t rows, ElementOf changes_of,
                                    std::span<const KeyId> keys, ReadBudget* budget,
                                    PropertyRows* out) {
  static const Changes kNone;
  size_t next = 0;
  const auto wanted = [keys](KeyId key) {
    return keys.empty() || std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (uint32_t row = 0; row < rows; ++row) {
    const Changes* found = changes_of(row);
    const Changes& changes = found == nullptr ? kNone : *found;
    auto change = changes.begin();
    const auto give_changes_below = [&](uint64_t key) -> Status {
      for (; change != changes.end() && change->first < key; ++change) {
        if (change->second.is_null() || !wanted(change->first)) continue;
        RETURN_IF_ERROR(TakeFrom(budget, change->second.FlatBytes()));
        out->rows.push_back(row);
        out->keys.push_back(change->first);
        out->values.Append(change->second);
      }
      return OkStatus();
    };
    for (; next < stored.rows.size() && stored.rows[next] == row; ++next) {
      RETURN_IF_ERROR(give_changes_below(stored.keys[next]));
      if (change != changes.end() && change->first == stored.keys[next]) continue;
      out->rows.push_back(row);
      out->keys.push_back(stored.keys[next]);
      out->values.AppendFrom(stored.values, next);
    }
    RETURN_IF_ERROR(give_changes_below(uint64_t{1} << 32));
  }
  return OkStatus();
}

Status Transaction::ReadVertexProperties(std::span<const VertexRef> vertices,
                                         std::span<const KeyId> keys, ReadBudget* budget,
                                         PropertyRows* out) const {
  if (vertex_changes_.empty()) return base_->ReadVertexProperties(vertices, keys, budget, out);
  PropertyRows stored;
  RETURN_IF_ERROR(base_->ReadVertexProperties(vertices, keys, budget, &stored));
  const auto changes_of = [&](uint32_t row) {
    const auto found = vertex_changes_.find(vertices[row]);
    return found == vertex_changes_.end() ? nullptr : &found->second;
  };
  return MergeProperties(stored, vertices.size(), changes_of, keys, budget, out);
}

Status Transaction::ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                       ReadBudget* budget, PropertyRows* out) const {
  if (edge_changes_.empty()) return base_->ReadEdgeProperties(edges, keys, budget, out);
  PropertyRows stored;
  RETURN_IF_ERROR(base_->ReadEdgeProperties(edges, keys, budget, &stored));
  const auto changes_of = [&](uint32_t row) {
    const auto found = edge_changes_.find(edges[row].id);
    return found == edge_changes_.end() ? nullptr : &found->second;
  };
  return MergeProperties(stored, edges.size(), changes_of, keys, budget, out);
}

}  // namespace koios::storage
