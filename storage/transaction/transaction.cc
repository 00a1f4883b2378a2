#include "storage/transaction/transaction.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/commit_limits.h"

namespace koios::storage {
namespace {

// What the allocator gives for a node of a tree: tables and lists are charged by what they have
// (core/memory/charged_growth.h).
constexpr size_t kElementBytes = 96;   // of vertex_changes_ or edge_changes_
constexpr size_t kPropertyBytes = 64;  // of Changes
constexpr size_t kLookedUpBytes = 64;
constexpr size_t kNameBytes = 128;  // beside twice its text
// Added ends of a vertex that an expansion looks at in one round.
constexpr size_t kMostOwn = 1024;
// Edge ends that one read of the base gives, when all are wanted.
constexpr size_t kChunk = 1024;

// Beside the value itself; of an id its bytes are a text of their own.
size_t HeapOf(const Value& value) { return value.ByteSize() - sizeof(Value); }

Status Gone(std::string_view what) {
  return FailedPrecondition("The " + std::string(what) + " was dropped by this request.");
}

size_t BytesOfNew(std::string_view name, const NameTable& known) {
  return known.Find(name) != kNoName ? 0 : kNameBytes + 2 * name.size();
}

bool Wanted(LabelId label, std::span<const LabelId> labels) {
  return labels.empty() || std::find(labels.begin(), labels.end(), label) != labels.end();
}

// An id that an added element had, which was dropped again, may be another's now.
template <typename T>
void PutId(std::string id, const T& element,
           PartedTable<absl::flat_hash_map<std::string, T>>* all) {
  if (auto* const had = all->Find(id); had != nullptr) {
    had->second = element;
  } else {
    all->Emplace(std::move(id), element);
  }
}

void CountDown(LabelId label, LabelCounts* counts) {
  if (counts->contains(label)) --(*counts)[label];
}

bool Leads(Direction end, Direction direction) {
  return direction == Direction::kBoth || end == direction;
}

}  // namespace

Transaction::Transaction(std::shared_ptr<const GraphView> base, std::shared_ptr<Numbers> numbers,
                         size_t max_value_bytes, size_t max_commit_bytes)
    : base_(std::move(base)),
      numbers_(std::move(numbers)),
      max_value_bytes_(max_value_bytes),
      max_commit_bytes_(max_commit_bytes),
      schema_(base_->schema()),
      own_by_partition_(base_->num_partitions()),
      own_edges_by_partition_(base_->num_partitions()),
      own_index_(schema_.vertex_indexes) {}

template <typename Element>
StatusOr<Transaction::Changes*> Transaction::ChangesOf(const Element& element,
                                                       std::map<Element, Changes>* all) const {
  const auto found = all->lower_bound(element);
  if (found != all->end() && found->first == element) return &found->second;
  RETURN_IF_ERROR(Charge(kElementBytes));
  return &all->emplace_hint(found, element, Changes())->second;
}

// ---- changes

Status Transaction::CheckAlive(VertexRef vertex) const {
  return IsDropped(vertex) ? Gone("vertex") : OkStatus();
}

StatusOr<KeyId> Transaction::KeyOf(std::string_view key, const Value& value) {
  RETURN_IF_ERROR(CheckName(key, "property key"));
  RETURN_IF_ERROR(CheckPropertyValue(value, max_value_bytes_));
  RETURN_IF_ERROR(Charge(kPropertyBytes + HeapOf(value) + BytesOfNew(key, schema_.keys)));
  return InternKey(key);
}

// In place of what was set before, whose charge is over.
void Transaction::Put(KeyId key, const Value& value, Changes* changes) const {
  const auto [change, is_new] = changes->try_emplace(key);
  if (!is_new) GiveBack(kPropertyBytes + HeapOf(change->second));
  change->second = value;
}

Status Transaction::NoteIndexed(VertexRef vertex, KeyId key) {
  if (!own_index_.Has(key)) return OkStatus();
  if (!own_index_.IsTouched(vertex)) RETURN_IF_ERROR(Charge(OwnIndex::kTouchedBytes));
  own_index_.Touch(vertex);
  return OkStatus();
}

Status Transaction::SetAll(LabelId label, const PropertyList& properties, Changes* changes) {
  for (const auto& [key, value] : properties) {
    if (value.is_null()) continue;
    ASSIGN_OR_RETURN(const KeyId id, KeyOf(key, value));
    Put(id, value, changes);
    schema_.property_kinds.Note(label, id, value.kind());
  }
  return OkStatus();
}

// One that belongs here, of ranges that grow: others get none of them.
int64_t Transaction::TakeVertexId() {
  if (num_parts_ == 1) return numbers_->TakeVertexId();
  CHECK(part_ < num_partitions());
  constexpr int64_t kMostIds = 1024;
  while (true) {
    for (; next_id_ < end_of_ids_; ++next_id_) {
      if (OwnsPartition(PartitionOfId(Value::Long(next_id_)))) return next_id_++;
    }
    next_id_ = numbers_->TakeVertexIds(ids_at_once_);
    end_of_ids_ = next_id_ + ids_at_once_;
    ids_at_once_ = std::min(2 * ids_at_once_, kMostIds);
  }
}

StatusOr<Value> Transaction::NewVertexId(const std::optional<Value>& given) {
  std::vector<uint32_t> rows;
  std::vector<VertexRef> found;
  if (!given.has_value()) {
    while (true) {
      const Value id = Value::Long(TakeVertexId());
      rows.clear();
      RETURN_IF_ERROR(LookupExactVertices(std::span(&id, 1), &rows, &found));
      if (rows.empty()) return id;
    }
  }
  ASSIGN_OR_RETURN(const Value id, NormaliseId(*given));
  RETURN_IF_ERROR(LookupExactVertices(std::span(&id, 1), &rows, &found));
  if (!rows.empty()) return IdTaken("a vertex", id);
  if (id.kind() == ValueKind::kLong) numbers_->NoteVertexId(id.AsInteger());
  return id;
}

StatusOr<VertexRef> Transaction::AddVertex(std::string_view label, const std::optional<Value>& id,
                                           const PropertyList& properties) {
  RETURN_IF_ERROR(CheckName(label, "label"));
  OwnVertex vertex;
  ASSIGN_OR_RETURN(vertex.id, NewVertexId(id));
  vertex.assigned = !id.has_value();
  const uint32_t partition = PartitionOfId(vertex.id);
  std::string id_bytes = IdBytes(vertex.id);
  RETURN_IF_ERROR(Charge(2 * HeapOf(vertex.id) + BytesOfNew(label, schema_.labels)));
  vertex.ref = VertexRef::Make(partition, numbers_->TakeVertexLocal(partition));
  RETURN_IF_ERROR(MakeRoom(&own_vertices_));
  RETURN_IF_ERROR(MakeRoom(&own_vertex_of_, vertex.ref.bits));
  RETURN_IF_ERROR(MakeRoom(&own_vertex_ids_, id_bytes));
  RETURN_IF_ERROR(MakeRoom(&own_by_partition_[partition]));
  vertex.label = InternLabel(label);
  Changes changes;
  RETURN_IF_ERROR(SetAll(vertex.label, properties, &changes));
  // What could not be added has no changes, and no index looks at it.
  ASSIGN_OR_RETURN(Changes* const kept, ChangesOf(vertex.ref, &vertex_changes_));
  for (const auto& [key, value] : changes) {
    RETURN_IF_ERROR(NoteIndexed(vertex.ref, key));
  }
  *kept = std::move(changes);
  ++schema_.vertex_counts[vertex.label];
  own_vertex_of_.Emplace(vertex.ref.bits, own_vertices_.size());
  own_by_partition_[partition].EmplaceBack(vertex.ref);
  PutId(std::move(id_bytes), vertex.ref, &own_vertex_ids_);
  own_vertices_.EmplaceBack(vertex);
  has_changes_ = true;
  return vertex.ref;
}

StatusOr<EdgeRef> Transaction::AddEdge(VertexRef out, VertexRef in, std::string_view label,
                                       const std::optional<Value>& id,
                                       const PropertyList& properties) {
  RETURN_IF_ERROR(CheckName(label, "label"));
  RETURN_IF_ERROR(CheckAlive(out));
  RETURN_IF_ERROR(CheckAlive(in));
  if (id.has_value()) {
    std::vector<uint32_t> rows;
    std::vector<EdgeRef> found;
    RETURN_IF_ERROR(LookupEdges({&*id, 1}, &rows, &found));
    Column holder;
    if (!rows.empty()) RETURN_IF_ERROR(EdgeIds(found, &holder));
    // A string may have found the integer that it spells.
    if (!rows.empty() &&
        (holder.Get(0).kind() == ValueKind::kString) == (id->kind() == ValueKind::kString))
      return IdTaken("an edge", *id);
  }
  ASSIGN_OR_RETURN(const EdgeRef edge, AddEdgeAtOut(out, in, label, id, properties));
  RETURN_IF_ERROR(AddEdgeAtIn(edge));
  if (id.has_value()) RETURN_IF_ERROR(NoteEdgeId(edge, *id));
  return edge;
}

StatusOr<EdgeRef> Transaction::AddEdgeAtOut(VertexRef out, VertexRef in, std::string_view label,
                                            const std::optional<Value>& id,
                                            const PropertyList& properties) {
  RETURN_IF_ERROR(CheckName(label, "label"));
  RETURN_IF_ERROR(CheckAlive(out));
  OwnEdge edge;
  edge.assigned = !id.has_value();
  const uint32_t partition = out.partition();
  edge.ref = {VertexRef::Make(partition, numbers_->TakeEdgeLocal(partition)).bits, out, in};
  if (id.has_value()) {
    ASSIGN_OR_RETURN(edge.id, NormaliseId(*id));
  } else {
    edge.id = Value::Long(static_cast<int64_t>(edge.ref.id));
  }
  RETURN_IF_ERROR(Charge(HeapOf(edge.id) + BytesOfNew(label, schema_.labels)));
  RETURN_IF_ERROR(MakeRoom(&own_edges_));
  RETURN_IF_ERROR(MakeRoom(&own_edge_of_, edge.ref.id));
  RETURN_IF_ERROR(MakeRoom(&own_edges_by_partition_[partition]));
  edge.ref.label = InternLabel(label);
  Changes changes;
  RETURN_IF_ERROR(SetAll(edge.ref.label, properties, &changes));
  ASSIGN_OR_RETURN(Changes* const kept, ChangesOf(edge.ref.id, &edge_changes_));
  RETURN_IF_ERROR(AddEnd(out, Direction::kOut, edge.ref));
  *kept = std::move(changes);
  ++schema_.edge_counts[edge.ref.label];
  own_edge_of_.Emplace(edge.ref.id, own_edges_.size());
  own_edges_by_partition_[partition].EmplaceBack(edge.ref);
  own_edges_.EmplaceBack(edge);
  has_changes_ = true;
  return edge.ref;
}

Status Transaction::AddEnd(VertexRef vertex, Direction end, const EdgeRef& edge) {
  auto* own = own_ends_.Find(vertex.bits);
  if (own == nullptr) {
    RETURN_IF_ERROR(MakeRoom(&own_ends_, vertex.bits));
    own = &own_ends_.Emplace(vertex.bits, OwnEnds());
  }
  RETURN_IF_ERROR(koios::MakeRoom(&own->second.ends, 1, &room_));
  own->second.ends.emplace_back(end, edge);
  own->second.sorted = false;
  return OkStatus();
}

Status Transaction::AddEdgeAtIn(const EdgeRef& edge) {
  RETURN_IF_ERROR(CheckAlive(edge.in));
  return AddEnd(edge.in, Direction::kIn, edge);
}

// An id may be taken by who has it, or by who was assigned it as a number.
Status Transaction::NoteEdgeId(const EdgeRef& edge, const Value& given) {
  ASSIGN_OR_RETURN(const Value id, NormaliseId(given));
  std::vector<uint32_t> rows;
  std::vector<uint64_t> numbers;
  RETURN_IF_ERROR(LookupEdgeNumbers(std::span(&id, 1), &rows, &numbers));
  if (!rows.empty()) return IdTaken("an edge", id);
  std::string id_bytes = IdBytes(id);
  RETURN_IF_ERROR(Charge(HeapOf(id)));
  RETURN_IF_ERROR(MakeRoom(&own_edge_ids_, id_bytes));
  PutId(std::move(id_bytes), edge, &own_edge_ids_);
  return OkStatus();
}

Status Transaction::SetProperty(VertexRef vertex, std::string_view key, const Value& value) {
  RETURN_IF_ERROR(CheckAlive(vertex));
  ASSIGN_OR_RETURN(const KeyId id, KeyOf(key, value));
  RETURN_IF_ERROR(NoteIndexed(vertex, id));
  ASSIGN_OR_RETURN(Changes* const changes, ChangesOf(vertex, &vertex_changes_));
  Put(id, value, changes);
  has_changes_ = true;
  return OkStatus();
}

Status Transaction::SetProperty(const EdgeRef& edge, std::string_view key, const Value& value) {
  if (IsDropped(edge)) return Gone("edge");
  ASSIGN_OR_RETURN(const KeyId id, KeyOf(key, value));
  const bool is_new = FindOwnEdge(edge.id) == nullptr && !changed_edges_.Contains(edge.id);
  if (is_new) RETURN_IF_ERROR(MakeRoom(&changed_edges_, edge.id));
  ASSIGN_OR_RETURN(Changes* const changes, ChangesOf(edge.id, &edge_changes_));
  Put(id, value, changes);
  if (is_new) changed_edges_.Emplace(edge.id, edge);
  has_changes_ = true;
  return OkStatus();
}

Status Transaction::HideEdge(const EdgeRef& edge) {
  if (IsDropped(edge)) return OkStatus();
  RETURN_IF_ERROR(MakeRoom(&dropped_edges_, edge.id));
  dropped_edges_.Emplace(edge.id);
  if (OwnsPartition(edge.out.partition())) CountDown(edge.label, &schema_.edge_counts);
  return OkStatus();
}

Status Transaction::DropVertex(VertexRef vertex, DropCursor* cursor) {
  std::vector<EdgeRef> edges;
  return DropVertexHere(vertex, cursor, &edges);
}

Status Transaction::DropVertexHere(VertexRef vertex, DropCursor* cursor,
                                   std::vector<EdgeRef>* edges) {
  if (!cursor->begun) {
    cursor->begun = true;
    cursor->done = IsDropped(vertex);
    if (cursor->done) return OkStatus();
    RETURN_IF_ERROR(MakeRoom(&dropped_vertices_, vertex.bits));
    RETURN_IF_ERROR(MakeRoom(&stored_drops_));
    std::vector<LabelId> label;
    RETURN_IF_ERROR(VertexLabels(std::span(&vertex, 1), &label));
    dropped_vertices_.Emplace(vertex.bits);
    has_changes_ = true;
    CountDown(label[0], &schema_.vertex_counts);
    if (!IsOwn(vertex)) stored_drops_.EmplaceBack(vertex);
  }
  // A dropped vertex gets no more edges: the added ends stay in their order between calls.
  const auto* own = EndsOf(vertex);
  if (own != nullptr && cursor->next_own < own->size()) {
    const size_t end = std::min(own->size(), cursor->next_own + kChunk);
    for (; cursor->next_own < end; ++cursor->next_own) {
      edges->push_back((*own)[cursor->next_own].second);
      RETURN_IF_ERROR(HideEdge(edges->back()));
    }
    cursor->done = end == own->size() && IsOwn(vertex);
    return OkStatus();
  }
  cursor->done = IsOwn(vertex);
  if (cursor->done) return OkStatus();
  Expansion ends;
  RETURN_IF_ERROR(base_->Expand(std::span(&vertex, 1), Direction::kBoth, {}, true, &cursor->stored,
                                kChunk, &ends));
  for (const EdgeRef& edge : ends.edges) RETURN_IF_ERROR(HideEdge(edge));
  edges->insert(edges->end(), ends.edges.begin(), ends.edges.end());
  cursor->done = cursor->stored.done;
  return OkStatus();
}

Status Transaction::DropEdge(const EdgeRef& edge) {
  if (IsDropped(edge)) return OkStatus();
  RETURN_IF_ERROR(MakeRoom(&stored_edge_drops_));
  RETURN_IF_ERROR(HideEdge(edge));
  has_changes_ = true;
  if (FindOwnEdge(edge.id) == nullptr) stored_edge_drops_.EmplaceBack(edge);
  return OkStatus();
}

// ---- reading

Status Transaction::ScanVertices(uint32_t partition, std::span<const LabelId> labels,
                                 ScanCursor* cursor, size_t limit,
                                 std::vector<VertexRef>* out) const {
  const size_t full = FullSize(out->size(), limit);
  if (cursor->next_own == 0) {
    const auto begin = static_cast<std::ptrdiff_t>(out->size());
    RETURN_IF_ERROR(base_->ScanVertices(partition, labels, cursor, limit, out));
    if (!dropped_vertices_.empty()) {
      out->erase(std::remove_if(out->begin() + begin, out->end(),
                                [this](VertexRef v) { return IsDropped(v); }),
                 out->end());
    }
    if (!cursor->done) return OkStatus();
    cursor->done = false;
    cursor->next_own = 1;
  }
  const PagedList<VertexRef>& own = own_by_partition_[partition];
  for (size_t looked = 0; cursor->next_own <= own.size(); ++cursor->next_own, ++looked) {
    if (out->size() >= full || looked == kMostPassedOver) return OkStatus();
    const VertexRef vertex = own[cursor->next_own - 1];
    if (IsDropped(vertex) || !Wanted(FindOwn(vertex)->label, labels)) continue;
    out->push_back(vertex);
  }
  cursor->done = true;
  return OkStatus();
}

bool Transaction::IsChanged(VertexRef vertex, std::span<const KeyId> keys) const {
  const auto found = vertex_changes_.find(vertex);
  return found != vertex_changes_.end() && std::any_of(keys.begin(), keys.end(), [&](KeyId key) {
           return found->second.contains(key);
         });
}

Status Transaction::SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor,
                                 size_t limit, std::vector<VertexRef>* out) const {
  const size_t full = FullSize(out->size(), limit);
  auto begin = static_cast<std::ptrdiff_t>(out->size());
  const auto drop_if = [&](const auto& gone) {
    out->erase(std::remove_if(out->begin() + begin, out->end(), gone), out->end());
  };
  if (cursor->next_own == 0) {
    RETURN_IF_ERROR(base_->SeekVertices(partition, seek, cursor, limit, out));
    drop_if([&](VertexRef vertex) { return IsDropped(vertex) || IsChanged(vertex, seek.keys); });
    if (!cursor->done) return OkStatus();
    *cursor = {};
    cursor->next_own = 1;
    begin = static_cast<std::ptrdiff_t>(out->size());
    if (out->size() >= full) return OkStatus();
  }
  RETURN_IF_ERROR(own_index_.Refresh(*this, [this](int64_t bytes) {
    if (bytes >= 0) return Charge(static_cast<size_t>(bytes));
    GiveBack(static_cast<size_t>(-bytes));
    return OkStatus();
  }));
  own_index_.Seek(partition, seek, cursor, full - out->size(), out);
  // What changed in other properties only, the base has given.
  drop_if([&](VertexRef vertex) {
    return IsDropped(vertex) || !(IsOwn(vertex) || IsChanged(vertex, seek.keys));
  });
  return OkStatus();
}

