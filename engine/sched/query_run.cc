// The driver's core: opening, queues, picking the next operator.
#include "engine/sched/query_run.h"

#include <algorithm>

#include "engine/exchange/batch_check.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// Of the query's account: what it may use before its queues hold one batch, and its scopes open one
// instance after the other.
constexpr int64_t kCrowdedShare = 4;

// How long rows wait in an outbox, at most.
constexpr uint64_t kSlicesToWait = 16;

}  // namespace

ErrorDetail DetailFor(const plan::Operator& op) {
  ErrorDetail detail;
  detail.step = op.step();
  detail.span = {op.position().line(), op.position().column(), op.position().length()};
  return detail;
}

QueryRun::QueryRun(std::shared_ptr<const QuerySpec> spec, const WorkerContext& worker)
    : spec_(std::move(spec)), worker_(worker), paths_(PathLedger::Charging(spec_->account)) {}

QueryRun::~QueryRun() {
  int64_t charged = 0;
  for (Node& node : nodes_) {
    for (const auto& [iteration, lane] : node.lanes) {
      for (const Input& input : lane.queue) charged += input.charged;
      if (lane.active.has_value()) charged += lane.active->charged;
    }
  }
  std::set<const Parked*> parked;
  for (const auto& [serial, home] : homes_) {
    if (home->parked != nullptr && parked.insert(home->parked.get()).second) {
      charged += home->parked->charged;
    }
  }
  spec_->account->Release(charged);
}

StatusOr<std::unique_ptr<QueryRun>> QueryRun::Create(std::shared_ptr<const QuerySpec> spec,
                                                     const WorkerContext& worker) {
  std::unique_ptr<QueryRun> run(new QueryRun(std::move(spec), worker));
  RETURN_IF_ERROR(run->Open());
  return run;
}

Status QueryRun::Open() {
  ASSIGN_OR_RETURN(shape_, PlanShape::Make(spec_->plan));
  if (spec_->options.transaction != nullptr) spec_->options.transaction->ChargeTo(spec_->account);
  const size_t size = spec_->plan.operators_size();
  nodes_.resize(size);
  stats_.resize(size);
  root_closed_.assign(size, 0);
  for (size_t id = 0; id < size; ++id) {
    Node& node = nodes_[id];
    node.op = &spec_->plan.operators(static_cast<int>(id));
    node.host = std::make_unique<Host>(this, node.op);
    StatusOr<OperatorBundle> code =
        MakeOperator(*node.op, spec_->plan.num_slots(), node.host.get());
    if (!code.ok()) return WithDetail(code.status(), DetailFor(*node.op));
    node.code = std::move(code).value();
    node.needed = SlotsNeeded(*node.op);
    node.drops.assign(spec_->plan.num_slots(), false);
    for (const uint32_t slot : node.op->drop_slots()) {
      if (slot >= node.drops.size()) return Internal("The plan drops a slot that does not exist.");
      node.drops[slot] = true;
    }
    std::vector<Expression> tests;
    for (const plan::Split::Option& option : node.op->split().options()) {
      StatusOr<Expression> test =
          Expression::Bind(option.test(), spec_->plan.num_slots(), node.host->charge());
      if (!test.ok()) return WithDetail(test.status(), DetailFor(*node.op));
      tests.push_back(*std::move(test));
    }
    if (!tests.empty()) {
      node.tests = std::make_unique<SplitTests>(std::move(tests), node.op->split().copy());
    }
    const bool stateful =
        node.op->has_limit() || node.op->has_dedup() || node.code.barrier != nullptr;
    if (node.op->scope() > 0 && stateful)
      nodes_[node.op->scope() - 1].stateful.push_back(node.op->id());
    has_nested_scopes_ = has_nested_scopes_ || (node.op->has_scope_enter() && node.op->scope() > 0);
    merges_ = merges_ || IsMerge(static_cast<uint32_t>(id));
    if (node.op->has_exchange()) node.outbox = std::make_unique<Outbox>(worker_.num_workers);
  }
  return OkStatus();
}

