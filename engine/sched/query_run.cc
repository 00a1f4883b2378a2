// The driver's core: opening, what comes from other workers, queues.
#include "engine/sched/query_run.h"

#include <algorithm>
#include <climits>
#include <numeric>

#include "core/plan/operator_table.h"
#include "engine/account/values_left.h"
#include "engine/batch/key_bound.h"
#include "engine/exchange/batch_check.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
QueryRun::QueryRun(std::shared_ptr<const QuerySpec> spec, const WorkerContext& worker)
    : spec_(std::move(spec)),
      view_(spec_->ViewOf(worker.index)),
      changes_(spec_->ChangesOf(worker.index)),
      worker_(worker),
      paths_(PathLedger::Charging(spec_->account)),
      tables_(spec_->account.get()),
      closings_(spec_->plan),
      send_credits_(worker.num_workers, worker.bounds.credit_bytes),
      receive_credits_(worker.num_workers, worker.bounds.credit_bytes, worker.bounds.depth_slots) {}

QueryRun::~QueryRun() {
  int64_t charged = homes_.Charged();
  for (Node& node : nodes_) {
    node.lanes.ForEach([&charged](const Loops&, Lane& lane) {
      for (const Input& input : lane.queue) charged += input.charged;
      if (lane.active.has_value()) charged += lane.active->charged;
    });
    node.merging.ForEach([&charged](const Loops&, const SortedStreams& streams) {
      streams.ForEachInput([&charged](const Input& input) { charged += input.charged; });
    });
    // While the hosts are there of the operators behind it, which a scope in place has made.
    node.lanes = {};
    node.code = {};
  }
  // Together, as an operator may have given back what another one has charged, of a side-effect.
  for (const Node& node : nodes_) charged += node.host == nullptr ? 0 : node.host->state_bytes;
  spec_->account->Release(charged);
}

StatusOr<std::unique_ptr<QueryRun>> QueryRun::Create(std::shared_ptr<const QuerySpec> spec,
                                                     const WorkerContext& worker) {
  std::unique_ptr<QueryRun> run(new QueryRun(std::move(spec), worker));
  RETURN_IF_ERROR(run->Open());
  return run;
}

size_t QueryRun::StandingBytes(const plan::Plan& plan, uint32_t num_workers) {
  constexpr size_t kCodeBytes = 768;  // an operator's own, with its expressions and small lists
  const size_t node = sizeof(Node) + sizeof(Host) + sizeof(OperatorStats) +
                      LiveNumbers::kOperatorBytes + kCodeBytes + plan.num_slots() / CHAR_BIT;
  size_t bytes = plan.operators_size() * node;
  for (const plan::Operator& op : plan.operators()) {
    if (op.has_exchange()) bytes += Outbox::StandingBytes(num_workers);
  }
  return bytes;
}

Status QueryRun::Open() {
  ASSIGN_OR_RETURN(shape_, PlanShape::Make(spec_->plan));
  const auto constant_bytes = static_cast<int64_t>(spec_->options.constant_bytes);
  constants_ = MemoryCharge(spec_->account.get());
  if (!constants_.TryResize(constant_bytes)) return spec_->account->OverLimit(constant_bytes);
  if (changes_ != nullptr) changes_->ChargeTo(spec_->account);
  if (changes_ != nullptr && is_coordinator()) spec_->options.transaction->ChargeTo(spec_->account);
  const size_t size = spec_->plan.operators_size();
  in_place_host_ = std::make_unique<InPlaceHost>(this);
  for (const plan::InitialEffect& initial : spec_->plan.initial_effects()) {
    RETURN_IF_ERROR(side_effects_.Begin(initial));
  }
  nodes_.resize(size);
  stats_.resize(size);
  last_slice_.resize(size);
  last_news_.resize(size);
  spec_->live.Prepare(worker_.num_workers, size);
  for (size_t id = 0; id < size; ++id) {
    nodes_[id].op = nodes_[id].out = &spec_->plan.operators(static_cast<int>(id));
    nodes_[id].host = std::make_unique<Host>(this, nodes_[id].op);
  }
  for (uint32_t id = 0; id < size; ++id) {
    if (!shape_->IsInPlace(id)) RETURN_IF_ERROR(OpenNode(id));
  }
  return OpenMerging();
}