Status Transaction::ScanEdges(uint32_t partition, std::span<const LabelId> labels,
                              ExpandCursor* cursor, size_t limit, std::vector<EdgeRef>* out) const {
  const size_t full = FullSize(out->size(), limit);
  if (cursor->next_own == 0) {
    const auto begin = static_cast<std::ptrdiff_t>(out->size());
    RETURN_IF_ERROR(base_->ScanEdges(partition, labels, cursor, limit, out));
    if (!dropped_edges_.empty()) {
      out->erase(std::remove_if(out->begin() + begin, out->end(),
                                [this](const EdgeRef& e) { return IsDropped(e); }),
                 out->end());
    }
    if (!cursor->done) return OkStatus();
    cursor->done = false;
    cursor->next_own = 1;
  }
  const PagedList<EdgeRef>& own = own_edges_by_partition_[partition];
  for (size_t looked = 0; cursor->next_own <= own.size(); ++cursor->next_own, ++looked) {
    if (out->size() >= full || looked == kMostPassedOver) return OkStatus();
    const EdgeRef& edge = own[cursor->next_own - 1];
    if (!IsDropped(edge) && Wanted(edge.label, labels)) out->push_back(edge);
  }
  cursor->done = true;
  return OkStatus();
}

Status Transaction::NoteLookedUp(std::span<const Value> ids) const {
  for (const Value& id : ids) {
    if (const std::optional<Value> normal = TryNormaliseId(id)) {
      std::string bytes = IdBytes(*normal);
      if (looked_up_.contains(bytes)) continue;
      RETURN_IF_ERROR(Charge(kLookedUpBytes + HeapOf(id)));
      looked_up_.insert(std::move(bytes));
    }
  }
  return OkStatus();
}

