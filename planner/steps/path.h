// Paths while a query is built: whether anybody reads them, and how one begins.
#pragma once

#include "parser/ast.h"
#include "planner/logical.h"

namespace koios::planner {

// Whether a step of the traversal or of its children may read a path: path(), simplePath(),
// cyclicPath(), select() with a Pop.
bool ReadsPaths(const parser::Traversal& traversal);

// Begins a path with the current value.
Project NewPath();

}  // namespace koios::planner
