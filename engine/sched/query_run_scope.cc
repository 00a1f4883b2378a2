// Weights, instances, barriers and local scopes: the protocol of DESIGN 5.2 and 5.3.
#include <algorithm>
#include <utility>

#include "engine/batch/ordinal.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {

namespace {

Status TooMuchWeight() {
  return Internal("More weight came home than was given: a frame was doubled or is not ours.");
}

}  // namespace

// ---- weights
// -------------------------------------------------------------------------------------

void QueryRun::ReturnWeight(const InstanceId& instance, uint32_t k, uint32_t count) {
  if (instance.home != worker_.index) {
    Report& report = ledger_[instance];
    report.instance = instance;
    if (!report.weight.TryAdd(k, count)) Fail(TooMuchWeight());
    return;
  }
  const auto found = homes_.find(instance.serial);
  if (found == homes_.end()) return Fail(Internal("Weight came home to an instance that is over."));
  if (!found->second->weight.TryAdd(k, count)) return Fail(TooMuchWeight());
  if (found->second->weight.IsOne()) whole_.push_back(instance.serial);
}

void QueryRun::ReturnRuns(const std::vector<Run>& runs) {
  for (const Run& run : runs) ReturnWeight(run.instance, run.k);
}

void QueryRun::AddPending(const InstanceId& instance, const BarrierKey& key) {
  std::vector<BarrierKey>* pending = nullptr;
  if (instance.home == worker_.index) {
    const auto found = homes_.find(instance.serial);
    if (found == homes_.end())
      return Fail(Internal("A barrier waits for an instance that is over."));
    pending = &found->second->pending;
  } else {
    Report& report = ledger_[instance];
    report.instance = instance;
    pending = &report.pending;
  }
  if (std::find(pending->begin(), pending->end(), key) == pending->end()) pending->push_back(key);
}

void QueryRun::Apply(const Report& report) {
  for (const BarrierKey& key : report.pending) AddPending(report.instance, key);
  for (uint32_t k : report.weight.Pieces()) ReturnWeight(report.instance, k);
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
  for (auto& [instance, report] : ledger_) by_home[instance.home].push_back(std::move(report));
  ledger_.clear();
  for (uint32_t home = 0; home < worker_.num_workers; ++home) {
    if (by_home[home].empty()) continue;
    Frame frame;
    frame.kind = FrameKind::kReport;
    frame.reports = std::move(by_home[home]);
    SendControl(home, std::move(frame));
  }
}

// ---- quiescence
// ----------------------------------------------------------------------------------

void QueryRun::ArmFirst(const InstanceId& instance, uint32_t op, const Loops& loops) {
  const std::optional<uint32_t> barrier = shape_->FirstBarrier(op);
  if (barrier.has_value()) AddPending(instance, {*barrier, loops});
}

void QueryRun::Settle() {
  while (!whole_.empty() && failure_.ok()) {
    const uint64_t serial = whole_.back();
    whole_.pop_back();
    const auto found = homes_.find(serial);
    if (found == homes_.end() || !found->second->weight.IsOne()) continue;
    Home* home = found->second.get();
    if (home->pending.empty() || home->closed) {
      CompleteInstance(home);
    } else {
      FireReady(home);
    }
  }
}

// Fires every pending barrier that no other pending one can reach; what they give shares a new
// weight 1 (engine rule 1). A fired barrier arms the next one on its way, so that count() of
// nothing is 0 behind it too (engine rule 6).
void QueryRun::FireReady(Home* home) {
  std::vector<BarrierKey> ready, waiting;
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
    const uint32_t k = split.low_k + (i < split.num_low ? 0 : 1);
    std::deque<Firing>& firings = nodes_[ready[i].op].firings[ready[i].loops];
    firings.push_back({{home->instance, ready[i].loops}, WeightPool(k)});
    busy_.insert(shape_->RankOf(ready[i].op));
    const std::optional<uint32_t> next = shape_->NextBarrier(ready[i].op);
    if (next.has_value()) AddPending(home->instance, {*next, ready[i].loops});
  }
}

