// CommitBuilder: turns one CommitRecord into effects. Decides first (conflict/commit_decision.h);
// then reads what it changes and drops, with what earlier commits of the same group wrote, and
// applies, which can't fail. So a record that is refused leaves no trace but numbers that stay
// unused. Belongs to the thread that leads a group of commits.
#pragma once

#include <rocksdb/utilities/write_batch_with_index.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"
#include "storage/codec/records.h"
#include "storage/commit_record.h"
#include "storage/conflict/conflict_window.h"
#include "storage/delta/delta_record.h"
#include "storage/meta_state.h"
#include "storage/numbers.h"
#include "storage/rocks/database.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

// What the commits of one group share.
struct CommitGroup {
  const Database* database = nullptr;
  const StoreOptions* options = nullptr;
  ConflictWindow* window = nullptr;
  const ConflictTurns* turns = nullptr;
  Numbers* numbers = nullptr;
  MetaState* meta = nullptr;  // the state after the commits so far
  rocksdb::WriteBatchWithIndex* effects = nullptr;
  DeltaRecord* record = nullptr;  // what they changed
  // The last one was so large that its effects are not indexed: none can follow in this group.
  bool is_full = false;
};

class CommitBuilder {
 public:
  // `refused`: what ends the commit unless a conflict does.
  CommitBuilder(CommitGroup* group, CommitRecord* record, const Status& refused,
                const CommitWatch& watch, CommitTurn* turn)
      : group_(*group), batch_(*record), refused_(refused), watch_(watch), turn_(turn) {}

  // Once. On success the group's meta is at the commit's version.
  StatusOr<CommitResult> Run();

 private:
  // An element of the graph that the batch changes or drops.
  struct StoredVertex {
    LabelId label = kNoName;
    std::string id_bytes;
    KeyedProperties properties;           // not of one that is dropped
    std::vector<std::string> index_keys;  // before the changes
  };
  struct StoredEdge {
    EdgeRef edge;
    std::string id_bytes;        // empty: assigned
    KeyedProperties properties;  // not of one that is dropped
  };
  using Changes = std::map<std::string, std::optional<Value>>;  // by key; none: removed

  // Deciding.
  Status CheckNames() const;
  // The answer: as which version. Labels of edges are as far as the graph knows them.
  void Answer(uint64_t version);
  void GatherChanges();
  Status LoadDropped();
  Status LoadDroppedVertices();
  Status LoadDroppedEdges(const std::vector<uint64_t>& edges);
  Status NoteDroppedEdge(uint64_t id, std::string_view bytes);
  Status LoadChanged();
  Status LoadChangedVertices();
  Status LoadChangedEdges();
  // Of properties that are stored what stays, which the commit holds: a record is written whole,
  // whatever is changed of it. RESOURCE_EXHAUSTED where that is too much, unless it is one element
  // that becomes less.
  Status Keep(const Changes& changes, KeyedProperties* properties);
  VertexRef Resolve(const VertexHandle& handle) const;
  bool IsDropped(VertexRef vertex) const;
  Status CheckNumbers() const;
  void NoteNumbers();

  // Applying.
  bool IsLarge() const;
  void ApplyDrops();
  void ApplyAdded();
  void ApplyChanges();
  // Its entries in the indexes of vertices, those that are being built included.
  std::vector<std::string> IndexKeys(VertexRef vertex, const StoredVertex& stored) const;
  KeyedProperties Intern(LabelId label, const PropertyList& properties);
  void Set(LabelId label, const Changes& changes, KeyedProperties* properties);
  void NoteAdded(const FamilyRecord& record);
  void Put(Family family, const std::string& key, const std::string& value);
  void Delete(Family family, const std::string& key);

  // Reads what is stored, with the group's effects. ForEachStored: use(i, bytes) for those of
  // `keys` that are there; they ascend.
  Status ForEachStored(Family family, const std::vector<std::string>& keys,
                       const std::function<Status(size_t, std::string_view)>& use);
  static StatusOr<StoredVertex> DecodeVertex(std::string_view bytes);
  static StatusOr<StoredEdge> DecodeEdge(uint64_t edge_id, std::string_view bytes);

  CommitGroup& group_;
  CommitRecord& batch_;
  const Status& refused_;
  const CommitWatch& watch_;
  CommitTurn* const turn_;
  CommitResult result_;
  std::map<VertexRef, StoredVertex> dropped_vertices_, changed_vertices_;
  std::map<uint64_t, StoredEdge> dropped_edges_, changed_edges_;
  std::map<VertexRef, Changes> vertex_changes_;
  std::map<uint64_t, Changes> edge_changes_;
  size_t held_bytes_ = 0;
};

}  // namespace koios::storage
