// Values as the text that Java's String.valueOf makes of them: what asString(), format() and
// conjoin() give. Pure, any thread. As core/print/value_print.h, but for what nests: [a, b], {k=v}.
#pragma once

#include <cstddef>
#include <string>

#include "core/value.h"

namespace koios {

// Stops once it is longer than `max_bytes`: who bounds the text asks for its size. REQUIRES: no
// internal reference that a user must not see.
std::string PrintAsJava(const Value& value, size_t max_bytes);

}  // namespace koios
