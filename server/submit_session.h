// SubmitSession: one Submit call from its text to its last message.
// - gRPC thread: lists it and queues Begin().
// - Pool: parses and plans (or takes a kept plan), takes a view, submits to the engine. The gRPC
//   thread does this itself while another one is there to read.
// - A query that may not run yet (admission/admission.h) waits without a plan, a view or a thread;
//   once it may, it begins again.
// - A request that changes the graph: its results are held until it is committed, the first ones in
//   memory, the others on disk, where the worker that gives them puts them. On a conflict it runs
//   again on a new view when it has its turn (storage/conflict/conflict_turns.h), a few times,
//   then it is ABORTED. While it waits it has no thread, and its deadline is an alarm of the
//   pool's.
// - Engine worker: Push() puts a batch into a window of a few; pool: Pump() encodes a slice of one,
//   and comes back to the query's line in the pool for the next.
// - gRPC thread: one write is outstanding per stream; OnWriteDone() sends the next message.
// A short query runs where it was planned, in Begin(); its rows, summary and status are one write.
// Rules: at most `window_batches` batches wait; a full window pauses the query, never a thread. The
// call is finished exactly once, after the engine's Done. It names no gRPC: SubmitStream is all it
// sees of the client, and tests bring their own.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"
#include "engine/engine.h"
#include "engine/spill/spilled_results.h"
#include "parser/parser.h"
#include "proto/service.pb.h"
#include "server/admission/admission.h"
#include "server/begin_slots.h"
#include "server/graphs.h"
#include "server/plan_cache.h"
#include "server/query_registry.h"
#include "server/result_encoder.h"
#include "server/task_pool.h"

