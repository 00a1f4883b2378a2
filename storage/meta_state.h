// MetaState: what a graph knows of itself, in memory: version, names, counts, kinds of properties,
// next numbers. A writer works on a copy, changes it through these methods, and writes the facts
// that changed (TakeChanges) in the same batch as the effects; the copy then becomes the graph's
// state. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.h"
#include "core/status.h"
#include "core/types.h"
#include "storage/codec/keys.h"
#include "storage/codec/meta_codec.h"
#include "storage/snapshot/format.h"

namespace koios::storage {

inline constexpr size_t kMaxNameBytes = 4096;
inline constexpr uint64_t kFirstVertexLocal = 1;
// Numbers of edges start here, so that ids assigned to edges don't meet the small ids that users
// give (the meeting is checked all the same).
inline constexpr uint64_t kFirstEdgeLocal = uint64_t{1} << 40;

// The snapshot of a partition: the version that it is of, and its files, the newest first. Those
// that are named tell what the graph was at the start of the log of commits.
struct NamedSnapshot {
  uint64_t version = 0;
  std::vector<SnapshotFileName> files;
  bool operator==(const NamedSnapshot&) const = default;
};
using NamedSnapshots = std::map<uint32_t, NamedSnapshot>;  // by partition

class MetaState {
 public:
  MetaState() = default;
  // Of a new graph: version 0; everything counts as changed.
  explicit MetaState(uint32_t num_partitions);
  // Takes one entry read from the store; DATA_LOSS when damaged, FAILED_PRECONDITION for a newer
  // format.
  Status Load(std::string_view key, std::string_view value);
  // After the last Load: everything that must be there was.
  Status FinishLoad() const;

  uint64_t version() const { return version_; }
  uint32_t num_partitions() const { return num_partitions_; }
  const Schema& schema() const { return schema_; }
  int64_t next_vertex_id() const { return next_vertex_id_; }
  uint64_t next_vertex_local(uint32_t partition) const { return next_vertex_local_[partition]; }
  uint64_t next_edge_local(uint32_t partition) const { return next_edge_local_[partition]; }
  const NamedSnapshots& snapshots() const { return snapshots_; }
  // nullopt: the graph is of an older format, and its commits were not logged.
  std::optional<uint64_t> log_start() const { return log_start_; }

  void SetVersion(uint64_t version);
  // INVALID_ARGUMENT for an empty name, RESOURCE_EXHAUSTED past kMaxNameBytes or `max_names`.
  StatusOr<LabelId> InternLabel(std::string_view name, uint32_t max_names);
  StatusOr<KeyId> InternKey(std::string_view name, uint32_t max_names);
  // A value of this kind was stored: remembers the kind, or that kinds are mixed.
  void NoteProperty(LabelId label, KeyId key, ValueKind kind);
  // A new one, with a number that none had before. It may be ready when there are no vertices of
  // the label. RESOURCE_EXHAUSTED past kMaxIndexes.
  StatusOr<IndexId> AddVertexIndex(VertexIndex index);
  // Replaces one that is there.
  void SetVertexIndex(IndexId id, VertexIndex index);
  void DropVertexIndex(IndexId id);
  // What a graph of an older format has instead: nobody asks it.
  const std::set<std::pair<LabelId, KeyId>>& hashed_indexes() const { return hashed_indexes_; }
  void ForgetHashedIndexes() { hashed_indexes_.clear(); }
  void AddVertices(LabelId label, int64_t delta);
  void AddEdges(LabelId label, int64_t delta);
  void SetNextLocals(uint32_t partition, uint64_t next_vertex, uint64_t next_edge);
  // This id was given or assigned: the next one to assign is above it.
  void NoteVertexId(int64_t id);
  // One without files: the partition has none any more.
  void SetSnapshot(uint32_t partition, NamedSnapshot snapshot);
  void SetLogStart(uint64_t version);
  // What was logged and named so far says nothing of the graph at this version.
  void RestartLog(uint64_t version);

  // Calls back with each fact that changed since the last call, in key order.
  void TakeChanges(const std::function<void(std::string_view key, std::string_view value)>& write);

 private:
  Status LoadSnapshot(uint32_t partition, std::string_view value);
  Status LoadVertexIndex(IndexId id, std::string_view value);
  void Changed(MetaKind kind, uint32_t first = 0, uint32_t second = 0);
  std::string ValueOf(const MetaKey& key) const;

  uint64_t version_ = 0;
  uint32_t num_partitions_ = 0;
  int64_t next_vertex_id_ = 0;
  std::vector<uint64_t> next_vertex_local_;
  std::vector<uint64_t> next_edge_local_;
  Schema schema_;
  IndexId next_index_ = kFirstIndexId;
  std::set<std::pair<LabelId, KeyId>> hashed_indexes_;
  NamedSnapshots snapshots_;
  std::optional<uint64_t> log_start_;
  std::set<std::string> changed_;  // encoded keys
};

}  // namespace koios::storage
