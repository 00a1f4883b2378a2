// The logical traversal with what the cost model expects, for explain().
#pragma once

#include <string>

#include "planner/logical.h"

namespace koios::planner {

// As ChainText; behind each operation the rows that are expected behind it: in a local child, for
// one row that enters it. Nothing where nothing is known.
std::string EstimatedText(const Chain& root, int indent);

}  // namespace koios::planner
