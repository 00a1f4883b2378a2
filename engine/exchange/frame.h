// Frame: what workers say to each other. Inside a process the object itself travels; a transport
// that leaves the process (or tests that it could) encodes it as header + raw column buffers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/path/path_ledger.h"
#include "core/status.h"
#include "engine/batch/batch.h"
#include "engine/engine.h"
#include "engine/exchange/live_numbers.h"
#include "engine/scope/report.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"
#include "storage/transaction/transaction.h"

namespace koios::engine {

struct QueryId {
  uint32_t coordinator = 0;
  uint64_t incarnation = 0;
  uint64_t serial = 0;
  auto operator<=>(const QueryId&) const = default;
};

// What every worker that takes part in a query knows of it. Immutable, but for `live`; shared.
struct QuerySpec {
  QueryId id;
  plan::Plan plan;
  std::shared_ptr<const storage::GraphView> view;
  QueryOptions options;
  std::shared_ptr<MemoryAccount> account;
  std::shared_ptr<ResultSink> sink;  // used by the coordinator only
  // Where no worker reads another one's partitions: what each of them reads, and, of a plan that
  // changes the graph, its part of the transaction, which is the same. Else empty.
  std::vector<std::shared_ptr<const storage::GraphView>> views;
  std::vector<std::shared_ptr<storage::Transaction>> parts;
  mutable LiveNumbers live;

  QueryNumbers Numbers() const;
  // Before the query begins: `isolated` are the workers of all queries. Of a plan for owners that
  // changes the graph they are as well, as each has a part of the transaction; one that reads only
  // has nothing to be refused. One worker alone reads everything.
  void SetViews(bool isolated, uint32_t num_workers);
  // So many, the first ones, own partitions where no worker reads another one's. Rows come to no
  // other worker, nor does one coordinate: it could not add a vertex.
  uint32_t NumOwners(uint32_t num_workers) const {
    return views.empty() ? num_workers : std::min(num_workers, view->num_partitions());
  }
  const std::shared_ptr<const storage::GraphView>& ViewOf(uint32_t worker) const {
    return views.empty() ? view : views[worker];
  }
  // What a query has on disk counts there.
  std::atomic<uint64_t>* disk_bytes() const {
    return options.disk_bytes != nullptr ? options.disk_bytes.get() : &live.disk_bytes;
  }
  // Null: the query changes nothing.
  storage::Transaction* ChangesOf(uint32_t worker) const {
    return parts.empty() ? options.transaction.get() : parts[worker].get();
  }
};

struct BegunQuery;  // sched/first_turn.h

// On the wire: never renumber.
enum class FrameKind : uint8_t {
  kData = 0,
  kReport = 1,
  kAck = 2,
  kClose = 3,
  kEnd = 4,
  kFail = 5,
  kGo = 6,
  kRelease = 7,
  kStats = 8,
  kIdle = 9,
  kFire = 10,
  kSorted = 11,
  kAsk = 12,
  kGrant = 13,
  kReturn = 14,
  kRenew = 15,  // the coordinator is there: nothing else to say
  // Only inside a process, from the engine to a coordinator.
  kStart = 20,
  kCancel = 21,
  kResume = 22,
};

// Frames of rows between a worker and each of the others, by worker; short at the end where there
// were none.
struct FrameCounts {
  std::vector<uint64_t> sent_to;
  std::vector<uint64_t> received_from;

  static void Add(std::vector<uint64_t>* counts, uint32_t worker) {
    if (worker >= counts->size()) counts->resize(worker + 1);
    ++(*counts)[worker];
  }
  static uint64_t At(const std::vector<uint64_t>& counts, uint32_t worker) {
    return worker < counts.size() ? counts[worker] : 0;
  }
  bool empty() const { return sent_to.empty() && received_from.empty(); }
};

// What rows leave by (sched/flow/credits.h).
struct FrameCredit {
  uint64_t bytes = 0;
  bool granted = false;  // by the receiver, who was asked; else within the sender's allotment
};

struct Frame {
  QueryId query;
  FrameKind kind = FrameKind::kData;
  uint32_t from = 0;                      // worker
  bool is_decoded = false;                // from bytes that anybody may have sent
  uint32_t op = 0;                        // kData: the operator it is for; kAck, kClose: of which;
                                          // kGo, kIdle: the Merge; kSorted: who merges; kAsk,
                                          // kGrant, kReturn: the Exchange whose lane it is
  InstanceId instance;                    // kClose
  Loops loops;                            // of the lane, or of what is held back or merged
  uint64_t sorted_rows = 0;               // kSorted
  FrameCounts counts;                     // kIdle
  Batch batch;                            // kData
  FrameCredit credit;                     // kData
  std::shared_ptr<const void> charge;     // kData: of the batch, inside a process
  std::shared_ptr<PathLedger> paths;      // of its paths' nodes, where they have been decoded
  std::vector<Report> reports;            // kReport
  bool wants_stats = false;               // kEnd: answer with kStats
  uint64_t over_before = 0;               // kEnd: of the coordinator, all before this one are over
  std::vector<OperatorStats> stats;       // kStats
  Status status;                          // kFail, kCancel, kEnd
  std::shared_ptr<const QuerySpec> spec;  // how a worker that does not know the query yet learns it
  std::shared_ptr<BegunQuery> begun;      // kStart: what has run already; null: nothing

  bool is_control() const { return kind != FrameKind::kData; }
};

// Resolves the graph that a frame from outside the process names.
class ViewProvider {
 public:
  virtual ~ViewProvider() = default;
  virtual StatusOr<std::shared_ptr<const storage::GraphView>> View(const std::string& graph,
                                                                   uint64_t version) = 0;
  // What workers have of a query that changes the graph, or that none may read all of.
  virtual void AddParts(QuerySpec*) {}
};

// Wire form. `with_start`: the frame also carries the plan, for a receiver that may not know it.
std::string EncodeFrame(const Frame& frame, bool with_start);
// DATA_LOSS for anything that is not an encoded frame. The spec of a frame with a start has no
// sink.
StatusOr<Frame> DecodeFrame(std::string_view bytes, ViewProvider* views);

// Carries frames between workers. Send never blocks and keeps the order of each (from, to) pair
// within each channel (control, data).
class Transport {
 public:
  virtual ~Transport() = default;
  virtual void Send(uint32_t to, Frame frame) = 0;
};

}  // namespace koios::engine
