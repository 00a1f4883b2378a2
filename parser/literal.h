// What the text of a literal means: numbers with their suffix, strings with their escapes, UUIDs;
// dates and durations are read by core/convert/time_text.h. Pure functions; errors carry a reason
// but no position, except that an escape's error says where inside the string it is.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/status.h"
#include "core/value.h"

namespace koios::parser {

// "1", "-1L", "0x1F", "1.5e-3", "2b", "10n", "1.0m", "+Infinity". Without suffix an integer is the
// smallest of Integer, Long and BigInteger that holds it, and a decimal a Double.
StatusOr<Value> ParseNumber(std::string_view text);

// `text` with its quotes. On error *error_at is the offset of the bad escape in `text`.
StatusOr<Value> ParseString(std::string_view text, size_t* error_at);

// "f47af10b-58cc-4372-a567-0f02b2f3d479"
StatusOr<Uuid> ParseUuid(std::string_view text);

}  // namespace koios::parser
