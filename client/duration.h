// Times as people write them in flags: 500ms, 30s, 5m, 1h; a bare number is seconds.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"

namespace koios::client {

// INVALID_ARGUMENT for anything else, and for more than 1,000 days.
StatusOr<uint64_t> ParseMilliseconds(std::string_view text);

}  // namespace koios::client
