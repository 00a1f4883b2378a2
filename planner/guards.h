// Guards: an insert that rests on a look is told of it (engine rules 12 and 40), so that two
// requests that looked for the same and found nothing do not both add it. A look decides an insert
// when it stands in a child that chooses (coalesce, where, choose, not, optional, a value), or
// before a step that gathers what was found (fold, count, aggregate). Where the rows found flow on
// one by one, more or fewer of them are more or fewer inserts: what remains is snapshot isolation.
// Guarded are values that a scan is filtered by, the edges of a vertex (only those to one neighbour
// where the traversal names it), and scans. Rule: when in doubt the guard is the coarser one.
#pragma once

#include "planner/logical.h"

namespace koios::planner {

// Puts each guard before the operation that looks; returns whether there are any.
bool AddGuards(Chain* root);

}  // namespace koios::planner
