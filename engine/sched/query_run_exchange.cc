// What goes from one worker to another: rows, and what is said about them.
#include <algorithm>
#include <utility>

#include "engine/exchange/destinations.h"
#include "engine/query_account.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// Fewer are not worth a frame.
constexpr size_t kRowsToShare = 64;

}  // namespace

Status QueryRun::RunExchange(Node* node) {
  node->lane->active = TakeInput(node);
  const Batch& batch = node->lane->active->batch;
  CountOut(node, batch);
  std::vector<uint32_t> to;
  bool all_stay = worker_.num_workers == 1 || spec_->plan.stays_home();
  if (!all_stay && MayStay(*node)) {
    if (spread_ && GiveAway(node)) return OkStatus();
    all_stay = true;
  } else if (!all_stay) {
    ExchangePlace place;
    place.view = spec_->view.get();
    place.worker = worker_.index;
    place.num_workers = spec_->NumOwners(worker_.num_workers);
    place.stay = ReadsAll() && !spread_;
    // Of `V().out().limit(3)` the first partitions may be enough.
    place.spread_after_rows =
        shape_->IsCutShort(node->op->id()) ? UINT64_MAX : worker_.spread_after_rows;
    const plan::Operator& next = spec_->plan.operators(static_cast<int>(node->op->next(0)));
    if (next.has_scan()) place.scan = &next.scan();
    ASSIGN_OR_RETURN(to, Destinations(node->op->exchange(), batch, place));
    all_stay =
        std::all_of(to.begin(), to.end(), [&](uint32_t dest) { return dest == worker_.index; });
  }
  if (!all_stay) {
    Route(node, batch, to);
    FinishInput(node);
    Pump(node, /*flush=*/false);
    return OkStatus();
  }
  Batch staying = std::move(node->lane->active->batch);
  FinishInput(node);
  if (staying.rows > 0) Enqueue(node->op->next(0), std::move(staying));
  return OkStatus();
}

bool QueryRun::ReadsAll() const { return worker_.shared_view && !spec_->plan.at_owners(); }

// Where every worker reads every partition, rows that are sent to an owner only for what is stored
// there are as well here. Rows that are to meet their like, to be merged or dropped, are not.
bool QueryRun::MayStay(const Node& node) const {
  if (!ReadsAll() || node.op->exchange().key() != plan::Exchange::OWNER) return false;
  const plan::Operator& next = *nodes_[node.op->next(0)].op;
  return !next.has_merge() && !next.barrier().merge() &&
         !(next.has_dedup() && next.dedup().stage() == plan::PARTIAL);
}

// The whole batch to a worker that is through with what it got: work is shared by batches, which
// nobody has to take apart.
bool QueryRun::GiveAway(Node* node) {
  Batch& batch = node->lane->active->batch;
  if (batch.rows < std::min(kRowsToShare, worker_.bounds.batch_rows)) return false;
  for (uint32_t i = 1; i < worker_.num_workers; ++i) {
    const uint32_t to = (worker_.index + i) % worker_.num_workers;
    if (!node->outbox->MayPass(to, node->iteration)) continue;
    const FrameCredit credit{batch.ByteSize(), false};
    if (!send_credits_.TryTake(to, credit.bytes)) continue;
    SendData(node, to, node->iteration, std::move(batch), credit);
    FinishInput(node);
    return true;
  }
  return false;
}

// Per destination: the picked rows, and their runs with an exact share of the weight.
void QueryRun::Route(Node* node, const Batch& batch, const std::vector<uint32_t>& to) {
  std::vector<std::vector<uint32_t>> picked(worker_.num_workers);
  std::vector<std::vector<Run>> runs(worker_.num_workers);
  std::vector<uint32_t> counts(worker_.num_workers, 0);
  std::vector<uint32_t> used;
  uint32_t row = 0;
  for (const Run& run : batch.runs) {
    used.clear();
    for (uint32_t i = 0; i < run.count; ++i, ++row) {
      if (counts[to[row]]++ == 0) used.push_back(to[row]);
      picked[to[row]].push_back(row);
    }
    const ExactSplit split = SplitWeight(run.k, static_cast<uint32_t>(used.size()));
    for (uint32_t i = 0; i < used.size(); ++i) {
      const uint32_t k = split.low_k + (i < split.num_low ? 0 : 1);
      runs[used[i]].push_back({run.instance, run.loops, counts[used[i]], k});
      counts[used[i]] = 0;
    }
  }
  for (uint32_t dest = 0; dest < worker_.num_workers; ++dest) {
    if (!picked[dest].empty()) {
      node->outbox->Add(dest, node->iteration, batch, picked[dest], runs[dest]);
    }
  }
}

