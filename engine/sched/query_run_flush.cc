// What is held back to make batches, reports and rows that merge, and when it goes.
#include <utility>

#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// How long rows wait in an outbox, at most.
constexpr uint64_t kSlicesToWait = 16;

}  // namespace

bool QueryRun::IsMerge(uint32_t op) const {
  return op < nodes_.size() && nodes_[op].code.partial != nullptr &&
         nodes_[op].code.partial->flushes_first();
}

bool QueryRun::Flush() {
  if (!failure_.ok() || complete_) return false;
  bool moved = FlushMerged();
  if (!moved) {
    for (size_t id = nodes_.size(); id-- > 0;) {
      Node& node = nodes_[id];
      if (node.code.partial != nullptr && !node.code.partial->flushes_first()) {
        moved = FlushFirst(&node) || moved;
      }
      if (node.outbox != nullptr && !node.outbox->Empty()) {
        moved = Pump(&node, /*flush=*/true) || moved;
      }
    }
  }
  EndSlice();
  if (!moved && merges_ && !idle_told_ && !counts_.empty()) {
    TellIdle();
    moved = !idle_told_;  // decided at once
  }
  if (!moved) GrantOverdraft();
  return moved || complete_;
}

// Merges give their rows the nearest to the source first: in `both().both().both().count()` what
// the first one gives still meets its like in the second. Once the query has spread the coordinator
// says when, as rows of other workers may come.
bool QueryRun::FlushMerged() {
  if (!merges_) return false;
  if (counts_.empty()) {
    const std::optional<HeldRows> held = FirstHeld();
    return held && FlushHeld(*held);
  }
  if (!may_flush_ || !HasRoom(nodes_[may_flush_->op].op->next(0), may_flush_->loops)) return false;
  if (FlushHeld(*may_flush_)) return true;
  may_flush_.reset();
  return false;
}

bool QueryRun::FlushHeld(const HeldRows& held) {
  Node& node = nodes_[held.op];
  const Loops* found =
      node.code.partial->First([&held](const Loops& iteration) { return iteration == held.loops; });
  if (found == nullptr) return false;
  const Status status = FlushPartial(&node, held.loops);
  if (!status.ok()) Fail(WithDetail(status, DetailFor(*node.op)));
  return true;
}

// In `repeat(both().both())` an earlier iteration is nearer to the source, whatever its operator.
bool QueryRun::IsBefore(const HeldRows& a, const HeldRows& b) const {
  if (shape_->LoopOf(a.op) != shape_->LoopOf(b.op) || a.loops == b.loops) return a.op < b.op;
  return a.loops < b.loops;
}

// Of the rows that Merges hold here, and for which there is room, those that go first.
std::optional<HeldRows> QueryRun::FirstHeld() const {
  std::optional<HeldRows> first;
  for (const Node& node : nodes_) {
    if (!IsMerge(node.op->id())) continue;
    const Loops* loops = node.code.partial->First(
        [&](const Loops& iteration) { return HasRoom(node.op->next(0), iteration); });
    if (loops == nullptr) continue;
    HeldRows held{node.op->id(), *loops};
    if (!first || IsBefore(held, *first)) first = std::move(held);
  }
  return first;
}

void QueryRun::TellIdle() {
  idle_told_ = true;
  std::optional<HeldRows> held = FirstHeld();
  if (is_coordinator()) {
    idle_.Tell(worker_.index, counts_, std::move(held));
    return DecideFlush();
  }
  Frame idle;
  idle.kind = FrameKind::kIdle;
  idle.op = held ? held->op : UINT32_MAX;
  if (held) idle.loops = std::move(held->loops);
  idle.counts = counts_;
  SendControl(spec_->id.coordinator, std::move(idle));
}

void QueryRun::DecideFlush() {
  const auto before = [this](const HeldRows& a, const HeldRows& b) { return IsBefore(a, b); };
  const std::optional<HeldRows> held = idle_.Decide(before);
  if (!held) return;
  for (const uint32_t to : idle_.workers()) {
    if (to == worker_.index) continue;
    Frame go;
    go.kind = FrameKind::kGo;
    go.op = held->op;
    go.loops = held->loops;
    SendControl(to, std::move(go));
  }
  may_flush_ = held;
  idle_told_ = false;
}

// Sends on rows of the first iteration that the operator holds rows of and for which there is room.
bool QueryRun::FlushFirst(Node* node) {
  const Loops* first = node->code.partial->First(
      [&](const Loops& iteration) { return HasRoom(node->op->next(0), iteration); });
  if (first == nullptr) return false;
  const Status status = FlushPartial(node, Loops(*first));
  if (!status.ok()) Fail(WithDetail(status, DetailFor(*node->op)));
  return true;
}

// A few rows that wait for others to make a batch may be what ends the query, as in
// `repeat(both()).limit(1)`. They do not wait until a busy worker has nothing else to do.
void QueryRun::EndSlice() {
  if (!failure_.ok() || complete_) return;
  if (++num_slices_ % kSlicesToWait == 0) {
    for (Node& node : nodes_) {
      if (node.outbox != nullptr && !node.outbox->Empty()) Pump(&node, /*flush=*/true);
    }
  }
  SendReports();
  Settle();
  SendCloses();
}

void QueryRun::Publish() {
  spec_->live.slices.fetch_add(1, std::memory_order_relaxed);
  ++slice_;
  for (const uint32_t op : has_news_) spec_->live.Tell(worker_.index, op, stats_[op]);
  has_news_.clear();
}

OperatorStats& QueryRun::News(uint32_t op) {
  if (std::exchange(last_news_[op], slice_) != slice_) has_news_.push_back(op);
  return stats_[op];
}

void QueryRun::CountSlice(uint32_t op) {
  if (std::exchange(last_slice_[op], slice_) != slice_) ++News(op).slices;
}

Status QueryRun::FlushPartial(Node* node, const Loops& iteration) {
  Batch batch;
  std::vector<Run> returned;
  RETURN_IF_ERROR(node->code.partial->Flush(iteration, &batch, &returned));
  ChargeHeld(node);
  ReturnRuns(returned);
  if (batch.rows == 0) return OkStatus();
  batch.slots.resize(spec_->plan.num_slots());
  CountOut(node, batch);
  Enqueue(node->op->next(0), std::move(batch));
  return OkStatus();
}

}  // namespace koios::engine
