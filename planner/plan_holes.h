// Where the values of parameters stand in a plan that was made without a look at them: the same
// plan with other values there is what planning with those gives.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "proto/plan.pb.h"

namespace koios::planner {

struct PlanHole {
  // Field numbers from the plan inwards, each with its index (-1: not repeated).
  std::vector<std::pair<int, int>> path;
  std::string parameter;
  bool as_id = false;
};

struct PlanConstants {
  std::vector<PlanHole> holes;  // that Encoded() left
  size_t decoded_bytes = 0;     // of the others, where they are large, about
};
// `names`: the parameters, by their index.
PlanConstants FindConstants(const plan::Plan& plan, const std::vector<std::string>& names);

// RESOURCE_EXHAUSTED, where the values of parameters, counted wherever the traversal names one
// again, take more than the limit: a name is short, and each place has a value of its own.
Status CheckNamedAgain(uint64_t bytes, uint64_t limit);

// REQUIRES: each of their parameters has a value, of the kind that it had when they were found.

// What the values take where they are named, each as often: as bytes of the plan about as much as
// decoded.
size_t BytesInHoles(const std::vector<PlanHole>& holes,
                    const std::map<std::string, Value>& parameters);
// REQUIRES: the plan is the one in which the holes were found, or a copy.
void PutValues(const std::vector<PlanHole>& holes, const std::map<std::string, Value>& parameters,
               plan::Plan* plan);

}  // namespace koios::planner
