// TopBound: what a worker knows of how good a row must be to be among the first of a top-k. Behind
// all keys of `order().by('a').by('b').limit(k)` the rows that are sure to come there are counted;
// in front of the second key, rows that are worse by the first need not be read any further.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/column.h"

namespace koios::engine {

struct TopBound {
  Column::Kind kind = Column::Kind::kEmpty;  // of the keys that were counted; kEmpty: too few yet
  int64_t worst = 0;                         // rows behind it, in ascending order, are of no use
};

// By their numbers in the plan; of one query on one worker. What it gives stays where it is.
using TopBounds = std::unordered_map<uint32_t, TopBound>;

}  // namespace koios::engine
