#include "storage/rocks/adjacency_cache.h"

#include <algorithm>
#include <utility>

namespace koios::storage {
namespace {

// What an entry costs beside its ends: list node, index node, control blocks.
constexpr size_t kEntryOverhead = 256;

uint64_t Mix(uint64_t v) {
  v ^= v >> 32;
  v *= 0x9E3779B97F4A7C15ull;
  v ^= v >> 29;
  v *= 0xBF58476D1CE4E5B9ull;
  return v ^ (v >> 32);
}

}  // namespace

void Adjacency::Append(LabelId label, VertexRef neighbour, uint64_t edge_id) {
  if (runs.empty() || runs.back().label != label) {
    runs.push_back({label, static_cast<uint32_t>(neighbours.size())});
  }
  neighbours.push_back(neighbour);
  edge_ids.push_back(edge_id);
}

size_t Adjacency::After(LabelId label, VertexRef neighbour, uint64_t edge_id) const {
  auto run = std::lower_bound(runs.begin(), runs.end(), label,
                              [](const Run& r, LabelId l) { return r.label < l; });
  if (run == runs.end()) return neighbours.size();
  if (run->label != label) return run->begin;
  size_t low = run->begin;
  size_t high = RunEnd(static_cast<size_t>(run - runs.begin()));
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const auto at = std::pair(neighbours[middle], edge_ids[middle]);
    if (at <= std::pair(neighbour, edge_id)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t Adjacency::ByteSize() const {
  return runs.capacity() * sizeof(Run) + neighbours.capacity() * sizeof(VertexRef) +
         edge_ids.capacity() * sizeof(uint64_t);
}

AdjacencyCache::AdjacencyCache(size_t max_bytes)
    : max_shard_bytes_(max_bytes / kNumShards),
      max_ends_(std::min<size_t>(max_shard_bytes_ / 4 / (sizeof(VertexRef) + sizeof(uint64_t)),
                                 size_t{1} << 20)),
      stamps_(kNumStamps) {}

size_t AdjacencyCache::KeyHash::operator()(const AdjacencyKey& key) const {
  const uint64_t segment =
      (static_cast<uint64_t>(key.label) << 1) | static_cast<uint64_t>(key.direction);
  return Mix(key.vertex.bits ^ Mix(segment + 1));
}

std::atomic<uint64_t>& AdjacencyCache::StampOf(VertexRef vertex) {
  return stamps_[Mix(vertex.bits) % kNumStamps];
}

std::shared_ptr<const Adjacency> AdjacencyCache::Find(const AdjacencyKey& key,
                                                      uint64_t view_version) {
  const uint64_t changed = StampOf(key.vertex).load(std::memory_order_acquire);
  if (changed > view_version) return nullptr;
  Shard& shard = ShardOf(KeyHash()(key));
  std::lock_guard lock(shard.mutex);
  auto found = shard.index.find(key);
  if (found == shard.index.end()) return nullptr;
  if (changed > found->second->version) {
    shard.bytes -= found->second->bytes;
    shard.entries.erase(found->second);
    shard.index.erase(found);
    return nullptr;
  }
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return found->second->adjacency;
}

void AdjacencyCache::Insert(const AdjacencyKey& key, uint64_t view_version,
                            std::shared_ptr<const Adjacency> adjacency) {
  if (StampOf(key.vertex).load(std::memory_order_acquire) > view_version) return;
  const size_t bytes = adjacency->ByteSize() + kEntryOverhead;
  if (bytes > max_shard_bytes_) return;
  Shard& shard = ShardOf(KeyHash()(key));
  std::lock_guard lock(shard.mutex);
  if (auto found = shard.index.find(key); found != shard.index.end()) {
    shard.bytes -= found->second->bytes;
    shard.entries.erase(found->second);
    shard.index.erase(found);
  }
  while (shard.bytes + bytes > max_shard_bytes_) {
    shard.bytes -= shard.entries.back().bytes;
    shard.index.erase(shard.entries.back().key);
    shard.entries.pop_back();
  }
  shard.entries.push_front({key, view_version, bytes, std::move(adjacency)});
  shard.index.emplace(key, shard.entries.begin());
  shard.bytes += bytes;
}

void AdjacencyCache::Touch(VertexRef vertex, uint64_t version) {
  StampOf(vertex).store(version, std::memory_order_release);
}

void AdjacencyCache::TouchAll(uint64_t version) {
  for (std::atomic<uint64_t>& stamp : stamps_) stamp.store(version, std::memory_order_release);
}

size_t AdjacencyCache::ByteSize() const {
  size_t total = 0;
  for (const Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    total += shard.bytes;
  }
  return total;
}

}  // namespace koios::storage
