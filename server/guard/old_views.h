// OldViews: ends queries whose views of old versions keep too much of what changed since (engine
// rule 15). A client that does not read holds its query's view, and each fold of a graph into
// snapshots leaves such views a delta more, which no account of a query has. One thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "core/clock.h"
#include "server/graphs.h"
#include "server/query_registry.h"

namespace koios::server {

class OldViews {
 public:
  // When one was ended and has let nothing go, another one is.
  static constexpr int64_t kWaitNanos = 10'000'000'000;

  // They outlive it.
  OldViews(const Graphs* graphs, QueryRegistry* registry, const Clock* clock)
      : graphs_(graphs), registry_(registry), clock_(clock) {}

  // While old views keep too much: ends the query that has read the longest of those whose graph
  // was folded since, with RESOURCE_EXHAUSTED; the next one once that has let something go.
  void Look();

 private:
  const Graphs* const graphs_;
  QueryRegistry* const registry_;
  const Clock* const clock_;
  int64_t last_ = 0;            // when one was ended
  uint64_t releases_ = 0;       // by then
  std::set<std::string> told_;  // those that were, of those that are still listed
};

}  // namespace koios::server
