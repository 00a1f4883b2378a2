// Transaction: what one mutating request reads and writes. It is a view: its base with its own
// changes on top, so that the request sees what it wrote. Elements get their final references and
// ids when they are added; nothing of it is in the graph until the batch is committed.
// Belongs to one thread at a time. A scan or expansion must not be under way while it changes.
// Where workers read their own partitions only, each has a part of it, with the changes to those:
// an edge has its two ends in two parts.
// It differs from other views in two points: the edge ends that it added come behind a vertex's
// stored ones, and ids and labels of elements that it dropped can still be read.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/memory.h"
#include "core/memory/charged_growth.h"
#include "core/memory/paged_list.h"
#include "core/memory/parted_table.h"
#include "core/schema.h"
#include "storage/commit_limits.h"
#include "storage/commit_record.h"
#include "storage/graph_view.h"
#include "storage/index/own_index.h"
#include "storage/numbers.h"
#include "storage/transaction/shared_names.h"
#include "storage/write_batch.h"

namespace koios::storage {

class Transaction final : public GraphView {
 public:
  // `max_value_bytes`: of one property, and of all, as the store that it will be committed to has
  // them.
  Transaction(std::shared_ptr<const GraphView> base, std::shared_ptr<Numbers> numbers,
              size_t max_value_bytes = kMaxValueBytes,
              size_t max_commit_bytes = std::numeric_limits<size_t>::max());
  ~Transaction() override { ChargeTo(nullptr); }

  // What it keeps is charged here, before it is kept, and given back at its end; null: nowhere. All
  // that may grow is RESOURCE_EXHAUSTED when the account refuses.
  void ChargeTo(std::shared_ptr<MemoryAccount> account);

  // ---- Changes. INVALID_ARGUMENT for names, ids and values that can't be stored;
  // FAILED_PRECONDITION for an element that this transaction has dropped.
  // ALREADY_EXISTS: the id is taken. Null values are no properties; of equal keys the last counts.
  StatusOr<VertexRef> AddVertex(std::string_view label, const std::optional<Value>& id,
                                const PropertyList& properties);
  StatusOr<EdgeRef> AddEdge(VertexRef out, VertexRef in, std::string_view label,
                            const std::optional<Value>& id, const PropertyList& properties);
  // Null removes the property.
  Status SetProperty(VertexRef vertex, std::string_view key, const Value& value);
  Status SetProperty(const EdgeRef& edge, std::string_view key, const Value& value);
  // With all its edges, some of them per call: again with the same cursor until that is done. What
  // is dropped already stays so.
  struct DropCursor {
    bool begun = false;
    size_t next_own = 0;  // of the added edge ends
    ExpandCursor stored;
    bool done = false;
  };
  Status DropVertex(VertexRef vertex, DropCursor* cursor);
  Status DropEdge(const EdgeRef& edge);
  // What this request adds rests on what it found, or did not find, by this look-up.
  Status GuardLookup(LookupGuard guard);
  // Likewise by a look at the edges of a vertex, of these labels (empty: all), to all neighbours or
  // to the one; or by a scan of all vertices or edges of these labels.
  Status GuardAdjacency(VertexRef vertex, Direction direction, std::span<const std::string> labels,
                        std::optional<VertexRef> neighbour);
  Status GuardVertexScan(std::span<const std::string> labels);
  Status GuardEdgeScan(std::span<const std::string> labels);

  // A name that may yet be written gets its number now.
  LabelId KnowLabel(std::string_view name) { return InternLabel(name); }
  KeyId KnowKey(std::string_view name) { return InternKey(name); }

  // ---- Parts. One for each base, worker by worker: what reads the partitions of that number
  // modulo how many there are. Nothing is changed here before they are absorbed. A part that has no
  // partition has no id to give to a vertex.
  const std::shared_ptr<const GraphView>& base() const { return base_; }
  std::vector<std::shared_ptr<Transaction>> Split(
      std::span<const std::shared_ptr<const GraphView>> bases);
  // Takes what the parts have, with what was charged for it. REQUIRES: nobody uses them any more.
  void Absorb(std::span<const std::shared_ptr<Transaction>> parts);
  // What AddEdge does, in the part of the out vertex (who has an id to give has it noted then), of
  // the in vertex, and where the given id is.
  StatusOr<EdgeRef> AddEdgeAtOut(VertexRef out, VertexRef in, std::string_view label,
                                 const std::optional<Value>& id, const PropertyList& properties);
  Status AddEdgeAtIn(const EdgeRef& edge);
  Status NoteEdgeId(const EdgeRef& edge, const Value& id);
  // As DropVertex, in its part: `edges` gets its edges, which are hidden here, and are to be hidden
  // in the parts of their ends.
  Status DropVertexHere(VertexRef vertex, DropCursor* cursor, std::vector<EdgeRef>* edges);
  Status HideEdge(const EdgeRef& edge);

