#include "storage/transaction/commit_keys.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "storage/codec/element_id.h"
#include "storage/commit_limits.h"

namespace koios::storage {
namespace {

constexpr size_t kAtOnce = 1024;
constexpr size_t kBytesPerDroppedEdge = 128;

Status MissingElement(std::string_view what) {
  return NotFound("The " + std::string(what) + " does not exist (any more).");
}

bool Removes(const std::optional<Value>& value) { return !value || value->is_null(); }

template <typename T>
std::vector<T> Unique(std::vector<T> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

class KeyCollector {
 public:
  KeyCollector(const GraphView& view, const WriteBatch& batch, size_t max_bytes,
               const CommitWatch& watch)
      : view_(view), batch_(batch), max_bytes_(max_bytes), watch_(watch) {}

  Status Run() {
    dropped_.insert(batch_.dropped_vertices.begin(), batch_.dropped_vertices.end());
    for (const EdgeRef& edge : batch_.dropped_edges) dropped_edges_.insert(edge.id);
    RETURN_IF_ERROR(CollectDropped());
    RETURN_IF_ERROR(CollectAdded());
    RETURN_IF_ERROR(CheckEnds());
    RETURN_IF_ERROR(CheckIds());
    RETURN_IF_ERROR(CollectVertexChanges());
    RETURN_IF_ERROR(CollectEdgeChanges());
    CollectGuards();
    return OkStatus();
  }
  ConflictKeys TakeKeys() {
    keys_.MakeDistinct();
    return std::move(keys_);
  }
  std::vector<uint64_t> GoneEdges() const {
    std::vector<uint64_t> edges(dropped_edges_.begin(), dropped_edges_.end());
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  using Changes = std::map<std::string, std::optional<Value>>;

  Status Watch() const { return watch_ ? watch_() : OkStatus(); }
  const std::string& LabelName(LabelId label) const { return view_.schema().labels.Name(label); }

  void Set(std::string_view label, std::string_view key, const Value& value) {
    AppendConflictKeysOfLookup(label, key, value, &keys_.sets);
    AppendConflictKeysOfLookup({}, key, value, &keys_.sets);
  }

  // An edge that comes or goes, with those of its ends that are in the graph already: nobody can
  // have looked at the others.
  void SeeEdge(const VertexRef* out, const VertexRef* in, std::string_view label) {
    for (const std::string_view seen_as : {label, std::string_view()}) {
      keys_.sets.push_back(ConflictKeyOfEdgeScan(seen_as));
      if (out != nullptr) {
        keys_.sets.push_back(ConflictKeyOfAdjacency(*out, Direction::kOut, seen_as));
      }
      if (in != nullptr) keys_.sets.push_back(ConflictKeyOfAdjacency(*in, Direction::kIn, seen_as));
      if (out != nullptr && in != nullptr) {
        keys_.sets.push_back(ConflictKeyOfEdgesBetween(*out, *in, seen_as));
      }
    }
  }

  void SeeVertex(std::string_view label) {
    keys_.sets.push_back(ConflictKeyOfVertexScan(label));
    keys_.sets.push_back(ConflictKeyOfVertexScan({}));
  }

  Status CollectAdded() {
    for (const AddedVertex& vertex : batch_.vertices) {
      for (const auto& [key, value] : vertex.properties) Set(vertex.label, key, value);
      SeeVertex(vertex.label);
      if (!vertex.id) continue;
      ASSIGN_OR_RETURN(const Value id, NormaliseId(*vertex.id));
      std::string bytes = IdBytes(id);
      keys_.writes.push_back(ConflictKeyOfVertexId(bytes));
      if (!vertex_ids_.insert(std::move(bytes)).second) return IdTaken("a vertex", id);
    }
    for (const AddedEdge& edge : batch_.edges) {
      for (const auto& [key, value] : edge.properties) Set(edge.label, key, value);
      SeeEdge(edge.out.added ? nullptr : &edge.out.existing,
              edge.in.added ? nullptr : &edge.in.existing, edge.label);
      for (const VertexHandle* end : {&edge.out, &edge.in}) {
        if (!end->added) keys_.guards.push_back(ConflictKeyOfVertex(end->existing));
      }
      if (!edge.id) {
        if (edge.number != 0) NoteAssigned(edge.number);
        continue;
      }
      ASSIGN_OR_RETURN(const Value id, NormaliseId(*edge.id));
      std::string bytes = IdBytes(id);
      keys_.writes.push_back(ConflictKeyOfEdgeId(bytes));
      NoteGiven(id);
      if (!edge_ids_.insert(std::move(bytes)).second) return IdTaken("an edge", id);
    }
    return OkStatus();
  }

  // An edge's number is its id. Two keys a block, so that many edges don't fill the window.
  void NoteAssigned(uint64_t number) {
    assigned_.push_back(Value::Long(static_cast<int64_t>(number)));
    const uint64_t block = number >> kEdgeBlockBits;
    if (!assigned_blocks_.insert(block).second) return;
    keys_.guards.push_back(ConflictKeyOfGivenEdges(block));
    keys_.sets.push_back(ConflictKeyOfAssignedEdges(block));
  }

  // An id that could be assigned meanwhile.
  void NoteGiven(const Value& id) {
    if (id.kind() != ValueKind::kLong) return;
    const VertexRef number{static_cast<uint64_t>(id.AsInteger())};
    if (number.partition() >= view_.num_partitions() || number.local() < kFirstEdgeLocal) return;
    const uint64_t block = number.bits >> kEdgeBlockBits;
    if (!given_blocks_.insert(block).second) return;
    keys_.guards.push_back(ConflictKeyOfAssignedEdges(block));
    keys_.sets.push_back(ConflictKeyOfGivenEdges(block));
  }

  Status CheckEnds() const {
    std::vector<VertexRef> ends;
    for (const AddedEdge& edge : batch_.edges) {
      for (const VertexHandle* end : {&edge.out, &edge.in}) {
        if (!end->added) {
          if (!dropped_.contains(end->existing)) ends.push_back(end->existing);
        } else if (*end->added >= batch_.vertices.size()) {
          return InvalidArgument("An edge names a vertex that the batch does not add.");
        }
      }
    }
    std::vector<LabelId> labels;
    ends = Unique(std::move(ends));
    RETURN_IF_ERROR(view_.VertexLabels(ends, &labels));
    const bool all = std::find(labels.begin(), labels.end(), kNoName) == labels.end();
    return all ? OkStatus() : MissingElement("vertex at one end of an added edge");
  }

  // Of ids that elements have already; those that the batch drops are free.
  Status CheckIds() const {
    std::vector<Value> ids;
    std::vector<uint32_t> rows;
    for (const std::string& bytes : vertex_ids_) ids.push_back(DecodeIdBytes(bytes).value());
    std::vector<VertexRef> vertices;
    RETURN_IF_ERROR(view_.LookupExactVertices(ids, &rows, &vertices));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!dropped_.contains(vertices[i])) return VertexIdTaken(ids[rows[i]]);
    }
    ids.clear();
    rows.clear();
    for (const std::string& bytes : edge_ids_) ids.push_back(DecodeIdBytes(bytes).value());
    std::vector<uint64_t> numbers;
    RETURN_IF_ERROR(view_.LookupEdgeNumbers(ids, &rows, &numbers));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!dropped_edges_.contains(numbers[i])) return IdTaken("an edge", ids[rows[i]]);
    }
    RETURN_IF_ERROR(CheckGivenNumbers(ids));
    return CheckAssigned();
  }

