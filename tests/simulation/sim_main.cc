// koios_sim --seed N: one seed of the simulation again, with what it does on stderr.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/simulation/check.h"

int main(int argc, char** argv) {
  if (argc != 3 || std::strcmp(argv[1], "--seed") != 0) {
    std::fprintf(stderr, "usage: koios_sim --seed N\n");
    return 2;
  }
  const std::string problem =
      koios::simulation::CheckSeed(std::strtoull(argv[2], nullptr, 10), /*verbose=*/true);
  std::fprintf(stderr, "%s\n", problem.empty() ? "as expected" : problem.c_str());
  return problem.empty() ? 0 : 1;
}
