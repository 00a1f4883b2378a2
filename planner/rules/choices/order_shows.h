// Whether a choice that changes the order of rows would be seen.
#pragma once

#include "planner/logical.h"

namespace koios::planner {

// Whether somebody behind ops[at] of the root chain can tell in which order its rows come. That of
// the results of a traversal without an order is not promised.
bool OrderShows(const Chain& root, size_t at);

}  // namespace koios::planner
