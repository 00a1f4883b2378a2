#include "engine/sim/simulation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "core/value_codec.h"
#include "engine/query_account.h"
#include "engine/sched/first_turn.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {
namespace {

// Query -> worker -> all workers, as if each was a process of its own.
struct Accounts {
  explicit Accounts(const SimulationOptions& options) {
    all.RefuseCharges(
        options.refuse_from_charge == 0 ? MemoryAccount::kNeverRefused : options.refuse_from_charge,
        options.refused_charges == 0 ? MemoryAccount::kNeverRefused : options.refused_charges - 1);
    for (uint32_t worker = 0; worker < options.num_workers; ++worker) {
      workers.push_back(std::make_unique<MemoryAccount>("worker", kNoMemoryLimit, &all));
    }
  }
  MemoryAccount all{"all workers"};
  std::vector<std::unique_ptr<MemoryAccount>> workers;
};

// Of a query at a worker. What a transaction has charged may outlive the simulation.
std::shared_ptr<MemoryAccount> AccountAt(uint32_t worker, uint64_t limit_bytes,
                                         const std::shared_ptr<Accounts>& accounts) {
  struct Held {
    std::shared_ptr<Accounts> above;
    std::shared_ptr<MemoryAccount> own;
  };
  const auto held = std::make_shared<Held>(
      Held{accounts, MakeQueryAccount(limit_bytes, accounts->workers[worker].get())});
  return {held, held->own.get()};
}

class OneView : public ViewProvider {
 public:
  OneView(std::shared_ptr<const storage::GraphView> view, std::shared_ptr<Accounts> all)
      : view_(std::move(view)), all_(std::move(all)) {}
  void SetReceiver(uint32_t to) { to_ = to; }
  StatusOr<std::shared_ptr<const storage::GraphView>> View(const std::string&,
                                                           uint64_t version) override {
    if (version != view_->version()) return NotFound("There is no such version of the graph.");
    return view_;
  }
  void AddParts(QuerySpec* spec) override {
    spec->view = spec_->view;
    spec->views = spec_->views;
    spec->parts = spec_->parts;
    spec->account = AccountAt(to_, spec->options.memory_limit_bytes, all_);
    accounts_.push_back(spec->account);
  }
  void SetSpec(const QuerySpec* spec) { spec_ = spec; }
  // Of workers that heard of the query by an encoded frame: each has one of its own.
  const std::vector<std::shared_ptr<MemoryAccount>>& accounts() const { return accounts_; }

 private:
  const std::shared_ptr<const storage::GraphView> view_;
  const std::shared_ptr<Accounts> all_;
  uint32_t to_ = 0;
  std::vector<std::shared_ptr<MemoryAccount>> accounts_;
  const QuerySpec* spec_ = nullptr;
};

class SimulatedNetwork : public Transport {
 public:
  SimulatedNetwork(const SimulationOptions& options, OneView* views)
      : options_(options),
        views_(views),
        channels_(options.num_workers * options.num_workers * 2) {}

  void SetSender(uint32_t from) { from_ = from; }

  void Send(uint32_t to, Frame frame) override {
    if (frame.kind == FrameKind::kStats) stats_[frame.from] = frame.stats;
    CountInFlight(to, frame);
    if (TakesFault(frame)) {
      switch (options_.fault) {
        case NetworkFault::kDoubleReport:
          Put(to, frame);
          break;
        case NetworkFault::kForgetBarriers:
          for (Report& report : frame.reports) report.pending.clear();
          break;
        default:
          return;  // dropped
      }
    }
    Put(to, std::move(frame));
  }

  bool Empty() const {
    for (const auto& channel : channels_) {
      if (!channel.empty()) return false;
    }
    return true;
  }

  // One frame from a random channel; nullopt when there is none.
  std::optional<std::pair<uint32_t, StatusOr<Frame>>> Deliver(Rng* rng) {
    std::vector<size_t> ready;
    for (size_t channel = 0; channel < channels_.size(); ++channel) {
      if (!channels_[channel].empty()) ready.push_back(channel);
    }
    if (ready.empty()) return std::nullopt;
    std::deque<Parcel>& channel = channels_[ready[rng->Uniform(ready.size())]];
    Parcel parcel = std::move(channel.front());
    channel.pop_front();
    if (parcel.bytes.empty()) return std::pair(parcel.to, StatusOr<Frame>(std::move(parcel.frame)));
    views_->SetReceiver(parcel.to);
    return std::pair(parcel.to, DecodeFrame(parcel.bytes, views_));
  }

  uint64_t num_frames() const { return num_frames_; }
  uint64_t wire_bytes() const { return wire_bytes_; }
  uint64_t wire_rows() const { return wire_rows_; }
  // What workers have told of their operators.
  const std::map<uint32_t, std::vector<OperatorStats>>& stats() const { return stats_; }
  uint64_t peak_in_flight() const { return peak_in_flight_; }

