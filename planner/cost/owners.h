// Whether a traversal with side-effects or changes is worth being planned for workers that read no
// partition but their own, where they could read all of them. One that stays at its home wakes
// nobody and sends nothing, and has one worker, however many there are.
#pragma once

#include "planner/logical.h"

namespace koios::planner {

// As the rules leave it. Asks the counts of a graph only where the traversal reads a good part of a
// large one, so that the plans of others are kept whatever is committed.
bool IsForOwners(const Chain& root);

}  // namespace koios::planner
