#include "engine/sched/first_turn.h"

#include <utility>

#include "engine/sched/slice.h"

namespace koios::engine {
namespace {

void End(const QuerySpec& spec, QueryResult result) {
  result.numbers = spec.Numbers();
  spec.sink->Done(std::move(result));
}

}  // namespace

QueryResult ResultOf(const QueryRun& run, Status status, uint64_t started_ns, uint64_t now_ns) {
  QueryResult result;
  result.status = std::move(status);
  result.rows = run.rows();
  result.elapsed_ns = now_ns - started_ns;
  result.operators = run.stats();
  if (result.status.ok()) result.parts = run.spec().parts;
  return result;
}

std::shared_ptr<BegunQuery> TakeFirstTurn(const std::shared_ptr<const QuerySpec>& spec,
                                          const WorkerContext& context,
                                          const FirstTurnBounds& bounds) {
  auto begun = std::make_shared<BegunQuery>();
  WorkerContext here = context;
  here.transport = begun.get();
  begun->started_ns = context.clock->NowNanos();
  StatusOr<std::unique_ptr<QueryRun>> run = QueryRun::Create(spec, here);
  if (!run.ok()) {
    QueryResult result;
    result.status = run.status();
    End(*spec, std::move(result));
    return nullptr;
  }
  begun->run = *std::move(run);
  begun->run->Start();
  uint64_t now = begun->started_ns;
  for (uint64_t slice = 0; slice < bounds.slices && now - begun->started_ns < bounds.nanos;
       ++slice) {
    const bool more = RunSlice(begun->run.get(), *context.clock);
    now = context.clock->NowNanos();
    const Status failure = begun->run->failure();
    if (!failure.ok() || begun->run->complete()) {
      QueryResult result = ResultOf(*begun->run, failure, begun->started_ns, now);
      begun->run = nullptr;  // what it keeps is free by the time that anybody hears of its end
      End(*spec, std::move(result));
      return nullptr;
    }
    if (!more || begun->run->has_sent()) break;
  }
  return begun;
}

}  // namespace koios::engine
