// What a part of a traversal can see of the changes that another part makes to the graph: the order
// in which traversers go through parts that change the graph is TinkerPop's wherever it can be
// told. Rule: when in doubt the answer is yes; a yes costs time, a wrong no costs the right answer.
#pragma once

#include <span>

#include "planner/logical.h"

namespace koios::planner {

// Whether `reader` reads, or changes again, what `writer` may have changed for another traverser.
bool Sees(std::span<const Op> reader, std::span<const Op> writer);

}  // namespace koios::planner
