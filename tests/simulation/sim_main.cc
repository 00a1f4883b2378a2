// koios_sim --seed N: one seed of the simulation again, with what it does on stderr; --save FILE
// writes the case that it makes. koios_sim --case FILE: a case that was saved.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "tests/simulation/saved_case.h"

namespace {

using koios::simulation::Case;

constexpr char kUsage[] = "usage: koios_sim --seed N [--save FILE] | --case FILE\n";

std::optional<Case> Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const auto read = koios::simulation::ReadCase(text.str());
  if (read.ok()) return *read;
  std::cerr << path << ": " << koios::MessageOf(read.status()) << "\n";
  return std::nullopt;
}

bool Save(const Case& drawn, const std::string& path) {
  std::ofstream file(path);
  file << "# What this case guards: say it here, in a line.\n"
       << koios::simulation::SaveCase(drawn);
  file.flush();
  if (!file) std::cerr << "cannot write " << path << "\n";
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc >= 3 ? argv[1] : "";
  std::optional<Case> drawn;
  if (what == "--seed" && (argc == 3 || (argc == 5 && std::string(argv[3]) == "--save"))) {
    drawn = koios::simulation::MakeCase(std::strtoull(argv[2], nullptr, 10));
    if (argc == 5 && !Save(*drawn, argv[4])) return 2;
  } else if (what == "--case" && argc == 3) {
    drawn = Read(argv[2]);
    if (!drawn.has_value()) return 2;
  } else {
    std::cerr << kUsage;
    return 2;
  }
  const std::string problem = koios::simulation::Check(*drawn, /*verbose=*/true);
  std::cerr << (problem.empty() ? "as expected" : problem) << "\n";
  return problem.empty() ? 0 : 1;
}
