// What a query ends with when its time is over, wherever that is seen.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"

namespace koios::engine {

// DEADLINE_EXCEEDED. Times are of one clock, `asked_ns`: from when on it counts. `meanwhile`: what
// was being done, with "while" before it; may be empty.
Status RanIntoDeadline(uint64_t asked_ns, uint64_t deadline_ns, uint64_t now_ns,
                       std::string_view meanwhile = {});

}  // namespace koios::engine