Status Transaction::LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                        std::vector<VertexRef>* out) const {
  RETURN_IF_ERROR(NoteLookedUp(ids));
  std::vector<uint32_t> stored_rows;
  std::vector<VertexRef> stored;
  RETURN_IF_ERROR(base_->LookupExactVertices(ids, &stored_rows, &stored));
  size_t next = 0;
  for (uint32_t row = 0; row < ids.size(); ++row) {
    std::optional<VertexRef> found;
    if (next < stored_rows.size() && stored_rows[next] == row) found = stored[next++];
    if (found && IsDropped(*found)) found.reset();
    if (!found && !own_vertex_ids_.empty()) {
      const std::optional<Value> id = TryNormaliseId(ids[row]);
      const auto* const own = id ? own_vertex_ids_.Find(IdBytes(*id)) : nullptr;
      if (own != nullptr && !IsDropped(own->second)) found = own->second;
    }
    if (!found) continue;
    rows->push_back(row);
    out->push_back(*found);
  }
  return OkStatus();
}

// Of a part: whether the edge was dropped is known where it is.
Status Transaction::LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                      std::vector<uint64_t>* numbers) const {
  std::vector<uint32_t> stored_rows;
  std::vector<uint64_t> stored;
  RETURN_IF_ERROR(base_->LookupEdgeNumbers(ids, &stored_rows, &stored));
  size_t next = 0;
  for (uint32_t row = 0; row < ids.size(); ++row) {
    std::optional<uint64_t> found;
    if (next < stored_rows.size() && stored_rows[next] == row) found = stored[next++];
    if (found && dropped_edges_.Contains(*found)) found.reset();
    if (!found && !own_edge_ids_.empty()) {
      const std::optional<Value> id = TryNormaliseId(ids[row]);
      const auto* const own = id ? own_edge_ids_.Find(IdBytes(*id)) : nullptr;
      if (own != nullptr && !IsDropped(own->second)) found = own->second.id;
    }
    if (!found) continue;
    rows->push_back(row);
    numbers->push_back(*found);
  }
  return OkStatus();
}