Status QueryRun::OpenNode(uint32_t id) {
  Node& node = nodes_[id];
  const bool in_place = node.op->scope_enter().in_place();
  if (in_place) node.out = nodes_[shape_->ExitOf(id)].op;
  StatusOr<OperatorBundle> code = MakeCode(node);
  if (!code.ok()) return WithDetail(code.status(), DetailFor(*node.op));
  node.code = std::move(code).value();
  plan::SlotUse use = plan::SlotsOf(*node.op);
  node.needed = std::move(use.needed);
  node.keys = std::move(use.keys);
  if (use.whole_rows) {
    node.keys.resize(spec_->plan.num_slots());
    std::iota(node.keys.begin(), node.keys.end(), 0);
  }
  node.drops.assign(spec_->plan.num_slots(), false);
  for (const plan::Operator* op : {node.op, node.out}) {
    for (const uint32_t slot : op->drop_slots()) {
      if (slot >= node.drops.size()) return Internal("The plan drops a slot that does not exist.");
      if (op == node.out) node.drops[slot] = true;
    }
  }
  std::vector<Expression> tests;
  for (const plan::Split::Option& option : node.op->split().options()) {
    StatusOr<Expression> test =
        Expression::Bind(option.test(), spec_->plan.num_slots(), node.host->account().get());
    if (!test.ok()) return WithDetail(test.status(), DetailFor(*node.op));
    tests.push_back(*std::move(test));
  }
  if (node.op->has_split()) {
    for (const uint32_t next : node.op->next()) {
      node.branch_barriers.push_back(shape_->BranchBarrier(id, next));
    }
  }
  if (!tests.empty()) {
    node.tests = std::make_unique<SplitTests>(std::move(tests), node.op->split().copy());
  }
  if (node.op->scope() > 0 && plan::KeepsState(*node.op)) {
    nodes_[node.op->scope() - 1].stateful.push_back(id);
  }
  has_nested_scopes_ =
      has_nested_scopes_ || (node.op->has_scope_enter() && !in_place && node.op->scope() > 0);
  has_loops_ = has_loops_ || node.op->has_loop_enter();
  is_line_ = is_line_ && !node.op->has_loop_enter() && !node.op->has_split() &&
             (in_place || !node.op->has_scope_enter());
  merges_ = merges_ || IsMerge(id);
  if (node.code.spiller() != nullptr) spillers_.push_back(id);
  if (node.op->has_exchange()) {
    node.outbox = std::make_unique<Outbox>(worker_.num_workers, send_credits_.frame_bytes());
  }
  return OkStatus();
}

StatusOr<OperatorBundle> QueryRun::MakeCode(const Node& node) {
  if (!node.op->scope_enter().in_place()) {
    return MakeOperator(*node.op, spec_->plan.num_slots(), node.host.get());
  }
  OperatorBundle bundle;
  ASSIGN_OR_RETURN(bundle.stream,
                   MakeInPlaceScope(spec_->plan, node.op->id(), worker_.bounds.batch_rows,
                                    in_place_host_.get()));
  return bundle;
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
  homes_.BeginRoot();
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
      fits = fits && key.op < nodes_.size() && !shape_->IsInPlace(key.op) &&
             (plan::IsBarrier(*nodes_[key.op].op) || plan::MayRest(*nodes_[key.op].op));
    }
  }
  if (!fits) return DataLoss("A frame does not fit the plan of its query.");
  return frame.is_decoded ? CheckReferences(frame.batch, *view_) : OkStatus();
}

