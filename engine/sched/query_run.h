// QueryRun: one query on one worker. The driver around the operators: it owns their queues, splits
// and returns weights, keeps the accounts of the instances whose home is this worker, parks the
// rows of local scopes, routes rows, charges memory and counts for profile(). Belongs to its
// worker's thread. Never blocks; each Step does one operator invocation on one batch.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/account/leftover.h"
#include "engine/batch/batch.h"
#include "engine/batch/by_iteration.h"
#include "engine/batch/fifo.h"
#include "engine/batch/instance_map.h"
#include "engine/body/in_place_scope.h"
#include "engine/exchange/frame.h"
#include "engine/expr/expression.h"
#include "engine/op/operator.h"
#include "engine/op/split_tests.h"
#include "engine/sched/ends/closings.h"
#include "engine/sched/flow/credits.h"
#include "engine/sched/flow/idle_watch.h"
#include "engine/sched/flow/outbox.h"
#include "engine/sched/flow/sorted_streams.h"
#include "engine/sched/lane.h"
#include "engine/sched/plan_shape.h"
#include "engine/scope/homes.h"

namespace koios::engine {

class SpillFile;  // engine/spill/spill_space.h
class SpillSpace;
class Reaper;  // sched/ends/reaper.h

// What may wait at a worker. A simulation makes them small, as its graphs would not reach them.
struct WorkerBounds {
  size_t batch_rows = kBatchRows;    // that an operator gives in a call
  size_t queue_batches = 4;          // between two operators, per iteration
  size_t open_instances = 4096;      // of one scope at one home, per iteration
  size_t credit_bytes = 2 << 20;     // of one query, on its way to here (credits.h)
  size_t depth_slots = 64;           // for frames beyond them
  size_t spill_bytes = kBatchBytes;  // less is not put on disk, where memory is not as little
  bool spills_early = false;         // and all else is, as soon as it is there
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
  SpillSpace* spill = nullptr;  // null: nothing is put on disk
  Reaper* reaper = nullptr;     // null: the worker frees what large queries leave
  // How long a part of a query goes on without a word from its coordinator; 0: coordinators are
  // never lost, as in one process.
  uint64_t lease_ns = 0;
};

class QueryRun {
 public:
  static StatusOr<std::unique_ptr<QueryRun>> Create(std::shared_ptr<const QuerySpec> spec,
                                                    const WorkerContext& worker);
  ~QueryRun();
  // About the bytes that a worker keeps of a plan before any row comes: charged by who submits it.
  static size_t StandingBytes(const plan::Plan& plan, uint32_t num_workers);

  // At the coordinator, once: the root instance begins.
  void Start();
  // It goes on as the same worker's, in its place. REQUIRES: nothing was received yet.
  void MoveTo(const WorkerContext& worker) { worker_ = worker; }
  // Frames of this query, but for those of its beginning and end.
  void Receive(Frame frame);
  // One operator invocation. False: nothing can run now.
  bool Step();
  // Tells the others what has gathered here: at the end of each slice.
  void EndSlice();
  // Sends on what was held back to make batches and reports full. True: something can run again.
  bool Flush();

