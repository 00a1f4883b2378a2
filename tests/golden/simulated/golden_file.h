// The golden files (tests/golden/README.md has their format) for tests that run in this process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/value.h"

namespace koios::golden {

struct Case {
  size_t line = 0;  // of the query, from 1
  std::map<std::string, Value> parameters;
  std::vector<std::string> statements;  // the last one's answer is `expected`
  std::string query;                    // all of them, in one line
  std::vector<std::string> flags;
  std::vector<std::string> expected;

  bool HasFlag(const std::string& flag) const;
  bool WantsError() const;
  bool WantsPlan() const;
};

struct File {
  std::string graph = "modern";
  std::vector<std::string> setup;
  std::vector<Case> cases;
};

// NOT_FOUND, or INVALID_ARGUMENT with the line that is wrong.
StatusOr<File> ReadFile(const std::string& path);

// Whether `found` (rows in order of arrival, or one line "error: CODE line:column message") is what
// the case expects.
bool Agrees(const Case& golden, std::vector<std::string> found);

}  // namespace koios::golden
