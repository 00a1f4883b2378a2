// Admission: which queries run, and which wait until they may. One that is let run is granted its
// whole reserve at once (admission/query_cost.h), as part of its account, and keeps it to its end;
// so whoever waits for memory holds none. Those that wait have an order: the short before the long,
// and within a class the clients in turn, however many queries each of them has. Of four turns one
// is the oldest's of those that are not short, so that they are not passed over for ever. An eighth
// of the places is for short queries only: they do not wait for long ones to end. No host has more
// than seven eighths of either places, nor than three quarters of the memory for reserves: one
// whose clients do not read keeps nobody else out. A long one begins only while those that run
// leave half of the memory free, or else one a second: the more of them share it, the fewer get to
// an answer. No thread waits.
// Any thread; who is let run is told outside the lock, by who leaves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/memory.h"
#include "core/mutex.h"
#include "core/status.h"
#include "server/admission/client_tally.h"
#include "server/admission/query_cost.h"
#include "server/task_pool.h"

namespace koios::server {

// Why what came now is refused, and may not be in a while.
inline constexpr char kTooManyQueries[] = "TOO_MANY_QUERIES";
inline constexpr char kRequestMemory[] = "REQUEST_MEMORY";

struct AdmissionLimits {
  size_t max_queries = 256;            // that run
  size_t max_queued = 4096;            // that wait
  uint64_t queue_timeout_ms = 20'000;  // 0: none but the query's own
  uint64_t query_bytes = 0;            // one query's memory; 0: no limit
};

class Admission {
 public:
  // Its account, as soon as it may run, or why it never will.
  using Granted = std::function<void(StatusOr<std::shared_ptr<MemoryAccount>> account)>;

  // What is granted is reserved of `all`. They and the pool outlive it, but for alarms of the pool.
  Admission(const AdmissionLimits& limits, MemoryAccount* all, const Clock* clock, TaskPool* pool);
  ~Admission();
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  // A query that runs or waits. Leaves when dropped.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept;
    ~Place() { Leave(); }
    bool taken() const { return admission_ != nullptr; }
    void Leave();

   private:
    friend class Admission;
    Admission* admission_ = nullptr;
    uint64_t number_ = 0;
    CostClass cost_ = CostClass::kShort;
  };

  // Takes a place for a query. `account` is set when it may run now; else it waits, and `granted`
  // is called once, by another thread, unless it leaves before; it may be called as late as that.
  // RESOURCE_EXHAUSTED when too many wait already: but a client that has more of them than this one
  // has to give way, with its last. Calls nobody back: the caller may hold its lock.
  Status Enter(const QueryCost& cost, const ClientName& client, Granted granted, Place* place,
               std::shared_ptr<MemoryAccount>* account);
  // Memory has been given back: looks whether somebody may run now.
  void Look();

  // RESOURCE_EXHAUSTED for one that has waited for as long as it may.
  Status WaitedTooLong() const;
  // "Try again in .. ms": when all that wait now have had their turn, if queries go on ending as
  // they lately did.
  std::string WhenToTryAgain() const;
  const AdmissionLimits& limits() const { return limits_; }
  size_t num_running() const;
  // What those that run have not drawn of their reserves.
  int64_t UnusedReserves() const;
  size_t num_waiting() const { return num_waiting_.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    QueryCost cost;
    ClientName client;
    Granted granted;
  };
  // Those of a host and one class, by the names of its clients; numbers are in the order of
  // arrival.
  struct Host {
    std::map<std::string, std::set<uint64_t>> by_name;
    std::string last_name;  // that had its turn
  };
  struct Queue {
    std::map<std::string, Host> by_host;
    std::string last_host;
  };
  struct Running {
    std::weak_ptr<MemoryAccount> account;
    CostClass cost = CostClass::kShort;
    int64_t since = 0;
    std::string host;
    int64_t reserve_bytes = 0;
  };
  // Of a host, those that run.
  struct Share {
    size_t queries = 0;
    size_t not_short = 0;
    int64_t reserve_bytes = 0;
  };
  struct Told {
    Granted granted;
    StatusOr<std::shared_ptr<MemoryAccount>> account;
  };

