// Query parameters as people write them: name=value, the value a Gremlin literal (1L, 'marko',
// [1, 2], ["a": 1], datetime("2024-01-01T00:00Z")) or JSON. Never guessed: a bare word is an error.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/status.h"
#include "core/value.h"

namespace koios::client {

StatusOr<Value> ParseParameterValue(std::string_view text);
// "name=value"; blanks around either are dropped.
StatusOr<std::pair<std::string, Value>> ParseParameter(std::string_view text);

}  // namespace koios::client
