#include "engine/sched/outbox.h"

#include <algorithm>

namespace koios::engine {

void Outbox::Add(uint32_t to, const Loops& lane_key, const Batch& source,
                 const std::vector<uint32_t>& picked, const std::vector<Run>& runs) {
  Lane& lane = lanes_[to][lane_key];
  if (lane.batches.empty() || lane.batches.back().rows + picked.size() > kBatchRows ||
      !lane.batches.back().SameShape(source)) {
    lane.batches.emplace_back();
    ++num_batches_;
  }
  Batch& batch = lane.batches.back();
  batch.AppendRows(source, picked);
  for (const Run& run : runs) batch.AppendRun(run);
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
  *batch = std::move(lane.batches.front());
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
