// BulkWriter: loads sorted records into a graph as finished files, past the commit path,
// atomically. The order of calls:
//   1. BulkWriter::Create(folder of a new graph) or BulkWriter::Append(store).
//   2. While reading input, from any thread: InternLabel, InternKey, AssignVertex, AssignEdge; then
//      EncodeVertex and EncodeEdge (codec/records.h) give the records (family, key, value).
//   3. The caller sorts records by (family, key bytes), e.g. with an external sort.
//   4. OpenStream(family) once or several times, Add in ascending order, Close. Streams of one
//      family must cover ranges that don't overlap (say, one per partition). A stream belongs to
//      one thread; different streams may run in parallel. Counts per label and property kinds are
//      taken from the records that pass.
//   5. Finish. Until then nothing is visible; a writer that is destroyed before (or a process that
//      dies) leaves the graph as it was.
// Rule: the caller has resolved ids: both ends of each edge exist, no id appears twice. An id that
// is twice in the load, or is an id that the load assigned, is ALREADY_EXISTS from Add or Finish;
// ids that exist in the graph appended to must be looked up by the caller first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/types.h"
#include "core/value.h"
#include "storage/codec/keys.h"
#include "storage/codec/records.h"
#include "storage/rocks/graph_store.h"
#include "storage/snapshot/snapshot_builder.h"

namespace koios::storage {

// What a finished load holds, labels by name.
struct BulkSummary {
  uint64_t version = 0;
  std::map<std::string, uint64_t> vertices;
  std::map<std::string, uint64_t> edges;
  uint32_t snapshot_files = 0;  // of the load's own snapshot; 0: it has none
  uint64_t snapshot_bytes = 0;
};

// A sorted run of records of one family on its way into files.
class BulkStream {
 public:
  virtual ~BulkStream() = default;
  // ALREADY_EXISTS for the key before, FAILED_PRECONDITION for a smaller one.
  virtual Status Add(std::string_view key, std::string_view value) = 0;
  // No Add after it. A stream destroyed without Close fails the writer's Finish.
  virtual Status Close() = 0;
};

class BulkWriter {
 public:
  // Into a new graph at `path`: a folder from DataFolder::StageGraph (or one that does not exist).
  // After Finish the graph is complete and closed; DataFolder::PublishGraph makes it visible.
  static StatusOr<std::unique_ptr<BulkWriter>> Create(const std::string& path,
                                                      const StoreOptions& options);
  // Into an open graph. Commits are refused with FAILED_PRECONDITION until this writer is gone;
  // reads go on. Finish ingests all files and the new version in one atomic step of RocksDB, and
  // publishes the view. REQUIRES: `store` outlives the writer.
  static StatusOr<std::unique_ptr<BulkWriter>> Append(GraphStore* store);

  virtual ~BulkWriter() = default;

  virtual uint32_t num_partitions() const = 0;

  // Any thread. RESOURCE_EXHAUSTED past the number of names or their length.
  virtual StatusOr<LabelId> InternLabel(std::string_view name) = 0;
  virtual StatusOr<KeyId> InternKey(std::string_view name) = 0;
  // From now on the store can seek vertices of the label by the property. False when the graph that
  // is appended to has vertices of the label that are not indexed, or as many indexes as there may
  // be; then nothing changes. Before any OpenStream.
  virtual bool IndexVertices(LabelId label, KeyId key) = 0;
  // All that the load must fill, those of the graph that is appended to as well: the caller adds
  // the entries of the load's vertices (codec/index_entry.h).
  virtual VertexIndexes vertex_indexes() const = 0;
  // The next reference in the partition of a normalised id (codec/element_id.h). Any thread.
  virtual VertexRef AssignVertex(const Value& id) = 0;
  // The next `count` local numbers of a partition, for vertices whose ids are in it: the first one.
  // Integers among their ids are told to NoteVertexId, all of them or the largest. Any thread.
  virtual uint64_t AssignVertices(uint32_t partition, uint64_t count) = 0;
  virtual void NoteVertexId(int64_t id) = 0;
  // An id for a vertex without one: past all integer ids that were assigned to, noted, or are in
  // the graph.
  // Give the vertices that have ids theirs first.
  virtual Value AssignVertexId() = 0;
  // The number of an edge in the partition of its out vertex; its id as well unless the user gave
  // one, which `has_id` tells. Any thread.
  virtual uint64_t AssignEdge(VertexRef out, bool has_id) = 0;

  // REQUIRES: family is not kMeta. Any thread.
  virtual StatusOr<std::unique_ptr<BulkStream>> OpenStream(Family family) = 0;

  // The snapshot of a partition of a new graph, which the caller fills and finishes. Any thread.
  // Streams of edges are closed by then: they tell which labels have properties.
  // FAILED_PRECONDITION: the graph is appended to.
  virtual StatusOr<std::unique_ptr<SnapshotBuilder>> OpenSnapshot(uint32_t partition,
                                                                  size_t budget_bytes) = 0;
  // Once each partition has one they count, from Finish on; else none does. Any thread.
  virtual void AddSnapshot(uint32_t partition, const BuiltSnapshot& built) = 0;

  // REQUIRES: all streams are closed. Once.
  virtual StatusOr<BulkSummary> Finish() = 0;
};

}  // namespace koios::storage
