// Engine: runs physical plans on N worker threads over graph views. The server's only way in.
// Thread-safe. The engine outlives every query handle's callbacks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/column.h"
#include "core/memory.h"
#include "core/status.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"
#include "storage/transaction/transaction.h"

namespace koios::engine {

class SpillSpace;  // spill/spill_space.h

// Rows for the client: one column and its bulk (empty: all 1).
struct ResultBatch {
  size_t ByteSize() const { return column.ByteSize() + bulk.size() * sizeof(int64_t); }

  Column column;
  std::vector<int64_t> bulk;
  // ByteSize() on the query's account: given back when whoever holds the batch is done with it.
  std::shared_ptr<const void> charge;
};

// What an operator did.
struct OperatorStats {
  uint64_t rows_in = 0;
  uint64_t rows_out = 0;
  uint64_t bulk_out = 0;
  uint64_t batches = 0;
  uint64_t slices = 0;  // of workers' time in which it did something
  uint64_t time_ns = 0;
  uint64_t bytes_sent = 0;
  uint64_t kept_bytes = 0;      // now
  uint64_t peak_bytes = 0;      // the most of that
  uint64_t rows_dropped = 0;    // after an early stop
  uint64_t spilled_bytes = 0;   // put on disk, compressed
  uint64_t credit_waits = 0;    // full batches that found their receiver's window closed
  uint64_t credit_wait_ns = 0;  // as long as any of them waited, at each worker, when it is over
  uint64_t slow_calls = 0;      // that took longer than kSlowCallNanos
  uint64_t longest_ns = 0;      // of a call

  // A call kept its worker for `took_ns`, `own_ns` of which it did not count for another operator.
  void CountCall(uint64_t took_ns, uint64_t own_ns);
  // Of the same operator at another worker.
  void Add(const OperatorStats& other);
};

// All of them. longest_ns is a most, the others are sums.
inline constexpr uint64_t OperatorStats::*kStatFields[] = {
    &OperatorStats::rows_in,      &OperatorStats::rows_out,       &OperatorStats::bulk_out,
    &OperatorStats::batches,      &OperatorStats::slices,         &OperatorStats::time_ns,
    &OperatorStats::bytes_sent,   &OperatorStats::kept_bytes,     &OperatorStats::peak_bytes,
    &OperatorStats::rows_dropped, &OperatorStats::spilled_bytes,  &OperatorStats::credit_waits,
    &OperatorStats::slow_calls,   &OperatorStats::credit_wait_ns, &OperatorStats::longest_ns,
};
static_assert(sizeof(OperatorStats) == std::size(kStatFields) * sizeof(uint64_t));

// A call of an operator should be over by then: others wait for the worker.
inline constexpr uint64_t kSlowCallNanos = 500'000;

// What a query has taken so far, over all workers of this process.
struct QueryNumbers {
  uint64_t memory_bytes = 0;  // now
  uint64_t peak_bytes = 0;
  uint64_t slices = 0;  // of workers' time
  uint64_t credit_waits = 0;
  uint64_t credit_wait_ns = 0;  // of all operators and workers
  uint64_t spilled_bytes = 0;
  uint64_t rows_dropped = 0;
};

struct QueryResult {
  Status status;
  uint64_t rows = 0;  // with bulk
  uint64_t elapsed_ns = 0;
  QueryNumbers numbers;
  std::vector<OperatorStats> operators;  // by operator id; see QueryOptions::profile
  // Of one that went well and changed the graph at its owners: its transaction has to absorb them
  // before it is read or committed. That may take long, so it is for no worker to do.
  std::vector<std::shared_ptr<storage::Transaction>> parts;
};

// Takes a query's results. Called by one worker thread at a time, never after Done. Waits for
// nobody: a full window is said by Room() == 0, and the query is paused until
// QueryHandle::Resume(). Of a query that changes the graph it may put a block on disk, as operators
// do.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  // How many more batches may be pushed now.
  virtual size_t Room() = 0;
  virtual void Push(ResultBatch batch) = 0;
  // Exactly once, last.
  virtual void Done(QueryResult result) = 0;
};

