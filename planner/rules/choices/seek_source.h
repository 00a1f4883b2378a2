// What an index can do for a source.
#pragma once

#include <optional>

#include "planner/logical.h"

namespace koios::planner {

struct SeekChoice {
  plan::Seek seek;
  double rows = 0;  // expected of it
};

// The index that is expected to give the fewest vertices for the source at chain.ops[at], asked for
// what the filters right behind it compare; nullopt: none can be asked, or it is no such source.
// `by_statistics`: else as if there were none.
std::optional<SeekChoice> BestSeek(const Chain& chain, size_t at, bool by_statistics);

}  // namespace koios::planner
