// Errors of planning, each with its place in the text and what to do instead.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::planner {

// INVALID_ARGUMENT; `reason` is a stable word such as "WRONG_ARGUMENTS".
Status StepError(std::string_view reason, const SourceSpan& span, std::string_view step,
                 std::string_view message, std::string_view hint = "");
// UNIMPLEMENTED: Gremlin that TinkerPop has and Koios not yet.
Status NotThereYet(const SourceSpan& span, std::string_view step, std::string_view message);

}  // namespace koios::planner