bool QueryRun::IsMerge(uint32_t op) const {
  return op < nodes_.size() && nodes_[op].code.partial != nullptr &&
         nodes_[op].code.partial->flushes_first();
}

Status QueryRun::OverLimit(const plan::Operator& op, int64_t bytes) const {
  // The sink is no step of the text: what gives to it is.
  const plan::Operator* step = &op;
  for (uint32_t id = op.id(); step->step().empty() && id-- > 0;) {
    const auto& next = spec_->plan.operators(static_cast<int>(id)).next();
    if (std::find(next.begin(), next.end(), step->id()) == next.end()) continue;
    step = &spec_->plan.operators(static_cast<int>(id));
  }
  return WithDetail(spec_->account->OverLimit(bytes, step->step()), DetailFor(*step));
}

void QueryRun::Start() {
  const InstanceId root{worker_.index, 0};
  auto home = std::make_unique<Home>();
  home->instance = root;
  homes_[0] = std::move(home);
  ArmFirst(root, 0, {});
  Batch seed;
  seed.slots.resize(spec_->plan.num_slots());
  seed.slots[0].Append(Value::Null());
  seed.rows = 1;
  seed.runs.push_back({root, {}, 1, 0});
  Enqueue(0, std::move(seed));
}

void QueryRun::Fail(const Status& status) {
  if (failure_.ok()) failure_ = status;
}

// A frame that could be decoded may still speak of workers and operators that are not there.
Status QueryRun::CheckFits(const Frame& frame) const {
  const uint32_t workers = worker_.num_workers;
  bool fits = frame.from < workers && frame.batch.slots.size() <= spec_->plan.num_slots();
  for (const Run& run : frame.batch.runs) fits = fits && run.instance.home < workers;
  for (const Report& report : frame.reports) {
    fits = fits && report.instance.home < workers;
    for (const BarrierKey& key : report.pending) {
      fits = fits && key.op < nodes_.size() && PlanShape::IsBarrier(*nodes_[key.op].op);
    }
  }
  if (!fits) return DataLoss("A frame does not fit the plan of its query.");
  return CheckReferences(frame.batch, *spec_->view);
}

// The batch that the node takes next, before anybody trusts it. A scope's ordinals are read when it
// is left, from the rows that entered it, too.
Status QueryRun::CheckNext(const Node& node) const {
  const bool enters = node.op->has_scope_enter();
  const plan::Operator& reader = enters ? *nodes_[shape_->ExitOf(node.op->id())].op : *node.op;
  const bool loops =
      node.op->has_loop_enter() || node.op->has_loop_back() || node.op->has_loop_exit();
  const bool reads = enters || node.op->has_scope_exit() || node.op->has_split() || loops;
  return CheckInput(node.lane->queue.front().batch, node.needed, reads ? reader.ordinal_slot() : 0);
}

void QueryRun::Receive(Frame frame) {
  if (!failure_.ok()) return;
  if (Status fits = CheckFits(frame); !fits.ok()) return Fail(fits);
  switch (frame.kind) {
    case FrameKind::kData:
      return ReceiveData(std::move(frame));
    case FrameKind::kReport:
      for (const Report& report : frame.reports) Apply(report);
      Settle();
      return;
    case FrameKind::kAck:
      if (frame.op < nodes_.size() && nodes_[frame.op].outbox != nullptr) {
        nodes_[frame.op].outbox->Acknowledge(frame.from, frame.loops);
        Pump(&nodes_[frame.op], /*flush=*/false);
      }
      return;
    case FrameKind::kClose:
      if (frame.op >= nodes_.size()) return;
      if (frame.instance.serial == 0) return CloseUpstream(frame.op, {frame.instance, {}});
      return CloseAt(frame.instance, frame.op, /*tell=*/false);
    case FrameKind::kRelease:
      closed_at_.erase(frame.instance);
      return;
    case FrameKind::kIdle:
      if (!is_coordinator()) return;
      idle_.Tell(frame.from, frame.num_sent, frame.num_received,
                 IsMerge(frame.op) ? std::optional(HeldRows{frame.op, frame.loops}) : std::nullopt);
      if (idle_told_) DecideFlush();
      return;
    case FrameKind::kGo:
      if (!IsMerge(frame.op)) return;
      may_flush_ = HeldRows{frame.op, std::move(frame.loops)};
      idle_told_ = false;
      return;
    case FrameKind::kEnd:
    case FrameKind::kFail:
    case FrameKind::kStats:
    case FrameKind::kStart:
    case FrameKind::kCancel:
    case FrameKind::kResume:
      return;  // the worker's own
  }
}

