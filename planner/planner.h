// The planner's door: a parsed query becomes a physical plan. Pure: schema and statistics come in
// as plain data, nothing is read or run. Any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/statistics/graph_statistics.h"
#include "core/status.h"
#include "core/value.h"
#include "parser/ast.h"
#include "planner/graph_look.h"
#include "planner/plan_holes.h"
#include "proto/plan.pb.h"

namespace koios::planner {

// All that a plan depends on, beside the text: what comes in here must be known to PlannedQuery.
struct PlanContext {
  const Schema* schema = nullptr;  // as of the view that the query will read; null: not known
  const GraphStatistics* statistics = nullptr;  // about; null: not known
  std::map<std::string, Value> parameters;
  uint64_t most_named_again_bytes =
      UINT64_MAX;              // of their values, but for each one's first mention
  bool explains = false;       // the text is asked for, whatever the terminal step
  bool isolated = false;       // workers read no partition but their own
  bool whole_results = false;  // isolated: elements of results come with their properties
  // That read each other's partitions; of several a plan may be made as if they could not, where
  // that lets all of them work (cost/owners.h).
  uint32_t num_workers = 1;
};

// How results are handed out; from the terminal method at the end of the text.
enum class Outcome { kResults, kExplain, kProfile };

struct PlannedQuery {
  plan::Plan plan;
  Outcome outcome = Outcome::kResults;
  bool changes_graph = false;
  // When asked for: logical, after each rule that fired, physical; of 2 MiB at most.
  std::string explain;

  // With what else planning the text gives the same plan: with other values of parameters, of the
  // same names and kinds, where only `holes` name them, once they are there; not with others of
  // those in `looked_at`; with a schema and statistics for which `seen` holds.
  bool keeps = false;           // false: with nothing else
  std::vector<PlanHole> holes;  // PutValues() fills them, before the plan can run
  size_t constant_bytes = 0;    // of large constants that are no holes, decoded
  std::vector<std::string> looked_at;
  std::map<std::string, uint32_t> named_again;  // how often behind the first mention
  GraphSeen seen;
};

// Errors: INVALID_ARGUMENT (unknown step, with the nearest; wrong arguments), UNIMPLEMENTED (a
// TinkerPop step not there yet), RESOURCE_EXHAUSTED (a limit); all with position.
StatusOr<PlannedQuery> PlanQuery(const parser::Query& query, const PlanContext& context);

}  // namespace koios::planner
