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

// Random ones with all that can go wrong at once: credits of a few bytes, a memory limit, all that
// can on disk and the disk full, slow workers, a client that stalls, a cancel, a deadline, and in
// most of them changes and side-effects.
Case MakeHardCase(uint64_t seed);

// What became of a case. `problem`: empty when all is well; else what went wrong, with the
// traversal. All is well when the query gave the evaluator's answer, and left the evaluator's
// graph, or ended as the options say that it may.
struct Checked {
  std::string problem;
  StatusCode ended = StatusCode::kOk;
  uint64_t turns = 0;  // 0: it was not run, as its answer would be too large
};
// `view`: read instead of the graph in memory, which it is a copy of; of a query that changes
// nothing.
Checked CheckCase(const Case& drawn, bool verbose = false,
                  std::shared_ptr<const storage::GraphView> view = nullptr);
// The problem of it.
std::string Check(const Case& drawn, bool verbose = false,
                  std::shared_ptr<const storage::GraphView> view = nullptr);
// The same of a seed, with the command to see it again. `fault`: what the network does wrong on the
// way, so that all should not be well.
std::string CheckSeed(uint64_t seed, bool verbose = false,
                      engine::NetworkFault fault = engine::NetworkFault::kNone);

}  // namespace koios::simulation
