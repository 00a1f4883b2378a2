// Weights, and what happens when an instance's is whole: the protocol of DESIGN 5.3.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/plan/operator_table.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

Status TooMuchWeight() {
  return Internal("More weight came home than was given: a frame was doubled or is not ours.");
}

}  // namespace

void QueryRun::ReturnWeight(const InstanceId& instance, uint32_t k, uint32_t count) {
  if (instance.home != worker_.index) {
    Report* report = ledger_.FindOrMake(instance).first;
    report->instance = instance;
    if (!report->weight.TryAdd(k, count)) Fail(TooMuchWeight());
    return;
  }
  Home* home = homes_.Find(instance.serial);
  if (home == nullptr) return Fail(Internal("Weight came home to an instance that is over."));
  if (!home->weight.TryAdd(k, count)) return Fail(TooMuchWeight());
  if (home->weight.IsOne()) whole_.push_back(instance.serial);
}

void QueryRun::ReturnRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) ReturnWeight(run.instance, run.k);
}

void QueryRun::AddPending(const InstanceId& instance, const BarrierKey& key) {
  Barriers* pending = nullptr;
  if (instance.home == worker_.index) {
    Home* home = homes_.Find(instance.serial);
    if (home == nullptr) return Fail(Internal("A barrier waits for an instance that is over."));
    pending = &home->pending;
  } else {
    Report* report = ledger_.FindOrMake(instance).first;
    report->instance = instance;
    pending = &report->pending;
  }
  if (std::find(pending->begin(), pending->end(), key) == pending->end()) pending->push_back(key);
}

void QueryRun::Apply(const Report& report, uint32_t from) {
  for (const BarrierKey& key : report.pending) {
    AddPending(report.instance, key);
    NoteResting(key, from);
  }
  for (uint32_t k : report.weight.Pieces()) ReturnWeight(report.instance, k);
}

void QueryRun::ArmFirst(const InstanceId& instance, uint32_t op, const Loops& loops) {
  const std::optional<uint32_t> barrier = shape_->FirstBarrier(op);
  if (barrier.has_value()) AddPending(instance, {*barrier, loops});
}

void QueryRun::Settle() {
  while (!whole_.empty() && failure_.ok()) {
    Home* home = homes_.Find(whole_.back());
    whole_.pop_back();
    if (home == nullptr || !home->weight.IsOne()) continue;
    if (home->pending.empty() || home->closed) {
      CompleteInstance(home);
    } else {
      FireReady(home);
    }
  }
}

// Fires every pending barrier that no other pending one can reach; what they give shares a new
// weight 1 (engine rule 1). In `union(out().fold(), in().count()).fold()` the two inner ones fire
// together, the outer one when what they gave has come to it.
void QueryRun::FireReady(Home* home) {
  Barriers ready, waiting;
  for (const BarrierKey& key : home->pending) {
    const bool reached = std::any_of(
        home->pending.begin(), home->pending.end(),
        [&](const BarrierKey& other) { return !(other == key) && shape_->Reaches(other, key); });
    (reached ? waiting : ready).push_back(key);
  }
  if (ready.empty()) return Fail(Internal("Barriers wait for each other."));
  home->pending = std::move(waiting);
  home->weight.Clear();
  const ExactSplit split = SplitWeight(0, static_cast<uint32_t>(ready.size()));
  for (uint32_t i = 0; i < ready.size(); ++i) {
    Fire(ready[i], home, split.low_k + (i < split.num_low ? 0 : 1));
  }
}

// A fired barrier arms the next one on its way (engine rule 6): the second count() of
// `has('x').count().is(gt(5)).count()` is 0 though nothing comes to it.
void QueryRun::Fire(const BarrierKey& key, Home* home, uint32_t k) {
  const InstanceId instance = InstanceOf(*home);
  if (RestsInPlace(key.op)) {
    FireResting(key, k);
  } else {
    BeginFiring(key, instance, k);
  }
  const std::optional<uint32_t> next = shape_->NextBarrier(key.op);
  if (next.has_value()) AddPending(instance, {*next, key.loops});
}

void QueryRun::BeginFiring(const BarrierKey& key, const InstanceId& instance, uint32_t k) {
  nodes_[key.op].firings[key.loops].push_back({{instance, key.loops}, WeightPool(k), 0});
  busy_.insert(shape_->RankOf(key.op));
}

