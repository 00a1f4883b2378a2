// What workers have sorted, each its own, is merged at home as it comes: a spread Order, an
// Exchange HOME, and the Order that merges.
#include <algorithm>
#include <utility>

#include "engine/exchange/batch_check.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {

// Each spread Order gets its merging one, and no other is there.
Status QueryRun::OpenMerging() {
  size_t merging = 0;
  for (Node& node : nodes_) {
    merging += IsMerging(node) ? 1 : 0;
    if (!node.op->has_order() || !node.op->spread()) continue;
    const Node& exchange = nodes_[node.op->next(0)];
    const bool goes_home = exchange.op->exchange().key() == plan::Exchange::HOME;
    if (!exchange.op->has_exchange() || !goes_home || !IsMerging(nodes_[exchange.op->next(0)])) {
      return Internal("The plan has sorted rows that nobody merges.");
    }
    node.merged_at = exchange.op->next(0);
    nodes_[node.op->next(0)].merged_at = node.merged_at;
    --merging;
  }
  return merging == 0 ? OkStatus() : Internal("The plan merges rows that nobody sorts.");
}

bool QueryRun::IsMerging(const Node& node) {
  return node.op->has_order() && node.op->order().stage() == plan::MERGED;
}

// These workers are about to give what they have sorted.
void QueryRun::ExpectSorted(const BarrierKey& key, std::vector<uint32_t> workers) {
  if (nodes_[key.op].merged_at == 0) return;
  std::sort(workers.begin(), workers.end());
  Node& node = nodes_[nodes_[key.op].merged_at];
  node.merging[key.loops] =
      SortedStreams(node.op->order(), workers, {{worker_.index, 0}, key.loops, 0, 0});
}

// A firing is over that has given all of its worker's rows.
void QueryRun::TellSorted(const Node& node, const Firing& firing) {
  if (node.merged_at == 0) return;
  Frame sorted;
  sorted.kind = FrameKind::kSorted;
  sorted.from = worker_.index;
  sorted.op = node.merged_at;
  sorted.loops = firing.key.loops;
  sorted.sorted_rows = firing.rows;
  if (is_coordinator()) return ReceiveSorted(sorted);
  SendControl(spec_->id.coordinator, std::move(sorted));
}

void QueryRun::ReceiveSorted(const Frame& frame) {
  SortedStreams* const streams =
      frame.op < nodes_.size() ? nodes_[frame.op].merging.Find(frame.loops) : nullptr;
  if (streams == nullptr || !streams->End(frame.from, frame.sorted_rows)) {
    return Fail(DataLoss("A frame tells of sorted rows that are not there."));
  }
  idle_told_ = false;
  nodes_[frame.op].merging.Trim(frame.loops);
}

void QueryRun::EnqueueSorted(Node* node, const Loops& iteration, Input input) {
  const uint32_t from = input.remote ? input.from : worker_.index;
  SortedStreams* const streams = node->merging.Find(iteration);
  Status fits = CheckInput(input.batch, node->needed, 0);
  if (fits.ok() && (streams == nullptr || !streams->Add(from, &input))) {
    fits = DataLoss("A frame has sorted rows that nobody waits for.");
  }
  if (fits.ok()) return;
  spec_->account->Release(input.charged);
  Fail(WithDetail(fits, DetailFor(*node->op)));
}

// What is merged is the query's own, and is not needed any more.
bool QueryRun::DropsMerged(const Node& node) const {
  return closings_.any() && closings_.Drops(node.op->id());
}

bool QueryRun::PickMerging(Node* node) const {
  const bool drops = DropsMerged(*node);
  const auto can_merge = [&](const Loops& iteration, const SortedStreams& streams) {
    return drops ? streams.HasInput() : streams.CanMerge() && HasRoom(node->op->next(0), iteration);
  };
  const auto picked = node->merging.Last(can_merge);
  if (picked.kept == nullptr) return false;
  node->iteration = *picked.loops;
  return true;
}

Status QueryRun::RunMerging(Node* node) {
  SortedStreams* const streams = node->merging.Find(node->iteration);
  const InstanceId root{worker_.index, 0};
  const ChargeFunction charge = node->host->charge();
  ASSIGN_OR_RETURN(SortedStreams::Merged merged,
                   DropsMerged(*node) ? streams->Drop(charge)
                                      : streams->Merge(*view_, worker_.bounds.batch_rows, charge));
  for (Input& input : merged.through) FinishInput(&input);
  for (const SortedStreams::Weight& weight : merged.returned) {
    ReturnWeight(root, weight.k, weight.count);
  }
  node->merging.Trim(node->iteration);
  return GiveFired(node, std::move(merged.batch));
}

}  // namespace koios::engine
