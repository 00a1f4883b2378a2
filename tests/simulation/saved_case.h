// Cases of the simulation as text files (saved_case.proto, in protobuf's text format): those that
// once failed are kept in plans/, where no change of the generator loses them.
#pragma once

#include <string>

#include "core/status.h"
#include "tests/simulation/check.h"

namespace koios::simulation {

std::string SaveCase(const Case& drawn);
// INVALID_ARGUMENT for a text that is no case.
StatusOr<Case> ReadCase(const std::string& text);

}  // namespace koios::simulation
