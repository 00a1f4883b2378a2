#include "engine/sched/outbox.h"

#include "core/status.h"

namespace koios::engine {

void Outbox::Add(uint32_t to, const Batch& source, const std::vector<uint32_t>& picked,
                 const std::vector<Run>& runs) {
  Lane& lane = lanes_[to];
  const bool was_full = IsFull(lane);
  if (lane.batches.empty() || lane.batches.back().rows + picked.size() > kBatchRows ||
      !lane.batches.back().SameShape(source)) {
    lane.batches.emplace_back();
    ++num_batches_;
  }
  Batch& batch = lane.batches.back();
  batch.AppendRows(source, picked);
  for (const Run& run : runs) batch.AppendRun(run);
  if (!was_full && IsFull(lane)) ++num_full_;
}

bool Outbox::Take(uint32_t to, bool flush, bool local, Batch* batch) {
  Lane& lane = lanes_[to];
  if (lane.batches.empty() || (!flush && !IsFull(lane))) return false;
  if (!local && lane.in_flight >= kWindow) return false;
  const bool was_full = IsFull(lane);
  *batch = std::move(lane.batches.front());
  lane.batches.pop_front();
  --num_batches_;
  if (was_full && !IsFull(lane)) --num_full_;
  if (!local) ++lane.in_flight;
  return true;
}

void Outbox::Acknowledge(uint32_t to) {
  CHECK(lanes_[to].in_flight > 0);
  --lanes_[to].in_flight;
}

}  // namespace koios::engine
