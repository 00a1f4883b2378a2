// QueryRun: one query on one worker. The driver around the operators: it owns their queues, splits
// and returns weights, keeps the accounts of the instances whose home is this worker, parks the
// rows of local scopes, routes rows, charges memory and counts for profile(). Belongs to its
// worker's thread. Never blocks; each Step does one operator invocation on one batch.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "engine/batch/batch.h"
#include "engine/exchange/frame.h"
#include "engine/expr/expression.h"
#include "engine/op/operator.h"
#include "engine/op/split_tests.h"
#include "engine/sched/idle_watch.h"
#include "engine/sched/outbox.h"
#include "engine/sched/plan_shape.h"
#include "engine/scope/home.h"

namespace koios::engine {

// What may wait at a worker. A simulation makes them small, as its graphs would not reach them.
struct WorkerBounds {
  size_t batch_rows = kBatchRows;  // that an operator gives in a call
  size_t queue_batches = 4;        // between two operators, per iteration
  size_t open_instances = 4096;    // of one scope at one home, per iteration
};

// What a query's part knows of the worker it runs on.
struct WorkerContext {
  uint32_t index = 0;
  uint32_t num_workers = 1;
  Transport* transport = nullptr;
  const Clock* clock = nullptr;
  // Every worker can read every partition: rows stay until the query has spread.
  bool shared_view = true;
  uint64_t spread_after_rows = 10'000;
  WorkerBounds bounds;
};

class QueryRun {
 public:
  static StatusOr<std::unique_ptr<QueryRun>> Create(std::shared_ptr<const QuerySpec> spec,
                                                    const WorkerContext& worker);
  ~QueryRun();

  // At the coordinator, once: the root instance begins.
  void Start();
  // kData, kReport, kAck, kClose of this query.
  void Receive(Frame frame);
  // One operator invocation. False: nothing can run now.
  bool Step();
  // Tells the others what has gathered here: at the end of each slice.
  void EndSlice();
  // Sends on what was held back to make batches and reports full. True: something can run again.
  bool Flush();

  // The query is over here: complete (root quiescent, coordinator only) or failed.
  bool complete() const { return complete_; }
  const Status& failure() const { return failure_; }
  void Fail(const Status& status);

  const QuerySpec& spec() const { return *spec_; }
  std::shared_ptr<const QuerySpec> spec_ptr() const { return spec_; }
  bool is_coordinator() const { return spec_->id.coordinator == worker_.index; }
  bool has_sent() const { return has_sent_; }
  uint64_t rows() const { return sink_rows_; }
  const std::vector<OperatorStats>& stats() const { return stats_; }

 private:
  struct Host;
  // Rows waiting for, or worked on by, an operator.
  struct Input {
    Batch batch;
    int64_t charged = 0;
    bool remote = false;
    uint32_t from = 0;  // remote: the sender, and its Exchange
    uint32_t exchange = 0;
    Loops lane;                    // the Exchange's lane
    std::vector<WeightPool> left;  // per run, once worked on
    size_t run = 0;                // the first that may still give rows: those before gave all,
    uint32_t run_begin = 0;        // and its first row
    // The next traverser that enters a serial scope, or row that leaves a scope.
    struct Cursor {
      size_t run = 0;
      uint32_t in_run = 0;  // rows of the run that are through
      uint32_t row = 0;
      int64_t copy = 0;  // of the row's bulk
    };
    Cursor cursor;
  };
  // What waits for an operator in one iteration of the loops around it. Each iteration has room of
  // its own, and a cursor of its own, so that the deepest can always go on.
  struct Lane {
    std::deque<Input> queue;
    std::optional<Input> active;
    std::unique_ptr<StreamOperator> stream;  // in loops, for operators that keep a cursor only
    std::unique_ptr<StreamCursor> cursor;    // of `active`, for those that leave it to the driver
    uint32_t ordinal_row = UINT32_MAX;       // the input row that gave the last output row,
    uint32_t ordinal_next = 0;               // and how many it has given (ordinals only)
  };
  // A fired barrier that still gives rows.
  struct Firing {
    StateKey key;
    WeightPool pool;
  };
  struct Node {
    const plan::Operator* op = nullptr;
    std::unique_ptr<Host> host;
    OperatorBundle code;
    std::vector<bool> drops;            // by slot: nobody behind reads it
    std::vector<uint32_t> needed;       // slots that its input must have
    std::unique_ptr<SplitTests> tests;  // Split; null: all branches get all rows
    std::map<Loops, Lane> lanes;
    Lane* lane = nullptr;                         // being run
    Loops iteration;                              // of `lane`, or of the firing
    std::map<Loops, std::deque<Firing>> firings;  // none empty
    std::optional<Loops> absorbing;          // a barrier: the lane whose batch it is not done with
    std::unique_ptr<Outbox> outbox;          // Exchange
    JoinedBatch exits;                       // ScopeExit: rows on their way out
    uint64_t ordinal_fired = 0;              // rows that a barrier has given with ordinals
    std::map<Loops, size_t> open_instances;  // ScopeEnter; none of them 0
    std::vector<uint32_t> stateful;          // ScopeEnter: operators of its body that keep state
    std::vector<JoinedBatch> restarts;  // ScopeEnter: rows on their way into an alternative body
  };

