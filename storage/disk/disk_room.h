// What may still be written where a graph lies. Some of the disk stays reserved, so that whatever
// was accepted can be written to tables, and so that there is room to drop things when it is full.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"

namespace koios::storage {

// What a write does to the graph: adds something to it, or only takes away.
enum class Growth : uint8_t { kGrows, kShrinks };

// What a write may not touch of a reserve.
uint64_t ReservedFor(Growth growth, uint64_t reserve_bytes);
// RESOURCE_EXHAUSTED, with what is free, reserved and possible, when a write of `bytes` does not
// fit on the disk of `path`.
Status CheckRoom(const std::string& path, Growth growth, uint64_t bytes, uint64_t reserve_bytes);
// Likewise for opening a graph whose logs have so many bytes: they become tables.
Status CheckRoomToOpen(const std::string& path, uint64_t log_bytes);

}  // namespace koios::storage
