#include "storage/memory_graph.h"

#include <algorithm>
#include <tuple>

#include "storage/codec/element_id.h"
#include "storage/codec/index_entry.h"
#include "storage/commit_limits.h"
#include "storage/meta_state.h"

namespace koios::storage {
namespace {

auto OrderOf(const EdgeEnd& end) {
  return std::tuple(end.direction, end.label, end.neighbour, end.edge_id);
}

bool Selected(LabelId label, std::span<const LabelId> labels) {
  return labels.empty() || std::find(labels.begin(), labels.end(), label) != labels.end();
}

bool Selected(const EdgeEnd& end, Direction direction, std::span<const LabelId> labels) {
  return (direction == Direction::kBoth || direction == end.direction) &&
         Selected(end.label, labels);
}

Status AppendRows(uint32_t row, const KeyedProperties& properties, std::span<const KeyId> keys,
                  ReadBudget* budget, PropertyRows* out) {
  for (const auto& [key, value] : properties) {
    if (!keys.empty() && std::find(keys.begin(), keys.end(), key) == keys.end()) continue;
    RETURN_IF_ERROR(TakeFrom(budget, value.FlatBytes()));
    out->rows.push_back(row);
    out->keys.push_back(key);
    out->values.Append(value);
  }
  return OkStatus();
}

// An edge's id that was assigned is its number.
bool IsAssigned(const Value& id, uint64_t number) {
  return id.kind() == ValueKind::kLong && static_cast<uint64_t>(id.AsInteger()) == number;
}

}  // namespace

MemoryGraph::MemoryGraph(uint32_t num_partitions)
    : vertices_(num_partitions),
      edges_(num_partitions),
      next_edge_local_(num_partitions, kFirstEdgeLocal) {
  CHECK(num_partitions > 0 && num_partitions <= kMaxPartitions);
}

void MemoryGraph::IndexVertices(std::string_view label, const std::vector<std::string>& keys) {
  VertexIndex index;
  index.label = schema_.labels.Intern(label);
  for (const std::string& key : keys) index.keys.push_back(schema_.keys.Intern(key));
  index.ready = true;
  const auto id = kFirstIndexId + static_cast<IndexId>(schema_.vertex_indexes.size());
  schema_.vertex_indexes[id] = std::move(index);
}

std::shared_ptr<Numbers> MemoryGraph::NewNumbers() const {
  auto numbers = std::make_shared<Numbers>(num_partitions());
  for (uint32_t p = 0; p < num_partitions(); ++p) {
    for (const Vertex& vertex : vertices_[p]) {
      numbers->TakeVertexLocal(p);
      if (vertex.id.is_integer()) numbers->NoteVertexId(vertex.id.AsInteger());
    }
    for (uint64_t i = kFirstEdgeLocal; i < next_edge_local_[p]; ++i) numbers->TakeEdgeLocal(p);
  }
  return numbers;
}

StatusOr<VertexRef> MemoryGraph::AddVertex(const std::optional<Value>& id, std::string_view label,
                                           const PropertyList& properties) {
  RETURN_IF_ERROR(CheckName(label, "label"));
  Vertex vertex;
  if (id) {
    ASSIGN_OR_RETURN(vertex.id, NormaliseId(*id));
  } else {
    do {
      vertex.id = Value::Long(next_vertex_id_++);
    } while (vertex_ids_.contains(IdBytes(vertex.id)));
  }
  const std::string id_bytes = IdBytes(vertex.id);
  if (vertex_ids_.contains(id_bytes)) return AlreadyExists("There is a vertex of that id.");
  const uint32_t partition = PartitionOfIdBytes(id_bytes, num_partitions());
  vertex.label = schema_.labels.Intern(label);
  ASSIGN_OR_RETURN(vertex.properties, Intern(vertex.label, properties));
  const VertexRef ref = VertexRef::Make(partition, kFirstVertexLocal + vertices_[partition].size());
  vertices_[partition].push_back(std::move(vertex));
  vertex_ids_.emplace(id_bytes, ref);
  ++schema_.vertex_counts[vertices_[partition].back().label];
  return ref;
}

StatusOr<EdgeRef> MemoryGraph::AddEdge(VertexRef out, VertexRef in, std::string_view label,
                                       const PropertyList& properties,
                                       const std::optional<Value>& id) {
  RETURN_IF_ERROR(CheckName(label, "label"));
  if (Find(out) == nullptr || Find(in) == nullptr) {
    return NotFound("A vertex at one end of an added edge does not exist.");
  }
  Edge edge;
  uint64_t& next = next_edge_local_[out.partition()];
  edge.edge.id = VertexRef::Make(out.partition(), next++).bits;
  if (id) {
    ASSIGN_OR_RETURN(edge.id, NormaliseId(*id));
  } else {
    while (edge_ids_.contains(IdBytes(Value::Long(static_cast<int64_t>(edge.edge.id))))) {
      edge.edge.id = VertexRef::Make(out.partition(), next++).bits;
    }
    edge.id = Value::Long(static_cast<int64_t>(edge.edge.id));
  }
  if (!edge_ids_.emplace(IdBytes(edge.id), edge.edge.id).second) {
    return AlreadyExists("There is an edge of that id.");
  }
  edge.edge.out = out;
  edge.edge.in = in;
  edge.edge.label = schema_.labels.Intern(label);
  ASSIGN_OR_RETURN(edge.properties, Intern(edge.edge.label, properties));
  for (const EdgeEnd& end : {OutEnd(edge.edge), InEnd(edge.edge)}) {
    Vertex& vertex = vertices_[end.vertex.partition()][end.vertex.local() - kFirstVertexLocal];
    auto place = std::upper_bound(
        vertex.ends.begin(), vertex.ends.end(), end,
        [](const EdgeEnd& a, const EdgeEnd& b) { return OrderOf(a) < OrderOf(b); });
    vertex.ends.insert(place, end);
  }
  ++schema_.edge_counts[edge.edge.label];
  const EdgeRef ref = edge.edge;
  edges_[out.partition()].emplace(ref.id, std::move(edge));
  return ref;
}

StatusOr<KeyedProperties> MemoryGraph::Intern(LabelId label, const PropertyList& properties) {
  KeyedProperties out;
  for (const auto& [name, value] : properties) {
    RETURN_IF_ERROR(CheckName(name, "property key"));
    RETURN_IF_ERROR(CheckPropertyValue(value, kMaxValueBytes));
    if (value.is_null()) continue;
    const KeyId key = schema_.keys.Intern(name);
    schema_.property_kinds.Note(label, key, value.kind());
    out.emplace_back(key, value);
  }
  SortProperties(&out);
  return out;
}

const MemoryGraph::Vertex* MemoryGraph::Find(VertexRef vertex) const {
  if (vertex.partition() >= vertices_.size() || vertex.local() < kFirstVertexLocal) return nullptr;
  const std::vector<Vertex>& partition = vertices_[vertex.partition()];
  const uint64_t index = vertex.local() - kFirstVertexLocal;
  return index < partition.size() ? &partition[index] : nullptr;
}

const MemoryGraph::Edge* MemoryGraph::Find(uint64_t edge_id) const {
  const uint32_t partition = VertexRef{edge_id}.partition();
  if (partition >= edges_.size()) return nullptr;
  auto found = edges_[partition].find(edge_id);
  return found == edges_[partition].end() ? nullptr : &found->second;
}

uint32_t MemoryGraph::PartitionOfId(const Value& id) const {
  return storage::PartitionOfId(id, num_partitions());
}

Status MemoryGraph::ScanVertices(uint32_t partition, std::span<const LabelId> labels,
                                 ScanCursor* cursor, size_t limit,
                                 std::vector<VertexRef>* out) const {
  const std::vector<Vertex>& vertices = vertices_[partition];
  const size_t full = FullSize(out->size(), limit);
  for (; cursor->next_local < vertices.size(); ++cursor->next_local) {
    if (out->size() == full) return OkStatus();
    if (!Selected(vertices[cursor->next_local].label, labels)) continue;
    out->push_back(VertexRef::Make(partition, kFirstVertexLocal + cursor->next_local));
  }
  cursor->done = true;
  return OkStatus();
}

Status MemoryGraph::SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor,
                                 size_t limit, std::vector<VertexRef>* out) const {
  const std::vector<Vertex>& vertices = vertices_[partition];
  const size_t full = FullSize(out->size(), limit);
  for (; cursor->next < vertices.size(); ++cursor->next) {
    if (out->size() == full) return OkStatus();
    const Vertex& vertex = vertices[cursor->next];
    if (!Selected(vertex.label, seek.labels)) continue;
    const std::string places = PlacesOfEntry(seek.keys, vertex.properties);
    if (places.empty() || !seek.Contains(places)) continue;
    out->push_back(VertexRef::Make(partition, kFirstVertexLocal + cursor->next));
  }
  cursor->done = true;
  return OkStatus();
}

