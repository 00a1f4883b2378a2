// A failed system call as a Status: what was tried, on which file, why. Rule: a missing file is
// NOT_FOUND, a full disk RESOURCE_EXHAUSTED, everything else UNAVAILABLE.
#pragma once

#include <string_view>

#include "core/status.h"

namespace koios::import {

// `verb` is what was tried ("open", "read"), `error` an errno value.
Status IoError(std::string_view verb, std::string_view path, int error);

}  // namespace koios::import
