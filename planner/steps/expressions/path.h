// Whether anybody in a query reads paths.
#pragma once

#include "parser/ast.h"

namespace koios::planner {

// Whether a step of the traversal or of its children may read a path: path(), simplePath(),
// cyclicPath(), select() with a Pop.
bool ReadsPaths(const parser::Traversal& traversal);

}  // namespace koios::planner