  // Given ids that are numbers which edges were assigned.
  Status CheckGivenNumbers(const std::vector<Value>& ids) const {
    std::vector<uint64_t> numbers;
    for (const Value& id : ids) {
      if (id.kind() != ValueKind::kLong) continue;
      const auto number = static_cast<uint64_t>(id.AsInteger());
      if (VertexRef{number}.partition() < view_.num_partitions()) numbers.push_back(number);
    }
    std::vector<uint32_t> rows;
    std::vector<EdgeRef> edges;
    std::vector<bool> given;
    RETURN_IF_ERROR(view_.EdgesOfNumbers(numbers, &rows, &edges, &given));
    for (size_t i = 0; i < edges.size(); ++i) {
      if (given[i] || dropped_edges_.contains(edges[i].id)) continue;
      return IdTaken("an edge", Value::Long(static_cast<int64_t>(edges[i].id)));
    }
    return OkStatus();
  }

  // Numbers that are ids: whether somebody gave one of them to another edge.
  Status CheckAssigned() const {
    const std::span<const Value> all = assigned_;
    for (size_t begin = 0; begin < all.size(); begin += kAtOnce) {
      RETURN_IF_ERROR(Watch());
      const auto some = all.subspan(begin, std::min(kAtOnce, all.size() - begin));
      std::vector<uint32_t> rows;
      std::vector<uint64_t> numbers;
      RETURN_IF_ERROR(view_.LookupEdgeNumbers(some, &rows, &numbers));
      bool taken = std::any_of(numbers.begin(), numbers.end(), [this](uint64_t number) {
        return !dropped_edges_.contains(number);
      });
      for (size_t i = 0; !edge_ids_.empty() && i < some.size(); ++i) {
        taken = taken || edge_ids_.contains(IdBytes(some[i]));
      }
      if (taken) {
        return Aborted("An id that was assigned was given to another edge meanwhile; try again.");
      }
    }
    return OkStatus();
  }