Status MemoryGraph::ScanEdges(uint32_t partition, std::span<const LabelId> labels,
                              ExpandCursor* cursor, size_t limit, std::vector<EdgeRef>* out) const {
  const std::map<uint64_t, Edge>& edges = edges_[partition];
  const size_t full = FullSize(out->size(), limit);
  uint64_t after = 0;
  if (!cursor->resume_key.empty()) {
    ASSIGN_OR_RETURN(after, DecodeEdgeKey(cursor->resume_key));
  }
  for (auto edge = edges.upper_bound(after); edge != edges.end(); ++edge) {
    if (out->size() == full) return OkStatus();
    if (Selected(edge->second.edge.label, labels)) out->push_back(edge->second.edge);
    cursor->resume_key = EdgeKey(edge->first);
  }
  cursor->done = true;
  return OkStatus();
}

Status MemoryGraph::LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                        std::vector<VertexRef>* out) const {
  for (size_t row = 0; row < ids.size(); ++row) {
    const std::optional<Value> id = TryNormaliseId(ids[row]);
    const auto found = id ? vertex_ids_.find(IdBytes(*id)) : vertex_ids_.end();
    if (found == vertex_ids_.end()) continue;
    rows->push_back(static_cast<uint32_t>(row));
    out->push_back(found->second);
  }
  return OkStatus();
}

