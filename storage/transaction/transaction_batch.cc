// What a transaction commits: its changes as a batch, and what its additions rest on.
#include "storage/codec/element_id.h"
#include "storage/conflict/conflict_window.h"
#include "storage/transaction/commit_keys.h"
#include "storage/transaction/transaction.h"

namespace koios::storage {
namespace {

// Of one request. Past it, a look at a vertex's edges counts as one at all of their label.
constexpr size_t kMaxGuardKeys = size_t{1} << 16;
// Of an added vertex, in the table of their places.
constexpr size_t kBytesPerIndexed = 32;

// What a copy allocates.
size_t HeapOfName(const std::string& name) {
  return name.size() > std::string().capacity() ? name.size() + 1 : 0;
}

template <typename T>
void Copy(const PagedList<T>& from, std::vector<T>* to) {
  to->reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) to->push_back(from[i]);
}

}  // namespace

Status Transaction::GuardLookup(LookupGuard guard) {
  const size_t label = guard.label.has_value() ? guard.label->size() : 0;
  RETURN_IF_ERROR(Charge(label + guard.key.size() + guard.value.ByteSize()));
  RETURN_IF_ERROR(MakeRoom(&lookup_guards_));
  lookup_guards_.EmplaceBack(std::move(guard));
  return OkStatus();
}

Status Transaction::AddGuardKey(uint64_t key) {
  if (guard_keys_.contains(key)) return OkStatus();
  RETURN_IF_ERROR(koios::MakeRoom(&guard_keys_, &room_));
  guard_keys_.insert(key);
  return OkStatus();
}

// A vertex that this request added is nobody else's to give edges.
Status Transaction::GuardAdjacency(VertexRef vertex, Direction direction,
                                   std::span<const std::string> labels,
                                   std::optional<VertexRef> neighbour) {
  if (IsOwn(vertex) || (neighbour.has_value() && IsOwn(*neighbour))) return OkStatus();
  if (guard_keys_.size() >= kMaxGuardKeys) return GuardEdgeScan(labels);
  static const std::string kEveryLabel;
  if (labels.empty()) labels = std::span(&kEveryLabel, 1);
  for (const std::string& label : labels) {
    for (const Direction end : {Direction::kOut, Direction::kIn}) {
      if (direction != Direction::kBoth && direction != end) continue;
      if (!neighbour.has_value()) {
        RETURN_IF_ERROR(AddGuardKey(ConflictKeyOfAdjacency(vertex, end, label)));
      } else if (end == Direction::kOut) {
        RETURN_IF_ERROR(AddGuardKey(ConflictKeyOfEdgesBetween(vertex, *neighbour, label)));
      } else {
        RETURN_IF_ERROR(AddGuardKey(ConflictKeyOfEdgesBetween(*neighbour, vertex, label)));
      }
    }
  }
  return OkStatus();
}

Status Transaction::GuardVertexScan(std::span<const std::string> labels) {
  if (labels.empty()) return AddGuardKey(ConflictKeyOfVertexScan({}));
  for (const std::string& label : labels) {
    RETURN_IF_ERROR(AddGuardKey(ConflictKeyOfVertexScan(label)));
  }
  return OkStatus();
}

Status Transaction::GuardEdgeScan(std::span<const std::string> labels) {
  if (labels.empty()) return AddGuardKey(ConflictKeyOfEdgeScan({}));
  for (const std::string& label : labels) {
    RETURN_IF_ERROR(AddGuardKey(ConflictKeyOfEdgeScan(label)));
  }
  return OkStatus();
}

PropertyList Transaction::ListOf(const Changes& changes) const {
  PropertyList list;
  for (const auto& [key, value] : changes) {
    if (!value.is_null()) list.emplace_back(schema_.keys.Name(key), value);
  }
  return list;
}

size_t Transaction::BytesOfList(const Changes& changes) const {
  size_t bytes = 0;
  for (const auto& [key, value] : changes) {
    if (value.is_null()) continue;
    bytes += sizeof(PropertyList::value_type) + HeapOfName(schema_.keys.Name(key));
  }
  return bytes;
}

