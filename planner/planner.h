// The planner's door: a parsed query becomes a physical plan. Pure: schema and statistics come in
// as plain data, nothing is read or run. Any thread.
#pragma once

#include <map>
#include <string>

#include "core/schema.h"
#include "core/statistics/graph_statistics.h"
#include "core/status.h"
#include "core/value.h"
#include "parser/ast.h"
#include "proto/plan.pb.h"

namespace koios::planner {

struct PlanContext {
  const Schema* schema = nullptr;  // as of the view that the query will read; null: not known
  const GraphStatistics* statistics = nullptr;  // about; null: not known
  std::map<std::string, Value> parameters;
  bool explains = false;  // the text is asked for, whatever the terminal step
};

// How results are handed out; from the terminal method at the end of the text.
enum class Outcome { kResults, kExplain, kProfile };

struct PlannedQuery {
  plan::Plan plan;
  Outcome outcome = Outcome::kResults;
  bool changes_graph = false;
  std::string explain;  // when asked for: logical, after each rule that fired, physical
};

// Errors: INVALID_ARGUMENT (unknown step, with the nearest; wrong arguments), UNIMPLEMENTED (a
// TinkerPop step not there yet), RESOURCE_EXHAUSTED (a limit); all with position.
StatusOr<PlannedQuery> PlanQuery(const parser::Query& query, const PlanContext& context);

}  // namespace koios::planner
