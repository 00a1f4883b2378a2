#include "storage/graph_view.h"

#include <algorithm>

#include "storage/codec/element_id.h"

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

// The rows of `ids` that nothing was found for and that `wanted` turns into something else to look
// for; `look` does, and says what was found.
template <typename Key, typename Ref, typename Wanted, typename Look>
Status LookAgain(std::span<const Value> ids, std::vector<std::optional<Ref>>* found,
                 const Wanted& wanted, const Look& look) {
  std::vector<Key> keys;
  std::vector<uint32_t> of, rows;
  for (uint32_t row = 0; row < ids.size(); ++row) {
    if ((*found)[row]) continue;
    std::optional<Key> key = wanted(ids[row]);
    if (!key) continue;
    keys.push_back(*std::move(key));
    of.push_back(row);
  }
  if (keys.empty()) return OkStatus();
  std::vector<Ref> refs;
  RETURN_IF_ERROR(look(std::span<const Key>(keys), &rows, &refs));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (refs[i] != Ref()) (*found)[of[rows[i]]] = refs[i];
  }
  return OkStatus();
}

std::optional<Value> SpelledInteger(const Value& id) {
  if (id.kind() != ValueKind::kString) return std::nullopt;
  const std::optional<int64_t> number = IntegerOfId(id);
  return number ? std::optional<Value>(Value::Long(*number)) : std::nullopt;
}

template <typename Ref>
void GiveFound(const std::vector<std::optional<Ref>>& found, std::vector<uint32_t>* rows,
               std::vector<Ref>* out) {
  for (uint32_t row = 0; row < found.size(); ++row) {
    if (!found[row]) continue;
    rows->push_back(row);
    out->push_back(*found[row]);
  }
}

}  // namespace

Status GraphView::LookupVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                 std::vector<VertexRef>* out) const {
  const size_t begin = out->size();
  RETURN_IF_ERROR(LookupExactVertices(ids, rows, out));
  if (out->size() - begin == ids.size()) return OkStatus();
  std::vector<std::optional<VertexRef>> found(ids.size());
  for (size_t i = begin; i < out->size(); ++i) {
    found[(*rows)[rows->size() - out->size() + i]] = (*out)[i];
  }
  const auto look = [this](std::span<const Value> keys, std::vector<uint32_t>* of,
                           std::vector<VertexRef>* refs) {
    return LookupExactVertices(keys, of, refs);
  };
  RETURN_IF_ERROR((LookAgain<Value, VertexRef>(ids, &found, SpelledInteger, look)));
  rows->resize(rows->size() - (out->size() - begin));
  out->resize(begin);
  GiveFound(found, rows, out);
  return OkStatus();
}

// By ids that were given, then by those that strings spell, then by numbers.
Status GraphView::LookupEdges(std::span<const Value> ids, std::vector<uint32_t>* rows,
                              std::vector<EdgeRef>* out) const {
  std::vector<std::optional<EdgeRef>> found(ids.size());
  const auto of_numbers = [this](std::span<const uint64_t> numbers, bool assigned,
                                 std::vector<uint32_t>* of, std::vector<EdgeRef>* edges) -> Status {
    std::vector<bool> given;
    RETURN_IF_ERROR(EdgesOfNumbers(numbers, of, edges, &given));
    for (size_t i = 0; i < edges->size(); ++i) {
      if (assigned && given[i]) (*edges)[i] = EdgeRef();
    }
    return OkStatus();
  };
  const auto by_id = [&](std::span<const Value> keys, std::vector<uint32_t>* of,
                         std::vector<EdgeRef>* edges) -> Status {
    std::vector<uint32_t> known, there;
    std::vector<uint64_t> numbers;
    RETURN_IF_ERROR(LookupEdgeNumbers(keys, &known, &numbers));
    RETURN_IF_ERROR(of_numbers(numbers, /*assigned=*/false, &there, edges));
    for (const uint32_t i : there) of->push_back(known[i]);
    return OkStatus();
  };
  const auto by_number = [&](std::span<const uint64_t> numbers, std::vector<uint32_t>* of,
                             std::vector<EdgeRef>* edges) {
    return of_numbers(numbers, /*assigned=*/true, of, edges);
  };
  const auto as_given = [](const Value& id) { return TryNormaliseId(id); };
  const auto as_number = [](const Value& id) -> std::optional<uint64_t> {
    const std::optional<int64_t> number = IntegerOfId(id);
    return number ? std::optional(static_cast<uint64_t>(*number)) : std::nullopt;
  };
  RETURN_IF_ERROR((LookAgain<Value, EdgeRef>(ids, &found, as_given, by_id)));
  RETURN_IF_ERROR((LookAgain<Value, EdgeRef>(ids, &found, SpelledInteger, by_id)));
  RETURN_IF_ERROR((LookAgain<uint64_t, EdgeRef>(ids, &found, as_number, by_number)));
  GiveFound(found, rows, out);
  return OkStatus();
}

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
    if (size < std::min(limit, kCopiedEnds)) break;  // it has passed over many, or sought
    limit -= size;
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
  std::vector<PropertyColumn> found;
  for (bool fits = false; !fits; limit = ReadBudget::Fewer(limit)) {
    ScanCursor scanned = cursor->scanned;
    std::vector<VertexRef> vertices;
    RETURN_IF_ERROR(ScanVertices(partition, labels, &scanned, limit, &vertices));
    ReadBudget budget;
    const Status read =
        ReadVertexColumns(vertices, {&key, 1}, vertices.size() > 1 ? &budget : nullptr, &found);
    if (budget.exceeded()) continue;
    RETURN_IF_ERROR(read);
    fits = true;
    cursor->scanned = scanned;
  }
  cursor->done = cursor->scanned.done;
  if (found[0].rows.empty()) return OkStatus();
  out->values.AppendRange(found[0].values, 0, found[0].rows.size());
  out->counts.resize(out->counts.size() + found[0].rows.size(), 1);
  return OkStatus();
}

Status ReadBudget::Take(size_t bytes) {
  if (bytes > left_) {
    exceeded_ = true;
    return Internal("More is read at once than may be, and nobody asks for less.");
  }
  left_ -= bytes;
  return OkStatus();
}

Status GraphView::ReadVertexColumns(std::span<const VertexRef> vertices,
                                    std::span<const KeyId> keys, ReadBudget* budget,
                                    std::vector<PropertyColumn>* out) const {
  PropertyRows found;
  if (!keys.empty()) RETURN_IF_ERROR(ReadVertexProperties(vertices, keys, budget, &found));
  SplitByKey(found, keys, out);
  return OkStatus();
}

Status GraphView::ReadEdgeColumns(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                  ReadBudget* budget, std::vector<PropertyColumn>* out) const {
  PropertyRows found;
  if (!keys.empty()) RETURN_IF_ERROR(ReadEdgeProperties(edges, keys, budget, &found));
  SplitByKey(found, keys, out);
  return OkStatus();
}

}  // namespace koios::storage
