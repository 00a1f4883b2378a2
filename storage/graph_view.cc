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

// Neighbours that are copied to be visited, at once.
constexpr size_t kCopiedEnds = 1024;

}  // namespace

Status GraphView::VisitEnds(std::span<const VertexRef> vertices, Direction direction,
                            std::span<const LabelId> labels, ExpandCursor* cursor, size_t limit,
                            EndVisitor* visitor) const {
  while (!cursor->done && limit > 0) {
    Expansion found;
    RETURN_IF_ERROR(Expand(vertices, direction, labels, /*want_edges=*/false, cursor,
                           std::min(limit, kCopiedEnds), &found));
    const size_t size = found.rows.size();
    for (size_t begin = 0, end = 0; begin < size; begin = end) {
      do {
        ++end;
      } while (end < size && found.rows[end] == found.rows[begin] &&
               found.neighbours[end - 1].bits <= found.neighbours[end].bits);
      visitor->Visit(found.rows[begin], std::span(found.neighbours).subspan(begin, end - begin));
    }
    limit -= std::min(limit, size);
    if (size == 0) break;  // it has passed over many
  }
  return OkStatus();
}

Status GraphView::ExpandTo(std::span<const VertexRef> vertices, Direction direction,
                           std::span<const LabelId> labels,
                           std::span<const LabelId> neighbour_labels, ExpandCursor* cursor,
                           size_t limit, Expansion* out) const {
  const size_t full = FullSize(out->rows.size(), limit);
  Expansion found;
  std::vector<LabelId> of;
  for (size_t looked = 0; !cursor->done && out->rows.size() < full && looked < kMostPassedOver;) {
    found = {};
    of.clear();
    RETURN_IF_ERROR(Expand(vertices, direction, labels, /*want_edges=*/false, cursor,
                           std::min(full - out->rows.size(), kCopiedEnds), &found));
    RETURN_IF_ERROR(VertexLabels(found.neighbours, &of));
    for (size_t i = 0; i < of.size(); ++i) {
      const auto wanted = std::find(neighbour_labels.begin(), neighbour_labels.end(), of[i]);
      if (of[i] == kNoName || wanted == neighbour_labels.end()) continue;
      out->rows.push_back(found.rows[i]);
      out->neighbours.push_back(found.neighbours[i]);
    }
    if (found.rows.empty()) break;  // it has passed over many
    looked += found.rows.size();
  }
  return OkStatus();
}

Status GraphView::ScanValues(uint32_t partition, std::span<const LabelId> labels, KeyId key,
                             ValueCursor* cursor, size_t limit, CountedValues* out) const {
  std::vector<VertexRef> vertices;
  RETURN_IF_ERROR(ScanVertices(partition, labels, &cursor->scanned, limit, &vertices));
  cursor->done = cursor->scanned.done;
  std::vector<PropertyColumn> found;
  RETURN_IF_ERROR(VertexColumns(vertices, {&key, 1}, &found));
  if (found[0].rows.empty()) return OkStatus();
  out->values.AppendRange(found[0].values, 0, found[0].rows.size());
  out->counts.resize(out->counts.size() + found[0].rows.size(), 1);
  return OkStatus();
}

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
