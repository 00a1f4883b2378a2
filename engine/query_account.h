// The accounts of memory that queries charge: one per process, and below it one per query. What
// they say when they refuse is said here, once.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory.h"

namespace koios::engine {

// `limit_bytes`: 0 is none. `all`: the account of all queries; may be null.
std::shared_ptr<MemoryAccount> MakeQueryAccount(uint64_t limit_bytes, MemoryAccount* all = nullptr);
// An eighth is kept for queries that need little.
std::unique_ptr<MemoryAccount> MakeAccountOfAllQueries(uint64_t limit_bytes);

}  // namespace koios::engine
