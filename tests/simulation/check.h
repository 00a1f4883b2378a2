// One seed of the simulation: a random graph, a random traversal, a random schedule, and whether
// the engine's answer is the evaluator's.
#pragma once

#include <cstdint>
#include <string>

namespace koios::simulation {

// Empty when all is well; else what went wrong, with the traversal and the command to see it again.
std::string CheckSeed(uint64_t seed, bool verbose = false);

}  // namespace koios::simulation
