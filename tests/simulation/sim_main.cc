// koios_sim --seed N: one seed of the simulation again, with what it does on stderr; --save FILE
// writes the case that it makes. --from N --seeds COUNT: many, with how they ended. With --hard
// those with all faults at once. koios_sim --case FILE: a case that was saved.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/simulation/saved_case.h"

namespace {

using koios::simulation::Case;

constexpr char kUsage[] =
    "usage: koios_sim [--hard] --seed N [--save FILE]\n"
    "       koios_sim [--hard] --from N --seeds COUNT\n"
    "       koios_sim --case FILE\n";

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

Case Make(bool hard, uint64_t seed) {
  return hard ? koios::simulation::MakeHardCase(seed) : koios::simulation::MakeCase(seed);
}

// Each that fails, and in the end how many ended how.
int RunMany(bool hard, uint64_t from, uint64_t seeds) {
  std::map<std::string, uint64_t> ends;
  uint64_t failures = 0, most_turns = 0;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    const koios::simulation::Checked checked = koios::simulation::CheckCase(Make(hard, seed));
    ++ends[checked.turns == 0 ? "too large" : std::string(absl::StatusCodeToString(checked.ended))];
    most_turns = std::max(most_turns, checked.turns);
    if (checked.problem.empty()) continue;
    ++failures;
    std::cout << "seed " << seed << ": " << checked.problem << std::endl;
  }
  for (const auto& [end, count] : ends) std::cout << end << " " << count << "\n";
  std::cout << "at most " << most_turns << " turns; " << failures << " failures" << std::endl;
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool hard = !words.empty() && words[0] == "--hard";
  if (hard) words.erase(words.begin());
  const auto number = [&words](size_t i) { return std::strtoull(words[i].c_str(), nullptr, 10); };
  const auto is = [&words](size_t i, const char* word) {
    return i + 1 < words.size() && words[i] == word;
  };
  std::optional<Case> drawn;
  if (words.size() == 4 && is(0, "--from") && is(2, "--seeds")) {
    return RunMany(hard, number(1), number(3));
  }
  if (is(0, "--seed") && (words.size() == 2 || (words.size() == 4 && is(2, "--save")))) {
    drawn = Make(hard, number(1));
    if (words.size() == 4 && !Save(*drawn, words[3])) return 2;
  } else if (!hard && words.size() == 2 && is(0, "--case")) {
    drawn = Read(words[1]);
    if (!drawn.has_value()) return 2;
  } else {
    std::cerr << kUsage;
    return 2;
  }
  const std::string problem = koios::simulation::Check(*drawn, /*verbose=*/true);
  std::cerr << (problem.empty() ? "as expected" : problem) << "\n";
  return problem.empty() ? 0 : 1;
}