void QueryRun::Enqueue(uint32_t op, Batch batch) {
  Input input;
  input.batch = std::move(batch);
  EnqueueInput(op, std::move(input));
}

void QueryRun::EnqueueInput(uint32_t op, Input input) {
  input.charged = static_cast<int64_t>(input.batch.ByteSize());
  if (!spec_->account->TryCharge(input.charged)) {
    return Fail(OverLimit(*nodes_[op].op, input.charged));
  }
  stats_[op].rows_in += input.batch.rows;
  const Loops iteration = input.batch.runs.empty() ? Loops() : input.batch.runs.front().loops;
  nodes_[op].lanes[iteration].queue.push_back(std::move(input));
  busy_.insert(shape_->RankOf(op));
}

void QueryRun::ReceiveData(Frame frame) {
  if (frame.op >= nodes_.size() || nodes_[frame.op].outbox == nullptr) {
    return Fail(Internal("A frame names an exchange that does not exist."));
  }
  spread_ = true;
  ++num_received_;
  idle_told_ = false;
  Input input;
  if (frame.paths != nullptr) {
    if (const Status bound = frame.paths->Bind(spec_->account); !bound.ok()) return Fail(bound);
  }
  input.batch = std::move(frame.batch);
  input.batch.slots.resize(spec_->plan.num_slots());
  input.remote = true;
  input.from = frame.from;
  input.exchange = frame.op;
  input.lane = frame.loops;
  EnqueueInput(nodes_[frame.op].op->next(0), std::move(input));
}

QueryRun::Input QueryRun::TakeInput(Node* node) {
  Input input = std::move(node->lane->queue.front());
  node->lane->queue.pop_front();
  if (any_closed_) DropClosedRows(node->op->id(), &input.batch);
  input.left.reserve(input.batch.runs.size());
  for (const Run& run : input.batch.runs) input.left.emplace_back(run.k);
  return input;
}

// The batch is used up: its memory and, for a frame, its place in the sender's window are free.
void QueryRun::FinishInput(Node* node) {
  Input& input = *node->lane->active;
  spec_->account->Release(input.charged);
  if (input.remote) {
    Frame ack;
    ack.kind = FrameKind::kAck;
    ack.op = input.exchange;
    ack.loops = input.lane;
    SendControl(input.from, std::move(ack));
  }
  node->lane->active.reset();
}

bool QueryRun::IsCrowded() const {
  return spec_->account->used() > spec_->account->limit() / kCrowdedShare;
}

bool QueryRun::HasRoom(uint32_t op, const Loops& iteration) const {
  const auto found = nodes_[op].lanes.find(iteration);
  if (found == nodes_[op].lanes.end()) return true;
  // Many iterations have many queues: they become short before they fill the account.
  return found->second.queue.size() < (IsCrowded() ? 1 : worker_.bounds.queue_batches);
}

bool QueryRun::HasWork(const Node& node) const {
  if (!node.lanes.empty() || !node.firings.empty() || node.exits.batch.rows > 0) return true;
  return std::any_of(node.restarts.begin(), node.restarts.end(),
                     [](const JoinedBatch& joined) { return joined.batch.rows > 0; });
}

