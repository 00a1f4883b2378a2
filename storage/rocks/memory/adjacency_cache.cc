#include "storage/rocks/memory/adjacency_cache.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"

namespace koios::storage {
namespace {

// What an entry costs beside its ends: its places in table and queue, control blocks.
constexpr size_t kEntryOverhead = 256;

uint64_t Mix(uint64_t v) {
  v ^= v >> 32;
  v *= 0x9E3779B97F4A7C15ull;
  v ^= v >> 29;
  v *= 0xBF58476D1CE4E5B9ull;
  return v ^ (v >> 32);
}

struct KeyHash {
  size_t operator()(const AdjacencyKey& key) const {
    const uint64_t segment =
        (static_cast<uint64_t>(key.label) << 1) | static_cast<uint64_t>(key.direction);
    return Mix(key.vertex.bits ^ Mix(segment + 1 + (uint64_t{key.store} << 40)));
  }
};

struct Entry {
  std::shared_ptr<const Adjacency> adjacency;
  uint64_t version = 0;
  size_t bytes = 0;
  bool used = false;  // since it came, or since the queue last passed it
};

}  // namespace

// Keys in the table and in the queue are the same.
struct AdjacencyPool::Shard {
  Mutex mutex;
  absl::flat_hash_map<AdjacencyKey, Entry, KeyHash> entries KOIOS_GUARDED_BY(mutex);
  std::deque<AdjacencyKey> queue KOIOS_GUARDED_BY(mutex);
  size_t bytes KOIOS_GUARDED_BY(mutex) = 0;