// ---- local scopes
// --------------------------------------------------------------------------------

Status QueryRun::RunScopeEnter(Node* node) {
  for (size_t body = 0; body < node->restarts.size(); ++body) {
    if (node->restarts[body].batch.rows == 0) continue;
    const plan::ScopeExit& exit = nodes_[shape_->ExitOf(node->op->id())].op->scope_exit();
    Enqueue(exit.alternatives(static_cast<int>(body)), std::move(node->restarts[body].batch));
    node->restarts[body] = {};
  }
  if (node->lane == nullptr) return OkStatus();
  if (!node->lane->active.has_value()) node->lane->active = TakeInput(node);
  Input& input = *node->lane->active;
  const plan::ScopeEnter& enter = node->op->scope_enter();
  if (enter.serial() || enter.window() > 0) return EnterSome(node);
  if (input.batch.rows > 0) {
    EnterRows(node, std::move(input.batch), std::exchange(input.charged, int64_t{0}));
  }
  FinishInput(node);
  return OkStatus();
}

// Parks the rows and starts an instance of the body for each. They stay charged until the last of
// them is through.
void QueryRun::EnterRows(Node* node, Batch batch, int64_t charged) {
  const uint32_t enter = node->op->id();
  Batch body;
  body.rows = batch.rows;
  body.slots = batch.slots;
  for (uint32_t slot : node->op->drop_slots()) body.slots[slot].Clear();
  auto parked = std::make_shared<Parked>();
  const std::optional<uint32_t> barrier = shape_->FirstBarrier(node->op->next(0));
  uint32_t row = 0;
  for (const Run& run : batch.runs) {
    parked->runs.push_back({run.instance, run.loops, WeightPool(run.k), run.count, next_serial_});
    if (has_nested_scopes_ && run.instance.serial != 0) {
      nested_.emplace(std::pair(run.instance, next_serial_), run.count);
    }
    if (run.count > 0) node->open_instances[run.loops] += run.count;
    for (uint32_t i = 0; i < run.count; ++i, ++row) {
      auto home = std::make_unique<Home>();
      home->instance = {worker_.index, next_serial_++};
      home->enter = enter;
      home->parked = parked;
      home->row = row;
      home->run = static_cast<uint32_t>(parked->runs.size() - 1);
      if (barrier.has_value()) home->pending.push_back({*barrier, run.loops});
      body.runs.push_back({home->instance, run.loops, 1, 0});
      homes_[home->instance.serial] = std::move(home);
    }
  }
  parked->batch = std::move(batch);
  parked->charged = charged;
  stats_[enter].rows_out += body.rows;
  Enqueue(node->op->next(0), std::move(body));
}

// As many of the active batch as may open now, each run with a piece of its weight. What a serial
// body does to the query's side-effects it does for each traverser, one after the other.
Status QueryRun::EnterSome(Node* node) {
  Input& input = *node->lane->active;
  Input::Cursor& at = input.cursor;
  const std::vector<Run>& runs = input.batch.runs;
  const bool serial = node->op->scope_enter().serial();
  const auto skip_entered = [&] {
    for (; at.run < runs.size(); ++at.run) {
      const Run& run = runs[at.run];
      const bool dropped = any_closed_ && IsDropped(node->op->id(), run);
      if (run.count > at.in_run && !dropped) return;
      const WeightPool& left = input.left[at.run];
      ReturnWeight(run.instance, left.k(), left.left());
      stats_[node->op->id()].rows_dropped += run.count - at.in_run;
      at.row += run.count - at.in_run;
      at.in_run = 0;
      at.copy = 0;
    }
  };
  std::vector<uint32_t> rows;
  Batch some;
  size_t room = serial ? 1 : OpenRoom(*node, node->iteration);
  for (skip_entered(); room > 0 && at.run < runs.size(); skip_entered()) {
    const Run& run = runs[at.run];
    const auto count = static_cast<uint32_t>(std::min<size_t>(room, run.count - at.in_run));
    for (uint32_t i = 0; i < count; ++i) rows.push_back(at.row + i);
    some.runs.push_back({run.instance, run.loops, count, input.left[at.run].Take()});
    room -= count;
    if (serial && ++at.copy < input.batch.BulkAt(at.row)) break;
    at.copy = 0;
    at.in_run += count;
    at.row += count;
  }
  if (!rows.empty()) {
    some.AppendRows(input.batch, rows);
    if (serial) some.bulk.clear();
    const auto bytes = static_cast<int64_t>(some.ByteSize());
    if (!spec_->account->TryCharge(bytes)) return OverLimit(*node->op, bytes);
    EnterRows(node, std::move(some), bytes);
  }
  if (at.run == runs.size()) FinishInput(node);
  return OkStatus();
}

