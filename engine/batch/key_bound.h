// The bound of what is hashed, or compared with many others. A key takes time as it is large, and
// memory bounds none in which the same values stand many times over: of
// `repeat(as('a').select(all, 'a')).dedup()` each is twice as large as the one before and takes a
// few bytes more. Pure, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/status.h"
#include "engine/batch/batch.h"

namespace koios::engine {

// Written in full.
inline constexpr size_t kMaxKeyBytes = size_t{64} << 20;

// RESOURCE_EXHAUSTED for a larger one.
Status CheckKey(const Value& key);
// Of those in the columns of such slots, where the batch has them.
Status CheckKeys(const Batch& batch, const std::vector<uint32_t>& slots);

}  // namespace koios::engine
