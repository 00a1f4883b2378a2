#include "engine/sched/outbox.h"

#include <algorithm>

namespace koios::engine {

void Outbox::Add(uint32_t to, const Loops& lane_key, const Batch& source,
                 const std::vector<uint32_t>& picked, const std::vector<Run>& runs) {
  Lane& lane = lanes_[to][lane_key];
  size_t bytes = 0;
  for (const uint32_t row : picked) bytes += source.RowBytes(row);
  for (const Column& column : source.slots) {
    bytes += PathBytes(column) * picked.size() / std::max<size_t>(column.size(), 1);
  }
  const auto fits = [&](const JoinedBatch& last) {
    return last.batch.rows + picked.size() <= kBatchRows && last.bytes + bytes <= kBatchBytes &&
           last.batch.SameShape(source);
  };
  if (lane.batches.empty() || !fits(lane.batches.back())) {
    lane.batches.emplace_back();
    ++num_batches_;
  }
  JoinedBatch& last = lane.batches.back();
  last.batch.AppendRows(source, picked);
  last.bytes += bytes;
  for (const Run& run : runs) last.batch.AppendRun(run);
}

std::vector<Loops> Outbox::Waiting(uint32_t to) const {
  std::vector<Loops> waiting;
  for (const auto& [key, lane] : lanes_[to]) {
    if (!lane.batches.empty()) waiting.push_back(key);
  }
  return waiting;
}

bool Outbox::Take(uint32_t to, const Loops& lane_key, bool flush, bool local, Batch* batch) {
  const auto found = lanes_[to].find(lane_key);
  if (found == lanes_[to].end()) return false;
  Lane& lane = found->second;
  if (lane.batches.empty() || (!flush && !lane.IsFull())) return false;
  if (!local && lane.in_flight >= kWindow) return false;
  *batch = std::move(lane.batches.front().batch);
  lane.batches.pop_front();
  --num_batches_;
  if (!local) ++lane.in_flight;
  if (lane.batches.empty() && lane.in_flight == 0) lanes_[to].erase(found);
  return true;
}

void Outbox::Acknowledge(uint32_t to, const Loops& lane_key) {
  const auto found = lanes_[to].find(lane_key);
  if (found == lanes_[to].end() || found->second.in_flight == 0) return;
  --found->second.in_flight;
  if (found->second.batches.empty() && found->second.in_flight == 0) lanes_[to].erase(found);
}

bool Outbox::Blocked(const Loops& lane_key) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& lanes) {
    const auto found = lanes.find(lane_key);
    return found != lanes.end() && found->second.IsFull();
  });
}

}  // namespace koios::engine