Status Transaction::EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                                   std::vector<EdgeRef>* out, std::vector<bool>* given) const {
  std::vector<uint32_t> stored_rows;
  std::vector<EdgeRef> stored;
  std::vector<bool> stored_given;
  RETURN_IF_ERROR(base_->EdgesOfNumbers(numbers, &stored_rows, &stored, &stored_given));
  size_t next = 0;
  for (uint32_t row = 0; row < numbers.size(); ++row) {
    const bool has_stored = next < stored_rows.size() && stored_rows[next] == row;
    const size_t at = has_stored ? next++ : next;
    const OwnEdge* const own = FindOwnEdge(numbers[row]);
    if (dropped_edges_.Contains(numbers[row])) continue;
    if (!has_stored && own == nullptr) continue;
    rows->push_back(row);
    out->push_back(has_stored ? stored[at] : own->ref);
    if (given == nullptr) continue;
    given->push_back(has_stored ? stored_given[at] : !own->assigned);
  }
  return OkStatus();
}

const std::vector<std::pair<Direction, EdgeRef>>* Transaction::EndsOf(VertexRef vertex) const {
  auto* const found = own_ends_.Find(vertex.bits);
  if (found == nullptr) return nullptr;
  OwnEnds& own = found->second;
  if (!own.sorted) {
    const auto order = [](const std::pair<Direction, EdgeRef>& end) {
      const VertexRef other = end.first == Direction::kOut ? end.second.in : end.second.out;
      return std::tuple(end.first, end.second.label, other, end.second.id);
    };
    std::sort(own.ends.begin(), own.ends.end(),
              [&](const auto& a, const auto& b) { return order(a) < order(b); });
    own.sorted = true;
  }
  return &own.ends;
}