// Of TakeBatch, about: all names and lists are copied, values are shared.
size_t Transaction::BatchBytes() const {
  size_t bytes = stored_drops_.size() * sizeof(VertexRef) +
                 stored_edge_drops_.size() * sizeof(EdgeRef) +
                 lookup_guards_.size() * sizeof(LookupGuard) +
                 guard_keys_.size() * sizeof(uint64_t) + looked_up_.size() * sizeof(Value) +
                 own_vertices_.size() * (sizeof(AddedVertex) + kBytesPerIndexed) +
                 own_edges_.size() * sizeof(AddedEdge);
  for (size_t i = 0; i < own_vertices_.size(); ++i) {
    bytes += HeapOfName(schema_.labels.Name(own_vertices_[i].label));
  }
  for (size_t i = 0; i < own_edges_.size(); ++i) {
    bytes += HeapOfName(schema_.labels.Name(own_edges_[i].ref.label));
  }
  for (const auto& [vertex, changes] : vertex_changes_) {
    bytes += IsOwn(vertex) ? 0 : changes.size() * sizeof(SetVertexProperty);
    bytes += BytesOfList(changes);
  }
  for (const auto& [edge, changes] : edge_changes_) {
    bytes += changed_edges_.Contains(edge) ? changes.size() * sizeof(SetEdgeProperty) : 0;
    bytes += BytesOfList(changes);
  }
  return bytes;
}

WriteBatch Transaction::TakeBatch() {
  WriteBatch batch;
  batch.read_version = base_->version();
  const auto list_of = [this](const auto& all, const auto& element) {
    const auto found = all.find(element);
    return found == all.end() ? PropertyList() : ListOf(found->second);
  };
  absl::flat_hash_map<uint64_t, uint32_t> index;
  for (size_t i = 0; i < own_vertices_.size(); ++i) {
    const OwnVertex& vertex = own_vertices_[i];
    if (IsDropped(vertex.ref)) continue;
    index[vertex.ref.bits] = static_cast<uint32_t>(batch.vertices.size());
    batch.vertices.push_back({vertex.id, schema_.labels.Name(vertex.label),
                              list_of(vertex_changes_, vertex.ref), vertex.ref, vertex.assigned});
  }
  const auto handle = [&index](VertexRef vertex) {
    const auto found = index.find(vertex.bits);
    return found == index.end() ? VertexHandle{std::nullopt, vertex}
                                : VertexHandle{found->second, vertex};
  };
  for (size_t i = 0; i < own_edges_.size(); ++i) {
    const OwnEdge& edge = own_edges_[i];
    if (IsDropped(edge.ref)) continue;
    const std::optional<Value> id = edge.assigned ? std::nullopt : std::optional<Value>(edge.id);
    batch.edges.push_back({id, schema_.labels.Name(edge.ref.label), handle(edge.ref.out),
                           handle(edge.ref.in), list_of(edge_changes_, edge.ref.id), edge.ref.id});
  }
  const auto stored_value = [](const Value& value) {
    return value.is_null() ? std::nullopt : std::optional<Value>(value);
  };
  for (const auto& [vertex, changes] : vertex_changes_) {
    if (IsOwn(vertex) || IsDropped(vertex)) continue;
    for (const auto& [key, value] : changes) {
      batch.vertex_properties.push_back({vertex, schema_.keys.Name(key), stored_value(value)});
    }
  }
  for (const auto& [edge, changes] : edge_changes_) {
    const auto* const stored = changed_edges_.Find(edge);
    if (stored == nullptr || IsDropped(stored->second)) continue;
    for (const auto& [key, value] : changes) {
      batch.edge_properties.push_back(
          {stored->second, schema_.keys.Name(key), stored_value(value)});
    }
  }
  Copy(stored_drops_, &batch.dropped_vertices);
  Copy(stored_edge_drops_, &batch.dropped_edges);
  if (batch.vertices.empty() && batch.edges.empty()) return batch;
  // An insert may rest on what was looked up.
  Copy(lookup_guards_, &batch.lookup_guards);
  batch.guard_keys.assign(guard_keys_.begin(), guard_keys_.end());
  for (const std::string& id : looked_up_) batch.id_guards.push_back(DecodeIdBytes(id).value());
  return batch;
}

StatusOr<CommitRecord> Transaction::TakeCommit(const CommitWatch& watch) {
  CommitRecord record;
  record.request = request_.is_null() ? NewRequestId() : request_;
  record.attempt = attempt_;
  RETURN_IF_ERROR(Charge(BatchBytes()));
  RETURN_IF_ERROR(MakeRecord(*base_, max_commit_bytes_, watch, TakeBatch(), &record));
  RETURN_IF_ERROR(Charge(record.keys.size() * sizeof(uint64_t)));
  return record;
}

}  // namespace koios::storage