  // How a parked row leaves its scope: with `value` (null: absent) in `slot` (-1: none is written).
  struct ScopeResult {
    int slot = -1;
    const Value* value = nullptr;
    int64_t bulk = 1;
    const Batch* body = nullptr;  // the body's row: what carried slots are taken from
    uint32_t body_row = 0;
  };

  QueryRun(std::shared_ptr<const QuerySpec> spec, const WorkerContext& worker);
  Status Open();
  Status OverLimit(const plan::Operator& op, int64_t bytes) const;

  // Scheduling.
  // Each picks something of the node to run now, if there is any.
  bool StepOnce(bool shallowest, bool widen);
  bool PickOwn(Node* node, bool may_fire) const;
  bool PickFiring(Node* node) const;
  bool PickLane(Node* node, bool shallowest) const;
  bool HasWork(const Node& node) const;
  bool IsCrowded() const;
  bool HasRoom(uint32_t op, const Loops& iteration) const;
  bool CanTake(const Node& node, const Loops& iteration) const;
  bool MayOpen(const Node& enter, const Loops& iteration) const;
  size_t OpenRoom(const Node& enter, const Loops& iteration) const;
  void RunNode(uint32_t id);
  Status Dispatch(Node* node);
  void Enqueue(uint32_t op, Batch batch);
  void EnqueueInput(uint32_t op, Input input);
  void FinishInput(Node* node);
  Input TakeInput(Node* node);
  Status CheckFits(const Frame& frame) const;
  Status CheckNext(const Node& node) const;
  void ReceiveData(Frame frame);

  // One kind of operator each (query_run_ops.cc).
  Status RunStream(Node* node);
  Status RunBarrier(Node* node);
  Status RunPartial(Node* node);
  Status RunFiring(Node* node);
  Status FireNext(Node* node, Firing* firing, Batch* batch, bool* done);
  Status RunExchange(Node* node);
  Status RunSplit(Node* node);
  Status RunScopeEnter(Node* node);
  void EnterRows(Node* node, Batch batch, int64_t charged);
  Status EnterSome(Node* node);
  Status RunScopeExit(Node* node);
  StatusOr<Home*> LeavingHome(const Node& node, const Run& run) const;
  Status ExitRow(const plan::ScopeExit& exit, const Batch& batch, uint32_t row, Home* home);
  void SendExits(Node* exit);
  Status RunLoop(Node* node);
  static void CountOrdinals(const plan::Operator& op, Batch* batch);
  Status RunSink(Node* node);
  size_t OutputLimit(const Node& node, const Batch& input) const;
  Batch MakeOutput(Node* node, const Input& input, OpOutput output);
  void AppendOrdinals(Node* node, const std::vector<uint32_t>& origin, Batch* batch);
  void GiveWeights(Input* input, const OpOutput& output, bool last, Batch* batch);
  void ToOwners(const Column& column, std::vector<uint32_t>* to) const;
  StatusOr<std::vector<uint32_t>> Destinations(const plan::Operator& op, const Batch& batch);
  void DistributeRuns(Node* node, const std::vector<std::vector<uint32_t>>& picked);
  Status FlushPartial(Node* node, const Loops& iteration);
  bool FlushFirst(Node* node);
  bool IsMerge(uint32_t op) const;
  bool FlushMerged();
  bool FlushHeld(const HeldRows& held);
  bool IsBefore(const HeldRows& a, const HeldRows& b) const;
  std::optional<HeldRows> FirstHeld() const;
  void TellIdle();
  void DecideFlush();
  void CountOut(Node* node, const Batch& batch);
  bool Pump(Node* node, bool flush);
  void SendData(Node* node, uint32_t to, const Loops& lane, Batch batch);