  // Nothing can run, and has not for a while: all that can go to disk does.
  void GiveBack();
  bool MayGiveBack() const;         // there is room for some of it
  int64_t LeastToGiveBack() const;  // bytes; 0: nothing is worth it
  // At the end of a slice: tells of what has changed, for the query's live numbers.
  void Publish();

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
  struct InPlaceHost;
  // A fired barrier that still gives rows.
  struct Firing {
    StateKey key;
    WeightPool pool;
    uint64_t rows = 0;  // that it has given
  };
  // Instances of a scope that are open, in one iteration of the loops around it.
  struct OpenInstances {
    size_t count = 0;
    bool empty() const { return count == 0; }
  };
  // Instances that some rows of another instance began: consecutive serials.
  struct Range {
    uint64_t first_serial = 0;
    uint32_t count = 0;
  };
  struct Node {
    const plan::Operator* op = nullptr;
    const plan::Operator* out = nullptr;  // whose output it gives: of a scope in place its exit
    std::unique_ptr<Host> host;
    OperatorBundle code;
    std::vector<bool> drops;                               // by slot: nobody behind reads it
    std::vector<uint32_t> needed;                          // slots that its input must have,
    std::vector<uint32_t> keys;                            // and of its keys
    std::unique_ptr<SplitTests> tests;                     // Split; null: all branches get all rows
    std::vector<std::optional<uint32_t>> branch_barriers;  // Split: that a branch's first row arms
    ByIteration<Lane> lanes;
    Lane* lane = nullptr;  // being run
    Loops iteration;       // of `lane`, or of the firing
    ByIteration<Fifo<Firing>> firings;
    ByIteration<SortedStreams> merging;  // an Order that merges
    uint32_t merged_at = 0;              // a spread Order and its Exchange: by which one; 0: none
    std::optional<Loops> absorbing;      // a barrier: the lane whose batch it is not done with
    std::unique_ptr<Outbox> outbox;      // Exchange
    uint32_t num_asking = 0;             // its lanes that wait for a grant
    int64_t asking_since = 0;            // the first of them
    JoinedBatch exits;                   // ScopeExit: rows on their way out
    uint64_t ordinal_fired = 0;          // rows that a barrier has given with ordinals
    ByIteration<OpenInstances> open_instances;  // ScopeEnter
    std::vector<uint32_t> stateful;             // ScopeEnter: operators of its body that keep state
    std::vector<JoinedBatch> restarts;  // ScopeEnter: rows on their way into an alternative body
    size_t held = 0;                    // charged for all that ChargeHeld counts
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
  Status OpenNode(uint32_t id);
  Status OverLimit(const plan::Operator& op, int64_t bytes) const;

  // Queues (query_run.cc).
  void Enqueue(uint32_t op, Batch batch);
  void EnqueueInput(uint32_t op, Input input);
  bool JoinWaiting(uint32_t op, Lane* lane, const Input& input);
  void FinishInput(Node* node);
  void FinishInput(Input* input);
  void Leave(std::unique_ptr<Leftover> leftover, MemoryCharge charge);
  Input TakeInput(Node* node);
  void RunNode(uint32_t id);
  Status Dispatch(Node* node);
  static size_t IterationBytes(const Node& node);
  void ChargeHeld(Node* node);
  void ChargeTables(const Node& node);
  int64_t TableBytes() const;
  Status CheckFits(const Frame& frame) const;
  Status CheckNext(const Node& node) const;
  void ReceiveData(Frame frame);

  // What can move (query_run_pick.cc). Each Pick picks something of the node to run now, if there
  // is any.
  void FreeSome();
  bool StepDeepest(bool widen);
  bool StepShallowest();
  bool IsThin(const Node& node) const;
  void RunPicked(uint32_t rank);
  bool PickOwn(Node* node, bool may_fire) const;
  bool PickFiring(Node* node) const;
  bool PickLane(Node* node, bool shallowest) const;
  bool HasWork(const Node& node) const;
  bool IsCrowded() const;
  bool HasRoom(uint32_t op, const Loops& iteration) const;
  bool CanTake(const Node& node, const Loops& iteration) const;
  bool MayOpen(const Node& enter, const Loops& iteration) const;
  size_t OpenRoom(const Node& enter, const Loops& iteration) const;
  bool EntersSome(const Node& enter) const;
  void CountSlice(uint32_t op);
  OperatorStats& News(uint32_t op);  // its numbers, to be changed
  // What goes to disk (query_run_spill.cc).
  int64_t LeastSpillBytes() const;
  bool NeedsDisk() const;
  bool MaySpill(const Node& ran) const;
  void PickSpill();
  void RunSpill();
  bool MayStore(const Input& input) const;
  void StoreWaiting();
  void CountSpilled(const Node& node);
  Status Store(Node* node, Input* input);
  Status BringBack(Node* node);