Status MemoryGraph::LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                      std::vector<uint64_t>* numbers) const {
  for (size_t row = 0; row < ids.size(); ++row) {
    const std::optional<Value> id = TryNormaliseId(ids[row]);
    const auto found = id ? edge_ids_.find(IdBytes(*id)) : edge_ids_.end();
    if (found == edge_ids_.end()) continue;
    if (IsAssigned(*id, found->second)) continue;
    rows->push_back(static_cast<uint32_t>(row));
    numbers->push_back(found->second);
  }
  return OkStatus();
}

Status MemoryGraph::EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                                   std::vector<EdgeRef>* out, std::vector<bool>* given) const {
  for (size_t row = 0; row < numbers.size(); ++row) {
    const Edge* found = Find(numbers[row]);
    if (found == nullptr) continue;
    rows->push_back(static_cast<uint32_t>(row));
    out->push_back(found->edge);
    if (given != nullptr) given->push_back(!IsAssigned(found->id, numbers[row]));
  }
  return OkStatus();
}

Status MemoryGraph::Expand(std::span<const VertexRef> vertices, Direction direction,
                           std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                           size_t limit, Expansion* out) const {
  const size_t full = FullSize(out->rows.size(), limit);
  for (; cursor->row < vertices.size(); ++cursor->row, cursor->resume_key.clear()) {
    const Vertex* vertex = Find(vertices[cursor->row]);
    if (vertex == nullptr) continue;
    auto next = vertex->ends.begin();
    if (!cursor->resume_key.empty()) {
      EdgeEnd last;
      RETURN_IF_ERROR(DecodeEdgeEndKey(cursor->resume_key, &last));
      next = std::upper_bound(
          vertex->ends.begin(), vertex->ends.end(), last,
          [](const EdgeEnd& a, const EdgeEnd& b) { return OrderOf(a) < OrderOf(b); });
    }
    for (; next != vertex->ends.end(); ++next) {
      if (!Selected(*next, direction, labels)) continue;
      if (out->rows.size() == full) return OkStatus();
      out->rows.push_back(static_cast<uint32_t>(cursor->row));
      out->neighbours.push_back(next->neighbour);
      if (want_edges) out->edges.push_back(next->edge());
      cursor->resume_key = EdgeEndKey(*next);
    }
  }
  cursor->done = true;
  return OkStatus();
}

