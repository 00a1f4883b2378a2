// FirstTurn: a query's first slices on the thread that submits it, which is no worker: a query that
// is over by then has woken nobody. What is not over goes on at its coordinator: the run itself
// moves there, with what it has to say to others, who hear of the query only then.
// Until it is handed over the run belongs to the submitting thread, then to the worker's.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/exchange/frame.h"
#include "engine/sched/query_run.h"

namespace koios::engine {

// A query that has begun and is not over. While the run has no worker, what it says is kept here.
struct BegunQuery final : public Transport {
  std::vector<std::pair<uint32_t, Frame>> said;  // to whom, what
  uint64_t started_ns = 0;
  std::unique_ptr<QueryRun> run;

  void Send(uint32_t to, Frame frame) override { said.emplace_back(to, std::move(frame)); }
};

// As EngineOptions has them.
struct FirstTurnBounds {
  uint64_t slices = 0;
  uint64_t nanos = 0;
};

// Runs it as worker `context.index`, its coordinator, would; the context's transport is not used.
// Null: it is over, and its sink has had Done. REQUIRES: nobody else knows of the query.
std::shared_ptr<BegunQuery> TakeFirstTurn(const std::shared_ptr<const QuerySpec>& spec,
                                          const WorkerContext& context,
                                          const FirstTurnBounds& bounds);

// What Done is told of a run that is over.
QueryResult ResultOf(const QueryRun& run, Status status, uint64_t started_ns, uint64_t now_ns);

}  // namespace koios::engine
