// Check: verifies a whole graph against itself, at its newest version: vertices against the indexes
// of labels and ids, edges against both of their ends, their vertices and the index of ids, counts
// and next numbers against what is there. Reads everything once or twice; bounded memory; the graph
// may be used meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"
#include "storage/rocks/graph_store.h"

namespace koios::storage {

inline constexpr size_t kMaxProblems = 100;

struct CheckReport {
  uint64_t version = 0;
  uint64_t vertices = 0;
  uint64_t edges = 0;
  uint64_t problems_found = 0;
  std::vector<std::string> problems;  // the first kMaxProblems, in words
  bool ok() const { return problems_found == 0; }
};

// Damage that can be described is a problem in the report; an error is a read that failed.
StatusOr<CheckReport> Check(const GraphStore& store);

}  // namespace koios::storage
