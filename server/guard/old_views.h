// OldViews: ends queries whose views of old versions keep too much of what changed since (engine
// rule 15). A client that does not read holds its query's view, and each fold of a graph into
// snapshots leaves such views a delta more, which no account of a query has. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/clock.h"
#include "server/graphs.h"
#include "server/query_registry.h"

namespace koios::server {

class OldViews {
 public:
  // Until one that was ended has let go what it kept.
  static constexpr int64_t kBetweenNanos = 250'000'000;

  // They outlive it.
  OldViews(const Graphs* graphs, QueryRegistry* registry, const Clock* clock)
      : graphs_(graphs), registry_(registry), clock_(clock) {}

  // While old views keep too much: ends the query that has read the longest of those whose graph
  // has changed since, with RESOURCE_EXHAUSTED.
  void Look();

 private:
  const Graphs* const graphs_;
  QueryRegistry* const registry_;
  const Clock* const clock_;
  int64_t last_ = 0;  // when one was ended
  std::string told_;  // which: what it changed may have been committed, and then it goes on
};

}  // namespace koios::server