// Gives a batch at most: rows are combined with parked ones, which may be much wider.
Status QueryRun::RunScopeExit(Node* node) {
  if (node->lane != nullptr) {
    if (!node->lane->active.has_value()) node->lane->active = TakeInput(node);
    Input& input = *node->lane->active;
    const std::vector<Run>& runs = input.batch.runs;
    Input::Cursor& at = input.cursor;
    for (; at.run < runs.size(); ++at.run) {
      const Run& run = runs[at.run];
      ASSIGN_OR_RETURN(Home * home, LeavingHome(*node, run));
      for (; at.in_run < run.count && !home->closed; ++at.in_run) {
        if (node->exits.IsFull()) {
          SendExits(node);
          return OkStatus();
        }
        RETURN_IF_ERROR(ExitRow(node->op->scope_exit(), input.batch, at.row + at.in_run, home));
      }
      at.row += run.count;
      at.in_run = 0;
      ReturnWeight(run.instance, run.k);
    }
    FinishInput(node);
  }
  SendExits(node);
  return OkStatus();
}

void QueryRun::SendExits(Node* exit) {
  if (exit->exits.batch.rows > 0) Enqueue(exit->op->next(0), std::move(exit->exits.batch));
  exit->exits = {};
}

// Of the instance whose rows, of its body, leave here.
StatusOr<Home*> QueryRun::LeavingHome(const Node& node, const Run& run) const {
  const auto found = homes_.find(run.instance.serial);
  if (run.instance.home != worker_.index || found == homes_.end()) {
    return Internal("A row left a scope away from its instance's home.");
  }
  Home* home = found->second.get();
  if (home->parked == nullptr || home->enter != node.op->scope_exit().enter()) {
    return DataLoss("A row left a scope that it did not enter.");
  }
  return home;
}

Status QueryRun::ExitRow(const plan::ScopeExit& exit, const Batch& batch, uint32_t row,
                         Home* home) {
  home->productive = true;
  const Value value = batch.slots[0].Get(row);
  switch (exit.policy()) {
    case plan::ScopeExit::EXISTS:
      Leave(home, {});
      CloseEarly(home);
      break;
    case plan::ScopeExit::NONE:
      CloseEarly(home);
      break;
    case plan::ScopeExit::EXISTS_FLAG: {
      const Value yes = Value::Bool(true);
      Leave(home, {.slot = static_cast<int>(exit.slot()), .value = &yes});
      CloseEarly(home);
      break;
    }
    case plan::ScopeExit::FIRST:
      Leave(home, {.slot = static_cast<int>(exit.slot()),
                   .value = &value,
                   .body = &batch,
                   .body_row = row});
      CloseEarly(home);
      break;
    case plan::ScopeExit::ALL:
    case plan::ScopeExit::OPTIONAL:
      Leave(
          home,
          {.slot = 0, .value = &value, .bulk = batch.BulkAt(row), .body = &batch, .body_row = row});
      break;
    case plan::ScopeExit::EFFECT:
      break;
    default:
      return Internal("The plan has an unknown exit policy.");
  }
  return OkStatus();
}