  // An id that the user gave is taken for good; of one that was assigned there is another.
  Status VertexIdTaken(const Value& id) const {
    for (const AddedVertex& vertex : batch_.vertices) {
      if (vertex.assigned && IdBytes(NormaliseId(*vertex.id).value()) == IdBytes(id)) {
        return Aborted("An id that was assigned was given to another vertex meanwhile; try again.");
      }
    }
    return IdTaken("a vertex", id);
  }

  // ---- what was there

  Status CollectDropped() {
    const std::vector<VertexRef> all = Unique(batch_.dropped_vertices);
    for (const VertexRef vertex : all) keys_.writes.push_back(ConflictKeyOfVertex(vertex));
    for (size_t begin = 0; begin < all.size(); begin += kAtOnce) {
      RETURN_IF_ERROR(CollectDroppedVertices(
          std::span(all).subspan(begin, std::min(kAtOnce, all.size() - begin))));
    }
    const std::vector<uint64_t> numbers = GoneEdges();
    for (const uint64_t number : numbers) keys_.writes.push_back(ConflictKeyOfEdge(number));
    for (size_t begin = 0; begin < numbers.size(); begin += kAtOnce) {
      RETURN_IF_ERROR(Watch());
      RETURN_IF_ERROR(CollectDroppedEdges(
          std::span(numbers).subspan(begin, std::min(kAtOnce, numbers.size() - begin))));
    }
    return OkStatus();
  }

  Status CollectDroppedVertices(std::span<const VertexRef> some) {
    RETURN_IF_ERROR(Watch());
    std::vector<LabelId> labels;
    Column ids;
    PropertyRows properties;
    RETURN_IF_ERROR(view_.VertexLabels(some, &labels));
    RETURN_IF_ERROR(view_.VertexIds(some, &ids));
    RETURN_IF_ERROR(view_.VertexProperties(some, {}, &properties));
    for (size_t row = 0; row < some.size(); ++row) {
      if (labels[row] == kNoName) continue;  // dropped before: nothing to do
      keys_.writes.push_back(ConflictKeyOfVertexId(IdBytes(ids.Get(row))));
      SeeVertex(LabelName(labels[row]));
    }
    for (size_t i = 0; i < properties.rows.size(); ++i) {
      Set(LabelName(labels[properties.rows[i]]), view_.schema().keys.Name(properties.keys[i]),
          properties.values.Get(i));
    }
    ExpandCursor cursor;
    while (!cursor.done) {
      Expansion ends;
      RETURN_IF_ERROR(Watch());
      RETURN_IF_ERROR(view_.Expand(some, Direction::kBoth, {}, true, &cursor, kAtOnce, &ends));
      for (const EdgeRef& edge : ends.edges) dropped_edges_.insert(edge.id);
      RETURN_IF_ERROR(CheckSize());
    }
    return OkStatus();
  }

  Status CollectDroppedEdges(std::span<const uint64_t> numbers) {
    std::vector<uint32_t> rows;
    std::vector<EdgeRef> edges;
    std::vector<bool> given;
    Column ids;
    PropertyRows properties;
    RETURN_IF_ERROR(view_.EdgesOfNumbers(numbers, &rows, &edges, &given));
    RETURN_IF_ERROR(view_.EdgeIds(edges, &ids));
    RETURN_IF_ERROR(view_.EdgeProperties(edges, {}, &properties));
    for (size_t row = 0; row < edges.size(); ++row) {
      if (given[row]) keys_.writes.push_back(ConflictKeyOfEdgeId(IdBytes(ids.Get(row))));
      SeeEdge(&edges[row].out, &edges[row].in, LabelName(edges[row].label));
    }
    for (size_t i = 0; i < properties.rows.size(); ++i) {
      const Value value = properties.values.Get(i);
      value_bytes_ += value.ByteSize();
      Set(LabelName(edges[properties.rows[i]].label), view_.schema().keys.Name(properties.keys[i]),
          value);
    }
    return CheckSize();
  }

  Status CheckSize() const {
    const size_t bytes = dropped_edges_.size() * kBytesPerDroppedEdge + value_bytes_;
    return bytes > max_bytes_ ? CommitTooLarge(bytes, max_bytes_) : OkStatus();
  }

