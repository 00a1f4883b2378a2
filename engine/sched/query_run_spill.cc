// What goes to disk, and when: what operators keep, and the rows that wait between them in a part
// that waits itself.
#include <algorithm>

#include "engine/op/state/spilled_batch.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// Fewer rows take more on disk than they free.
constexpr int64_t kLeastStored = 4096;

}  // namespace

// Of little memory it is a small share, as each worker may keep so much of each operator.
int64_t QueryRun::LeastSpillBytes() const {
  constexpr int64_t kShare = 8, kLeast = 16 * 1024;
  const int64_t share = spec_->account->limit() / (kShare * worker_.num_workers);
  return std::min(static_cast<int64_t>(worker_.bounds.spill_bytes), std::max(share, kLeast));
}

bool QueryRun::IsShort() const {
  return gives_back_ || worker_.bounds.spills_early || spec_->account->IsTight();
}

// Whether an operator that has just run, or another one as memory is short, goes to disk.
bool QueryRun::MaySpill(const Node& ran) const {
  if (worker_.spill == nullptr) return false;
  const Spiller* spiller = ran.code.spiller();
  return IsShort() || (spiller != nullptr && spiller->must_spill());
}

// What goes to disk when memory is short: of the operator that keeps most, a piece at a time,
// before anything else of the query goes on here.
void QueryRun::PickSpill() {
  if (spilling_.has_value() || !failure_.ok()) return;
  const bool is_short = IsShort();
  int64_t most = LeastSpillBytes() - 1;
  for (const uint32_t id : spillers_) {
    const Spiller& spiller = *nodes_[id].code.spiller();
    if (!is_short && !spiller.must_spill()) continue;
    const int64_t bytes = spiller.SpillableBytes();
    if (bytes <= most) continue;
    most = bytes;
    spilling_ = id;
  }
  if (spilling_.has_value()) return;
  constexpr uint64_t kEarlyTurns = 16;
  stores_waiting_ = gives_back_ || (worker_.bounds.spills_early && num_steps_ % kEarlyTurns == 0);
  gives_back_ = false;
}

// What waits in a queue, whose charge is a batch's.
bool QueryRun::MayStore(const Input& input) const {
  return !input.stored.has_value() && input.charged >= std::min(LeastSpillBytes(), kLeastStored);
}

// Of all that waits between operators the next batch. Its runs stay, as weights are no rows.
void QueryRun::StoreWaiting() {
  for (Node& node : nodes_) {
    Input* next = nullptr;
    node.lanes.ForEach([&](const Loops&, Lane& lane) {
      for (size_t i = 0; next == nullptr && i < lane.queue.size(); ++i) {
        if (MayStore(lane.queue[i])) next = &lane.queue[i];
      }
    });
    if (next == nullptr) continue;
    if (Status put = Store(&node, next); !put.ok()) Fail(WithDetail(put, DetailFor(*node.op)));
    CountSlice(node.op->id());
    return;
  }
  stores_waiting_ = false;
}

Status QueryRun::Store(Node* node, Input* input) {
  ASSIGN_OR_RETURN(input->stored, PutOnDisk(input->batch, node->host.get()));
  News(node->op->id()).spilled_bytes = node->host->spilled->written();
  Batch runs;
  runs.rows = input->batch.rows;
  runs.runs = std::move(input->batch.runs);
  input->batch = std::move(runs);
  const auto left = static_cast<int64_t>(input->batch.ByteSize());
  spec_->account->Release(input->charged - left);
  input->charged = left;
  return OkStatus();
}

// The rows that the node takes next are there again, and stay: they are used at once.
Status QueryRun::BringBack(Node* node) {
  if (node->lane == nullptr || node->lane->active.has_value()) return OkStatus();
  Input& input = node->lane->queue.front();
  if (!input.stored.has_value()) return OkStatus();
  int64_t charged = 0;
  ASSIGN_OR_RETURN(Batch rows, TakeFromDisk(*input.stored, node->host.get(), &charged));
  input.stored.reset();
  node->host->state_bytes -= charged;  // the queue's from now on
  input.charged += charged;
  if (rows.rows != input.batch.rows) return DataLoss("Rows that were put on disk are others now.");
  rows.runs = std::move(input.batch.runs);
  input.batch = std::move(rows);
  input.batch.slots.resize(spec_->plan.num_slots());
  return OkStatus();
}

bool QueryRun::CanGiveBack() const {
  if (worker_.spill == nullptr || !failure_.ok() || complete_) return false;
  const bool keeps = std::any_of(spillers_.begin(), spillers_.end(), [this](uint32_t id) {
    return nodes_[id].code.spiller()->SpillableBytes() >= LeastSpillBytes();
  });
  if (keeps) return true;
  int64_t waiting = 0;
  for (const Node& node : nodes_) {
    node.lanes.ForEach([&](const Loops&, const Lane& lane) {
      for (const Input& input : lane.queue) waiting += MayStore(input) ? input.charged : 0;
    });
  }
  return waiting >= LeastSpillBytes();
}

void QueryRun::GiveBack() {
  gives_back_ = true;
  PickSpill();
}

void QueryRun::RunSpill() {
  Node& node = nodes_[*spilling_];
  OperatorStats& stats = stats_[*spilling_];
  const uint64_t begin = worker_.clock->NowNanos();
  const StatusOr<bool> done = node.code.spiller()->Spill();
  if (!done.ok()) Fail(WithDetail(done.status(), DetailFor(*node.op)));
  if (!done.ok() || *done) spilling_.reset();
  ChargeHeld(&node);
  if (node.host->spilled != nullptr) {
    News(node.op->id()).spilled_bytes = node.host->spilled->written();
  }
  const uint64_t took = worker_.clock->NowNanos() - begin;
  stats.CountCall(took, took);
  CountSlice(node.op->id());
  PickSpill();
}

}  // namespace koios::engine
