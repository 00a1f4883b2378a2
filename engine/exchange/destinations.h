// Destinations: the worker where each row that comes to an Exchange is needed. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "core/status.h"
#include "engine/batch/batch.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"

namespace koios::engine {

// Where the rows are.
struct ExchangePlace {
  const storage::GraphView* view = nullptr;
  uint32_t worker = 0;
  uint32_t num_workers = 1;
  // Rows whose partition this worker can read stay here, until the query has spread (engine
  // rule 27): `V(1).out()` comes to no other worker.
  bool stay = false;
  // What scans that look at fewer elements look at stays, too.
  uint64_t spread_after_rows = 0;
  const plan::Scan* scan = nullptr;  // PARTITION: the one behind it; null: of everything
};

// By row.
StatusOr<std::vector<uint32_t>> Destinations(const plan::Exchange& exchange, const Batch& batch,
                                             const ExchangePlace& place);

}  // namespace koios::engine
