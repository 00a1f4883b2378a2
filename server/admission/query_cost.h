// QueryCost: what is expected of a query from its plan alone, before it runs: whether it is short,
// and the memory that it is granted whole before it begins.
#pragma once

#include <cstdint>

#include "proto/plan.pb.h"

namespace koios::server {

// In the order in which they are let run.
enum class CostClass : uint8_t {
  kShort = 0,   // looks up, or seeks few, and goes two hops from there at most
  kMedium = 1,  // looks up or seeks what is known, and goes on from there
  kLong = 2,    // reads all of something, or loops
};
inline constexpr int kNumCostClasses = 3;

struct QueryCost {
  CostClass cost = CostClass::kShort;
  int64_t reserve_bytes = 0;
};

// What a server has for its queries.
struct CostBounds {
  uint32_t num_workers = 1;
  int64_t query_bytes = 0;  // one query's limit; 0: none
  int64_t all_bytes = 0;    // of all queries
};

// The reserve: a frame (256 KiB) for each place where one may rest and one more, of each worker.
// Such places are exchanges, scopes with instances of their own, loops, and barriers. A short query
// has a quarter of a frame in all. Never more than half of what a query may have, nor than an
// eighth of what all have.
QueryCost CostOf(const plan::Plan& plan, const CostBounds& bounds);

}  // namespace koios::server