// The parked row goes on behind the scope, with what its body gave, and a piece of the weight of
// the run it came in.
void QueryRun::Leave(Home* home, const ScopeResult& result) {
  const uint32_t exit_id = shape_->ExitOf(home->enter);
  if (root_closed_[exit_id] != 0) return;
  Node& exit = nodes_[exit_id];
  const auto& carry = exit.op->scope_exit().carry_slots();
  const Batch& parked = home->parked->batch;
  Parked::OuterRun& outer = home->parked->runs[home->run];
  // Where slot s of the new row comes from; null: it stays absent.
  const auto source = [&](uint32_t s) -> const Column* {
    if (result.body != nullptr && std::find(carry.begin(), carry.end(), s) != carry.end()) {
      return result.body->Has(s) ? &result.body->slots[s] : nullptr;
    }
    return s < parked.slots.size() && !parked.slots[s].empty() ? &parked.slots[s] : nullptr;
  };
  const auto written = [&](uint32_t s) { return static_cast<int>(s) == result.slot; };
  Batch& out = exit.exits.batch;
  if (out.rows > 0) {
    bool same = !exit.exits.IsFull() && out.runs.back().loops == outer.loops;
    for (uint32_t s = 0; s < out.slots.size() && same; ++s) {
      same = (written(s) || source(s) != nullptr) == !out.slots[s].empty();
    }
    if (!same) SendExits(&exit);
  }
  out.slots.resize(spec_->plan.num_slots());
  for (uint32_t s = 0; s < out.slots.size(); ++s) {
    const Column* from = source(s);
    if (written(s) && result.value == nullptr) {
      out.slots[s].AppendAbsent();
    } else if (written(s)) {
      out.slots[s].Append(*result.value);
    } else if (from != nullptr && s != 0 && s == exit.op->ordinal_slot()) {
      AppendOrdinalOf(*from, home->row, home->num_results++, &out.slots[s]);
    } else if (from != nullptr) {
      const bool parked_slot = s < parked.slots.size() && from == &parked.slots[s];
      out.slots[s].AppendFrom(*from, parked_slot ? home->row : result.body_row);
    }
  }
  int64_t out_bulk = 0;
  if (__builtin_mul_overflow(parked.BulkAt(home->row), result.bulk, &out_bulk)) {
    return Fail(WithDetail(InvalidArgument("More traversers are equal than a long can count."),
                           DetailFor(*exit.op)));
  }
  if (out_bulk != 1 || !out.bulk.empty()) {
    out.bulk.resize(out.rows, 1);
    out.bulk.push_back(out_bulk);
  }
  exit.exits.bytes += out.RowBytes(out.rows++);
  out.AppendRun({outer.instance, outer.loops, 1, outer.pool.Take()});
  stats_[exit_id].rows_out += 1;
  stats_[exit_id].bulk_out += static_cast<uint64_t>(out_bulk);
  busy_.insert(shape_->RankOf(exit_id));
}

void QueryRun::CountClosed(const Home& home) {
  std::map<Loops, size_t>& open = nodes_[home.enter].open_instances;
  const auto found = open.find(home.parked->runs[home.run].loops);
  if (--found->second == 0) open.erase(found);
}

// Nothing more is needed of the instance: it gives up its slot at once and stays as a tombstone
// until its weight is whole (engine rules 3, 19).
void QueryRun::CloseInstance(Home* home) {
  home->closed = true;
  any_closed_ = true;
  Node& enter = nodes_[home->enter];
  if (!enter.op->scope_enter().serial()) CountClosed(*home);
  busy_.insert(shape_->RankOf(home->enter));
}