bool QueryRun::Pump(Node* node, bool flush) {
  bool moved_here = false;
  for (uint32_t to = 0; to < worker_.num_workers; ++to) {
    if (to == worker_.index) {
      moved_here = PumpHere(node, flush);
    } else {
      PumpTo(node, to, flush);
    }
  }
  return moved_here;
}

// What stays has no window and needs no credit.
bool QueryRun::PumpHere(Node* node, bool flush) {
  const uint32_t here = worker_.index;
  const uint32_t next = node->op->next(0);
  bool moved = false;
  for (const Loops& iteration : node->outbox->Waiting(here)) {
    while (HasRoom(next, iteration) && node->outbox->IsReady(here, iteration, flush)) {
      Batch batch = node->outbox->Take(here, iteration);
      ChargeHeld(node);
      Enqueue(next, std::move(batch));
      moved = true;
    }
  }
  return moved;
}

void QueryRun::PumpTo(Node* node, uint32_t to, bool flush) {
  Outbox* const outbox = node->outbox.get();
  for (const Loops& iteration : outbox->Waiting(to)) {
    while (outbox->IsReady(to, iteration, flush) && outbox->IsOpen(to, iteration)) {
      const FrameCredit credit{outbox->NextBytes(to, iteration), false};
      if (!send_credits_.TryTake(to, credit.bytes)) {
        if (!outbox->Ask(to, iteration)) break;
        BeginCreditWait(node);
        SendLaneWord(FrameKind::kAsk, to, node->op->id(), iteration);
        break;
      }
      SendNext(node, to, iteration, credit);
    }
  }
}

void QueryRun::SendNext(Node* node, uint32_t to, const Loops& iteration,
                        const FrameCredit& credit) {
  Batch batch = node->outbox->Take(to, iteration);
  ChargeHeld(node);  // before somebody hears that the query is complete
  SendData(node, to, iteration, std::move(batch), credit);
}

void QueryRun::SendData(Node* node, uint32_t to, const Loops& iteration, Batch batch,
                        const FrameCredit& credit) {
  if (!spec_->account->TryCharge(static_cast<int64_t>(credit.bytes))) {
    return Fail(OverLimit(*node->op, static_cast<int64_t>(credit.bytes)));
  }
  News(node->op->id()).bytes_sent += credit.bytes;
  Frame frame;
  frame.charge = std::make_shared<HeldCharge>(spec_->account, credit.bytes);
  frame.query = spec_->id;
  frame.kind = FrameKind::kData;
  frame.from = worker_.index;
  frame.op = node->op->id();
  frame.loops = iteration;
  frame.batch = std::move(batch);
  frame.credit = credit;
  frame.spec = spec_;
  has_sent_ = true;
  node->outbox->Sent(to, iteration, credit);
  FrameCounts::Add(&counts_.sent_to, to);
  idle_told_ = false;
  worker_.transport->Send(to, std::move(frame));
}

void QueryRun::SendControl(uint32_t to, Frame frame) {
  frame.query = spec_->id;
  frame.from = worker_.index;
  frame.spec = spec_;
  has_sent_ = true;
  worker_.transport->Send(to, std::move(frame));
}

void QueryRun::SendReports() {
  if (ledger_.empty()) return;
  std::vector<std::vector<Report>> by_home(worker_.num_workers);
  ledger_.ForEach(
      [&by_home](Report& report) { by_home[report.instance.home].push_back(std::move(report)); });
  ledger_.Clear();
  tables_.Resize(TableBytes());  // before somebody hears that the query is complete
  for (uint32_t home = 0; home < worker_.num_workers; ++home) {
    if (by_home[home].empty()) continue;
    Frame frame;
    frame.kind = FrameKind::kReport;
    frame.reports = std::move(by_home[home]);
    SendControl(home, std::move(frame));
  }
}

void QueryRun::Broadcast(FrameKind kind, const InstanceId& instance, uint32_t op) {
  for (uint32_t to = 0; to < worker_.num_workers; ++to) {
    if (to == worker_.index) continue;
    Frame frame;
    frame.kind = kind;
    frame.op = op;
    frame.instance = instance;
    SendControl(to, std::move(frame));
  }
}

}  // namespace koios::engine
