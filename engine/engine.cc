// The engine on threads: N workers, each with a mailbox, and the doors that other threads use.
#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "core/clock.h"
#include "core/thread_priority.h"
#include "engine/exchange/in_process.h"
#include "engine/query_account.h"
#include "engine/sched/ends/reaper.h"
#include "engine/sched/first_turn.h"
#include "engine/sched/worker.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

// Other threads reach a query by frames to its coordinator.
class Handle : public QueryHandle {
 public:
  Handle(std::shared_ptr<const QuerySpec> spec, InProcessTransport* transport)
      : spec_(std::move(spec)), transport_(transport) {}

  void Cancel(const Status& why) override {
    Frame frame;
    frame.kind = FrameKind::kCancel;
    frame.status = why;
    Send(std::move(frame));
  }
  void Resume() override {
    Frame frame;
    frame.kind = FrameKind::kResume;
    Send(std::move(frame));
  }
  QueryNumbers numbers() const override { return spec_->Numbers(); }
  const plan::Plan* plan() const override { return &spec_->plan; }
  std::vector<OperatorStats> operators() const override { return spec_->live.Operators(); }

 private:
  void Send(Frame frame) {
    frame.query = spec_->id;
    frame.from = spec_->id.coordinator;
    transport_->Send(spec_->id.coordinator, std::move(frame));
  }

  const std::shared_ptr<const QuerySpec> spec_;
  InProcessTransport* const transport_;
};

// Of a query that was over before anybody could have a handle.
class EndedHandle : public QueryHandle {
 public:
  void Cancel(const Status&) override {}
  void Resume() override {}
  QueryNumbers numbers() const override { return {}; }
};

class ThreadedEngine : public Engine {
 public:
  explicit ThreadedEngine(const EngineOptions& options)
      : options_(options),
        memory_(MakeAccountOfAllQueries(options.process_memory_bytes)),
        transport_(options.num_workers),
        incarnation_(static_cast<uint64_t>(SteadyClock::Get()->NowNanos())),
        serials_(options.num_workers) {
    if (!options.spill_folder.empty() && options.spill_bytes > 0) {
      spill_.emplace(options.spill_folder, options.spill_bytes, options.spill_reserve_bytes);
      spill_->Sweep();
    }
    for (uint32_t index = 0; index < options.num_workers; ++index) {
      threads_.emplace_back([this, index] { Run(index); });
    }
  }

  ~ThreadedEngine() override {
    for (uint32_t index = 0; index < options_.num_workers; ++index) {
      transport_.mailbox(index).Close();
    }
    for (std::thread& thread : threads_) thread.join();
  }

  std::shared_ptr<QueryHandle> Submit(plan::Plan plan,
                                      std::shared_ptr<const storage::GraphView> view,
                                      QueryOptions options,
                                      std::shared_ptr<ResultSink> sink) override {
    auto spec = std::make_shared<QuerySpec>();
    const uint64_t limit =
        options.memory_limit_bytes != 0 ? options.memory_limit_bytes : options_.query_memory_bytes;
    spec->account = options.account != nullptr ? std::move(options.account)
                                               : MakeQueryAccount(limit, memory_.get());
    spec->plan = std::move(plan);
    spec->view = std::move(view);
    spec->options = options;
    spec->sink = std::move(sink);
    spec->SetViews(options_.isolated, options_.num_workers);
    const uint32_t coordinator =
        next_coordinator_.fetch_add(1) % spec->NumOwners(options_.num_workers);
    spec->id.coordinator = coordinator;
    Frame start;
    const uint64_t now = static_cast<uint64_t>(SteadyClock::Get()->NowNanos());
    if (options.begins_here && (options.deadline_ns == 0 || now < options.deadline_ns)) {
      start.begun = TakeFirstTurn(spec, ContextOf(coordinator),
                                  {options_.first_turn_slices, options_.first_turn_nanos});
      if (start.begun == nullptr) return std::make_shared<EndedHandle>();
    }
    // Only now does it get a number: those that workers know of stay dense.
    spec->id = {coordinator, incarnation_, serials_[coordinator].fetch_add(1)};
    auto handle = std::make_shared<Handle>(spec, &transport_);
    start.kind = FrameKind::kStart;
    start.query = spec->id;
    start.from = coordinator;
    start.spec = std::move(spec);
    transport_.Send(coordinator, std::move(start));
    return handle;
  }

  const EngineOptions& options() const override { return options_; }
  const Clock& clock() const override { return *SteadyClock::Get(); }
  MemoryAccount& memory() override { return *memory_; }
  size_t StandingBytes(const plan::Plan& plan) const override {
    return options_.num_workers * QueryRun::StandingBytes(plan, options_.num_workers);
  }
  SpillSpace* spill_space() override { return spill_.has_value() ? &*spill_ : nullptr; }

 private:
  WorkerContext ContextOf(uint32_t index) {
    WorkerContext context;
    context.index = index;
    context.num_workers = options_.num_workers;
    context.transport = &transport_;
    context.clock = SteadyClock::Get();
    context.spread_after_rows = options_.spread_after_rows;
    context.spill = spill_space();
    context.reaper = &reaper_;
    context.shared_view = !options_.isolated;
    return context;
  }

  void Run(uint32_t index) {
    Worker worker(ContextOf(index));
    Mailbox& mailbox = transport_.mailbox(index);
    ThreadWeight weight;
    Yields yields;
    while (true) {
      for (Frame& frame : mailbox.Drain()) worker.Deliver(std::move(frame));
      if (mailbox.closed()) break;
      const uint64_t now = static_cast<uint64_t>(SteadyClock::Get()->NowNanos());
      const bool more = worker.Step(now);
      weight.Set(worker.is_at_long());
      if (more) {
        const int64_t ran = SteadyClock::Get()->NowNanos() - static_cast<int64_t>(now);
        if (worker.is_at_long()) yields.Ran(ran);
        continue;
      }
      yields.Waited();
      const uint64_t deadline = worker.NextDeadline();
      mailbox.Wait(deadline == 0 ? 0 : deadline > now ? deadline - now : 1);
    }
    worker.CancelAll(Cancelled("The engine is shutting down."));
  }

  const EngineOptions options_;
  const std::unique_ptr<MemoryAccount> memory_;
  std::optional<SpillSpace> spill_;
  InProcessTransport transport_;
  Reaper reaper_;
  const uint64_t incarnation_;
  std::vector<std::atomic<uint64_t>> serials_;
  std::atomic<uint32_t> next_coordinator_{0};
  std::vector<std::thread> threads_;
};

}  // namespace

void OperatorStats::CountCall(uint64_t took_ns, uint64_t own_ns) {
  time_ns += own_ns;
  slow_calls += took_ns > kSlowCallNanos ? 1 : 0;
  longest_ns = std::max(longest_ns, took_ns);
}

void OperatorStats::Add(const OperatorStats& other) {
  const uint64_t longest = std::max(longest_ns, other.longest_ns);
  for (const auto field : kStatFields) this->*field += other.*field;
  longest_ns = longest;
}

std::unique_ptr<Engine> Engine::Create(const EngineOptions& options) {
  EngineOptions checked = options;
  if (checked.num_workers == 0) checked.num_workers = 1;
  return std::make_unique<ThreadedEngine>(checked);
}

}  // namespace koios::engine
