// One seed of the simulation: a random graph, a random traversal, a random schedule, and whether
// the engine's answer is the evaluator's.
#pragma once

#include <cstdint>
#include <string>

#include "engine/sim/simulation.h"

namespace koios::simulation {

// Empty when all is well; else what went wrong, with the traversal and the command to see it again.
// `fault`: what the network does wrong on the way, so that all should not be well.
std::string CheckSeed(uint64_t seed, bool verbose = false,
                      engine::NetworkFault fault = engine::NetworkFault::kNone);

}  // namespace koios::simulation