  void Leave(uint64_t number, CostClass cost);
  void CountEnd() KOIOS_REQUIRES(mutex_);
  Queue& QueueOf(CostClass cost) KOIOS_REQUIRES(mutex_) {
    return queues_[static_cast<size_t>(cost)];
  }
  bool HasPlace(CostClass cost) const KOIOS_REQUIRES(mutex_);
  // It has its share of them.
  bool IsFull(const std::string& host, const QueryCost& cost) const KOIOS_REQUIRES(mutex_);
  bool Waits(CostClass cost) const KOIOS_REQUIRES(mutex_);
  bool MustWait(CostClass cost) const KOIOS_REQUIRES(mutex_);
  bool IsRoomForLong() const KOIOS_REQUIRES(mutex_);
  std::shared_ptr<MemoryAccount> TryGrant(uint64_t number, const QueryCost& cost,
                                          const std::string& host) KOIOS_REQUIRES(mutex_);
  void EndRun(uint64_t number, CostClass cost) KOIOS_REQUIRES(mutex_);
  uint64_t NextOf(CostClass cost) const KOIOS_REQUIRES(mutex_);
  uint64_t Oldest() const KOIOS_REQUIRES(mutex_);
  uint64_t Next() KOIOS_REQUIRES(mutex_);
  // False: there is no room for its reserve.
  bool Grant(uint64_t number, std::vector<Told>* told) KOIOS_REQUIRES(mutex_);
  void GrantAll(std::vector<Told>* told) KOIOS_REQUIRES(mutex_);
  Waiting Take(uint64_t number) KOIOS_REQUIRES(mutex_);
  std::optional<ClientName> WhoGivesWay(const ClientName& client) const KOIOS_REQUIRES(mutex_);
  Status MakeRoom(const ClientName& client) KOIOS_REQUIRES(mutex_);
  void LookAgain() KOIOS_REQUIRES(mutex_);
  Status QueueIsFull() const KOIOS_REQUIRES(mutex_);
  std::string TryAgain() const KOIOS_REQUIRES(mutex_);
  static void Tell(std::vector<Told>* told);

  const AdmissionLimits limits_;
  const size_t kept_for_short_;
  MemoryAccount* const all_;
  const Clock* const clock_;
  TaskPool* const pool_;

  mutable Mutex mutex_;
  uint64_t last_number_ KOIOS_GUARDED_BY(mutex_) = 0;
  std::array<size_t, kNumCostClasses> running_ KOIOS_GUARDED_BY(mutex_){};
  std::map<uint64_t, Running> that_run_ KOIOS_GUARDED_BY(mutex_);
  std::map<std::string, Share> of_host_ KOIOS_GUARDED_BY(mutex_);  // none has no queries
  int64_t last_long_ KOIOS_GUARDED_BY(mutex_) = 0;                 // when one began
  std::map<uint64_t, Waiting> waiting_ KOIOS_GUARDED_BY(mutex_);
  std::array<Queue, kNumCostClasses> queues_ KOIOS_GUARDED_BY(mutex_);
  std::set<uint64_t> not_short_ KOIOS_GUARDED_BY(mutex_);  // of those that wait
  ClientTally waiting_of_ KOIOS_GUARDED_BY(mutex_);
  std::set<uint64_t> refused_ KOIOS_GUARDED_BY(mutex_);  // that waited and had to give way
  uint64_t num_turns_ KOIOS_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const bool> alive_;  // what alarms ask, as they may come late
  bool is_waiting_for_memory_ KOIOS_GUARDED_BY(mutex_) = false;  // an alarm is set
  // Of the ends of queries lately: how long between two, on average.
  int64_t last_end_ KOIOS_GUARDED_BY(mutex_) = 0;
  int64_t between_ends_ KOIOS_GUARDED_BY(mutex_) = 0;  // 0: not known
  std::atomic<size_t> num_waiting_{0};
};

}  // namespace koios::server
