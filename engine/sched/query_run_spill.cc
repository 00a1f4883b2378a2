// What goes to disk when memory is short: the rows of the barrier that has most of them, a piece at
// a time, before anything else of the query goes on here.
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {

void QueryRun::PickSpill() {
  if (spilling_.has_value() || !failure_.ok()) return;
  if (!worker_.bounds.spills_early && !spec_->account->IsTight()) return;
  int64_t most = static_cast<int64_t>(worker_.bounds.spill_bytes) - 1;
  for (const uint32_t id : barriers_) {
    const int64_t bytes = nodes_[id].code.barrier->SpillableBytes();
    if (bytes <= most) continue;
    most = bytes;
    spilling_ = id;
  }
}

void QueryRun::RunSpill() {
  Node& node = nodes_[*spilling_];
  OperatorStats& stats = stats_[*spilling_];
  const uint64_t begin = worker_.clock->NowNanos();
  const StatusOr<bool> done = node.code.barrier->Spill();
  if (!done.ok()) Fail(WithDetail(done.status(), DetailFor(*node.op)));
  if (!done.ok() || *done) spilling_.reset();
  ChargeHeld(&node);
  if (node.host->spilled != nullptr) stats.spilled_bytes = node.host->spilled->written();
  stats.time_ns += worker_.clock->NowNanos() - begin;
  PickSpill();
}

}  // namespace koios::engine
