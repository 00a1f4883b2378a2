#include "engine/sched/outbox.h"

#include <algorithm>

namespace koios::engine {

void Outbox::Add(uint32_t to, const Loops& iteration, const Batch& source,
                 const std::vector<uint32_t>& picked, const std::vector<Run>& runs) {
  Lane& lane = lanes_[to][iteration];
  size_t bytes = 0;  // of all rows, as they are copied
  for (const Column& column : source.slots) bytes += column.FlatByteSize() + PathBytes(column);
  bytes = bytes * picked.size() / std::max<size_t>(source.rows, 1);
  const auto fits = [&](const JoinedBatch& last) {
    return last.batch.rows + picked.size() <= kBatchRows && last.bytes + bytes <= kBatchBytes &&
           last.batch.SameShape(source);
  };
  if (lane.batches.empty() || !fits(lane.batches.back())) {
    lane.batches.push_back({});
    ++num_batches_;
  }
  JoinedBatch& last = lane.batches.back();
  last.batch.AppendRows(source, picked);
  last.bytes += bytes;
  bytes_ += bytes;
  const size_t num_runs = last.batch.runs.size();
  for (const Run& run : runs) last.batch.AppendRun(run);
  bytes_ += (last.batch.runs.size() - num_runs) * sizeof(Run);
}

std::vector<Loops> Outbox::Waiting(uint32_t to) {
  std::vector<Loops> waiting;
  lanes_[to].ForEach([&waiting](const Loops& iteration, const Lane& lane) {
    if (!lane.batches.empty()) waiting.push_back(iteration);
  });
  return waiting;
}

bool Outbox::Take(uint32_t to, const Loops& iteration, bool flush, bool local, Batch* batch) {
  Lane* lane = lanes_[to].Find(iteration);
  if (lane == nullptr || lane->batches.empty() || (!flush && !lane->IsFull())) return false;
  if (!local && lane->in_flight >= kWindow) return false;
  const JoinedBatch& first = lane->batches.front();
  bytes_ -= first.bytes + first.batch.runs.size() * sizeof(Run);
  *batch = std::move(lane->batches.front().batch);
  lane->batches.pop_front();
  --num_batches_;
  if (!local) ++lane->in_flight;
  lanes_[to].Trim(iteration);
  return true;
}

bool Outbox::Reserve(uint32_t to, const Loops& iteration) {
  Lane& lane = lanes_[to][iteration];
  if (!lane.batches.empty() || lane.in_flight >= kWindow) return false;
  ++lane.in_flight;
  return true;
}

void Outbox::Acknowledge(uint32_t to, const Loops& iteration) {
  Lane* lane = lanes_[to].Find(iteration);
  if (lane == nullptr || lane->in_flight == 0) return;
  --lane->in_flight;
  lanes_[to].Trim(iteration);
}

bool Outbox::IsStalled(uint32_t to, const Loops& iteration) const {
  const Lane* lane = lanes_[to].Find(iteration);
  return lane != nullptr && lane->IsFull() && lane->in_flight >= kWindow;
}

bool Outbox::Blocked(const Loops& iteration) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const ByIteration<Lane>& lanes) {
    const Lane* lane = lanes.Find(iteration);
    return lane != nullptr && lane->IsFull();
  });
}

}  // namespace koios::engine
