#include "storage/rocks/commit_builder.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "core/value_compare.h"
#include "storage/codec/element_id.h"
#include "storage/codec/index_entry.h"
#include "storage/commit_limits.h"
#include "storage/conflict/commit_decision.h"

namespace koios::storage {
namespace {

constexpr size_t kKeysPerRead = 256;
constexpr size_t kBytesPerRead = size_t{4} << 20;  // of large values fewer are read at once
constexpr size_t kMaxIndexedElements = 10'000;

Status Missing(std::string_view what) {
  return NotFound("The " + std::string(what) + " does not exist (any more).");
}

// A property that is set to null is removed, as where null values are not supported.
bool IsRemoval(const std::optional<Value>& value) { return !value || value->is_null(); }

}  // namespace

StatusOr<CommitResult> CommitBuilder::Run() {
  const uint64_t current = group_.meta->version();
  ASSIGN_OR_RETURN(const Decision decision,
                   Decide(batch_, current, *group_.window, group_.turns, turn_));
  if (decision.committed_as != 0) {
    Answer(decision.committed_as);
    return std::move(result_);
  }
  // The keys say all that the record rests on: what follows finds what it read.
  RETURN_IF_ERROR(refused_);
  RETURN_IF_ERROR(CheckNumbers());
  GatherChanges();
  RETURN_IF_ERROR(LoadDropped());
  RETURN_IF_ERROR(LoadChanged());
  RETURN_IF_ERROR(CheckNames());
  if (watch_) RETURN_IF_ERROR(watch_());

  Answer(current + 1);
  group_.meta->SetVersion(result_.version);
  NoteNumbers();
  group_.is_full = IsLarge();
  ApplyDrops();
  ApplyChanges();
  ApplyAdded();
  group_.window->Record(std::move(batch_.keys), result_.version, batch_.request, batch_.attempt);
  return std::move(result_);
}

Status CommitBuilder::CheckNames() const {
  std::set<std::string_view> labels, keys;
  auto note_keys = [&keys](const PropertyList& properties) {
    for (const auto& [key, value] : properties) {
      if (!value.is_null()) keys.insert(key);
    }
  };
  for (const AddedVertex& vertex : batch_.vertices) {
    labels.insert(vertex.label);
    note_keys(vertex.properties);
  }
  for (const AddedEdge& edge : batch_.edges) {
    labels.insert(edge.label);
    note_keys(edge.properties);
  }
  auto note_changes = [&keys](const auto& all) {
    for (const auto& [element, changes] : all) {
      for (const auto& [key, value] : changes) {
        if (!IsRemoval(value)) keys.insert(key);
      }
    }
  };
  note_changes(vertex_changes_);
  note_changes(edge_changes_);
  const Schema& schema = group_.meta->schema();
  RETURN_IF_ERROR(CheckNewNames(schema.labels, labels, "label", group_.options->max_names));
  return CheckNewNames(schema.keys, keys, "property key", group_.options->max_names);
}

void CommitBuilder::Answer(uint64_t version) {
  result_.version = version;
  for (const AddedVertex& vertex : batch_.vertices) {
    result_.vertices.push_back(*vertex.ref);
    result_.vertex_ids.push_back(*vertex.id);
  }
  for (const AddedEdge& added : batch_.edges) {
    EdgeRef& edge = result_.edges.emplace_back();
    Value& id = result_.edge_ids.emplace_back();
    const VertexRef out = Resolve(added.out), in = Resolve(added.in);
    if (IsDropped(out) || IsDropped(in)) continue;  // null: it is not stored
    edge = {added.number, out, in, group_.meta->schema().labels.Find(added.label)};
    id = added.id ? *added.id : Value::Long(static_cast<int64_t>(added.number));
  }
}

void CommitBuilder::GatherChanges() {
  for (const SetVertexProperty& set : batch_.vertex_properties) {
    vertex_changes_[set.vertex][set.key] = set.value;
  }
  for (const ChangeEdgeProperty& set : batch_.edge_properties) {
    edge_changes_[set.number][set.key] = set.value;
  }
}

// Batch after batch and in the order of keys, so that a mass drop costs what it drops.
Status CommitBuilder::LoadDropped() {
  RETURN_IF_ERROR(LoadDroppedVertices());
  return LoadDroppedEdges(batch_.dropped_edges);
}

Status CommitBuilder::LoadDroppedVertices() {
  const std::vector<VertexRef>& vertices = batch_.dropped_vertices;
  std::vector<std::string> keys;
  keys.reserve(vertices.size());
  for (const VertexRef vertex : vertices) keys.push_back(VertexKey(vertex));
  // What is not found was dropped before: nothing to do.
  return ForEachStored(Family::kVertices, keys, [&](size_t i, std::string_view bytes) -> Status {
    ASSIGN_OR_RETURN(StoredVertex stored, DecodeVertex(bytes));
    stored.index_keys = IndexKeys(vertices[i], stored);
    stored.properties.clear();
    dropped_vertices_.emplace_hint(dropped_vertices_.end(), vertices[i], std::move(stored));
    return OkStatus();
  });
}

Status CommitBuilder::LoadDroppedEdges(const std::vector<uint64_t>& edges) {
  std::vector<std::string> keys;
  keys.reserve(edges.size());
  for (const uint64_t edge : edges) keys.push_back(EdgeKey(edge));
  return ForEachStored(Family::kEdges, keys, [&](size_t i, std::string_view bytes) {
    return NoteDroppedEdge(edges[i], bytes);
  });
}

Status CommitBuilder::NoteDroppedEdge(uint64_t id, std::string_view bytes) {
  ASSIGN_OR_RETURN(StoredEdge stored, DecodeEdge(id, bytes));
  stored.properties.clear();
  dropped_edges_.emplace(id, std::move(stored));
  return OkStatus();
}

Status CommitBuilder::Keep(const Changes& changes, KeyedProperties* properties) {
  const auto is_removal = [](const auto& change) { return IsRemoval(change.second); };
  for (const auto& [name, value] : changes) {
    const KeyId key = group_.meta->schema().keys.Find(name);
    std::erase_if(*properties, [key](const auto& property) { return property.first == key; });
  }
  for (const auto& [key, value] : *properties) held_bytes_ += value.ByteSize();
  const size_t limit = group_.options->max_commit_bytes;
  const bool one = vertex_changes_.size() + edge_changes_.size() == 1;
  if (held_bytes_ <= limit || (one && std::ranges::all_of(changes, is_removal))) return OkStatus();
  return ChangedTooLarge(held_bytes_, limit);
}

Status CommitBuilder::LoadChanged() {
  std::erase_if(vertex_changes_,
                [this](const auto& change) { return dropped_vertices_.contains(change.first); });
  std::erase_if(edge_changes_,
                [this](const auto& change) { return dropped_edges_.contains(change.first); });
  RETURN_IF_ERROR(LoadChangedVertices());
  return LoadChangedEdges();
}

Status CommitBuilder::LoadChangedVertices() {
  std::vector<VertexRef> vertices;
  std::vector<std::string> keys;
  for (const auto& [vertex, changes] : vertex_changes_) {
    vertices.push_back(vertex);
    keys.push_back(VertexKey(vertex));
  }
  const auto load = [&](size_t i, std::string_view bytes) -> Status {
    ASSIGN_OR_RETURN(StoredVertex stored, DecodeVertex(bytes));
    stored.index_keys = IndexKeys(vertices[i], stored);
    RETURN_IF_ERROR(Keep(vertex_changes_[vertices[i]], &stored.properties));
    changed_vertices_.emplace_hint(changed_vertices_.end(), vertices[i], std::move(stored));
    return OkStatus();
  };
  RETURN_IF_ERROR(ForEachStored(Family::kVertices, keys, load));
  const bool all = changed_vertices_.size() == vertices.size();
  return all ? OkStatus() : Missing("vertex whose property is set");
}

Status CommitBuilder::LoadChangedEdges() {
  std::vector<uint64_t> edges;
  std::vector<std::string> keys;
  for (const auto& [edge_id, changes] : edge_changes_) {
    edges.push_back(edge_id);
    keys.push_back(EdgeKey(edge_id));
  }
  const auto load = [&](size_t i, std::string_view bytes) -> Status {
    ASSIGN_OR_RETURN(StoredEdge stored, DecodeEdge(edges[i], bytes));
    RETURN_IF_ERROR(Keep(edge_changes_[edges[i]], &stored.properties));
    changed_edges_.emplace_hint(changed_edges_.end(), edges[i], std::move(stored));
    return OkStatus();
  };
  RETURN_IF_ERROR(ForEachStored(Family::kEdges, keys, load));
  const bool all = changed_edges_.size() == edges.size();
  return all ? OkStatus() : Missing("edge whose property is set");
}

// Of edges that are stored; no number is two edges'.
Status CommitBuilder::CheckNumbers() const {
  for (const AddedEdge& added : batch_.edges) {
    if (added.number != 0 || IsDropped(Resolve(added.out)) || IsDropped(Resolve(added.in))) {
      continue;
    }
    return InvalidArgument("A commit's record has an edge without a number.");
  }
  return OkStatus();
}

VertexRef CommitBuilder::Resolve(const VertexHandle& handle) const {
  return handle.added ? *batch_.vertices[*handle.added].ref : handle.existing;
}

bool CommitBuilder::IsDropped(VertexRef vertex) const {
  return std::binary_search(batch_.dropped_vertices.begin(), batch_.dropped_vertices.end(), vertex);
}

// The numbers taken so far are stored with the commit, those of requests under way included.
void CommitBuilder::NoteNumbers() {
  std::set<uint32_t> partitions;
  for (const AddedVertex& vertex : batch_.vertices) {
    partitions.insert(vertex.ref->partition());
    if (vertex.id->kind() == ValueKind::kLong) group_.meta->NoteVertexId(vertex.id->AsInteger());
  }
  for (const EdgeRef& edge : result_.edges) {
    if (edge.id != 0) partitions.insert(edge.out.partition());
  }
  for (const uint32_t partition : partitions) {
    group_.meta->SetNextLocals(partition, group_.numbers->next_vertex_local(partition),
                               group_.numbers->next_edge_local(partition));
  }
  if (!batch_.vertices.empty()) group_.meta->NoteVertexId(group_.numbers->next_vertex_id() - 1);
}

void CommitBuilder::ApplyDrops() {
  const uint32_t num_partitions = group_.meta->num_partitions();
  std::vector<EdgeEnd> ends;
  ends.reserve(2 * dropped_edges_.size());
  for (const auto& [id, stored] : dropped_edges_) {
    Delete(Family::kEdges, EdgeKey(id));
    ends.push_back(OutEnd(stored.edge));
    ends.push_back(InEnd(stored.edge));
    if (!stored.id_bytes.empty()) {
      Delete(Family::kEdgeIds, EdgeIdKey(stored.id_bytes, num_partitions));
    }
    group_.record->DropEdge(stored.edge);
    group_.meta->AddEdges(stored.edge.label, -1);
  }
  // In the order of their keys: RocksDB finds the place of each beside the one before it.
  const auto order = [](const EdgeEnd& end) {
    return std::tuple(end.vertex, end.direction, end.label, end.neighbour, end.edge_id);
  };
  std::sort(ends.begin(), ends.end(),
            [&](const EdgeEnd& a, const EdgeEnd& b) { return order(a) < order(b); });
  for (const EdgeEnd& end : ends) Delete(Family::kEdgeEnds, EdgeEndKey(end));
  for (const auto& [vertex, stored] : dropped_vertices_) {
    Delete(Family::kVertices, VertexKey(vertex));
    Delete(Family::kVertexLabels, VertexLabelKey(vertex, stored.label));
    Delete(Family::kVertexIds, VertexIdKey(stored.id_bytes, num_partitions));
    for (const std::string& key : stored.index_keys) Delete(Family::kVertexIndex, key);
    group_.record->DropVertex(vertex, stored.label, stored.id_bytes);
    group_.meta->AddVertices(stored.label, -1);
  }
}

void CommitBuilder::ApplyAdded() {
  std::vector<FamilyRecord> records;
  const uint32_t num_partitions = group_.meta->num_partitions();
  const uint32_t max_names = group_.options->max_names;
  for (size_t i = 0; i < batch_.vertices.size(); ++i) {
    const AddedVertex& added = batch_.vertices[i];
    const LabelId label = group_.meta->InternLabel(added.label, max_names).value();
    EncodeVertex(*added.ref, label, *added.id, Intern(label, added.properties),
                 group_.meta->schema().vertex_indexes, num_partitions, &records);
    group_.meta->AddVertices(label, 1);
  }
  for (size_t i = 0; i < batch_.edges.size(); ++i) {
    const AddedEdge& added = batch_.edges[i];
    EdgeRef& edge = result_.edges[i];
    if (result_.edge_ids[i].is_null()) continue;  // its vertex is dropped
    edge.label = group_.meta->InternLabel(added.label, max_names).value();
    EncodeEdge(edge, added.id, Intern(edge.label, added.properties), num_partitions, &records);
    group_.meta->AddEdges(edge.label, 1);
  }
  for (const FamilyRecord& record : records) {
    Put(record.family, record.key, record.value);
    NoteAdded(record);
  }
}

void CommitBuilder::NoteAdded(const FamilyRecord& record) {
  if (record.family == Family::kVertices) {
    group_.record->AddVertex(DecodeVertexKey(record.key).value(), record.value);
  }
  if (record.family == Family::kEdges) {
    group_.record->AddEdge(DecodeEdgeKey(record.key).value(), record.value);
  }
}

void CommitBuilder::ApplyChanges() {
  for (auto& [vertex, stored] : changed_vertices_) {
    Set(stored.label, vertex_changes_[vertex], &stored.properties);
    const std::vector<std::string> after = IndexKeys(vertex, stored);
    for (const std::string& key : stored.index_keys) {
      if (std::ranges::find(after, key) == after.end()) Delete(Family::kVertexIndex, key);
    }
    for (const std::string& key : after) Put(Family::kVertexIndex, key, "");
    const Value id = DecodeIdBytes(stored.id_bytes).value();
    const std::string record = EncodeVertexRecord(stored.label, id, stored.properties);
    stored.properties.clear();
    Put(Family::kVertices, VertexKey(vertex), record);
    group_.record->SetVertex(vertex, record);
  }
  for (auto& [edge_id, stored] : changed_edges_) {
    Set(stored.edge.label, edge_changes_[edge_id], &stored.properties);
    std::optional<Value> id;
    if (!stored.id_bytes.empty()) id = DecodeIdBytes(stored.id_bytes).value();
    const std::string record = EncodeEdgeRecord(stored.edge, id, stored.properties);
    stored.properties.clear();
    Put(Family::kEdges, EdgeKey(edge_id), record);
    group_.record->SetEdge(edge_id, record);
  }
}

std::vector<std::string> CommitBuilder::IndexKeys(VertexRef vertex,
                                                  const StoredVertex& stored) const {
  std::vector<std::string> keys;
  AppendIndexKeys(group_.meta->schema().vertex_indexes, vertex, stored.label, stored.properties,
                  &keys);
  return keys;
}

KeyedProperties CommitBuilder::Intern(LabelId label, const PropertyList& properties) {
  KeyedProperties out;
  for (const auto& [name, value] : properties) {
    if (value.is_null()) continue;
    const KeyId key = group_.meta->InternKey(name, group_.options->max_names).value();
    group_.meta->NoteProperty(label, key, value.kind());
    out.emplace_back(key, value);
  }
  SortProperties(&out);
  return out;
}

void CommitBuilder::Set(LabelId label, const Changes& changes, KeyedProperties* properties) {
  for (const auto& [name, value] : changes) {
    if (IsRemoval(value)) continue;
    const KeyId key = group_.meta->InternKey(name, group_.options->max_names).value();
    group_.meta->NoteProperty(label, key, value->kind());
    properties->emplace_back(key, *value);
  }
  SortProperties(properties);
}

// The index of effects is for the group's next commits; it costs more than all else here.
bool CommitBuilder::IsLarge() const {
  return batch_.vertices.size() + batch_.edges.size() + dropped_vertices_.size() +
             dropped_edges_.size() + changed_vertices_.size() + changed_edges_.size() >
         kMaxIndexedElements;
}

void CommitBuilder::Put(Family family, const std::string& key, const std::string& value) {
  rocksdb::WriteBatchBase* effects = group_.effects;
  if (group_.is_full) effects = group_.effects->GetWriteBatch();
  effects->Put(group_.database->family(family), key, value).PermitUncheckedError();
}

void CommitBuilder::Delete(Family family, const std::string& key) {
  rocksdb::WriteBatchBase* effects = group_.effects;
  if (group_.is_full) effects = group_.effects->GetWriteBatch();
  effects->Delete(group_.database->family(family), key).PermitUncheckedError();
}

Status CommitBuilder::ForEachStored(Family family, const std::vector<std::string>& keys,
                                    const std::function<Status(size_t, std::string_view)>& use) {
  std::vector<rocksdb::Slice> slices(kKeysPerRead);
  std::vector<rocksdb::PinnableSlice> values(kKeysPerRead);
  std::vector<rocksdb::Status> statuses(kKeysPerRead);
  rocksdb::DB* const db = group_.database->db();
  rocksdb::ColumnFamilyHandle* const from = group_.database->family(family);
  rocksdb::ReadOptions options;
  options.value_size_soft_limit = kBytesPerRead;
  for (size_t begin = 0; begin < keys.size(); begin += kKeysPerRead) {
    if (watch_) RETURN_IF_ERROR(watch_());
    const size_t size = std::min(kKeysPerRead, keys.size() - begin);
    for (size_t i = 0; i < size; ++i) slices[i] = keys[begin + i];
    group_.effects->MultiGetFromBatchAndDB(db, options, from, size, slices.data(), values.data(),
                                           statuses.data(), /*sorted_input=*/true);
    for (size_t i = 0; i < size; ++i) {
      if (statuses[i].IsAborted()) {  // behind as many bytes
        values[i].Reset();
        statuses[i] = group_.effects->GetFromBatchAndDB(db, options, from, slices[i], &values[i]);
      }
      if (statuses[i].IsNotFound()) continue;
      RETURN_IF_ERROR(FromRocks(statuses[i], "Reading the graph"));
      RETURN_IF_ERROR(use(begin + i, AsView(values[i])));
      values[i].Reset();
    }
  }
  return OkStatus();
}

StatusOr<CommitBuilder::StoredVertex> CommitBuilder::DecodeVertex(std::string_view bytes) {
  VertexRecord record;
  RETURN_IF_ERROR(ParseVertexRecord(bytes, &record));
  RETURN_IF_ERROR(DecodeIdBytes(record.id_bytes).status());
  StoredVertex stored{record.label, std::string(record.id_bytes), {}, {}};
  ASSIGN_OR_RETURN(stored.properties, DecodeProperties(record.properties));
  return stored;
}

StatusOr<CommitBuilder::StoredEdge> CommitBuilder::DecodeEdge(uint64_t edge_id,
                                                              std::string_view bytes) {
  EdgeRecord record;
  RETURN_IF_ERROR(ParseEdgeRecord(edge_id, bytes, &record));
  if (!record.id_bytes.empty()) RETURN_IF_ERROR(DecodeIdBytes(record.id_bytes).status());
  StoredEdge stored{record.edge, std::string(record.id_bytes), {}};
  ASSIGN_OR_RETURN(stored.properties, DecodeProperties(record.properties));
  return stored;
}

}  // namespace koios::storage