  // Old and new values of what is changed.
  void SetAll(std::string_view label, const Changes& changes) {
    for (const auto& [key, value] : changes) {
      if (!Removes(value)) Set(label, key, *value);
    }
  }

  Status CollectVertexChanges() {
    std::map<VertexRef, Changes> changes;
    for (const SetVertexProperty& set : batch_.vertex_properties) {
      keys_.guards.push_back(ConflictKeyOfVertex(set.vertex));
      keys_.writes.push_back(ConflictKeyOfVertexProperty(set.vertex, set.key));
      if (!dropped_.contains(set.vertex)) changes[set.vertex][set.key] = set.value;
    }
    std::vector<VertexRef> vertices;
    for (const auto& [vertex, of] : changes) vertices.push_back(vertex);
    for (size_t begin = 0; begin < vertices.size(); begin += kAtOnce) {
      RETURN_IF_ERROR(Watch());
      const auto some =
          std::span(vertices).subspan(begin, std::min(kAtOnce, vertices.size() - begin));
      std::vector<LabelId> labels;
      PropertyRows properties;
      RETURN_IF_ERROR(view_.VertexLabels(some, &labels));
      if (std::find(labels.begin(), labels.end(), kNoName) != labels.end()) {
        return MissingElement("vertex whose property is set");
      }
      RETURN_IF_ERROR(view_.VertexProperties(some, {}, &properties));
      for (size_t row = 0; row < some.size(); ++row) {
        SetAll(LabelName(labels[row]), changes[some[row]]);
      }
      SetOld(properties, [&](uint32_t row) { return std::pair(labels[row], &changes[some[row]]); });
    }
    return OkStatus();
  }

  Status CollectEdgeChanges() {
    std::map<uint64_t, Changes> changes;
    for (const SetEdgeProperty& set : batch_.edge_properties) {
      keys_.guards.push_back(ConflictKeyOfEdge(set.edge.id));
      keys_.writes.push_back(ConflictKeyOfEdgeProperty(set.edge.id, set.key));
      if (!dropped_edges_.contains(set.edge.id)) changes[set.edge.id][set.key] = set.value;
    }
    std::vector<uint64_t> numbers;
    for (const auto& [edge, of] : changes) numbers.push_back(edge);
    for (size_t begin = 0; begin < numbers.size(); begin += kAtOnce) {
      RETURN_IF_ERROR(Watch());
      const auto some =
          std::span(numbers).subspan(begin, std::min(kAtOnce, numbers.size() - begin));
      std::vector<uint32_t> rows;
      std::vector<EdgeRef> edges;
      PropertyRows properties;
      RETURN_IF_ERROR(view_.EdgesOfNumbers(some, &rows, &edges, nullptr));
      if (edges.size() < some.size()) return MissingElement("edge whose property is set");
      RETURN_IF_ERROR(view_.EdgeProperties(edges, {}, &properties));
      for (const EdgeRef& edge : edges) SetAll(LabelName(edge.label), changes[edge.id]);
      SetOld(properties,
             [&](uint32_t row) { return std::pair(edges[row].label, &changes[edges[row].id]); });
    }
    return OkStatus();
  }

  template <typename ChangesOf>
  void SetOld(const PropertyRows& properties, const ChangesOf& changes_of) {
    for (size_t i = 0; i < properties.rows.size(); ++i) {
      const auto [label, changes] = changes_of(properties.rows[i]);
      const std::string& key = view_.schema().keys.Name(properties.keys[i]);
      if (changes->contains(key)) Set(LabelName(label), key, properties.values.Get(i));
    }
  }

  void CollectGuards() {
    keys_.guards.insert(keys_.guards.end(), batch_.guard_keys.begin(), batch_.guard_keys.end());
    for (const LookupGuard& guard : batch_.lookup_guards) {
      AppendConflictKeysOfLookup(guard.label.value_or(std::string()), guard.key, guard.value,
                                 &keys_.guards);
    }
    for (const Value& id : batch_.id_guards) {
      const std::optional<Value> normal = TryNormaliseId(id);
      if (!normal) continue;
      keys_.guards.push_back(ConflictKeyOfVertexId(IdBytes(*normal)));
      if (normal->kind() != ValueKind::kString) continue;
      // The look-up would have found the integer too.
      const std::optional<int64_t> number = CanonicalDecimal(normal->AsString());
      if (number) keys_.guards.push_back(ConflictKeyOfVertexId(IdBytes(Value::Long(*number))));
    }
  }