Status Transaction::ExpandStored(std::span<const VertexRef> vertices, Direction direction,
                                 std::span<const LabelId> labels, bool want_edges,
                                 ExpandCursor* cursor, size_t limit, Expansion* out) const {
  if (dropped_edges_.empty()) {
    return base_->Expand(vertices, direction, labels, want_edges, cursor, limit, out);
  }
  Expansion all;
  RETURN_IF_ERROR(base_->Expand(vertices, direction, labels, true, cursor, limit, &all));
  for (size_t i = 0; i < all.rows.size(); ++i) {
    if (IsDropped(all.edges[i])) continue;
    out->rows.push_back(all.rows[i]);
    out->neighbours.push_back(all.neighbours[i]);
    if (want_edges) out->edges.push_back(all.edges[i]);
  }
  return OkStatus();
}

// Some of the added ends of the cursor's vertex; it moves to the next row behind the last.
void Transaction::ExpandOwn(VertexRef vertex, Direction direction, std::span<const LabelId> labels,
                            bool want_edges, ExpandCursor* cursor, size_t full,
                            Expansion* out) const {
  const std::vector<std::pair<Direction, EdgeRef>>& ends = *EndsOf(vertex);
  for (size_t looked = 0; cursor->next_own <= ends.size(); ++cursor->next_own, ++looked) {
    if (out->rows.size() >= full || looked == kMostOwn) return;
    const auto& [end, edge] = ends[cursor->next_own - 1];
    if (!Leads(end, direction) || !Wanted(edge.label, labels) || IsDropped(edge)) {
      continue;
    }
    out->rows.push_back(static_cast<uint32_t>(cursor->row));
    out->neighbours.push_back(end == Direction::kOut ? edge.in : edge.out);
    if (want_edges) out->edges.push_back(edge);
  }
  cursor->next_own = 0;
  ++cursor->row;
}