  bool has_changes() const { return has_changes_; }
  // Bytes kept, as they are charged.
  size_t ByteSize() const { return bytes_; }
  // What to commit. As a record, which takes reading what was changed, it is this attempt of the
  // request: one by itself unless SetRequest says which.
  void SetRequest(const RequestId& request, uint32_t attempt) {
    request_ = request;
    attempt_ = attempt;
  }
  WriteBatch TakeBatch();
  StatusOr<CommitRecord> TakeCommit(const CommitWatch& watch);

  // ---- Reading.
  uint64_t version() const override { return base_->version(); }
  uint32_t num_partitions() const override { return base_->num_partitions(); }
  const Schema& schema() const override {
    if (names_ != nullptr) names_->CatchUp(&schema_);
    return schema_;
  }
  uint32_t PartitionOfId(const Value& id) const override { return base_->PartitionOfId(id); }
  Status ScanVertices(uint32_t partition, std::span<const LabelId> labels, ScanCursor* cursor,
                      size_t limit, std::vector<VertexRef>* out) const override;
  Status ScanEdges(uint32_t partition, std::span<const LabelId> labels, ExpandCursor* cursor,
                   size_t limit, std::vector<EdgeRef>* out) const override;
  Status SeekVertices(uint32_t partition, const VertexSeek& seek, SeekCursor* cursor, size_t limit,
                      std::vector<VertexRef>* out) const override;
  Status LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                             std::vector<VertexRef>* out) const override;
  Status LookupEdgeNumbers(std::span<const Value> ids, std::vector<uint32_t>* rows,
                           std::vector<uint64_t>* numbers) const override;
  Status EdgesOfNumbers(std::span<const uint64_t> numbers, std::vector<uint32_t>* rows,
                        std::vector<EdgeRef>* out, std::vector<bool>* given) const override;
  Status Expand(std::span<const VertexRef> vertices, Direction direction,
                std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                size_t limit, Expansion* out) const override;
  Status CountEnds(std::span<const VertexRef> vertices, Direction direction,
                   std::span<const LabelId> labels, DegreeCursor* cursor, size_t limit,
                   std::vector<int64_t>* out) const override;
  Status CountBetween(const VertexPairs& pairs, Direction direction,
                      std::span<const LabelId> labels, int64_t enough, BetweenCursor* cursor,
                      size_t limit, std::vector<int64_t>* out) const override;
  Status VertexLabels(std::span<const VertexRef> vertices,
                      std::vector<LabelId>* out) const override;
  Status VertexIds(std::span<const VertexRef> vertices, Column* out) const override;
  Status EdgeIds(std::span<const EdgeRef> edges, Column* out) const override;
  Status ReadVertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                              ReadBudget* budget, PropertyRows* out) const override;
  Status ReadEdgeProperties(std::span<const EdgeRef> edges, std::span<const KeyId> keys,
                            ReadBudget* budget, PropertyRows* out) const override;

 private:
  using Changes = std::map<KeyId, Value>;                        // null: removed
  using NumberSet = PartedTable<absl::flat_hash_set<uint64_t>>;  // of references
  template <typename T>
  using NumberMap = PartedTable<absl::flat_hash_map<uint64_t, T>>;
  template <typename T>
  using IdMap = PartedTable<absl::flat_hash_map<std::string, T>>;  // by id bytes
  // What tables and lists charge (core/memory/charged_growth.h).
  struct Room {
    Status Take(int64_t bytes) { return of->Charge(static_cast<size_t>(bytes)); }
    void Return(int64_t bytes) { of->GiveBack(static_cast<size_t>(bytes)); }
    const Transaction* const of;
  };
  struct OwnVertex {
    VertexRef ref;
    LabelId label = kNoName;
    Value id;
    bool assigned = false;
  };
  struct OwnEdge {
    EdgeRef ref;
    Value id;
    bool assigned = false;
  };
  // The ends of added edges at one vertex, in the order of Expand once `sorted`.
  struct OwnEnds {
    std::vector<std::pair<Direction, EdgeRef>> ends;
    bool sorted = false;
  };

  LabelId InternLabel(std::string_view name);
  KeyId InternKey(std::string_view name);
  bool OwnsPartition(uint32_t partition) const { return partition % num_parts_ == part_; }
  int64_t TakeVertexId();
  Status NoteLookedUp(std::span<const Value> ids) const;
  void AbsorbSchema(Transaction* part);
  void AbsorbOne(Transaction* part);
  bool IsOwn(VertexRef vertex) const { return own_vertex_of_.Contains(vertex.bits); }
  bool IsDropped(VertexRef vertex) const { return dropped_vertices_.Contains(vertex.bits); }
  bool IsDropped(const EdgeRef& edge) const { return dropped_edges_.Contains(edge.id); }
  // nullptr: it was not added here.
  const OwnVertex* FindOwn(VertexRef vertex) const {
    const auto* const found = own_vertex_of_.Find(vertex.bits);
    return found == nullptr ? nullptr : &own_vertices_[found->second];
  }
  const OwnEdge* FindOwnEdge(uint64_t number) const {
    const auto* const found = own_edge_of_.Find(number);
    return found == nullptr ? nullptr : &own_edges_[found->second];
  }
  StatusOr<Value> NewVertexId(const std::optional<Value>& given);
  StatusOr<KeyId> KeyOf(std::string_view key, const Value& value);
  void Put(KeyId key, const Value& value, Changes* changes) const;
  Status CheckAlive(VertexRef vertex) const;
  Status NoteIndexed(VertexRef vertex, KeyId key);
  // Whether this transaction set or removed one of the properties of a vertex.
  bool IsChanged(VertexRef vertex, std::span<const KeyId> keys) const;
  Status AddEnd(VertexRef vertex, Direction end, const EdgeRef& edge);
  Status SetAll(LabelId label, const PropertyList& properties, Changes* changes);
  Status AddGuardKey(uint64_t key);
  Status Charge(size_t bytes) const;
  void GiveBack(size_t bytes) const;
  // For one more, in a table or at the end of a list. They grow in pieces: one of a million entries
  // would keep a worker for tens of milliseconds each time that it doubles.
  template <typename Table, typename Key>
  Status MakeRoom(PartedTable<Table>* table, const Key& key) {
    return table->MakeRoom(key, &room_).status();
  }
  template <typename T>
  Status MakeRoom(PagedList<T>* list) {
    return list->MakeRoom(&room_);
  }
  // Of an element that may have none yet.
  template <typename Element>
  StatusOr<Changes*> ChangesOf(const Element& element, std::map<Element, Changes>* all) const;
  int64_t RoomOfTables() const;
  const std::vector<std::pair<Direction, EdgeRef>>* EndsOf(VertexRef vertex) const;
  Status ExpandStored(std::span<const VertexRef> vertices, Direction direction,
                      std::span<const LabelId> labels, bool want_edges, ExpandCursor* cursor,
                      size_t limit, Expansion* out) const;
  void ExpandOwn(VertexRef vertex, Direction direction, std::span<const LabelId> labels,
                 bool want_edges, ExpandCursor* cursor, size_t limit, Expansion* out) const;
  StatusOr<bool> CountLeft(VertexRef vertex, VertexRef neighbour, Direction direction,
                           std::span<const LabelId> labels, BetweenCursor* cursor,
                           size_t* limit) const;
  int64_t CountOwn(VertexRef vertex, VertexRef neighbour, Direction direction,
                   std::span<const LabelId> labels, int64_t enough) const;
  template <typename ElementOf>
  static Status MergeProperties(const PropertyRows& stored, size_t rows, ElementOf changes_of,
                                std::span<const KeyId> keys, ReadBudget* budget, PropertyRows* out);
  PropertyList ListOf(const Changes& changes) const;
  size_t BytesOfList(const Changes& changes) const;
  size_t BatchBytes() const;

  const std::shared_ptr<const GraphView> base_;
  const std::shared_ptr<Numbers> numbers_;
  const size_t max_value_bytes_, max_commit_bytes_;
  std::shared_ptr<MemoryAccount> account_;
  RequestId request_;
  uint32_t attempt_ = 0;
  uint32_t part_ = 0, num_parts_ = 1;
  std::shared_ptr<SharedNames> names_;    // of parts
  int64_t next_id_ = 0, end_of_ids_ = 0;  // taken and not used yet
  int64_t ids_at_once_ = 1;
  mutable Schema schema_;     // the base's, with the names that are new
  mutable size_t bytes_ = 0;  // look-ups are remembered too
  Room room_{this};
  bool has_changes_ = false;

  PagedList<OwnVertex> own_vertices_;
  PagedList<OwnEdge> own_edges_;
  NumberMap<size_t> own_vertex_of_, own_edge_of_;  // where in these
  std::vector<PagedList<VertexRef>> own_by_partition_;
  std::vector<PagedList<EdgeRef>> own_edges_by_partition_;
  IdMap<VertexRef> own_vertex_ids_;
  IdMap<EdgeRef> own_edge_ids_;
  mutable NumberMap<OwnEnds> own_ends_;  // of a vertex; sorted when read
  std::map<VertexRef, Changes> vertex_changes_;
  std::map<uint64_t, Changes> edge_changes_;
  NumberMap<EdgeRef> changed_edges_;            // stored ones
  mutable OwnIndex own_index_;                  // made when it is asked
  NumberSet dropped_vertices_, dropped_edges_;  // own ones too
  PagedList<VertexRef> stored_drops_;           // to commit
  PagedList<EdgeRef> stored_edge_drops_;
  PagedList<LookupGuard> lookup_guards_;
  absl::flat_hash_set<uint64_t> guard_keys_;
  mutable std::set<std::string> looked_up_;  // id bytes, as long as they fit
};

}  // namespace koios::storage