  const GraphView& view_;
  const WriteBatch& batch_;
  const size_t max_bytes_;
  const CommitWatch& watch_;
  ConflictKeys keys_;
  std::set<std::string> vertex_ids_, edge_ids_;  // id bytes, of what is added
  std::vector<Value> assigned_;                  // edges' numbers that are their ids
  absl::flat_hash_set<uint64_t> assigned_blocks_, given_blocks_;
  std::set<VertexRef> dropped_;
  absl::flat_hash_set<uint64_t> dropped_edges_;  // those of dropped vertices, too
  size_t value_bytes_ = 0;                       // of dropped edges
};

// Ids as they are stored, all different.
template <typename Added>
Status NormaliseIds(std::vector<Added>* all, std::set<std::string>* ids) {
  for (Added& added : *all) {
    if (!added.id) continue;
    ASSIGN_OR_RETURN(added.id, NormaliseId(*added.id));
    ids->insert(IdBytes(*added.id));
  }
  return OkStatus();
}

Status AssignToVertices(const GraphView& view, const std::set<std::string>& given, Numbers* numbers,
                        WriteBatch* batch) {
  for (AddedVertex& vertex : batch->vertices) {
    while (!vertex.id) {
      const Value id = Value::Long(numbers->TakeVertexId());
      std::vector<uint32_t> rows;
      std::vector<VertexRef> found;
      RETURN_IF_ERROR(view.LookupExactVertices(std::span(&id, 1), &rows, &found));
      if (!rows.empty() || given.contains(IdBytes(id))) continue;
      vertex.id = id;
      vertex.assigned = true;
    }
    if (vertex.ref) continue;
    const uint32_t partition = PartitionOfId(*vertex.id, view.num_partitions());
    vertex.ref = VertexRef::Make(partition, numbers->TakeVertexLocal(partition));
  }
  return OkStatus();
}

// A number of the partition that is nobody's id.
StatusOr<uint64_t> FreeEdgeNumber(const GraphView& view, const std::set<std::string>& given,
                                  uint32_t partition, Numbers* numbers) {
  while (true) {
    const uint64_t number = VertexRef::Make(partition, numbers->TakeEdgeLocal(partition)).bits;
    const Value id = Value::Long(static_cast<int64_t>(number));
    std::vector<uint32_t> rows;
    std::vector<uint64_t> found;
    RETURN_IF_ERROR(view.LookupEdgeNumbers(std::span(&id, 1), &rows, &found));
    if (rows.empty() && !given.contains(IdBytes(id))) return number;
  }
}

}  // namespace

Status AssignNumbers(const GraphView& view, Numbers* numbers, WriteBatch* batch) {
  std::set<std::string> vertex_ids, edge_ids;
  RETURN_IF_ERROR(NormaliseIds(&batch->vertices, &vertex_ids));
  RETURN_IF_ERROR(NormaliseIds(&batch->edges, &edge_ids));
  RETURN_IF_ERROR(AssignToVertices(view, vertex_ids, numbers, batch));
  const std::set<VertexRef> dropped(batch->dropped_vertices.begin(), batch->dropped_vertices.end());
  for (AddedEdge& edge : batch->edges) {
    bool goes = false;  // with a vertex
    for (const VertexHandle* end : {&edge.out, &edge.in}) {
      if (end->added && *end->added >= batch->vertices.size()) {
        return InvalidArgument("An edge names a vertex that the batch does not add.");
      }
      const bool stored = !end->added;
      if (stored && end->existing.partition() >= view.num_partitions()) {
        return MissingElement("vertex at one end of an added edge");
      }
      goes = goes || (stored && dropped.contains(end->existing));
    }
    if (edge.number != 0 || goes) continue;
    const VertexRef out =
        edge.out.added ? *batch->vertices[*edge.out.added].ref : edge.out.existing;
    ASSIGN_OR_RETURN(edge.number, FreeEdgeNumber(view, edge_ids, out.partition(), numbers));
  }
  return OkStatus();
}

Status MakeRecord(const GraphView& view, size_t max_bytes, const CommitWatch& watch,
                  WriteBatch batch, CommitRecord* record) {
  KeyCollector collector(view, batch, max_bytes, watch);
  const Status collected = collector.Run();
  record->keys = collector.TakeKeys();
  record->dropped_edges = collector.GoneEdges();
  record->read_version = batch.read_version;
  record->vertices = std::move(batch.vertices);
  record->edges = std::move(batch.edges);
  record->vertex_properties = std::move(batch.vertex_properties);
  for (SetEdgeProperty& set : batch.edge_properties) {
    record->edge_properties.push_back({set.edge.id, std::move(set.key), std::move(set.value)});
  }
  record->dropped_vertices = Unique(std::move(batch.dropped_vertices));
  return collected;
}

}  // namespace koios::storage
