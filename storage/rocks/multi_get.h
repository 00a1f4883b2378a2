// Batched point reads: many keys of one family through one snapshot, in bounded chunks.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/status.h"
#include "storage/rocks/database.h"

namespace koios::storage {

// For i in 0 .. count-1 ascending: key_at(i, &key) fills in the key (or returns false: no key), and
// use(i, value) -> Status gets the value's bytes if the key exists.
template <typename KeyAt, typename Use>
Status ForEachFound(const Snapshot& snapshot, Family family, size_t count, KeyAt key_at, Use use) {
  constexpr size_t kChunk = 64;
  std::array<std::string, kChunk> keys;
  std::array<size_t, kChunk> positions;
  std::array<rocksdb::Slice, kChunk> slices;
  std::array<rocksdb::PinnableSlice, kChunk> values;
  std::array<rocksdb::Status, kChunk> statuses;
  const rocksdb::ReadOptions options = snapshot.ReadOptions();
  const Database& database = snapshot.database();
  size_t next = 0;
  while (next < count) {
    size_t size = 0;
    for (; next < count && size < kChunk; ++next) {
      if (!key_at(next, &keys[size])) continue;
      slices[size] = keys[size];
      positions[size++] = next;
    }
    if (size == 1) {
      statuses[0] = database.db()->Get(options, database.family(family), slices[0], &values[0]);
    } else if (size > 1) {
      database.db()->MultiGet(options, database.family(family), size, slices.data(), values.data(),
                              statuses.data());
    }
    for (size_t i = 0; i < size; ++i) {
      if (statuses[i].IsNotFound()) continue;
      RETURN_IF_ERROR(FromRocks(statuses[i], "Reading the graph"));
      RETURN_IF_ERROR(use(positions[i], AsView(values[i])));
      values[i].Reset();
    }
  }
  return OkStatus();
}

}  // namespace koios::storage
