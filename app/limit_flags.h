// The limits of queries that serve, and console and query with --data, can set. One flag each,
// named as in the errors that tell of them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "app/memory_plan.h"
#include "server/server.h"
#include "storage/rocks/graph_store.h"

namespace koios::app {

struct LimitFlags {
  uint64_t query_memory_mb = 0;  // 0: a share of memory_mb
  uint64_t memory_mb = 0;        // 0: a share of the machine's
  uint64_t delta_mb = 0;         // 0: a share of memory_mb
  uint64_t plan_cache_mb = 16;   // 0: no plans are kept
  uint64_t held_results_mb = 4;
  uint64_t request_mb = 10;
  uint64_t value_mb = 16;
  uint64_t disk_reserve_mb = 64;
  uint64_t spill_mb = 10240;
  std::string spill_dir;  // empty: the data folder
  int max_attempts = 8;
  parser::Limits text;

  void AddTo(CLI::App* command);
  void ApplyTo(const std::string& data_folder, server::ServerOptions* options) const;
  void ApplyTo(storage::StoreOptions* options) const;
  MemoryPlan Memory() const;
};

}  // namespace koios::app
