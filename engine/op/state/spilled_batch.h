// An operator's rows on disk, a batch in a block (spill/row_block.h).
#pragma once

#include <cstdint>

#include "engine/op/operator.h"

namespace koios::engine {

// Where its block is. RESOURCE_EXHAUSTED for more than kMostOnDisk.
StatusOr<uint64_t> PutOnDisk(const Batch& rows, OperatorHost* host);
// The rows, without runs; the block is gone. *charged: their bytes, which are charged.
StatusOr<Batch> TakeFromDisk(uint64_t at, OperatorHost* host, int64_t* charged);
// As this, but the block stays.
StatusOr<Batch> ReadFromDisk(uint64_t at, OperatorHost* host, int64_t* charged);

}  // namespace koios::engine
