// One case of the simulation: a graph, a traversal with its plan, a schedule, and whether the
// engine's answer is the evaluator's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/sim/simulation.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {

struct Case {
  GraphData graph;
  RandomQuery query;
  plan::Plan plan;  // of the query
  engine::SimulationOptions options;
};

// The random case of a seed.
Case MakeCase(uint64_t seed);

// Empty when all is well; else what went wrong, with the traversal. `view`: read instead of the
// graph in memory, which it is a copy of.
std::string Check(const Case& drawn, bool verbose = false,
                  std::shared_ptr<const storage::GraphView> view = nullptr);
// The same of a seed, with the command to see it again. `fault`: what the network does wrong on the
// way, so that all should not be well.
std::string CheckSeed(uint64_t seed, bool verbose = false,
                      engine::NetworkFault fault = engine::NetworkFault::kNone);

}  // namespace koios::simulation