 private:
  struct Parcel {
    uint32_t to = 0;
    std::string bytes;  // empty: the frame itself
    Frame frame;
  };

  // What a worker acknowledges of a lane is the first that it has got of it.
  void CountInFlight(uint32_t to, const Frame& frame) {
    if (frame.kind == FrameKind::kData) {
      const size_t bytes = frame.batch.ByteSize();
      unacknowledged_[{from_, to, frame.op, frame.loops}].push_back(bytes);
      peak_in_flight_ = std::max(peak_in_flight_, in_flight_[to] += bytes);
    } else if (frame.kind == FrameKind::kAck) {
      std::deque<size_t>& sent = unacknowledged_[{to, from_, frame.op, frame.loops}];
      if (sent.empty()) return;
      in_flight_[from_] -= sent.front();
      sent.pop_front();
    }
  }

  // Whether this is the frame that the fault is for.
  bool TakesFault(const Frame& frame) {
    const NetworkFault fault = options_.fault;
    if (fault == NetworkFault::kNone) return false;
    bool fits = frame.kind == FrameKind::kReport;
    if (fault == NetworkFault::kDropData) fits = frame.kind == FrameKind::kData;
    if (fault == NetworkFault::kDropAck) fits = frame.kind == FrameKind::kAck;
    if (fault == NetworkFault::kForgetBarriers) {
      fits = fits && std::any_of(frame.reports.begin(), frame.reports.end(),
                                 [](const Report& report) { return !report.pending.empty(); });
    }
    return fits && ++fault_frames_ >= options_.fault_at;
  }

  void Put(uint32_t to, Frame frame) {
    ++num_frames_;
    Parcel parcel;
    parcel.to = to;
    const size_t channel = (from_ * options_.num_workers + to) * 2 + (frame.is_control() ? 1 : 0);
    // Inside a process the object travels; the local kinds are never serialised.
    if (options_.serialize && frame.kind < FrameKind::kStart) {
      // Channels overtake each other, so each carries the plan on its first frame that needs it.
      const bool first = frame.spec != nullptr &&
                         started_.emplace(from_, to, frame.is_control(), frame.query).second;
      parcel.bytes = EncodeFrame(frame, first);
      wire_bytes_ += to == from_ ? 0 : parcel.bytes.size();
      if (frame.kind == FrameKind::kData && to != from_) wire_rows_ += frame.batch.rows;
    } else {
      parcel.frame = std::move(frame);
    }
    channels_[channel].push_back(std::move(parcel));
  }

  const SimulationOptions options_;
  OneView* const views_;
  uint32_t from_ = 0;
  std::vector<std::deque<Parcel>> channels_;
  std::set<std::tuple<uint32_t, uint32_t, bool, QueryId>> started_;
  uint64_t num_frames_ = 0;
  uint64_t wire_bytes_ = 0;
  uint64_t wire_rows_ = 0;
  std::map<uint32_t, std::vector<OperatorStats>> stats_;
  uint64_t fault_frames_ = 0;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, Loops>, std::deque<size_t>> unacknowledged_;
  std::map<uint32_t, uint64_t> in_flight_;  // by receiver
  uint64_t peak_in_flight_ = 0;
};

// How often a slow worker takes its turn: once in so many, and when nobody else can move.
constexpr uint64_t kSlowness = 16;

class CollectingSink : public ResultSink {
 public:
  explicit CollectingSink(uint32_t window) : window_(window), room_(window) {}

  size_t Room() override { return room_; }
  void Push(ResultBatch batch) override {
    if (done_ > 0 || room_ == 0) broken_ = true;
    if (room_ > 0) --room_;
    ++batches_;
    for (size_t row = 0; row < batch.column.size(); ++row) {
      const int64_t bulk = batch.bulk.empty() ? 1 : batch.bulk[row];
      // A copy: what the query made of it stays charged as long as somebody has it.
      const Value copy = *DecodeWholeValue(EncodeValue(batch.column.Get(row)));
      for (int64_t i = 0; i < bulk; ++i) rows_.push_back(copy);
    }
  }
  void Done(QueryResult result) override {
    ++done_;
    result_ = std::move(result);
  }
  void Read() { room_ = window_; }
  uint64_t batches() const { return batches_; }

  bool done() const { return done_ > 0; }
  bool broken() const { return broken_ || done_ > 1; }
  QueryResult& result() { return result_; }
  std::vector<Value>& rows() { return rows_; }

