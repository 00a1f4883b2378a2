// Worker: one thread's share of the engine. It owns its queries' mutable state and talks to other
// workers by frames only. Step is the only entry and never blocks, so that the very same code runs
// on a thread and in the simulation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "engine/exchange/frame.h"
#include "engine/sched/fair_turns.h"
#include "engine/sched/query_run.h"

namespace koios::engine {

class Worker {
 public:
  explicit Worker(const WorkerContext& context) : context_(context) {}

  // A frame that has arrived. Control frames act at once.
  void Deliver(Frame frame);
  // One slice of one query. False: nothing can run until a frame arrives or a deadline passes.
  bool Step(uint64_t now_ns);
  // Whether the query that had the last slice is a long one (core/thread_priority.h).
  bool is_at_long() const { return at_long_; }
  // When the worker has to look again, whatever comes: a deadline, a lease, a part that waits for
  // long. 0: never.
  uint64_t NextDeadline() const;

  // Ends every query that this worker coordinates.
  void CancelAll(const Status& why);

  size_t num_queries() const { return queries_.size(); }
  // Ended queries that are remembered one by one, because an earlier one has not ended yet.
  size_t num_remembered() const;
  const QueryRun* Find(const QueryId& id) const;

 private:
  struct Running {
    std::unique_ptr<QueryRun> run;
    uint64_t started_ns = 0;
    bool failed_elsewhere = false;
    uint64_t heard_ns = 0;       // of its coordinator; at the coordinator: told the others
    uint64_t received_ns = 0;    // work of taking its frames, that its next slice counts
    uint64_t gives_back_ns = 0;  // when it has been idle for long; 0: it is not, or has nothing
  };
  // Which queries of one coordinator are over: all below the watermark, and some above.
  struct Ended {
    uint64_t watermark = 0;
    std::set<uint64_t> above;
  };

  // A query that is over but for the statistics of other workers.
  struct Finishing {
    std::shared_ptr<ResultSink> sink;
    QueryResult result;
    uint32_t waiting = 0;
  };

  void Begin(std::shared_ptr<const QuerySpec> spec);
  // Goes on with what has begun elsewhere, and says what it had to say.
  void Adopt(const QueryId& id, BegunQuery* begun);
  void End(const QueryId& id);
  void TellEnd(const QueryId& id, bool wants_stats);
  bool HasEnded(const QueryId& id) const;
  // At the coordinator: answers, tells the others, forgets.
  void Finish(const QueryId& id, Status status);
  void AddStats(const Frame& frame);
  void SettleOutcome(const QueryId& id);
  void CheckTimes(uint64_t now_ns);
  uint64_t NextTime(const Running& running) const;
  bool HasLeases() const;
  void Renew(const QueryId& id, Running* running, uint64_t now_ns);
  void LoseCoordinator(const QueryId& id);
  void NoteIdle(Running* running, bool runs, uint64_t now_ns);

  const WorkerContext context_;
  std::map<QueryId, Running> queries_;
  std::map<QueryId, Finishing> finishing_;
  FairTurns<QueryId> turns_;
  bool at_long_ = false;
  // 0: none. It may be too early, as leases are renewed. Nullopt: not known since a query came or
  // went.
  mutable std::optional<uint64_t> next_deadline_ = 0;
  std::map<uint32_t, Ended> ended_;
};

}  // namespace koios::engine