// What a node does on its own account: fired barriers, rows leaving a scope or trying its next
// body.
bool QueryRun::PickOwn(Node* node, bool may_fire) const {
  node->lane = nullptr;
  if (may_fire && PickFiring(node)) return true;
  if (node->exits.batch.rows > 0) {
    return HasRoom(node->op->next(0), node->exits.batch.runs.front().loops);
  }
  return std::any_of(node->restarts.begin(), node->restarts.end(),
                     [](const JoinedBatch& joined) { return joined.batch.rows > 0; });
}

// The deepest iteration's; when memory is short the oldest instance's, so that it ends before
// others grow.
bool QueryRun::PickFiring(Node* node) const {
  const bool oldest = node->op->scope() > 0 && !node->firings.empty() && IsCrowded();
  const auto by_age = [](const Firing& a, const Firing& b) {
    return a.key.instance.serial < b.key.instance.serial;
  };
  uint64_t serial = UINT64_MAX;
  for (auto it = node->firings.rbegin(); it != node->firings.rend(); ++it) {
    if (!HasRoom(node->op->next(0), it->first)) continue;
    if (oldest) {
      std::iter_swap(it->second.begin(),
                     std::min_element(it->second.begin(), it->second.end(), by_age));
      if (it->second.front().key.instance.serial >= serial) continue;
      serial = it->second.front().key.instance.serial;
    }
    node->iteration = it->first;
    if (!oldest) return true;
  }
  return oldest && serial != UINT64_MAX;
}

bool QueryRun::PickLane(Node* node, bool shallowest) const {
  if (node->absorbing.has_value()) {
    const auto found = node->lanes.find(*node->absorbing);
    node->lane = &found->second;
    node->iteration = found->first;
    return true;
  }
  const auto pick = [&](auto begin, auto end) {
    for (auto it = begin; it != end; ++it) {
      if (!CanTake(*node, it->first)) continue;
      node->lane = &it->second;
      node->iteration = it->first;
      return true;
    }
    return false;
  };
  return shallowest ? pick(node->lanes.begin(), node->lanes.end())
                    : pick(node->lanes.rbegin(), node->lanes.rend());
}

// Whether the operator may work on input of this iteration: whoever gets its output has room.
bool QueryRun::CanTake(const Node& node, const Loops& iteration) const {
  if (node.op->has_sink()) return spec_->sink->Room() > 0;
  if (node.outbox != nullptr && node.outbox->Blocked(iteration)) return false;
  if (node.op->has_scope_enter()) {
    // Rows that leave when their instance is complete ask for no room: their coming waits for it.
    const plan::Operator& exit = *nodes_[shape_->ExitOf(node.op->id())].op;
    if (!MayOpen(node, iteration) || !HasRoom(exit.next(0), iteration)) return false;
  }
  if (node.code.barrier != nullptr) return true;
  Loops behind = iteration;
  if (node.op->has_loop_enter()) behind.push_back(0);
  if (node.op->has_loop_back() && !behind.empty()) ++behind.back();
  if (node.op->has_loop_exit() && !behind.empty()) behind.pop_back();
  return std::all_of(node.op->next().begin(), node.op->next().end(),
                     [&](uint32_t next) { return HasRoom(next, behind); });
}

// Instances of an iteration wait for their rows to get through the next ones, and so never the
// other way round. Of a serial scope one is open, or in a loop one of each iteration, opened in
// order: the rows of an instance go through the further iterations before it gives more.
bool QueryRun::MayOpen(const Node& enter, const Loops& iteration) const {
  if (enter.op->scope_enter().serial()) {
    return enter.open_instances.empty() || enter.open_instances.rbegin()->first < iteration;
  }
  return OpenRoom(enter, iteration) > 0;
}

// How many instances more may open in this iteration; one can where none is open, whatever is used.
size_t QueryRun::OpenRoom(const Node& enter, const Loops& iteration) const {
  const auto found = enter.open_instances.find(iteration);
  const size_t open = found == enter.open_instances.end() ? 0 : found->second;
  const size_t window = enter.op->scope_enter().window();
  const size_t most = IsCrowded()  ? 1
                      : window > 0 ? std::min(window, worker_.bounds.open_instances)
                                   : worker_.bounds.open_instances;
  return open < most ? most - open : 0;
}