Status Transaction::Expand(std::span<const VertexRef> vertices, Direction direction,
                           std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                           size_t limit, Expansion* out) const {
  if (own_ends_.empty()) {
    return ExpandStored(vertices, direction, labels, want_edges, cursor, limit, out);
  }
  const size_t full = FullSize(out->rows.size(), limit);
  // Each round looks at no more ends than are asked for; dropped ones give nothing.
  constexpr int kMostRounds = 256;
  for (int round = 0; cursor->row < vertices.size(); ++round) {
    if (out->rows.size() >= full || round == kMostRounds) return OkStatus();
    if (cursor->next_own > 0) {
      ExpandOwn(vertices[cursor->row], direction, labels, want_edges, cursor, full, out);
      continue;
    }
    // The stored ends of a stretch of vertices without added ones, or of one that has some.
    const bool own = own_ends_.Contains(vertices[cursor->row].bits);
    size_t end = cursor->row + 1;
    while (!own && end < vertices.size() && !own_ends_.Contains(vertices[end].bits)) ++end;
    ExpandCursor stored{cursor->row, cursor->resume_key};
    RETURN_IF_ERROR(ExpandStored(vertices.first(end), direction, labels, want_edges, &stored,
                                 full - out->rows.size(), out));
    cursor->row = stored.row;
    cursor->resume_key = std::move(stored.resume_key);
    if (!stored.done) continue;
    cursor->row = own ? end - 1 : end;
    cursor->next_own = own ? 1 : 0;
    cursor->resume_key.clear();
  }
  cursor->done = true;
  return OkStatus();
}

