// Rows on disk, a batch in a block, in the form in which they travel.
#pragma once

#include <cstdint>

#include "engine/op/operator.h"

namespace koios::engine {

// What rows take there, about: each value is written as often as it stands in them.
size_t FlatBytes(const Batch& rows);
inline constexpr size_t kMostOnDisk = size_t{64} << 20;
// Where its block is. RESOURCE_EXHAUSTED for more than kMostOnDisk.
StatusOr<uint64_t> PutOnDisk(const Batch& rows, OperatorHost* host);
// The rows, without runs; the block is gone. *charged: their bytes, which are charged.
StatusOr<Batch> TakeFromDisk(uint64_t at, OperatorHost* host, int64_t* charged);
// As this, but the block stays.
StatusOr<Batch> ReadFromDisk(uint64_t at, OperatorHost* host, int64_t* charged);

}  // namespace koios::engine