// Deepest first: what is nearest to the end moves on before more is made. In loops the shallowest
// iteration keeps a share, so that a near answer is not missed.
bool QueryRun::Step() {
  if (!failure_.ok() || complete_) return false;
  const bool shallowest = ++num_steps_ % 8 == 0;
  const bool crowded = IsCrowded();
  return (crowded && StepOnce(shallowest, /*widen=*/false)) || StepOnce(shallowest, true);
}

// Unless `widen`, no instance begins the next iteration of a loop: what is under way gets through,
// and its memory is free, before there is more.
bool QueryRun::StepOnce(bool shallowest, bool widen) {
  for (auto it = busy_.rbegin(); it != busy_.rend(); ++it) {
    const uint32_t rank = *it;
    const uint32_t id = shape_->AtRank(rank);
    Node& node = nodes_[id];
    const bool may_fire = widen || node.op->loop() <= node.op->scope();
    if (!PickOwn(&node, may_fire) && !PickLane(&node, shallowest)) continue;
    RunNode(id);
    idle_told_ = false;
    if (!HasWork(node)) busy_.erase(rank);
    return true;
  }
  return false;
}

void QueryRun::RunNode(uint32_t id) {
  Node& node = nodes_[id];
  const uint64_t begin = worker_.clock->NowNanos();
  const storage::Transaction* changes = spec_->options.transaction.get();
  const size_t changed = changes == nullptr ? 0 : changes->ByteSize();
  const Status status = Dispatch(&node);
  if (!status.ok()) Fail(WithDetail(status, DetailFor(*node.op)));
  std::vector<StateKey> closings;
  closings.swap(node.host->closings);
  for (const StateKey& key : closings) CloseUpstream(id, key);
  Settle();
  if (node.lane != nullptr && !node.lane->active.has_value() && node.lane->queue.empty()) {
    node.lanes.erase(node.iteration);
  }
  node.lane = nullptr;
  OperatorStats& stats = stats_[id];
  ++stats.batches;
  stats.time_ns += worker_.clock->NowNanos() - begin;
  if (changes != nullptr) stats.peak_bytes += changes->ByteSize() - changed;
}

Status QueryRun::Dispatch(Node* node) {
  const plan::Operator& op = *node->op;
  if (node->lane != nullptr && !node->lane->active.has_value()) RETURN_IF_ERROR(CheckNext(*node));
  if (op.has_scope_enter()) return RunScopeEnter(node);
  if (op.has_scope_exit()) return RunScopeExit(node);
  if (node->lane == nullptr) return RunFiring(node);
  if (node->code.stream != nullptr) return RunStream(node);
  if (node->code.barrier != nullptr) return RunBarrier(node);
  if (node->code.partial != nullptr) return RunPartial(node);
  if (op.has_exchange()) return RunExchange(node);
  if (op.has_split()) return RunSplit(node);
  if (op.has_sink()) return RunSink(node);
  return RunLoop(node);
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
  if (!moved && merges_ && !idle_told_ && num_sent_ + num_received_ > 0) {
    TellIdle();
    moved = !idle_told_;  // decided at once
  }
  return moved || complete_;
}

// Merges give their rows the nearest to the source first. Once the query has spread, only when the
// coordinator says so: rows of other workers may still meet them.
bool QueryRun::FlushMerged() {
  if (!merges_) return false;
  if (num_sent_ + num_received_ == 0) {
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

// In a loop an earlier iteration is nearer to the source, whatever its operator.
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
    idle_.Tell(worker_.index, num_sent_, num_received_, std::move(held));
    return DecideFlush();
  }
  Frame idle;
  idle.kind = FrameKind::kIdle;
  idle.op = held ? held->op : UINT32_MAX;
  if (held) idle.loops = std::move(held->loops);
  idle.num_sent = num_sent_;
  idle.num_received = num_received_;
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

// A few rows that wait for others to make a batch may be what ends the query: they do not wait
// until a busy worker has nothing else to do.
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

}  // namespace koios::engine