struct QueryOptions {
  uint64_t deadline_ns = 0;         // on the engine's clock; 0: none
  uint64_t asked_ns = 0;            // from when on that counts; 0: from its start
  uint64_t memory_limit_bytes = 0;  // for the query, over all workers; 0: the engine's default
  // Where it was admitted with a reserve: its account, which then has the limit. Null: the engine
  // makes one.
  std::shared_ptr<MemoryAccount> account;
  // What its rows take on disk now, where others' of the same query count there, too. Null: only
  // its operators' do.
  std::shared_ptr<std::atomic<uint64_t>> disk_bytes;
  uint64_t seed = 1;  // for coin, sample, shuffle
  // What the plan's large constants are in memory: each worker that runs a part has them.
  uint64_t constant_bytes = 0;
  // Of a plan that changes the graph: where its changes go. It must be the query's view, too, and
  // is whoever submitted the query's again with Done.
  std::shared_ptr<storage::Transaction> transaction;
  bool profile = false;  // QueryResult::operators counts all workers, not the coordinator only
  // The query begins in Submit(), on the caller's thread, for half a millisecond or so: a short one
  // is over when Submit() returns, and has woken no worker. The sink is called from there.
  bool begins_here = false;
};

// A running query. Dropping the handle does not stop it.
class QueryHandle {
 public:
  virtual ~QueryHandle() = default;
  virtual void Cancel(const Status& why) = 0;  // idempotent; Done follows soon
  virtual void Resume() = 0;                   // the sink has room again
  // Any thread, without waiting for anybody.
  virtual QueryNumbers numbers() const = 0;
  // What it runs, with what each operator has taken, by id; null and nothing of one that was over
  // before it had a handle.
  virtual const plan::Plan* plan() const { return nullptr; }
  virtual std::vector<OperatorStats> operators() const { return {}; }
};

struct EngineOptions {
  uint32_t num_workers = 1;
  uint64_t query_memory_bytes = uint64_t{512} << 20;
  uint64_t process_memory_bytes = uint64_t{8} << 30;
  uint64_t spread_after_rows = 10'000;  // a query stays on one worker until then
  bool isolated = false;  // workers read their own partitions only; plans must be made for it
  // Where rows go that do not fit into a query's memory, how much all queries may put there, and
  // what of the disk stays free. An empty folder: they stay, and the query fails.
  std::string spill_folder;
  uint64_t spill_bytes = uint64_t{10} << 30;
  uint64_t spill_reserve_bytes = uint64_t{256} << 20;
  // Of a query that begins where it is submitted: how far it goes there, looked at between slices.
  // To hand one over costs more than a tenth of a millisecond.
  uint64_t first_turn_slices = 64;
  uint64_t first_turn_nanos = 1'000'000;
};

class Engine {
 public:
  virtual ~Engine() = default;  // cancels what runs and joins the workers
  // `sink` must live until its Done. An invalid plan is reported through Done.
  virtual std::shared_ptr<QueryHandle> Submit(plan::Plan plan,
                                              std::shared_ptr<const storage::GraphView> view,
                                              QueryOptions options,
                                              std::shared_ptr<ResultSink> sink) = 0;
  virtual const EngineOptions& options() const = 0;
  virtual const Clock& clock() const = 0;
  virtual MemoryAccount& memory() = 0;
  // What all workers keep of a plan while it runs, before any row comes, about: bytes that no
  // account of the engine's is charged.
  virtual size_t StandingBytes(const plan::Plan& plan) const = 0;
  // Where what does not fit into memory goes; null: nowhere.
  virtual SpillSpace* spill_space() = 0;

  static std::unique_ptr<Engine> Create(const EngineOptions& options);
};

}  // namespace koios::engine