// The batch that the node takes next, before anybody trusts it. The ordinals of rows that enter a
// scope are read when they leave it.
Status QueryRun::CheckNext(const Node& node) const {
  const bool enters = node.op->has_scope_enter();
  const plan::Operator& reader = enters ? *nodes_[shape_->ExitOf(node.op->id())].op : *node.op;
  const bool loops =
      node.op->has_loop_enter() || node.op->has_loop_back() || node.op->has_loop_exit();
  const bool reads = enters || node.op->has_scope_exit() || node.op->has_split() || loops;
  const Batch& batch = node.lane->queue.front().batch;
  RETURN_IF_ERROR(CheckInput(batch, node.needed, reads ? reader.ordinal_slot() : 0));
  return CheckKeys(batch, node.keys);
}

void QueryRun::Receive(Frame frame) {
  if (!failure_.ok()) return;
  if (Status fits = CheckFits(frame); !fits.ok()) return Fail(fits);
  switch (frame.kind) {
    case FrameKind::kData:
      return ReceiveData(std::move(frame));
    case FrameKind::kReport:
      for (const Report& report : frame.reports) Apply(report, frame.from);
      Settle();
      return;
    case FrameKind::kAck:
    case FrameKind::kAsk:
    case FrameKind::kGrant:
    case FrameKind::kReturn:
      if (Status fits = ReceiveCredit(frame); !fits.ok()) Fail(fits);
      return;
    case FrameKind::kClose:
      if (frame.op >= nodes_.size()) return;
      if (frame.instance.serial == 0) return CloseUpstream(frame.op, {frame.instance, {}});
      return CloseAt(frame.instance, frame.op, /*tell=*/false);
    case FrameKind::kRelease:
      closings_.Forget(frame.instance);
      return;
    case FrameKind::kIdle:
      if (!is_coordinator()) return;
      idle_.Tell(frame.from, std::move(frame.counts),
                 IsMerge(frame.op) ? std::optional(HeldRows{frame.op, frame.loops}) : std::nullopt);
      if (idle_told_) DecideFlush();
      return;
    case FrameKind::kGo:
      if (!IsMerge(frame.op)) return;
      may_flush_ = HeldRows{frame.op, std::move(frame.loops)};
      idle_told_ = false;
      return;
    case FrameKind::kFire:
      return ReceiveFire(frame);
    case FrameKind::kSorted:
      return ReceiveSorted(frame);
    case FrameKind::kEnd:
    case FrameKind::kFail:
    case FrameKind::kStats:
    case FrameKind::kStart:
    case FrameKind::kCancel:
    case FrameKind::kResume:
    case FrameKind::kRenew:
      return;  // the worker's own
  }
}

void QueryRun::Enqueue(uint32_t op, Batch batch) {
  Input input;
  input.batch = std::move(batch);
  EnqueueInput(op, std::move(input));
}

void QueryRun::EnqueueInput(uint32_t op, Input input) {
  input.charged = Input::BytesOf(input.batch);
  if (!spec_->account->TryCharge(input.charged)) {
    return Fail(OverLimit(*nodes_[op].op, input.charged));
  }
  News(op).rows_in += input.batch.rows;
  const Loops iteration = input.batch.runs.empty() ? Loops() : input.batch.runs.front().loops;
  Node& node = nodes_[op];
  const size_t kept = IterationBytes(node);
  if (IsMerging(node)) {
    EnqueueSorted(&node, iteration, std::move(input));
  } else if (Lane& lane = node.lanes[iteration]; !JoinWaiting(op, &lane, input)) {
    lane.queue.push_back(std::move(input));
  }
  if (IterationBytes(node) > kept) ChargeHeld(&node);
  busy_.insert(shape_->RankOf(op));
}