Status MemoryGraph::CountEnds(std::span<const VertexRef> vertices, Direction direction,
                              std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                              std::vector<int64_t>* out) const {
  for (; cursor->row < vertices.size(); ++cursor->row) {
    if (limit == 0) return OkStatus();
    const Vertex* vertex = Find(vertices[cursor->row]);
    const auto selected = [&](const EdgeEnd& end) { return Selected(end, direction, labels); };
    out->push_back(
        vertex == nullptr ? 0 : std::count_if(vertex->ends.begin(), vertex->ends.end(), selected));
    limit -= std::min(limit, 1 + (vertex == nullptr ? 0 : vertex->ends.size()));
  }
  cursor->done = true;
  return OkStatus();
}

Status MemoryGraph::CountBetween(const VertexPairs& pairs, Direction direction,
                                 std::span<const LabelId> labels, int64_t enough,
                                 BetweenCursor* cursor, size_t limit,
                                 std::vector<int64_t>* out) const {
  for (; cursor->row < pairs.vertices.size(); ++cursor->row) {
    if (limit == 0) return OkStatus();
    const Vertex* vertex = Find(pairs.vertices[cursor->row]);
    const VertexRef neighbour = pairs.neighbours[cursor->row];
    const auto selected = [&](const EdgeEnd& end) {
      return end.neighbour == neighbour && Selected(end, direction, labels);
    };
    out->push_back(vertex == nullptr
                       ? 0
                       : std::min<int64_t>(enough, std::count_if(vertex->ends.begin(),
                                                                 vertex->ends.end(), selected)));
    limit -= std::min(limit, 1 + (vertex == nullptr ? 0 : vertex->ends.size()));
  }
  cursor->done = true;
  return OkStatus();
}

Status MemoryGraph::VertexLabels(std::span<const VertexRef> vertices,
                                 std::vector<LabelId>* out) const {
  for (const VertexRef ref : vertices) {
    const Vertex* vertex = Find(ref);
    out->push_back(vertex == nullptr ? kNoName : vertex->label);
  }
  return OkStatus();
}

Status MemoryGraph::VertexIds(std::span<const VertexRef> vertices, Column* out) const {
  for (const VertexRef ref : vertices) {
    const Vertex* vertex = Find(ref);
    out->Append(vertex == nullptr ? Value::Null() : vertex->id);
  }
  return OkStatus();
}

Status MemoryGraph::EdgeIds(std::span<const EdgeRef> edges, Column* out) const {
  for (const EdgeRef& ref : edges) {
    const Edge* edge = Find(ref.id);
    out->Append(edge == nullptr ? Value::Null() : edge->id);
  }
  return OkStatus();
}

Status MemoryGraph::ReadVertexProperties(std::span<const VertexRef> vertices,
                                         std::span<const KeyId> keys, ReadBudget* budget,
                                         PropertyRows* out) const {
  for (size_t row = 0; row < vertices.size(); ++row) {
    const Vertex* vertex = Find(vertices[row]);
    if (vertex == nullptr) continue;
    RETURN_IF_ERROR(AppendRows(static_cast<uint32_t>(row), vertex->properties, keys, budget, out));
  }
  return OkStatus();
}

Status MemoryGraph::ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                                       ReadBudget* budget, PropertyRows* out) const {
  for (size_t row = 0; row < edges.size(); ++row) {
    const Edge* edge = Find(edges[row].id);
    if (edge == nullptr) continue;
    RETURN_IF_ERROR(AppendRows(static_cast<uint32_t>(row), edge->properties, keys, budget, out));
  }
  return OkStatus();
}

}  // namespace koios::storage
