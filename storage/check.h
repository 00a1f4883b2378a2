// Check: verifies a whole graph against itself, at its newest version: vertices against the indexes
// of labels and ids, edges against both of their ends, their vertices and the index of ids, counts
// and next numbers against what is there. Reads everything once or twice; bounded memory; the graph
// may be used meanwhile.
#pragma once

#include <cstdint>
#include <functional>
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

// Asked now and then, with the number of entries read so far: an error stops the check.
using CheckWatch = std::function<Status(uint64_t entries)>;
inline constexpr uint64_t kEntriesPerWatch = 1024;

// Damage that can be described is a problem in the report; an error is a read that failed, or the
// watch's.
StatusOr<CheckReport> Check(const GraphStore& store, const CheckWatch& watch = nullptr);

}  // namespace koios::storage