 private:
  const uint32_t window_;
  size_t room_;
  uint64_t batches_ = 0;
  int done_ = 0;
  bool broken_ = false;
  QueryResult result_;
  std::vector<Value> rows_;
};

class Driver {
 public:
  Driver(std::shared_ptr<const storage::GraphView> view, const SimulationOptions& options)
      : options_(options),
        rng_(options.seed),
        all_(std::make_shared<Accounts>(options)),
        views_(view, all_),
        network_(options, &views_) {
    for (uint32_t index = 0; index < options.num_workers; ++index) {
      workers_.push_back(std::make_unique<Worker>(ContextOf(index)));
    }
    sink_ = std::make_shared<CollectingSink>(options.sink_window);
    auto spec = std::make_shared<QuerySpec>();
    const auto drawn = static_cast<uint32_t>(rng_.Uniform(options.num_workers));
    spec->view = std::move(view);
    spec->options.seed = options.seed;
    spec->options.profile = options.profile;
    spec->options.transaction = options.transaction;
    spec->options.memory_limit_bytes = options.memory_limit_bytes;
    spec->options.deadline_ns = options.deadline_ns;
    spec->sink = sink_;
    spec->id = {drawn, 1, 0};
    views_.SetSpec(spec.get());
    spec_ = std::move(spec);
  }

  SimulationResult Run(const plan::Plan& plan) {
    spec_->plan = plan;
    spec_->SetViews(options_.isolated, options_.num_workers);
    spec_->id.coordinator %= spec_->NumOwners(options_.num_workers);
    account_ = AccountAt(spec_->id.coordinator, options_.memory_limit_bytes, all_);
    spec_->account = account_;
    Start();
    SimulationResult result;
    std::string broken;
    for (; broken.empty() && !Over(); ++result.turns) {
      if (result.turns >= options_.max_turns) broken = "the query does not end";
      if (result.turns + 1 == options_.cancel_after_turns) {
        ToCoordinator(FrameKind::kCancel, Cancelled("by the simulation"));
      }
      if (options_.beside) options_.beside();
      if (options_.watch) options_.watch(account_->used());
      if (!Turn()) broken = "the query hangs: nobody can move";
    }
    const auto& parts = sink_->result().parts;
    if (broken.empty() && !parts.empty()) options_.transaction->Absorb(parts);
    if (broken.empty()) broken = CheckNothingLeft();
    result.status = broken.empty() ? sink_->result().status : Internal(broken);
    result.rows = std::move(sink_->rows());
    result.frames = network_.num_frames();
    result.wire_bytes = network_.wire_bytes();
    result.wire_rows = network_.wire_rows();
    result.charges = all_->all.charges();
    result.peak_bytes = static_cast<uint64_t>(account_->peak());
    for (const auto& worker : all_->workers) {
      result.peaks.push_back(static_cast<uint64_t>(worker->peak()));
    }
    result.peak_in_flight = network_.peak_in_flight();
    result.operators = sink_->result().operators;
    result.coordinator = spec_->id.coordinator;
    if (options_.profile) result.workers = ByWorker(result.operators);
    return result;
  }

 private:
  WorkerContext ContextOf(uint32_t index) {
    WorkerContext context;
    context.index = index;
    context.num_workers = options_.num_workers;
    context.transport = &network_;
    context.clock = &clock_;
    context.shared_view = options_.shared_view;
    context.spread_after_rows = options_.spread_after_rows;
    context.bounds = options_.bounds;
    context.lease_ns = options_.lease_ns;
    if (options_.spills || options_.has_disk) context.spill = &spill_;
    if (options_.spills) {
      context.bounds.spills_early = true;
      context.bounds.spill_bytes = 1;
      if (options_.fail_from_spill > 0) spill_.FailFromWrite(options_.fail_from_spill);
      if (options_.damage_from_read > 0) spill_.FailFromRead(options_.damage_from_read);
    }
    return context;
  }

  // The sum of all workers' has the coordinator's own.
  std::vector<std::vector<OperatorStats>> ByWorker(std::vector<OperatorStats> own) const {
    std::vector<std::vector<OperatorStats>> workers(options_.num_workers);
    for (const auto& [from, stats] : network_.stats()) {
      if (from == spec_->id.coordinator) continue;
      workers[from] = stats;
      for (size_t op = 0; op < std::min(own.size(), stats.size()); ++op) {
        own[op].rows_in -= stats[op].rows_in;
        own[op].peak_bytes -= stats[op].peak_bytes;
        own[op].bytes_sent -= stats[op].bytes_sent;
      }
    }
    workers[spec_->id.coordinator] = std::move(own);
    return workers;
  }

  bool Over() const { return sink_->done() && network_.Empty(); }

  void ToCoordinator(FrameKind kind, const Status& status) {
    Frame frame;
    frame.kind = kind;
    frame.query = spec_->id;
    frame.from = spec_->id.coordinator;
    frame.status = status;
    if (kind == FrameKind::kStart) frame.spec = spec_;
    Deliver(spec_->id.coordinator, std::move(frame));
  }