  // One kind of operator each (query_run_ops.cc).
  Status RunStream(Node* node);
  Status SkipClosed(Node* node);
  Status RunBarrier(Node* node);
  Status RunPartial(Node* node);
  Status RunFiring(Node* node);
  Status FireNext(Node* node, Firing* firing, Batch* batch, bool* done);
  Status GiveFired(Node* node, Batch batch);
  Status RunSplit(Node* node);
  Status RunLoop(Node* node);
  Status RunSink(Node* node);
  static void CountOrdinals(const plan::Operator& op, Batch* batch);
  size_t OutputLimit(const Node& node, const Batch& input) const;
  Batch MakeOutput(Node* node, const Input& input, OpOutput output);
  void AppendOrdinals(Node* node, const std::vector<uint32_t>& origin, Batch* batch);
  void GiveWeights(const Node& node, const OpOutput& output, bool last, Batch* batch);
  Status CopyToBranches(Node* node);
  void SendToBranch(Node* node, size_t branch, Batch batch);
  void DistributeRuns(Node* node, const PickedRows& picked);
  void CountOut(Node* node, const Batch& batch);
  StatusOr<StreamOperator*> CodeOf(Node* node);
  StatusOr<OperatorBundle> MakeCode(const Node& node);

  // What workers have sorted (query_run_merge.cc).
  Status OpenMerging();
  static bool IsMerging(const Node& node);
  void ExpectSorted(const BarrierKey& key, std::vector<uint32_t> workers);
  void TellSorted(const Node& node, const Firing& firing);
  void ReceiveSorted(const Frame& frame);
  void EnqueueSorted(Node* node, const Loops& iteration, Input input);
  bool DropsMerged(const Node& node) const;
  bool PickMerging(Node* node) const;
  Status RunMerging(Node* node);

  // Between workers (query_run_exchange.cc).
  Status RunExchange(Node* node);
  bool ReadsAll() const;
  bool MayStay(const Node& node) const;
  bool GiveAway(Node* node);
  void Route(Node* node, const Batch& batch, const std::vector<uint32_t>& to);
  bool Pump(Node* node, bool flush);
  bool PumpHere(Node* node, bool flush);
  void PumpTo(Node* node, uint32_t to, bool flush);
  void SendNext(Node* node, uint32_t to, const Loops& iteration, const FrameCredit& credit);
  void SendData(Node* node, uint32_t to, const Loops& iteration, Batch batch,
                const FrameCredit& credit);
  void SendControl(uint32_t to, Frame frame);
  void SendReports();
  void Broadcast(FrameKind kind, const InstanceId& instance, uint32_t op);

  // Credits: what may be on its way (query_run_credit.cc).
  Status ReceiveCredit(const Frame& frame);
  Status TakeFrameCredit(const Frame& frame);
  void ReturnFrameCredit(const Input& input);
  Status ReceiveAck(const Frame& frame);
  Status ReceiveGrant(const Frame& frame);
  void BeginCreditWait(Node* node);
  void EndCreditWait(Node* node);
  void SendLaneWord(FrameKind kind, uint32_t to, uint32_t op, const Loops& loops);
  void Grant();
  bool GrantOverdraft();
  bool IsDeepest(const ReceiveCredits::Ask& ask) const;

  // What is held back, and when it goes (query_run_flush.cc).
  Status FlushPartial(Node* node, const Loops& iteration);
  bool FlushFirst(Node* node);
  bool IsMerge(uint32_t op) const;
  bool FlushMerged();
  bool FlushHeld(const HeldRows& held);
  bool IsBefore(const HeldRows& a, const HeldRows& b) const;
  std::optional<HeldRows> FirstHeld() const;
  void TellIdle();
  void DecideFlush();

  // Local scopes (query_run_scope.cc).
  Status RunScopeEnter(Node* node);
  Status EnterRows(Node* node, Batch batch, int64_t charged);
  Status EnterSome(Node* node);
  Status RunScopeExit(Node* node);
  StatusOr<Home*> LeavingHome(const Node& node, const Run& run);
  Status ExitRow(const plan::ScopeExit& exit, const Batch& batch, uint32_t row, Home* home);
  void Leave(Home* home, const ScopeResult& result);
  void SendExits(Node* exit);
  void LeaveAtEnd(Home* home, const plan::ScopeExit& exit);
  void ForgetNested(const Parked::OuterRun& outer);
  void StartAlternative(Home* home);

