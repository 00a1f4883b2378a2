// The bound of what a function makes of its arguments. A value is charged once it is in a batch; so
// that none outgrows the memory before, functions that make larger values of smaller ones ask here
// first.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "core/value.h"

namespace koios::engine {

inline constexpr int64_t kMaxMadeBytes = int64_t{64} << 20;

// RESOURCE_EXHAUSTED past the limit. `step`: "concat()", for the message.
Status CheckMadeBytes(int64_t bytes, const std::string& step);
// A text of the value as Java prints it, within the limit.
StatusOr<std::string> MadeText(const Value& value, const std::string& step);

}  // namespace koios::engine