  void Start() {
    if (options_.first_turn_slices == 0) return ToCoordinator(FrameKind::kStart, OkStatus());
    Frame frame;
    frame.kind = FrameKind::kStart;
    frame.query = spec_->id;
    frame.from = spec_->id.coordinator;
    frame.spec = spec_;
    constexpr uint64_t kFirstTurnNanos = 500'000;
    frame.begun = TakeFirstTurn(spec_, ContextOf(spec_->id.coordinator),
                                {options_.first_turn_slices, kFirstTurnNanos});
    if (frame.begun != nullptr) Deliver(spec_->id.coordinator, std::move(frame));
  }

  void Deliver(uint32_t to, Frame frame) {
    network_.SetSender(to);
    workers_[to]->Deliver(std::move(frame));
  }

  bool StepOne(uint32_t index) {
    network_.SetSender(index);
    return workers_[index]->Step(static_cast<uint64_t>(clock_.NowNanos()));
  }

  bool DeliverOne() {
    auto parcel = network_.Deliver(&rng_);
    if (!parcel.has_value()) return false;
    if (!parcel->second.ok()) {
      ToCoordinator(FrameKind::kFail, parcel->second.status());
    } else {
      Deliver(parcel->first, std::move(parcel->second).value());
    }
    return true;
  }

  // Something happens. False when nothing can.
  bool Turn() {
    clock_.Advance(static_cast<int64_t>(options_.turn_ns));
    const bool stalls = Stalls();
    if (sink_->Room() == 0 && !stalls && rng_.Uniform(8) == 0) Read();
    if (rng_.Uniform(100) < options_.deliver_percent && DeliverOne()) return true;
    if (StepSome(/*slow_ones=*/false) || DeliverOne()) return true;
    // Who can't go on any more may have said something before.
    if (StepSome(/*slow_ones=*/true) || DeliverOne()) return true;
    if (sink_->Room() > 0) return Over();
    if (!stalls) Read();
    return true;
  }

  // One of the workers, from a random one on, that can; of the slow ones, mostly those only that
  // `slow_ones` asks for.
  bool StepSome(bool slow_ones) {
    if (slow_ones && options_.slow_workers == 0) return false;
    const uint32_t first = static_cast<uint32_t>(rng_.Uniform(options_.num_workers));
    for (uint32_t i = 0; i < options_.num_workers; ++i) {
      const uint32_t index = (first + i) % options_.num_workers;
      const bool is_slow = index < options_.slow_workers;
      if (!slow_ones && is_slow && rng_.Uniform(kSlowness) != 0) continue;
      if (slow_ones && !is_slow) continue;
      if (StepOne(index)) return true;
    }
    return false;
  }

  // Whether the client does not read now.
  bool Stalls() {
    if (options_.stall_after_batches == 0 || sink_->batches() < options_.stall_after_batches) {
      return false;
    }
    return options_.stall_turns == 0 || stalled_turns_++ < options_.stall_turns;
  }

  // The client takes what there is, and the query goes on.
  void Read() {
    sink_->Read();
    ToCoordinator(FrameKind::kResume, OkStatus());
  }

  std::string CheckNothingLeft() const {
    // Of a query that failed they end with it.
    for (const auto& part : spec_->parts) part->ChargeTo(nullptr);
    if (sink_->broken()) return "the sink was used past its window or its end";
    for (const auto& worker : workers_) {
      if (worker->num_queries() > 0) return "a worker keeps the query after its end";
    }
    if (spill_.used() > 0) return "rows stay on disk after the end";
    const storage::Transaction* changes = options_.transaction.get();
    const size_t kept = changes == nullptr ? 0 : changes->ByteSize();
    if (account_->used() != static_cast<int64_t>(kept)) {
      return "bytes stay charged after the end: " + std::to_string(account_->used());
    }
    for (const auto& account : views_.accounts()) {
      if (account->used() == 0) continue;
      return "bytes stay charged elsewhere: " + std::to_string(account->used());
    }
    if (all_->all.used() != account_->used()) return "the accounts' sum is not their parent's";
    return "";
  }

  const SimulationOptions options_;
  Rng rng_;
  ManualClock clock_;
  const std::shared_ptr<Accounts> all_;
  OneView views_;
  SimulatedNetwork network_;
  SpillSpace spill_{"/tmp"};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::shared_ptr<MemoryAccount> account_;
  uint64_t stalled_turns_ = 0;
  std::shared_ptr<CollectingSink> sink_;
  std::shared_ptr<QuerySpec> spec_;
};

}  // namespace

SimulationResult Simulate(const plan::Plan& plan, std::shared_ptr<const storage::GraphView> view,
                          const SimulationOptions& options) {
  return Driver(std::move(view), options).Run(plan);
}

}  // namespace koios::engine
