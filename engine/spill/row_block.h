// Rows as blocks on disk, in the form in which they travel.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/memory.h"
#include "core/status.h"
#include "engine/batch/batch.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {

// What rows take in a block, about: each value is written as often as it stands in them.
size_t FlatBytes(const Batch& rows);
inline constexpr size_t kMostOnDisk = size_t{64} << 20;
// Gives the rows to `put` in parts: rows that share values, and so would take much more than a
// batch, are parts of their own.
Status PutInParts(const Batch& rows, const std::function<Status(const Batch& part)>& put);
// Where the rows' block is; their runs are forgotten. RESOURCE_EXHAUSTED for more than
// kMostOnDisk, naming `setting`.
StatusOr<uint64_t> PutRows(const Batch& rows, const char* setting, SpillFile* file);
// `account` is charged for the nodes of paths, nobody for the rest. DATA_LOSS for anything that is
// no such block, RESOURCE_EXHAUSTED when the account is full.
StatusOr<Batch> DecodeRows(std::string_view block, const std::shared_ptr<MemoryAccount>& account);

}  // namespace koios::engine
