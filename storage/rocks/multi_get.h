// Batched point reads: many keys of one family through one snapshot, in bounded chunks. A scan asks
// for what lies close together, which is walked.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/status.h"
#include "storage/codec/keys.h"
#include "storage/rocks/database.h"

namespace koios::storage {

// Whether numbers as keys ascend and lie so close together that walking from the first to the last
// is cheaper than looking each of them up.
inline bool AreClose(std::span<const rocksdb::Slice> keys) {
  constexpr uint64_t kMaxStepsPerKey = 8;
  constexpr size_t kLeastKeys = 16;
  if (keys.size() < kLeastKeys || keys[0].size() != sizeof(uint64_t)) return false;
  for (size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].compare(keys[i - 1]) <= 0) return false;
  }
  const uint64_t first = GetBigEndian64(keys.front().data());
  const uint64_t last = GetBigEndian64(keys.back().data());
  return last - first <= kMaxStepsPerKey * keys.size();
}

// Walks from the first key to the last; use(i, value) for those of `keys` that are there.
template <typename Use>
Status WalkKeys(rocksdb::Iterator* entries, std::span<const rocksdb::Slice> keys, Use use) {
  size_t next = 0;
  for (entries->Seek(keys[0]); entries->Valid() && next < keys.size(); entries->Next()) {
    while (next < keys.size() && keys[next].compare(entries->key()) < 0) ++next;
    if (next == keys.size() || keys[next] != entries->key()) continue;
    RETURN_IF_ERROR(use(next, AsView(entries->value())));
    ++next;
  }
  return FromRocks(entries->status(), "Reading the graph");
}

// For i in 0 .. count-1 ascending: key_at(i, &key) fills in the key (or returns false: no key), and
// use(i, value) -> Status gets the value's bytes if the key exists.
template <typename KeyAt, typename Use>
Status ForEachFound(const Snapshot& snapshot, Family family, size_t count, KeyAt key_at, Use use) {
  constexpr size_t kChunk = 64;
  constexpr size_t kChunkBytes = 4 << 20;  // of large values fewer are read at once
  std::array<std::string, kChunk> keys;
  std::array<size_t, kChunk> positions;
  std::array<rocksdb::Slice, kChunk> slices;
  std::array<rocksdb::PinnableSlice, kChunk> values;
  std::array<rocksdb::Status, kChunk> statuses;
  rocksdb::ReadOptions options = snapshot.ReadOptions();
  options.value_size_soft_limit = kChunkBytes;
  // Walks end behind their last key: not one of what was dropped there is walked over.
  std::string upper_bytes;
  rocksdb::Slice upper;
  rocksdb::ReadOptions walk = options;
  walk.iterate_upper_bound = &upper;
  const Database& database = snapshot.database();
  std::unique_ptr<rocksdb::Iterator> entries;
  size_t next = 0;
  while (next < count) {
    size_t size = 0;
    for (; next < count && size < kChunk; ++next) {
      if (!key_at(next, &keys[size])) continue;
      slices[size] = keys[size];
      positions[size++] = next;
    }
    if (AreClose(std::span(slices).first(size))) {
      upper_bytes.assign(keys[size - 1]).push_back('\0');
      upper = upper_bytes;
      if (entries == nullptr) entries = snapshot.NewIterator(family, walk);
      RETURN_IF_ERROR(WalkKeys(
          entries.get(), std::span(slices).first(size),
          [&](size_t i, std::string_view value) -> Status { return use(positions[i], value); }));
      continue;
    }
    if (size == 1) {
      statuses[0] = database.db()->Get(options, database.family(family), slices[0], &values[0]);
    } else if (size > 1) {
      database.db()->MultiGet(options, database.family(family), size, slices.data(), values.data(),
                              statuses.data());
    }
    for (size_t i = 0; i < size; ++i) {
      if (statuses[i].IsAborted()) {  // behind as many bytes
        values[i].Reset();
        statuses[i] = database.db()->Get(options, database.family(family), slices[i], &values[i]);
      }
      if (statuses[i].IsNotFound()) continue;
      RETURN_IF_ERROR(FromRocks(statuses[i], "Reading the graph"));
      RETURN_IF_ERROR(use(positions[i], AsView(values[i])));
      values[i].Reset();
    }
  }
  return OkStatus();
}

}  // namespace koios::storage
