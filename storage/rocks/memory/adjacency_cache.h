// AdjacencyPool: decoded edge ends of vertices, bounded in bytes; the oldest that were not used
// since they were last looked at go first (second chance). Shared by the graphs of a process.
// AdjacencyCache: one graph's share of it. Shared by all views of a store, any thread. An entry was
// read at one version and serves every view between which and that version its vertex did not
// change: commits stamp what they touch before they are published, and a stamp newer than the entry
// or the view makes them miss.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/types.h"

namespace koios::storage {

// The ends of one vertex in one direction, of one label or of all (kNoName), in order of label,
// neighbour, edge id. Immutable once cached.
struct Adjacency {
  struct Run {
    LabelId label = kNoName;
    uint32_t begin = 0;
  };
  std::vector<Run> runs;
  std::vector<VertexRef> neighbours;
  std::vector<uint64_t> edge_ids;
  bool too_large = false;  // not kept; read the store

  void Append(LabelId label, VertexRef neighbour, uint64_t edge_id);
  // Index of the first end after (label, neighbour, edge id).
  size_t After(LabelId label, VertexRef neighbour, uint64_t edge_id) const;
  size_t RunEnd(size_t run) const {
    return run + 1 < runs.size() ? runs[run + 1].begin : neighbours.size();
  }
  size_t ByteSize() const;
};

struct AdjacencyKey {
  VertexRef vertex;
  Direction direction = Direction::kOut;
  LabelId label = kNoName;
  uint32_t store = 0;  // whose vertex it is; set by the cache
  bool operator==(const AdjacencyKey&) const = default;
};

class AdjacencyPool {
 public:
  explicit AdjacencyPool(size_t max_bytes);
  ~AdjacencyPool();
  size_t ByteSize() const;

 private:
  friend class AdjacencyCache;
  static constexpr size_t kNumShards = 16;

  struct Shard;
  static size_t ShardIndex(const AdjacencyKey& key);
  // Of one store.
  size_t ByteSizeOf(uint32_t store) const;
  void Erase(uint32_t store);

  size_t max_shard_bytes_;
  size_t max_ends_;
  std::unique_ptr<Shard[]> shards_;
  std::atomic<uint32_t> next_store_{0};
};

class AdjacencyCache {
 public:
  explicit AdjacencyCache(std::shared_ptr<AdjacencyPool> pool);
  ~AdjacencyCache();

  // Ends of an entry may be at most this many.
  size_t max_ends() const { return pool_->max_ends_; }
  // Null: not there, or not valid at `view_version`.
  std::shared_ptr<const Adjacency> Find(const AdjacencyKey& key, uint64_t view_version);
  // The same for many vertices, in their order; the waits for memory overlap.
  void FindAll(std::span<const VertexRef> vertices, Direction direction, LabelId label,
               uint64_t view_version, std::vector<std::shared_ptr<const Adjacency>>* found);
  void Insert(const AdjacencyKey& key, uint64_t view_version,
              std::shared_ptr<const Adjacency> adjacency);
  // The commit that becomes `version` changes the vertex's ends. REQUIRES: before that version is
  // published, by one thread at a time.
  void Touch(VertexRef vertex, uint64_t version);
  void TouchAll(uint64_t version);

  size_t ByteSize() const;  // of this graph

 private:
  static constexpr size_t kNumStamps = size_t{1} << 16;

  std::atomic<uint64_t>& StampOf(VertexRef vertex);

  const std::shared_ptr<AdjacencyPool> pool_;
  const uint32_t store_;
  std::vector<std::atomic<uint64_t>> stamps_;  // last change, by hash of the vertex
};

}  // namespace koios::storage
