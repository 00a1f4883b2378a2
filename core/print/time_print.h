// Dates, durations and uuids as java.time and java.util print them. Pure, any thread.
#pragma once

#include <string>

#include "core/value.h"

namespace koios {

// 2023-08-01T00:00Z, 2023-08-01T12:30:05.120+02:00: seconds only when there are some, fractions in
// groups of three digits.
std::string PrintDateTime(const DateTime& v);
// PT8H6M12.345S, PT0S.
std::string PrintDuration(const Duration& v);
// 6100808b-62f9-42b7-957e-ed66c30f40d1
std::string PrintUuid(const Uuid& v);

}  // namespace koios