  // Weights and instances (query_run_scope.cc).
  void ReturnWeight(const InstanceId& instance, uint32_t k, uint32_t count = 1);
  void ReturnRuns(const std::vector<Run>& runs);
  void AddPending(const InstanceId& instance, const BarrierKey& key);
  void Apply(const Report& report);
  void Settle();  // acts on the instances that have become quiescent
  void FireReady(Home* home);
  void CompleteInstance(Home* home);
  void StartAlternative(Home* home);
  void Leave(Home* home, const ScopeResult& result);
  void CloseUpstream(uint32_t op, const StateKey& key);
  void CloseInstance(Home* home);
  void CountClosed(const Home& home);
  void CloseEarly(Home* home);
  void CloseAt(const InstanceId& instance, uint32_t op, bool tell);
  void Broadcast(FrameKind kind, const InstanceId& instance, uint32_t op);
  void SendCloses();
  const std::vector<uint8_t>& LeadsOnlyTo(uint32_t op);
  bool IsDropped(uint32_t op, const Run& run) const;
  void DropClosedRows(uint32_t op, Batch* batch);
  void ArmFirst(const InstanceId& instance, uint32_t op, const Loops& loops);
  void SendReports();
  void SendControl(uint32_t to, Frame frame);

  const std::shared_ptr<const QuerySpec> spec_;
  const WorkerContext worker_;
  std::shared_ptr<const PlanShape> shape_;
  const PathLedger::Owner paths_;
  SideEffects side_effects_;
  std::vector<OperatorStats> stats_;  // operators write into it until they are gone
  std::vector<Node> nodes_;
  std::set<uint32_t> busy_;  // ranks of operators with work

  absl::flat_hash_map<uint64_t, std::unique_ptr<Home>> homes_;  // by serial
  // Where scopes are nested: the instances begun here inside another one, by it and their first
  // serial, and how many they are.
  absl::btree_map<std::pair<InstanceId, uint64_t>, uint32_t> nested_;
  std::vector<uint64_t> whole_;  // became quiescent, to settle
  uint64_t next_serial_ = 1;
  absl::flat_hash_map<InstanceId, Report, std::hash<InstanceId>> ledger_;  // on its way home
  // Upstream of these nothing is needed: per operator, by a close of the root; and by instance.
  std::vector<uint8_t> root_closed_;
  std::set<uint32_t> root_limits_;  // the reached limits
  absl::flat_hash_map<InstanceId, std::vector<uint32_t>, std::hash<InstanceId>> closed_at_;
  std::vector<std::pair<InstanceId, uint32_t>> to_close_;   // to tell the others of
  std::map<uint32_t, std::vector<uint8_t>> leads_only_to_;  // by operator, as needed
  bool has_nested_scopes_ = false;
  bool any_closed_ = false;

  // When Merges give what they hold, once the query has spread.
  bool merges_ = false;    // the plan has some
  uint64_t num_sent_ = 0;  // frames of rows
  uint64_t num_received_ = 0;
  bool idle_told_ = false;  // since this worker last had something to do
  std::optional<HeldRows> may_flush_;
  IdleWatch idle_;  // at the coordinator

  uint64_t num_steps_ = 0;
  uint64_t num_slices_ = 0;
  uint64_t rows_seen_ = 0;
  bool spread_ = false;
  bool has_sent_ = false;
  bool complete_ = false;
  Status failure_;
  uint64_t sink_rows_ = 0;
};

}  // namespace koios::engine
