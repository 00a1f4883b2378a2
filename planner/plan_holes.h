// Where the values of parameters stand in a plan that was made without a look at them: the same
// plan with other values there is what planning with those gives.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/value.h"
#include "proto/plan.pb.h"

namespace koios::planner {

struct PlanHole {
  // Field numbers from the plan inwards, each with its index (-1: not repeated).
  std::vector<std::pair<int, int>> path;
  std::string parameter;
  bool as_id = false;
};

// The holes that Encoded() left. `names`: the parameters, by their index.
std::vector<PlanHole> FindHoles(const plan::Plan& plan, const std::vector<std::string>& names);

// REQUIRES: the plan is the one in which the holes were found, or a copy; each of their parameters
// has a value, of the kind that it had then.
void EmptyHoles(const std::vector<PlanHole>& holes, plan::Plan* plan);
void PutValues(const std::vector<PlanHole>& holes, const std::map<std::string, Value>& parameters,
               plan::Plan* plan);

}  // namespace koios::planner
