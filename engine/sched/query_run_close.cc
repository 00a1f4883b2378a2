// What is not needed any more: who closes what, and where its rows are dropped (engine rule 3). No
// answer depends on it, but the end of an endless loop does:
// `local(repeat(both()).emit().limit(5))`.
#include <algorithm>
#include <utility>

#include "engine/sched/query_run.h"

namespace koios::engine {

// A limit is reached. Of the query, `V().out().limit(3)`: rows on ways that lead only to it are
// dropped here, and everywhere once the limit at home says so, which counts for all. Of a local
// instance, `local(out().limit(3))`: here at once, elsewhere when it is not whole by the end of the
// slice. A limit in a loop, `repeat(out().limit(3))`, closes nothing: it counts per iteration.
// A worker's share of a limit closes nothing inside scopes: the instances that end there too early
// may be another worker's, whose rows still count.
void QueryRun::CloseUpstream(uint32_t op, const StateKey& key) {
  if (shape_->LoopOf(op) > spec_->plan.operators(static_cast<int>(op)).scope()) return;
  if (key.instance.serial != 0) return CloseAt(key.instance, op, /*tell=*/true);
  if (!closings_.Close(op)) return;
  const std::vector<uint8_t>& leads = closings_.LeadsOnlyTo(op);
  const bool counts_all = nodes_[op].op->limit().stage() == plan::FINAL;
  for (uint32_t id = 0; id < leads.size(); ++id) {
    if (leads[id] == 0 || closings_.Drops(id)) continue;
    if (!counts_all && nodes_[id].op->scope() != 0) continue;
    closings_.Drop(id);
    if (HasWork(nodes_[id])) busy_.insert(shape_->RankOf(id));
  }
  if (counts_all && key.instance.home == worker_.index && has_sent_)
    Broadcast(FrameKind::kClose, key.instance, op);
}

// From here on rows of a local instance are dropped wherever all ways lead to `op`, and so are
// those of the instances inside it: in `local(out().where(in()).limit(1))` each where() ends.
void QueryRun::CloseAt(const InstanceId& instance, uint32_t op, bool tell) {
  if (!closings_.Close(op, instance)) return;
  if (tell) to_close_.emplace_back(instance, op);
  const auto* inside = nested_.Find(instance);
  if (inside == nullptr) return;
  const std::vector<uint8_t>& leads = closings_.LeadsOnlyTo(op);
  for (const Range& range : *inside) {
    for (uint64_t i = 0; i < range.count; ++i) {
      Home* home = homes_.Find(range.first_serial + i);
      if (home != nullptr && !home->closed && leads[home->parked->enter] != 0) CloseEarly(home);
    }
  }
}

// The instance needs nothing more of its body: `where(out())` has its first row.
void QueryRun::CloseEarly(Home* home) {
  CloseInstance(home);
  CloseAt(InstanceOf(*home), shape_->ExitOf(home->parked->enter), /*tell=*/true);
}

// Nothing more is needed of the instance: it gives up its place at once and stays as a tombstone
// until its weight is whole (engine rules 3, 19).
void QueryRun::CloseInstance(Home* home) {
  home->closed = true;
  const uint32_t enter = home->parked->enter;
  if (!nodes_[enter].op->scope_enter().serial()) CountClosed(*home);
  busy_.insert(shape_->RankOf(enter));
}

void QueryRun::CountClosed(const Home& home) {
  const Loops& iteration = home.parked->runs[home.run].loops;
  ByIteration<OpenInstances>& open = nodes_[home.parked->enter].open_instances;
  --open[iteration].count;
  open.Trim(iteration);
}

// Closed instances that are still not whole have rows elsewhere: tells everybody.
void QueryRun::SendCloses() {
  for (const auto& [instance, op] : to_close_) {
    Home* home = instance.home == worker_.index ? homes_.Find(instance.serial) : nullptr;
    if (home == nullptr || !has_sent_) continue;
    home->close_sent = true;
    Broadcast(FrameKind::kClose, instance, op);
  }
  to_close_.clear();
}

void QueryRun::DropClosedRows(uint32_t op, Batch* batch) {
  const auto is_dropped = [&](const Run& run) { return closings_.Drops(op, run); };
  if (std::none_of(batch->runs.begin(), batch->runs.end(), is_dropped)) return;
  std::vector<uint32_t> kept;
  std::vector<Run> runs;
  uint32_t row = 0;
  for (const Run& run : batch->runs) {
    if (is_dropped(run)) {
      ReturnWeight(run.instance, run.k);
      row += run.count;
      continue;
    }
    runs.push_back(run);
    for (uint32_t i = 0; i < run.count; ++i) kept.push_back(row++);
  }
  News(op).rows_dropped += batch->rows - kept.size();
  Batch rest;
  rest.slots.resize(batch->slots.size());
  if (!kept.empty()) rest.AppendRows(*batch, kept);
  rest.runs = std::move(runs);
  *batch = std::move(rest);
}

}  // namespace koios::engine
