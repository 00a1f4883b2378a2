// What a check found that would make a graph agree with itself again: records of its indexes and
// ends of edges follow from its vertices and edges, and so do the counts; an edge without both of
// its vertices goes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "storage/check.h"
#include "storage/codec/keys.h"

namespace koios::storage {

inline constexpr size_t kMostMends = size_t{1} << 18;

struct Mend {
  Family family = Family::kMeta;
  std::string key;
  std::optional<std::string> value;  // nullopt: the record goes
};

struct Mends {
  std::vector<Mend> records;                   // at most kMostMends; then there are more
  std::map<LabelId, int64_t> vertices, edges;  // what the counts lack
  // Of a partition, what vertices and edges must get at least next.
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> next_locals;
  std::set<uint32_t> snapshots;  // partitions whose snapshot is damaged: it goes
  // Something could not be read: what follows from it is not known, and nothing can be mended.
  bool unreadable = false;
  bool empty() const {
    return records.empty() && vertices.empty() && edges.empty() && next_locals.empty() &&
           snapshots.empty();
  }
};

// Check, which also says how the problems can be mended.
StatusOr<CheckReport> CheckForMends(const GraphStore& store, const CheckWatch& watch, Mends* mends);

}  // namespace koios::storage