void QueryRun::CompleteInstance(Home* home) {
  if (home->instance.serial == 0) {
    complete_ = true;
    return;
  }
  Node& enter = nodes_[home->enter];
  const uint32_t exit_id = shape_->ExitOf(home->enter);
  const plan::ScopeExit& exit = nodes_[exit_id].op->scope_exit();
  if (!home->closed) {
    if (!home->productive && home->alternative < static_cast<uint32_t>(exit.alternatives_size())) {
      return StartAlternative(home);
    }
    const bool productive = home->productive;
    const int slot = static_cast<int>(exit.slot());
    if (exit.policy() == plan::ScopeExit::EFFECT ||
        (!productive &&
         (exit.policy() == plan::ScopeExit::NONE || exit.policy() == plan::ScopeExit::OPTIONAL))) {
      Leave(home, {});
    } else if (!productive && exit.policy() == plan::ScopeExit::EXISTS_FLAG) {
      const Value no = Value::Bool(false);
      Leave(home, {.slot = slot, .value = &no});
    } else if (!productive && exit.policy() == plan::ScopeExit::FIRST &&
               exit.absent() == plan::Project::NULL_VALUE) {
      const Value none;
      Leave(home, {.slot = slot, .value = &none});
    } else if (!productive && exit.policy() == plan::ScopeExit::FIRST &&
               exit.absent() == plan::Project::LEAVE_ABSENT) {
      Leave(home, {.slot = slot});
    }
    CloseInstance(home);
  }
  if (enter.op->scope_enter().serial()) CountClosed(*home);  // now nothing of it is left
  const std::shared_ptr<Parked> parked = home->parked;
  Parked::OuterRun& outer = parked->runs[home->run];
  for (uint32_t id : enter.stateful) {
    if (nodes_[id].code.stream != nullptr) nodes_[id].code.stream->Release(home->instance);
    if (nodes_[id].code.barrier != nullptr) nodes_[id].code.barrier->Release(home->instance);
  }
  closed_at_.erase(home->instance);
  if (home->close_sent) Broadcast(FrameKind::kRelease, home->instance, 0);
  homes_.erase(home->instance.serial);
  if (--outer.waiting == 0) {
    ReturnWeight(outer.instance, outer.pool.k(), outer.pool.left());
    nested_.erase({outer.instance, outer.first_serial});
  }
  if (parked.use_count() == 1) spec_->account->Release(parked->charged);
}

// The body gave nothing: the parked row enters the next one, with a new weight.
void QueryRun::StartAlternative(Home* home) {
  Node& enter = nodes_[home->enter];
  const plan::ScopeExit& exit = nodes_[shape_->ExitOf(home->enter)].op->scope_exit();
  const uint32_t body = home->alternative++;
  const uint32_t first = exit.alternatives(static_cast<int>(body));
  home->weight.Clear();
  const Parked::OuterRun& outer = home->parked->runs[home->run];
  ArmFirst(home->instance, first, outer.loops);
  enter.restarts.resize(exit.alternatives_size());
  JoinedBatch& joined = enter.restarts[body];
  const Batch& parked = home->parked->batch;
  if (joined.batch.rows > 0 && (joined.IsFull() || !joined.batch.SameShape(parked) ||
                                joined.batch.runs.back().loops != outer.loops)) {
    Enqueue(first, std::move(joined.batch));
    joined = {};
  }
  Batch row;
  row.slots.resize(parked.slots.size());
  for (size_t s = 0; s < parked.slots.size(); ++s) {
    if (!parked.slots[s].empty()) row.slots[s].AppendFrom(parked.slots[s], home->row);
  }
  row.rows = 1;
  joined.batch.AppendRows(row, {0});
  joined.bytes += row.RowBytes(0);
  joined.batch.AppendRun({home->instance, outer.loops, 1, 0});
  busy_.insert(shape_->RankOf(home->enter));
}

// ---- closing
// -------------------------------------------------------------------------------------