// A few rows join those that wait already, and so does their charge. False: they are a batch of
// their own.
bool QueryRun::JoinWaiting(uint32_t op, Lane* lane, const Input& input) {
  if (!is_line_ || input.remote || lane->queue.empty()) return false;
  Input& last = lane->queue.back();
  if (last.stored.has_value()) return false;
  const Batch& more = input.batch;
  if (last.remote || !last.batch.SameShape(more) || 4 * more.rows > worker_.bounds.batch_rows ||
      last.batch.rows + more.rows > worker_.bounds.batch_rows ||
      2 * (last.charged + input.charged) > static_cast<int64_t>(kBatchBytes)) {
    return false;
  }
  std::vector<uint32_t> all(more.rows);
  std::iota(all.begin(), all.end(), 0);
  last.batch.AppendRows(more, all);
  for (const Run& run : more.runs) last.batch.AppendRun(run);
  const int64_t charged = last.charged + input.charged;
  last.charged = Input::BytesOf(last.batch);
  if (last.charged <= charged) {
    spec_->account->Release(charged - last.charged);
  } else if (!spec_->account->TryCharge(last.charged - charged)) {
    Fail(OverLimit(*nodes_[op].op, last.charged - charged));
    last.charged = charged;
  }
  return true;
}

void QueryRun::ReceiveData(Frame frame) {
  if (frame.op >= nodes_.size() || nodes_[frame.op].outbox == nullptr) {
    return Fail(Internal("A frame names an exchange that does not exist."));
  }
  if (Status fits = TakeFrameCredit(frame); !fits.ok()) return Fail(fits);
  spread_ = true;
  FrameCounts::Add(&counts_.received_from, frame.from);
  idle_told_ = false;
  Input input;
  if (frame.paths != nullptr) {
    if (const Status bound = frame.paths->Bind(spec_->account); !bound.ok()) return Fail(bound);
  }
  frame.charge.reset();  // the queue's from now on
  input.batch = std::move(frame.batch);
  input.batch.slots.resize(spec_->plan.num_slots());
  input.remote = true;
  input.from = frame.from;
  input.exchange = frame.op;
  input.iteration = std::move(frame.loops);
  input.credit = frame.credit;
  EnqueueInput(nodes_[frame.op].op->next(0), std::move(input));
}

Input QueryRun::TakeInput(Node* node) {
  Input input = std::move(node->lane->queue.front());
  node->lane->queue.pop_front();
  // Who merges waits for as many rows as its worker has told.
  const bool is_told = node->merged_at != 0 && node->op->has_exchange();
  if (closings_.any() && !is_told) DropClosedRows(node->op->id(), &input.batch);
  return input;
}

// A share at once: of what somebody else has as well, as a side-effect its list, nothing is left
// then.
void QueryRun::Leave(std::unique_ptr<Leftover> leftover, MemoryCharge charge) {
  left_.push_back({std::move(leftover), std::move(charge)});
  FreeSome();
}

void QueryRun::FreeSome() {
  Left& last = left_.back();
  int64_t freed = 0;
  const bool all = last.what->FreeSome(&freed);
  last.charge.Resize(last.charge.bytes() - std::min(freed, last.charge.bytes()));
  if (all) left_.pop_back();
}

// The batch is used up: its memory and, for a frame, its credit and its place in the sender's
// window are free.
void QueryRun::FinishInput(Input* input) {
  if (input->charged < Leftover::kLeastBytes) {
    spec_->account->Release(input->charged);
  } else {
    auto values = std::make_unique<ValuesLeft>();
    for (const Column& column : input->batch.slots) values->Add(column);
    input->batch = Batch();
    Leave(std::move(values), MemoryCharge(spec_->account.get(), input->charged));
  }
  if (!input->remote) return;
  SendLaneWord(FrameKind::kAck, input->from, input->exchange, input->iteration);
  ReturnFrameCredit(*input);
}

void QueryRun::FinishInput(Node* node) {
  FinishInput(&*node->lane->active);
  node->lane->active.reset();
  node->lane->cursor.reset();
  node->lane->ordinal_row = UINT32_MAX;
}

