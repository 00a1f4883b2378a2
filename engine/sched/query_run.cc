// The driver's core: opening, queues, picking the next operator.
#include "engine/sched/query_run.h"

#include <algorithm>

#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// Batches that wait between two operators of one worker.
constexpr size_t kQueueBatches = 4;
// Open instances of one scope at one home.
constexpr size_t kOpenInstances = 4096;

}  // namespace

ErrorDetail DetailFor(const plan::Operator& op) {
  ErrorDetail detail;
  detail.step = op.step();
  detail.span = {op.position().line(), op.position().column(), op.position().length()};
  return detail;
}

QueryRun::QueryRun(std::shared_ptr<const QuerySpec> spec, const WorkerContext& worker)
    : spec_(std::move(spec)), worker_(worker) {}

QueryRun::~QueryRun() {
  int64_t charged = 0;
  for (Node& node : nodes_) {
    for (const Input& input : node.queue) charged += input.charged;
    if (node.active.has_value()) charged += node.active->charged;
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
    const bool stateful =
        node.op->has_limit() || node.op->has_dedup() || node.code.barrier != nullptr;
    if (node.op->scope() > 0 && stateful) nodes_[node.op->scope() - 1].stateful.push_back(node.op->id());
    if (node.op->has_exchange()) node.outbox = std::make_unique<Outbox>(worker_.num_workers);
  }
  return OkStatus();
}

Status QueryRun::OverLimit(const plan::Operator& op, int64_t bytes) const {
  ErrorDetail detail = DetailFor(op);
  detail.reason = "QUERY_MEMORY";
  detail.limit = std::to_string(spec_->account->limit()) + " bytes";
  detail.used = std::to_string(spec_->account->used() + bytes) + " bytes";
  detail.setting = "query-memory";
  detail.hint = "Ask for less at once, for example with limit(), or raise the setting.";
  return ResourceExhausted("The query needs more memory than its limit of " + detail.limit +
                               " at the step " + op.step() + ".",
                           detail);
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

void QueryRun::Receive(Frame frame) {
  if (!failure_.ok()) return;
  switch (frame.kind) {
    case FrameKind::kData:
      return ReceiveData(std::move(frame));
    case FrameKind::kReport:
      for (const Report& report : frame.reports) Apply(report);
      Settle();
      return;
    case FrameKind::kAck:
      if (frame.op < nodes_.size() && nodes_[frame.op].outbox != nullptr) {
        nodes_[frame.op].outbox->Acknowledge(frame.from);
        Pump(&nodes_[frame.op], /*flush=*/false);
      }
      return;
    case FrameKind::kClose:
      if (frame.op < nodes_.size()) CloseUpstream(frame.op, {frame.instance, frame.loops});
      return;
    case FrameKind::kEnd:
    case FrameKind::kFail:
    case FrameKind::kGo:
    case FrameKind::kRelease:
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
  nodes_[op].queue.push_back(std::move(input));
  busy_.insert(op);
}

void QueryRun::ReceiveData(Frame frame) {
  if (frame.op >= nodes_.size() || nodes_[frame.op].outbox == nullptr) {
    return Fail(Internal("A frame names an exchange that does not exist."));
  }
  spread_ = true;
  Input input;
  input.batch = std::move(frame.batch);
  input.remote = true;
  input.from = frame.from;
  input.exchange = frame.op;
  EnqueueInput(nodes_[frame.op].op->next(0), std::move(input));
}

QueryRun::Input QueryRun::TakeInput(Node* node) {
  Input input = std::move(node->queue.front());
  node->queue.pop_front();
  if (any_closed_) DropClosedRows(node->op->id(), &input.batch);
  input.left.reserve(input.batch.runs.size());
  for (const Run& run : input.batch.runs) input.left.emplace_back(run.k);
  return input;
}

// The batch is used up: its memory and, for a frame, its place in the sender's window are free.
void QueryRun::FinishInput(Node* node) {
  Input& input = *node->active;
  spec_->account->Release(input.charged);
  if (input.remote) {
    Frame ack;
    ack.kind = FrameKind::kAck;
    ack.op = input.exchange;
    SendControl(input.from, std::move(ack));
  }
  node->active.reset();
}

bool QueryRun::HasRoom(uint32_t op) const { return nodes_[op].queue.size() < kQueueBatches; }

bool QueryRun::HasWork(const Node& node) const {
  if (node.active.has_value() || !node.queue.empty() || !node.firings.empty()) return true;
  if (node.exits.rows > 0) return true;
  return std::any_of(node.restarts.begin(), node.restarts.end(),
                     [](const Batch& batch) { return batch.rows > 0; });
}

bool QueryRun::CanRun(const Node& node) const {
  if (!HasWork(node)) return false;
  if (node.outbox != nullptr) return !node.outbox->Blocked() && HasRoom(node.op->next(0));
  if (node.op->has_sink()) return spec_->sink->Room() > 0;
  if (node.op->has_scope_enter() && node.open_instances >= kOpenInstances &&
      std::all_of(node.restarts.begin(), node.restarts.end(),
                  [](const Batch& batch) { return batch.rows == 0; })) {
    return false;
  }
  if (node.code.barrier != nullptr && node.firings.empty()) return true;
  if (node.code.partial != nullptr) return HasRoom(node.op->next(0));
  for (uint32_t next : node.op->next()) {
    if (!HasRoom(next)) return false;
  }
  return true;
}

// Deepest first: what is nearest to the end moves on before more is made.
bool QueryRun::Step() {
  if (!failure_.ok() || complete_) return false;
  for (auto it = busy_.rbegin(); it != busy_.rend(); ++it) {
    const uint32_t id = *it;
    if (!CanRun(nodes_[id])) continue;
    RunNode(id);
    if (!HasWork(nodes_[id])) busy_.erase(id);
    return true;
  }
  return false;
}

void QueryRun::RunNode(uint32_t id) {
  Node& node = nodes_[id];
  const uint64_t begin = worker_.clock->NowNanos();
  Status status;
  if (!node.firings.empty()) {
    status = RunFiring(&node);
  } else if (node.code.stream != nullptr) {
    status = RunStream(&node);
  } else if (node.code.barrier != nullptr) {
    status = RunBarrier(&node);
  } else if (node.code.partial != nullptr) {
    status = RunPartial(&node);
  } else if (node.op->has_exchange()) {
    status = RunExchange(&node);
  } else if (node.op->has_split()) {
    status = RunSplit(&node);
  } else if (node.op->has_scope_enter()) {
    status = RunScopeEnter(&node);
  } else if (node.op->has_scope_exit()) {
    status = RunScopeExit(&node);
  } else {
    status = RunSink(&node);
  }
  if (!status.ok()) Fail(WithDetail(status, DetailFor(*node.op)));
  std::vector<StateKey> closings;
  closings.swap(node.host->closings);
  for (const StateKey& key : closings) CloseUpstream(id, key);
  Settle();
  OperatorStats& stats = stats_[id];
  ++stats.batches;
  stats.time_ns += worker_.clock->NowNanos() - begin;
}

bool QueryRun::Flush() {
  if (!failure_.ok() || complete_) return false;
  bool moved = false;
  for (size_t id = nodes_.size(); id-- > 0;) {
    Node& node = nodes_[id];
    if (node.code.partial != nullptr && node.code.partial->size() > 0) {
      moved = FlushPartial(&node) || moved;
    }
    if (node.outbox != nullptr && !node.outbox->Empty()) {
      moved = Pump(&node, /*flush=*/true) || moved;
    }
  }
  SendReports();
  Settle();
  return moved || complete_;
}

}  // namespace koios::engine