  // Weights, and the ends of instances (query_run_weight.cc).
  InstanceId InstanceOf(const Home& home) const { return {worker_.index, home.serial()}; }
  void ReturnWeight(const InstanceId& instance, uint32_t k, uint32_t count = 1);
  void ReturnRuns(const std::vector<Run>& runs);
  void AddPending(const InstanceId& instance, const BarrierKey& key);
  void ArmFirst(const InstanceId& instance, uint32_t op, const Loops& loops);
  void Apply(const Report& report, uint32_t from);
  void Settle();  // acts on the instances that have become quiescent
  void FireReady(Home* home);
  void Fire(const BarrierKey& key, Home* home, uint32_t k);
  bool RestsInPlace(uint32_t op) const;
  void NoteRests(const Node& node);
  void NoteResting(const BarrierKey& key, uint32_t worker);
  void FireResting(const BarrierKey& key, uint32_t k);
  void BeginFiring(const BarrierKey& key, const InstanceId& instance, uint32_t k);
  void ReceiveFire(const Frame& frame);
  void CompleteInstance(Home* home);
  void EndInstance(Home* home);

  // What is not needed any more (query_run_close.cc).
  void CloseUpstream(uint32_t op, const StateKey& key);
  void CloseInstance(Home* home);
  void CountClosed(const Home& home);
  void CloseEarly(Home* home);
  void CloseAt(const InstanceId& instance, uint32_t op, bool tell);
  void SendCloses();
  void DropClosedRows(uint32_t op, Batch* batch);

  const std::shared_ptr<const QuerySpec> spec_;
  // What operators read.
  const std::shared_ptr<const storage::GraphView> view_;
  storage::Transaction* const changes_;  // null: there are none
  WorkerContext worker_;
  std::shared_ptr<const PlanShape> shape_;
  const PathLedger::Owner paths_;
  MemoryCharge constants_, tables_;  // of the plan, decoded; of what the driver keeps by instance
  TopBounds top_bounds_;
  SideEffects side_effects_;
  std::vector<OperatorStats> stats_;  // operators write into it until they are gone
  std::unique_ptr<InPlaceHost> in_place_host_;
  std::vector<Node> nodes_;
  // Freed before anything else goes on here.
  struct Left {
    std::unique_ptr<Leftover> what;
    MemoryCharge charge;
  };
  std::vector<Left> left_;
  std::set<uint32_t> busy_;  // ranks of operators with work

  Homes homes_;
  // Where scopes are nested: the instances begun here inside another one, by it.
  InstanceMap<absl::InlinedVector<Range, 1>> nested_;
  bool has_nested_scopes_ = false;
  bool has_loops_ = false;
  bool is_line_ = true;          // no branches, loops or instances: rows that wait overtake none
  std::vector<uint64_t> whole_;  // serials that became quiescent, to settle
  // At the coordinator: where rows of barriers rest that are not all here.
  struct Resting {
    BarrierKey key;
    std::vector<uint32_t> workers;
  };
  std::vector<Resting> resting_;
  InstanceMap<Report> ledger_;  // on its way home
  Closings closings_;
  std::vector<std::pair<InstanceId, uint32_t>> to_close_;  // to tell the others of

  SendCredits send_credits_;
  ReceiveCredits receive_credits_;

  // When Merges give what they hold, once the query has spread.
  bool merges_ = false;  // the plan has some
  FrameCounts counts_;
  bool idle_told_ = false;  // since this worker last had something to do
  std::optional<HeldRows> may_flush_;
  IdleWatch idle_;  // at the coordinator

  std::vector<uint32_t> spillers_;      // nodes that may keep what could go to disk
  std::optional<uint32_t> spilling_;    // one of them
  bool gives_back_ = false;             // whatever memory there is
  bool stores_waiting_ = false;         // what waits between operators goes to disk now
  std::unique_ptr<SpillFile> waiting_;  // where that is

  uint64_t slice_ = 1;                // the one that it is in
  std::vector<uint64_t> last_slice_;  // by operator: in which it did something
  std::vector<uint64_t> last_news_;   // likewise: in which its numbers have changed
  std::vector<uint32_t> has_news_;    // operators of which that is this one

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
