// What goes to disk, and when: what operators keep, and the rows that wait between them in a part
// that waits itself.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"
#include "engine/spill/row_block.h"

namespace koios::engine {
namespace {

// Fewer rows take more on disk than they free.
constexpr int64_t kLeastStored = 4096;

// How long one call puts rows on disk.
constexpr uint64_t kStoreNanos = 200'000;

}  // namespace

// Of little memory it is a small share, as each worker may keep so much of each operator.
int64_t QueryRun::LeastSpillBytes() const {
  constexpr int64_t kShare = 8, kLeast = 16 * 1024;
  const int64_t share = spec_->account->limit() / (kShare * worker_.num_workers);
  return std::min(static_cast<int64_t>(worker_.bounds.spill_bytes), std::max(share, kLeast));
}

// Where others need the memory it goes to disk if that can be written.
bool QueryRun::NeedsDisk() const {
  const MemoryAccount& account = *spec_->account;
  return worker_.bounds.spills_early || account.IsHalfUsed() ||
         (account.IsTight() && worker_.spill != nullptr && worker_.spill->CanWrite());
}

// Whether an operator that has just run, or another one as memory is short, goes to disk.
bool QueryRun::MaySpill(const Node& ran) const {
  if (worker_.spill == nullptr) return false;
  const Spiller* spiller = ran.code.spiller();
  return gives_back_ || NeedsDisk() || (spiller != nullptr && spiller->must_spill());
}

// What goes to disk when memory is short: of the operator that keeps most, a piece at a time,
// before anything else of the query goes on here.
void QueryRun::PickSpill() {
  if (spilling_.has_value() || !failure_.ok()) return;
  const bool needs_disk = NeedsDisk(), is_short = gives_back_ || needs_disk;
  const bool is_idle = gives_back_ || worker_.bounds.spills_early;
  int64_t most = LeastSpillBytes() - 1;
  for (const uint32_t id : spillers_) {
    const Spiller& spiller = *nodes_[id].code.spiller();
    if (!is_short && !spiller.must_spill()) continue;
    const int64_t bytes = spiller.SpillableBytes() + (is_idle ? spiller.GivingBytes() : 0);
    if (bytes <= most) continue;
    // Nobody needs what it gives back: what might not find room stays.
    const bool is_needed = needs_disk || spiller.must_spill();
    if (!is_needed && !worker_.spill->is_ample(static_cast<uint64_t>(bytes))) continue;
    most = bytes;
    spilling_ = id;
  }
  if (spilling_.has_value()) return;
  constexpr uint64_t kEarlyTurns = 16;
  stores_waiting_ = gives_back_ || (worker_.bounds.spills_early && num_steps_ % kEarlyTurns == 0);
  gives_back_ = false;
}

// What waits in a queue, whose charge is a batch's. A row that is more than that is one value.
bool QueryRun::MayStore(const Input& input) const {
  return !input.stored.has_value() && !input.stays &&
         input.charged >= std::min(LeastSpillBytes(), kLeastStored) &&
         input.charged <= static_cast<int64_t>(2 * kBatchBytes);
}

// Of what waits between operators as much as a call has time for. What finds no room on disk, or
// would take it from who must go there, stays in memory: nobody needs that now.
void QueryRun::StoreWaiting() {
  const uint64_t begin = worker_.clock->NowNanos();
  uint64_t now = begin;
  for (Node& node : nodes_) {
    const uint64_t node_begin = now;
    Status put;
    node.lanes.ForEach([&](const Loops&, Lane& lane) {
      for (size_t i = 0; i < lane.queue.size(); ++i) {
        if (!put.ok() || now - begin >= kStoreNanos || !MayStore(lane.queue[i])) continue;
        if (!worker_.spill->is_ample(static_cast<uint64_t>(lane.queue[i].charged))) continue;
        put = Store(&node, &lane.queue[i]);
        now = worker_.clock->NowNanos();
      }
    });
    if (now > node_begin) News(node.op->id()).CountCall(now - node_begin, now - node_begin);
    if (!put.ok()) break;
    if (now - begin >= kStoreNanos) return;
  }
  stores_waiting_ = false;
}

// Its runs stay, as weights are no rows. Rows that share values would be larger when they come back
// than they are.
Status QueryRun::Store(Node* node, Input* input) {
  input->stays = FlatBytes(input->batch) > 2 * static_cast<size_t>(input->charged);
  if (input->stays) return OkStatus();
  if (waiting_ == nullptr) {
    ASSIGN_OR_RETURN(waiting_, worker_.spill->Open(spec_->disk_bytes()));
  }
  const uint64_t written = waiting_->written();
  ASSIGN_OR_RETURN(input->stored, PutRows(input->batch, "query-memory-mb", waiting_.get()));
  News(node->op->id()).spilled_bytes += waiting_->written() - written;
  Batch runs;
  runs.rows = input->batch.rows;
  runs.runs = std::move(input->batch.runs);
  input->batch = std::move(runs);
  const int64_t left = Input::BytesOf(input->batch);
  spec_->account->Release(input->charged - left);
  input->charged = left;
  return OkStatus();
}

// The rows that the node takes next are there again, and are used at once.
Status QueryRun::BringBack(Node* node) {
  if (node->lane == nullptr || node->lane->active.has_value()) return OkStatus();
  Input& input = node->lane->queue.front();
  if (!input.stored.has_value()) return OkStatus();
  ASSIGN_OR_RETURN(const std::string block, waiting_->Take(*input.stored));
  input.stored.reset();
  ASSIGN_OR_RETURN(Batch rows, DecodeRows(block, spec_->account));
  if (rows.rows != input.batch.rows) return DataLoss("Rows that were put on disk are others now.");
  rows.runs = std::move(input.batch.runs);
  rows.slots.resize(spec_->plan.num_slots());
  const int64_t more = Input::BytesOf(rows) - input.charged;
  if (!spec_->account->TryCharge(more)) return OverLimit(*node->op, more);
  input.charged += more;
  input.batch = std::move(rows);
  return OkStatus();
}

int64_t QueryRun::LeastToGiveBack() const {
  if (worker_.spill == nullptr || !failure_.ok() || complete_) return 0;
  const int64_t enough = LeastSpillBytes();
  int64_t waiting = 0, smallest = std::numeric_limits<int64_t>::max();
  for (const Node& node : nodes_) {
    node.lanes.ForEach([&](const Loops&, const Lane& lane) {
      for (const Input& input : lane.queue) {
        if (!MayStore(input)) continue;
        waiting += input.charged;
        smallest = std::min(smallest, input.charged);
      }
    });
  }
  int64_t least = waiting >= enough ? smallest : 0;  // they go there one by one
  for (const uint32_t id : spillers_) {
    const Spiller& spiller = *nodes_[id].code.spiller();
    const int64_t bytes = spiller.SpillableBytes() + spiller.GivingBytes();
    if (bytes >= enough && (least == 0 || bytes < least)) least = bytes;
  }
  return least;
}

bool QueryRun::MayGiveBack() const {
  const int64_t least = LeastToGiveBack();
  return least > 0 && worker_.spill->is_ample(static_cast<uint64_t>(least));
}

void QueryRun::GiveBack() {
  gives_back_ = true;
  PickSpill();
}

void QueryRun::CountSpilled(const Node& node) {
  if (node.host->spilled == nullptr) return;
  const uint64_t written = node.host->spilled->written();
  const uint64_t counted = std::exchange(node.host->spilled_counted, written);
  if (written > counted) News(node.op->id()).spilled_bytes += written - counted;
}

void QueryRun::RunSpill() {
  Node& node = nodes_[*spilling_];
  OperatorStats& stats = News(*spilling_);
  const uint64_t begin = worker_.clock->NowNanos();
  const StatusOr<bool> done = node.code.spiller()->Spill();
  if (!done.ok()) Fail(WithDetail(done.status(), DetailFor(*node.op)));
  if (!done.ok() || *done) spilling_.reset();
  ChargeHeld(&node);
  CountSpilled(node);
  const uint64_t took = worker_.clock->NowNanos() - begin;
  stats.CountCall(took, took);
  CountSlice(node.op->id());
  PickSpill();
}

}  // namespace koios::engine
