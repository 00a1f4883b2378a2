// Text to syntax tree. Entry of the folder: Parse().
// Everything about a text that could cost more than its length is checked here first; a failure is
// INVALID_ARGUMENT or, for a limit, RESOURCE_EXHAUSTED, always with its place in the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/status.h"
#include "parser/ast.h"

namespace koios::parser {

// Nothing nests deeper, whatever the setting: the passes' recursion is bounded by it.
inline constexpr uint32_t kMaxNesting = 190;
static_assert(kMaxNesting < kMaxValueDepth);

struct Limits {
  uint64_t max_text_bytes = 1 << 20;  // setting query-max-text
  uint32_t max_nesting = 128;         // setting query-max-nesting; capped at kMaxNesting
  uint32_t max_steps = 10'000;        // setting query-max-steps: calls in the whole text
  uint32_t max_list = 100'000;        // setting query-max-list: members of one list, arguments of
                                      // one call, members of all ranges
};

// Example: ASSIGN_OR_RETURN(parser::Query query, parser::Parse("g.V().out('knows')"));
// Any thread; no state is kept between calls.
StatusOr<Query> Parse(std::string_view text, const Limits& limits = {});

// What the trees of a text take while it is parsed and planned, about: steps take the most.
size_t TreeBytes(std::string_view text);

// Whether a console may send `text`: brackets, strings and comments are closed and it does not end
// in a dot or comma. Text that can never be completed (a closing bracket too many) is complete.
bool IsComplete(std::string_view text);

}  // namespace koios::parser
