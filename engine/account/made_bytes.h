// The bound of one value that a function or an operator of sacks makes of smaller ones. Pure, any
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"

namespace koios::engine {

inline constexpr int64_t kMaxMadeBytes = int64_t{64} << 20;

// RESOURCE_EXHAUSTED past the limit. `step`: "concat()", for the message.
Status CheckMadeBytes(int64_t bytes, const std::string& step);

}  // namespace koios::engine
