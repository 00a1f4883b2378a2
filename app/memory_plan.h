// How the memory of a process is split: fixed shares of one total, so that what each part may take
// is known before anything runs.
#pragma once

#include <cstdint>

#include "server/server.h"
#include "storage/rocks/graph_store.h"

namespace koios::app {

inline constexpr uint64_t kMinMemoryMegabytes = 64;

struct MemoryPlan {
  uint64_t total_bytes = 0;
  uint64_t queries_bytes = 0;    // all queries together, with what waits for their clients
  uint64_t query_bytes = 0;      // one query
  uint64_t blocks_bytes = 0;     // RocksDB's block cache, with its write buffers
  uint64_t writes_bytes = 0;     // write buffers
  uint64_t delta_bytes = 0;      // what was committed since the snapshots
  uint64_t fold_bytes = 0;       // building new snapshots in the background
  uint64_t network_bytes = 0;    // gRPC's buffers
  uint64_t commit_bytes = 0;     // one commit

  // What is not the queries'.
  uint64_t rest_bytes() const { return total_bytes - queries_bytes; }
  void ApplyTo(server::ServerOptions* options) const;
  void ApplyTo(storage::StoreOptions* options) const;
};

// Four fifths of what the machine, or the control group that the process is in, has.
uint64_t DefaultMemoryBytes();
// `query_bytes`: 0 is a quarter of what all queries have. `delta_bytes`: 0 is a tenth of the total,
// 1 GB at most; more is taken from what no account counts.
MemoryPlan PlanMemory(uint64_t total_bytes, uint64_t query_bytes, uint64_t delta_bytes = 0);

}  // namespace koios::app
