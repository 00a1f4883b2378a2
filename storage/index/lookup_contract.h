// The contract of look-ups by id as a test suite: whole, and step by step in one place each. A
// backend is that of graph_view_contract.h.
#pragma once

#include <string>
#include <vector>

#include "storage/graph_view_contract.h"

namespace koios::storage {

class LookupContract : public GraphViewContract {};

}  // namespace koios::storage
