// An error as a person reads it: what is wrong, where, the line with a caret, what to do instead.
#pragma once

#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::parser {

// Several lines without a final newline. `text` is the query the error is about; a status without
// a position gives its message (and hint) only. Long lines are cut around the caret. Example:
//
//   Expected "," or ")" but found "x".
//     line 1, column 9
//     | g.V('a' x)
//     |         ^
//     hint: ...
std::string FormatError(const Status& status, std::string_view text);

}  // namespace koios::parser
