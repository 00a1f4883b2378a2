// Whether of equal rows the first is enough: `out().out().dedup()` and `out().values('x').max()`
// cannot tell how often a vertex came. Asked from behind an operation, which says what is so before
// it. Equal are rows of which nothing but the current value is read.
#pragma once

#include <vector>

#include "planner/logical.h"

namespace koios::planner {

// `behind`: whether it is so behind the operation, the chain.
bool OneIsEnough(const Op& op, bool behind);
bool OneIsEnough(const Chain& chain, bool behind);
// The same behind each part of a loop.
std::vector<bool> OneIsEnoughInLoop(const Loop& loop, bool behind);

// Whether the rows that come to ops[from] may come in another order, and equal ones as one: nobody
// behind can tell.
bool MayComeAsBulk(const Chain& chain, size_t from);

// Whether a row can tell in which iteration of the loop it is.
bool CountsIterations(const Op& loop);

}  // namespace koios::planner
