// Rows as a block on disk, in the form in which they travel.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/memory.h"
#include "core/status.h"
#include "engine/batch/batch.h"

namespace koios::engine {

// Whose runs are forgotten.
std::string EncodeRows(const Batch& rows);
// `account` is charged for the nodes of paths, nobody for the rest. DATA_LOSS for anything that is
// no such block, RESOURCE_EXHAUSTED when the account is full.
StatusOr<Batch> DecodeRows(std::string_view block, const std::shared_ptr<MemoryAccount>& account);

}  // namespace koios::engine
