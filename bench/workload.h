// The cases of the benchmark: a Gremlin query and the CSR walk that answers the same, and how a
// query is run in process. Shared by koios_bench and the test that keeps it from rotting.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/csr.h"
#include "engine/engine.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"

namespace koios::bench {

struct Case {
  std::string name;
  std::string shown;  // the query as the table has it
  std::string query;
  std::function<Answer(const Csr&)> walk;
};

// Walks of about this many rows for two and three hops.
struct WorkloadSize {
  uint64_t rows = 20'000'000;
};
// Start vertices are drawn with a fixed seed.
StatusOr<std::vector<Case>> MakeCases(const Csr& csr, const storage::GraphView& view,
                                      const WorkloadSize& size);

StatusOr<plan::Plan> PlanText(const std::string& query, const storage::GraphView& view);

// Runs the plan to its end and gives what came out; a single number counts as the rows.
StatusOr<Answer> RunPlan(engine::Engine* engine, std::shared_ptr<const storage::GraphView> view,
                         const plan::Plan& plan);

}  // namespace koios::bench