void QueryRun::RunNode(uint32_t id) {
  Node& node = nodes_[id];
  const uint64_t begin = worker_.clock->NowNanos();
  const size_t changed = changes_ == nullptr ? 0 : changes_->ByteSize();
  const uint64_t counted = in_place_host_->counted_nanos;
  side_effects_.ChargeTo(node.host.get());
  Status status = BringBack(&node);
  if (status.ok()) status = Dispatch(&node);
  if (!status.ok()) Fail(WithDetail(status, DetailFor(*node.op)));
  std::vector<StateKey> closings;
  closings.swap(node.host->closings);
  for (const StateKey& key : closings) CloseUpstream(id, key);
  Settle();
  if (node.lane != nullptr) node.lanes.Trim(node.iteration);
  node.lane = nullptr;
  ChargeHeld(&node);
  ChargeTables(node);
  OperatorStats& stats = News(id);
  ++stats.batches;
  CountSlice(id);
  const uint64_t took = worker_.clock->NowNanos() - begin;
  stats.CountCall(took, took - std::min(took, in_place_host_->counted_nanos - counted));
  CountSpilled(node);
  if (changes_ != nullptr) stats.peak_bytes += changes_->ByteSize() - changed;
  if (MaySpill(node)) PickSpill();
}

// Of each iteration that something of the node waits in, without what waits.
size_t QueryRun::IterationBytes(const Node& node) {
  return node.lanes.ByteSize() + node.firings.ByteSize() + node.merging.ByteSize() +
         node.open_instances.ByteSize();
}

// What a node holds between two calls, bounded by a batch for each place where rows go, but for
// tables and what it keeps by iteration.
void QueryRun::ChargeHeld(Node* node) {
  const auto bytes_of = [](const JoinedBatch& joined) {
    return joined.bytes + joined.batch.runs.capacity() * sizeof(Run);
  };
  size_t held = IterationBytes(*node) + node->code.HeldBytes() + bytes_of(node->exits);
  for (const JoinedBatch& joined : node->restarts) held += bytes_of(joined);
  if (node->outbox != nullptr) held += node->outbox->ByteSize();
  if (held == node->held) return;
  // What was refused was not charged, and is not given back when less is held: rows still leave a
  // part that has failed.
  const auto more = static_cast<int64_t>(held) - static_cast<int64_t>(node->held);
  if (Status charged = node->host->ChargeState(more); charged.ok()) {
    node->held = held;
  } else {
    Fail(WithDetail(charged, DetailFor(*node->op)));
  }
}

// The driver's own. `node`: what has changed them.
void QueryRun::ChargeTables(const Node& node) {
  const int64_t tables = TableBytes();
  if (tables != tables_.bytes() && !tables_.TryResize(tables)) {
    Fail(OverLimit(*node.op, tables - tables_.bytes()));
  }
}

int64_t QueryRun::TableBytes() const {
  const size_t lists = whole_.capacity() * sizeof(uint64_t) +
                       to_close_.capacity() * sizeof(to_close_.front()) +
                       resting_.capacity() * sizeof(Resting);
  return static_cast<int64_t>(ledger_.ByteSize() + nested_.ByteSize() + closings_.ByteSize() +
                              receive_credits_.ByteSize() + lists);
}

Status QueryRun::Dispatch(Node* node) {
  const plan::Operator& op = *node->op;
  if (node->lane != nullptr && !node->lane->active.has_value()) RETURN_IF_ERROR(CheckNext(*node));
  if (op.has_scope_enter() && node->code.stream == nullptr) return RunScopeEnter(node);
  if (op.has_scope_exit()) return RunScopeExit(node);
  if (node->lane == nullptr) return IsMerging(*node) ? RunMerging(node) : RunFiring(node);
  if (node->code.stream != nullptr) return RunStream(node);
  if (node->code.barrier != nullptr) return RunBarrier(node);
  if (node->code.partial != nullptr) return RunPartial(node);
  if (op.has_exchange()) return RunExchange(node);
  if (op.has_split()) return RunSplit(node);
  if (op.has_sink()) return RunSink(node);
  return RunLoop(node);
}

}  // namespace koios::engine