Status Transaction::VertexLabels(std::span<const VertexRef> vertices,
                                 std::vector<LabelId>* out) const {
  const size_t begin = out->size();
  RETURN_IF_ERROR(base_->VertexLabels(vertices, out));
  for (size_t row = 0; row < vertices.size() && !own_vertices_.empty(); ++row) {
    const OwnVertex* const own = FindOwn(vertices[row]);
    if (own != nullptr) (*out)[begin + row] = own->label;
  }
  return OkStatus();
}

Status Transaction::VertexIds(std::span<const VertexRef> vertices, Column* out) const {
  if (own_vertices_.empty()) return base_->VertexIds(vertices, out);
  Column stored;
  RETURN_IF_ERROR(base_->VertexIds(vertices, &stored));
  for (size_t row = 0; row < vertices.size(); ++row) {
    const OwnVertex* const own = FindOwn(vertices[row]);
    if (own != nullptr) {
      out->Append(own->id);
    } else {
      out->AppendFrom(stored, row);
    }
  }
  return OkStatus();
}

Status Transaction::EdgeIds(std::span<const EdgeRef> edges, Column* out) const {
  if (own_edges_.empty()) return base_->EdgeIds(edges, out);
  Column stored;
  RETURN_IF_ERROR(base_->EdgeIds(edges, &stored));
  for (size_t row = 0; row < edges.size(); ++row) {
    const OwnEdge* const own = FindOwnEdge(edges[row].id);
    if (own != nullptr) {
      out->Append(own->id);
    } else {
      out->AppendFrom(stored, row);
    }
  }
  return OkStatus();
}

}  // namespace koios::storage