bool QueryRun::RestsInPlace(uint32_t op) const {
  return nodes_[op].op->spread() || plan::MayRest(*nodes_[op].op);
}

// Rows of a spread barrier rest at this worker, or may.
void QueryRun::NoteResting(const BarrierKey& key, uint32_t worker) {
  if (!RestsInPlace(key.op)) return;
  auto known = std::find_if(resting_.begin(), resting_.end(),
                            [&key](const Resting& one) { return one.key == key; });
  if (known == resting_.end()) known = resting_.insert(known, {key, {}});
  std::vector<uint32_t>& at = known->workers;
  if (std::find(at.begin(), at.end(), worker) == at.end()) at.push_back(worker);
}

// The workers where its rows rest share the weight, each for its own; where none do it fires here.
// Some need no rows to have come, as a cap() of side-effects: all workers.
void QueryRun::FireResting(const BarrierKey& key, uint32_t k) {
  const InstanceId root{worker_.index, 0};
  const auto known = std::find_if(resting_.begin(), resting_.end(),
                                  [&key](const Resting& one) { return one.key == key; });
  const bool is_everywhere = plan::FiresEverywhere(*nodes_[key.op].op);
  if (known == resting_.end() && !is_everywhere) {
    ExpectSorted(key, {worker_.index});
    return BeginFiring(key, root, k);
  }
  std::vector<uint32_t> workers;
  if (known != resting_.end()) {
    workers = std::move(known->workers);
    resting_.erase(known);
  }
  if (is_everywhere) {
    workers.resize(worker_.num_workers);
    std::iota(workers.begin(), workers.end(), 0);
  }
  ExpectSorted(key, workers);
  const ExactSplit split = SplitWeight(k, static_cast<uint32_t>(workers.size()));
  for (uint32_t i = 0; i < workers.size(); ++i) {
    const uint32_t part = split.low_k + (i < split.num_low ? 0 : 1);
    if (workers[i] == worker_.index) {
      BeginFiring(key, root, part);
      continue;
    }
    Report go;
    go.instance = root;
    go.weight.Add(part);
    go.pending.push_back(key);
    Frame frame;
    frame.kind = FrameKind::kFire;
    frame.reports.push_back(std::move(go));
    SendControl(workers[i], std::move(frame));
  }
}

void QueryRun::ReceiveFire(const Frame& frame) {
  for (const Report& go : frame.reports) {
    const bool fits = go.pending.size() == 1 && RestsInPlace(go.pending[0].op) &&
                      go.instance == InstanceId{spec_->id.coordinator, 0};
    if (!fits) return Fail(DataLoss("A frame lets a barrier go on that does not rest here."));
    for (const uint32_t k : go.weight.Pieces()) BeginFiring(go.pending[0], go.instance, k);
  }
  idle_told_ = false;
}

void QueryRun::CompleteInstance(Home* home) {
  if (home->serial() == 0) {
    complete_ = true;
    return;
  }
  const uint32_t exit_id = shape_->ExitOf(home->parked->enter);
  const plan::ScopeExit& exit = nodes_[exit_id].op->scope_exit();
  if (!home->closed) {
    if (!home->productive && home->alternative < static_cast<uint32_t>(exit.alternatives_size())) {
      return StartAlternative(home);
    }
    LeaveAtEnd(home, exit);
    CloseInstance(home);
  }
  EndInstance(home);
}

// Its weight is whole: nothing of it is anywhere, and what was kept for it may go.
void QueryRun::EndInstance(Home* home) {
  const InstanceId instance = InstanceOf(*home);
  const Node& enter = nodes_[home->parked->enter];
  if (enter.op->scope_enter().serial()) CountClosed(*home);
  for (uint32_t id : enter.stateful) {
    if (nodes_[id].code.stream != nullptr) nodes_[id].code.stream->Release(instance);
    if (nodes_[id].code.barrier != nullptr) nodes_[id].code.barrier->Release(instance);
  }
  closings_.Forget(instance);
  if (home->close_sent) Broadcast(FrameKind::kRelease, instance, 0);
  Parked::OuterRun& outer = home->parked->runs[home->run];
  if (--outer.waiting == 0) {
    ReturnWeight(outer.instance, outer.pool.k(), outer.pool.left());
    ForgetNested(outer);
  }
  const int64_t freed = homes_.End(home);
  if (freed != 0) spec_->account->Release(freed);
}

}  // namespace koios::engine