// A limit is reached: rows of its instance on ways that lead only to it are dropped. For the root
// here and (for the limit at home, which counts for all) everywhere at once; for a local instance
// here at once, elsewhere when it is not whole by the end of the slice. A limit in a loop closes
// nothing: it counts per iteration. No answer depends on closing, but an endless loop's end does.
// A worker's share of a limit closes nothing inside scopes: the instances that end there too early
// may be another worker's, whose rows still count.
void QueryRun::CloseUpstream(uint32_t op, const StateKey& key) {
  if (shape_->LoopOf(op) > spec_->plan.operators(static_cast<int>(op)).scope()) return;
  if (key.instance.serial != 0) return CloseAt(key.instance, op, /*tell=*/true);
  if (!root_limits_.insert(op).second) return;
  any_closed_ = true;
  const std::vector<uint8_t>& leads = LeadsOnlyTo(op);
  const bool counts_all = nodes_[op].op->limit().stage() == plan::FINAL;
  for (size_t id = 0; id < leads.size(); ++id) {
    if (leads[id] == 0 || root_closed_[id] != 0) continue;
    if (!counts_all && nodes_[id].op->scope() != 0) continue;
    root_closed_[id] = 1;
    if (HasWork(nodes_[id])) busy_.insert(shape_->RankOf(static_cast<uint32_t>(id)));
  }
  if (counts_all && key.instance.home == worker_.index && has_sent_)
    Broadcast(FrameKind::kClose, key.instance, op);
}

const std::vector<uint8_t>& QueryRun::LeadsOnlyTo(uint32_t op) {
  std::vector<uint8_t>& leads = leads_only_to_[op];
  if (leads.empty()) leads = PlanShape::LeadsOnlyTo(spec_->plan, op);
  return leads;
}

// From here on rows of a local instance are dropped wherever all ways lead to `op`, and so are
// those of the instances inside it.
void QueryRun::CloseAt(const InstanceId& instance, uint32_t op, bool tell) {
  std::vector<uint32_t>& ops = closed_at_[instance];
  if (std::find(ops.begin(), ops.end(), op) != ops.end()) return;
  ops.push_back(op);
  any_closed_ = true;
  const std::vector<uint8_t>& leads = LeadsOnlyTo(op);
  if (tell) to_close_.emplace_back(instance, op);
  for (auto it = nested_.lower_bound({instance, 0});
       it != nested_.end() && it->first.first == instance; ++it) {
    for (uint64_t i = 0; i < it->second; ++i) {
      const auto found = homes_.find(it->first.second + i);
      if (found == homes_.end()) continue;
      Home* home = found->second.get();
      if (!home->closed && leads[home->enter] != 0) CloseEarly(home);
    }
  }
}

// The instance needs nothing more of its body.
void QueryRun::CloseEarly(Home* home) {
  CloseInstance(home);
  CloseAt(home->instance, shape_->ExitOf(home->enter), /*tell=*/true);
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

// Closed instances that are still not whole have rows elsewhere: tells everybody.
void QueryRun::SendCloses() {
  for (const auto& [instance, op] : to_close_) {
    const auto found = homes_.find(instance.serial);
    if (found == homes_.end() || !has_sent_) continue;
    found->second->close_sent = true;
    Broadcast(FrameKind::kClose, instance, op);
  }
  to_close_.clear();
}

bool QueryRun::IsDropped(uint32_t op, const Run& run) const {
  if (root_closed_[op] != 0) return true;
  if (run.instance.serial == 0) return false;
  const auto found = closed_at_.find(run.instance);
  if (found == closed_at_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](uint32_t closed) {
    return leads_only_to_.find(closed)->second[op] != 0 || closed == op;
  });
}

void QueryRun::DropClosedRows(uint32_t op, Batch* batch) {
  const auto is_dropped = [&](const Run& run) { return IsDropped(op, run); };
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
  stats_[op].rows_dropped += batch->rows - kept.size();
  Batch rest;
  rest.slots.resize(batch->slots.size());
  if (!kept.empty()) rest.AppendRows(*batch, kept);
  rest.runs = std::move(runs);
  *batch = std::move(rest);
}

}  // namespace koios::engine
