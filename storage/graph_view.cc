#include "storage/graph_view.h"

#include <algorithm>

namespace koios::storage {
namespace {

void SplitByKey(const PropertyRows& found, std::span<const KeyId> keys,
                std::vector<PropertyColumn>* out) {
  out->assign(keys.size(), {});
  for (size_t i = 0; i < found.rows.size(); ++i) {
    const auto key = std::find(keys.begin(), keys.end(), found.keys[i]);
    if (key == keys.end()) continue;
    PropertyColumn& column = (*out)[static_cast<size_t>(key - keys.begin())];
    column.rows.push_back(found.rows[i]);
    column.values.AppendFrom(found.values, i);
  }
}

}  // namespace

Status GraphView::VertexColumns(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                                std::vector<PropertyColumn>* out) const {
  PropertyRows found;
  if (!keys.empty()) RETURN_IF_ERROR(VertexProperties(vertices, keys, &found));
  SplitByKey(found, keys, out);
  return OkStatus();
}

Status GraphView::EdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                              std::vector<PropertyColumn>* out) const {
  PropertyRows found;
  if (!keys.empty()) RETURN_IF_ERROR(EdgeProperties(edges, keys, &found));
  SplitByKey(found, keys, out);
  return OkStatus();
}

}  // namespace koios::storage