  // Makes room: the first in the queue goes, or to its end when it was used.
  void Evict() KOIOS_REQUIRES(mutex) {
    const AdjacencyKey first = queue.front();
    queue.pop_front();
    auto found = entries.find(first);
    if (std::exchange(found->second.used, false)) {
      queue.push_back(first);
      return;
    }
    bytes -= found->second.bytes;
    entries.erase(found);
  }
};

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

AdjacencyPool::AdjacencyPool(size_t max_bytes)
    : max_shard_bytes_(max_bytes / kNumShards),
      max_ends_(std::min<size_t>(max_shard_bytes_ / 4 / (sizeof(VertexRef) + sizeof(uint64_t)),
                                 size_t{1} << 18)),
      shards_(std::make_unique<Shard[]>(kNumShards)) {}

AdjacencyPool::~AdjacencyPool() = default;

size_t AdjacencyPool::ShardIndex(const AdjacencyKey& key) {
  return (KeyHash()(key) >> 56) % kNumShards;
}

size_t AdjacencyPool::ByteSize() const {
  size_t total = 0;
  for (size_t i = 0; i < kNumShards; ++i) {
    MutexLock lock(&shards_[i].mutex);
    total += shards_[i].bytes;
  }
  return total;
}

size_t AdjacencyPool::ByteSizeOf(uint32_t store) const {
  size_t total = 0;
  for (size_t i = 0; i < kNumShards; ++i) {
    MutexLock lock(&shards_[i].mutex);
    for (const auto& [key, entry] : shards_[i].entries) {
      if (key.store == store) total += entry.bytes;
    }
  }
  return total;
}

void AdjacencyPool::Erase(uint32_t store) {
  for (size_t i = 0; i < kNumShards; ++i) {
    Shard& shard = shards_[i];
    MutexLock lock(&shard.mutex);
    std::erase_if(shard.queue, [store](const AdjacencyKey& key) { return key.store == store; });
    size_t erased = 0;
    absl::erase_if(shard.entries, [&](const auto& of) {
      if (of.first.store != store) return false;
      erased += of.second.bytes;
      return true;
    });
    shard.bytes -= erased;
  }
}

AdjacencyCache::AdjacencyCache(std::shared_ptr<AdjacencyPool> pool)
    : pool_(std::move(pool)),
      store_(pool_->next_store_.fetch_add(1, std::memory_order_relaxed)),
      stamps_(kNumStamps) {}

AdjacencyCache::~AdjacencyCache() { pool_->Erase(store_); }

std::atomic<uint64_t>& AdjacencyCache::StampOf(VertexRef vertex) {
  return stamps_[Mix(vertex.bits) % kNumStamps];
}

std::shared_ptr<const Adjacency> AdjacencyCache::Find(const AdjacencyKey& key,
                                                      uint64_t view_version) {
  std::vector<std::shared_ptr<const Adjacency>> found;
  FindAll({&key.vertex, 1}, key.direction, key.label, view_version, &found);
  return std::move(found[0]);
}

void AdjacencyCache::FindAll(std::span<const VertexRef> vertices, Direction direction,
                             LabelId label, uint64_t view_version,
                             std::vector<std::shared_ptr<const Adjacency>>* found) {
  found->assign(vertices.size(), nullptr);
  // Rows sorted by shard.
  std::vector<uint8_t> shard_of(vertices.size());
  std::array<size_t, AdjacencyPool::kNumShards> begins{};
  for (size_t row = 0; row < vertices.size(); ++row) {
    __builtin_prefetch(&StampOf(vertices[row]));
    shard_of[row] =
        static_cast<uint8_t>(AdjacencyPool::ShardIndex({vertices[row], direction, label, store_}));
    ++begins[shard_of[row]];
  }
  for (size_t i = 1; i < AdjacencyPool::kNumShards; ++i) begins[i] += begins[i - 1];
  std::vector<uint32_t> sorted(vertices.size());
  for (size_t row = vertices.size(); row-- > 0;) {
    sorted[--begins[shard_of[row]]] = static_cast<uint32_t>(row);
  }
  std::vector<Entry*> entries;
  for (size_t i = 0; i < AdjacencyPool::kNumShards; ++i) {
    const size_t end = i + 1 < AdjacencyPool::kNumShards ? begins[i + 1] : sorted.size();
    const std::span<const uint32_t> rows(sorted.data() + begins[i], end - begins[i]);
    if (rows.empty()) continue;
    AdjacencyPool::Shard& shard = pool_->shards_[i];
    MutexLock lock(&shard.mutex);
    for (const uint32_t row : rows) {
      shard.entries.prefetch(AdjacencyKey{vertices[row], direction, label, store_});
    }
    entries.clear();
    for (const uint32_t row : rows) {
      const auto entry = shard.entries.find(AdjacencyKey{vertices[row], direction, label, store_});
      entries.push_back(entry == shard.entries.end() ? nullptr : &entry->second);
      if (entries.back() != nullptr) __builtin_prefetch(entries.back()->adjacency.get());
    }
    for (size_t at = 0; at < entries.size(); ++at) {
      const uint32_t row = rows[at];
      // Read after the entry: whoever put a newer one there has seen the stamp.
      const uint64_t changed = StampOf(vertices[row]).load(std::memory_order_acquire);
      if (entries[at] == nullptr || changed > view_version || changed > entries[at]->version) {
        continue;
      }
      entries[at]->used = true;
      (*found)[row] = entries[at]->adjacency;
    }
  }
}

void AdjacencyCache::Insert(const AdjacencyKey& of, uint64_t view_version,
                            std::shared_ptr<const Adjacency> adjacency) {
  if (StampOf(of.vertex).load(std::memory_order_acquire) > view_version) return;
  const size_t bytes = adjacency->ByteSize() + kEntryOverhead;
  if (bytes > pool_->max_shard_bytes_) return;
  AdjacencyKey key = of;
  key.store = store_;
  AdjacencyPool::Shard& shard = pool_->shards_[AdjacencyPool::ShardIndex(key)];
  MutexLock lock(&shard.mutex);
  auto [entry, added] = shard.entries.try_emplace(key);
  if (added) shard.queue.push_back(key);
  shard.bytes += bytes - entry->second.bytes;
  entry->second = {std::move(adjacency), view_version, bytes, false};
  while (shard.bytes > pool_->max_shard_bytes_) shard.Evict();
}

void AdjacencyCache::Touch(VertexRef vertex, uint64_t version) {
  StampOf(vertex).store(version, std::memory_order_release);
}

void AdjacencyCache::TouchAll(uint64_t version) {
  for (std::atomic<uint64_t>& stamp : stamps_) stamp.store(version, std::memory_order_release);
}

size_t AdjacencyCache::ByteSize() const { return pool_->ByteSizeOf(store_); }

}  // namespace koios::storage