namespace koios::server {

struct SessionLimits {
  uint64_t default_timeout_ms = 30'000;  // for requests that name none; 0: none
  size_t window_batches = 4;
  size_t max_request_bytes = size_t{10} << 20;
  parser::Limits parser;
  // Of a request that changes the graph: the results held in memory until it is committed, and how
  // often it is run when it conflicts with others.
  size_t held_bytes = 0;
  int max_attempts = 1;
  // How long a client may leave what is being written unread when its query has failed or is past
  // its deadline.
  uint64_t unread_ms = 5'000;
};

// What all sessions of a server share; outlives them.
struct SessionEnvironment {
  const Graphs* graphs = nullptr;
  engine::Engine* engine = nullptr;
  // What requests may take before they run, and beside what they run: below the account of all
  // queries, and less, so that those that were let in can run. Null: that account itself.
  MemoryAccount* requests = nullptr;
  // Below that, of requests of at most 256 KiB: what it has in reserve the large ones do not get.
  // Null: they share the other.
  MemoryAccount* small_requests = nullptr;
  QueryRegistry* registry = nullptr;
  Admission* admission = nullptr;     // null: what is planned runs
  PlanCache* plans = nullptr;         // null: none are kept
  BeginSlots* begin_slots = nullptr;  // null: the pool begins all
  TaskPool* pool = nullptr;
  TaskPool* commits = nullptr;  // its threads wait for the disk; several at once share one write
  SessionLimits limits;
};

// The client's end of a call. The session calls it from one thread at a time, and after WriteLast()
// or Fail() only to Abort(). Messages stay as they are until OnWriteDone() or OnDone().
class SubmitStream {
 public:
  virtual ~SubmitStream() = default;
  virtual void SetQueryId(const std::string& id) = 0;  // goes with the first message
  virtual void SendQueryId() = 0;                      // goes now; at most once
  // Whose it is: clients take turns where they wait. Not looked at before Start().
  virtual ClientName Client() const = 0;
  // What is left of the client's deadline; nullopt when it set none.
  virtual std::optional<uint64_t> RemainingNs() const = 0;
  virtual void Write(const v1::SubmitResponse* message) = 0;
  virtual void WriteLast(const v1::SubmitResponse* message) = 0;
  virtual void Fail(const Status& status) = 0;
  // The client takes nothing any more: what is being written is given up, and OnWriteDone(false)
  // follows, or OnDone() behind the last. Calls nobody back; not called after OnDone().
  virtual void Abort() = 0;
};

// The account that a request of so many bytes is charged to, before it runs and beside that.
MemoryAccount* RequestsIn(const SessionEnvironment& environment, int64_t bytes);
// RESOURCE_EXHAUSTED, naming the setting.
Status RequestTooLarge(size_t bytes, size_t limit);

class SubmitSession final : public engine::ResultSink,
                            public std::enable_shared_from_this<SubmitSession> {
 public:
  // `stream` and `request` live until OnDone, and are not looked at before Start().
  static std::shared_ptr<SubmitSession> Create(const SessionEnvironment& environment,
                                               SubmitStream* stream,
                                               const v1::SubmitRequest* request);
  void Start();

  // From the stream.
  void OnWriteDone(bool ok);  // of Write()
  void OnCancel();
  void OnDone();  // behind WriteLast() or Fail()

  // Sink.
  size_t Room() override;
  void Push(engine::ResultBatch batch) override;
  void Done(engine::QueryResult result) override;

 private:
  SubmitSession(const SessionEnvironment& environment, SubmitStream* stream,
                const v1::SubmitRequest* request)
      : environment_(environment), stream_(stream), request_(request) {}

  // A message, charged as long as it waits for the client.
  struct Outgoing {
    std::optional<EncodedMessage> encoded;
    MemoryCharge charge;
  };

  Status Register();
  Status CheckRequest();
  Status WithTime(const Status& status) const;
  // Of the values of parameters that the traversal names again.
  uint64_t MostNamedAgain() const { return 4 * environment_.limits.max_request_bytes; }
  // And what is made of it: its parameters as values as long as it is planned, then its plan.
  Status ChargeRequest(size_t more_bytes);
  Status ChargeStanding(size_t bytes);
  void Begin();
  StatusOr<storage::CommitResult> Commit(storage::CommitTurn* turn);
  // A change that is through waits for its commit: takes the result.
  bool MustDecide(engine::QueryResult* result);
  void Decide();
  // It conflicted: takes its turn among those that did.
  void WaitForTurn(const storage::CommitTurn& refused);
  void GoOn();
  void LeaveTurns();
  Status WhyStop(std::string_view meanwhile);
  // `waits`: nothing was launched, as the query is not let run yet; Begin() comes again.
  StatusOr<std::shared_ptr<engine::QueryHandle>> PlanAndLaunch(bool* waits);
  Status MayGoOn();
  Status AskToRun(const plan::Plan& plan, bool* waits);
  void OnGranted(StatusOr<std::shared_ptr<MemoryAccount>> account);
  void LetOthersRun();
  void ChargeBeside(engine::ResultBatch* batch) const;
  bool HasFailed() const KOIOS_REQUIRES(mutex_);
  void DropUnwritten() KOIOS_REQUIRES(mutex_);
  void WatchReader() KOIOS_REQUIRES(mutex_);
  void CutOff();
  uint64_t WaitingBytes() const KOIOS_REQUIRES(mutex_);
  void Measure(RunningQuery* query);
  Status LookAt(const std::string& source);
  // False: no plan is kept that would be this request's.
  bool TakeKept(PlanCache* plans, const std::string& key,
                const std::map<std::string, Value>& parameters, planner::PlannedQuery* planned,
                size_t* plan_bytes);
  StatusOr<std::shared_ptr<engine::QueryHandle>> Launch(
      planner::PlannedQuery planned, const std::map<std::string, Value>& parameters,
      size_t plan_bytes, bool* waits);
  std::shared_ptr<const storage::GraphView> ViewOfResults(const plan::Plan& plan) const;
  void SetDeadline();
  engine::QueryOptions Options();
  void Stop(const Status& why);
  size_t MostHeld() const KOIOS_REQUIRES(mutex_);
  Status Hold(engine::ResultBatch batch);
  bool HasSpilled() const KOIOS_REQUIRES(mutex_);
  void Pump();
  // The query is through, and its results can't be given: its end is this all the same.
  void EndWith(const Status& status) KOIOS_REQUIRES(mutex_);
  StatusOr<engine::ResultBatch> TakeSpilled(engine::SpilledResults* spilled) const;
  void EncodeNext(engine::ResultBatch batch);
  void DropView();
  Status MayEncode(size_t bytes);
  std::vector<Outgoing> TakeMade();
  void DropMade();
  // What is due: the next write, the encoding of the next slice, the end of the call. `can_encode`:
  // one slice, on this thread.
  void Advance(bool can_encode = false);
  bool IsLastBatch() const KOIOS_REQUIRES(mutex_);
  void End(const engine::QueryResult& result);
  void FillSummary(const engine::QueryResult& result, v1::Summary* summary);

  const SessionEnvironment environment_;
  SubmitStream* const stream_;
  const v1::SubmitRequest* const request_;

  // The request and what is made of it before it runs: no query's account has it.
  MemoryCharge request_charge_{RequestsIn(environment_, 0)};
  size_t request_bytes_ = 0;  // since Start()
  // Written by Begin() before the engine or a write can see them.
  QueryRegistry::Ticket ticket_;
  ClientName client_;
  std::shared_ptr<const storage::GraphView> view_;
  std::shared_ptr<storage::Transaction> transaction_;  // of the current attempt; null: none
  storage::RequestId request_id_;                      // of all of them
  uint32_t num_transactions_ = 0;
  std::string graph_;
  uint64_t committed_version_ = 0;
  std::optional<uint64_t> deadline_ns_;  // of all attempts together; on the engine's clock
  uint64_t asked_ns_ = 0;                // when it came, on the same
  std::optional<ResultEncoder> encoder_;
  // Of the first batch that waits; the pump's.
  size_t encoded_rows_ = 0;
  EncodedMessages made_;  // of those rows
  MemoryCharge made_charge_{&environment_.engine->memory()};
  // Its place among the requests that conflicted; null: it has not. Set by Decide().
  std::shared_ptr<storage::ConflictTurns> turns_;
  storage::ConflictTurns::Ticket place_ = 0;
  TaskPool::Line line_ = 0;  // its tasks; set by Start()
  // What its rows and results take on disk. Null: it changes nothing, its operators alone have it.
  std::shared_ptr<std::atomic<uint64_t>> disk_bytes_;
  bool is_announced_ = false;
  Admission::Place run_place_;  // among those that run or wait to run
  plan::Plan plan_;             // kept for the profile only
  v1::Mode mode_ = v1::RUN;
  std::string explain_;
  std::atomic<uint64_t> rows_{0};

  Mutex mutex_;
  // Why the query was stopped, when it was.
  Status stopped_ KOIOS_GUARDED_BY(mutex_);
  std::shared_ptr<engine::QueryHandle> handle_ KOIOS_GUARDED_BY(mutex_);
  // From the engine, not yet encoded.
  std::deque<engine::ResultBatch> batches_ KOIOS_GUARDED_BY(mutex_);
  // Not yet committed.
  std::deque<engine::ResultBatch> held_ KOIOS_GUARDED_BY(mutex_);
  size_t held_bytes_ KOIOS_GUARDED_BY(mutex_) = 0;
  // What came behind them, also once it is committed. The worker's that pushes, then the pump's.
  std::shared_ptr<engine::SpilledResults> spilled_ KOIOS_GUARDED_BY(mutex_);
  std::optional<engine::QueryResult> undecided_ KOIOS_GUARDED_BY(mutex_);
  int attempt_ KOIOS_GUARDED_BY(mutex_) = 0;
  // Encoded, not yet written.
  std::deque<Outgoing> messages_ KOIOS_GUARDED_BY(mutex_);
  std::optional<engine::QueryResult> result_ KOIOS_GUARDED_BY(mutex_);
  bool writing_ KOIOS_GUARDED_BY(mutex_) = false;
  bool pumping_ KOIOS_GUARDED_BY(mutex_) = false;  // a task is queued or runs
  int beginning_ KOIOS_GUARDED_BY(mutex_) = 0;     // Begin() is queued or runs, or waits its turn
  bool waiting_ KOIOS_GUARDED_BY(mutex_) = false;  // for its turn, or to be let run
  // Of the query, once it may run; or why it never will.
  StatusOr<std::shared_ptr<MemoryAccount>> account_ KOIOS_GUARDED_BY(mutex_) = nullptr;
  MemoryCharge standing_charge_ KOIOS_GUARDED_BY(mutex_);  // of its operators, there
  // Of the view that ending the query would let go: its graph and version, and since when it has
  // it. 0: there is none.
  std::string reads_graph_ KOIOS_GUARDED_BY(mutex_);
  uint64_t reads_version_ KOIOS_GUARDED_BY(mutex_) = 0;
  int64_t reads_since_ KOIOS_GUARDED_BY(mutex_) = 0;
  int64_t queued_since_ KOIOS_GUARDED_BY(mutex_) = 0;  // 0: it has not waited
  uint64_t queued_ns_ KOIOS_GUARDED_BY(mutex_) = 0;    // when that was over
  // Its deadline while it waits; then the client's, to read what is being written.
  TaskPool::Alarm alarm_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool paused_ KOIOS_GUARDED_BY(mutex_) = false;      // the engine saw no room
  bool is_through_ KOIOS_GUARDED_BY(mutex_) = false;  // it runs no more, nor will it again
  bool finished_ KOIOS_GUARDED_BY(mutex_) = false;
  bool is_over_ KOIOS_GUARDED_BY(mutex_) = false;  // and the client has all of it
  // The stream's while writing_ or finished_, else guarded too.
  Outgoing current_;
};

}  // namespace koios::server
