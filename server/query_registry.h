// QueryRegistry: the queries that this server has, for ListQueries, CancelQuery, and shutdown:
// those that run, those that wait for it (admission/admission.h), those that are being planned. Any
// thread. An entry lives until its ticket ends it or goes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"
#include "engine/engine.h"
#include "server/profile.h"

namespace koios::server {

// How a check of a graph is listed: its rows are the entries read so far.
inline constexpr std::string_view kCheckText = "admin check";
// How the building of an index begins: the index follows. Its rows are vertices.
inline constexpr std::string_view kCreateIndexText = "admin index create";
inline constexpr std::string_view kDropIndexText = "admin index drop";
inline constexpr std::string_view kSnapshotText = "admin snapshot";

struct RunningQuery {
  std::string id;
  std::string text;  // at most kMaxListedText bytes of it
  std::string graph;
  uint64_t elapsed_us = 0;
  uint64_t rows = 0;
  bool waits = false;  // to be let run
  uint64_t queued_us = 0;
  engine::QueryNumbers numbers;
  uint64_t version = 0;   // of the graph, that it reads; 0: it does not yet
  uint64_t reads_us = 0;  // for so long
  bool wants_operators = false;
  OperatorProfiles operators;  // if they are wanted, and it has begun
};

// What the registry asks of a running query. Called without the registry's lock, by any thread.
struct QueryControl {
  std::function<void(const Status& why)> cancel;
  // Fills what is below `elapsed_us`, but for what is wanted, and the graph once it is known.
  std::function<void(RunningQuery*)> measure;
};

class QueryRegistry {
 public:
  static constexpr size_t kMaxListedText = 1000;

  // So many may be being planned, or through but not read yet, beside those that run and wait; one
  // host may fill so much of this place. Others are refused only when all is full.
  static constexpr size_t kBeside = 256;
  static constexpr size_t kBesideOfHost = 64;

  QueryRegistry(size_t max_queries, size_t max_queued)
      : most_(max_queries + max_queued + kBeside) {}
  QueryRegistry(const QueryRegistry&) = delete;
  QueryRegistry& operator=(const QueryRegistry&) = delete;

  // Ends the entry when dropped. A shutdown waits for it.
  class Ticket {
   public:
    Ticket() = default;
    Ticket(Ticket&& other) noexcept { *this = std::move(other); }
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket() { Release(); }
    const std::string& id() const { return id_; }
    // Whether it is let run or waits for it: then it counts where that is bounded, else beside.
    void SetHasPlace(bool has_place);
    void End();  // the query runs no more, but its last words are still on their way
    void Release();

   private:
    friend class QueryRegistry;
    QueryRegistry* registry_ = nullptr;
    uint64_t number_ = 0;
    std::string id_;
  };

  // RESOURCE_EXHAUSTED when there are too many already, or too many of this host (empty: nobody's);
  // UNAVAILABLE after Close().
  StatusOr<Ticket> Add(std::string_view text, std::string_view graph, const std::string& host,
                       QueryControl control);
  std::vector<RunningQuery> List() const;
  // With its operators. Here and below, NOT_FOUND when no such query runs.
  StatusOr<RunningQuery> Find(std::string_view id) const;
  Status Cancel(std::string_view id, const Status& why);

  void Close();  // adds no more
  void CancelAll(const Status& why);
  size_t num_tickets() const;

 private:
  struct Entry {
    RunningQuery query;
    uint64_t started_ns = 0;
    std::shared_ptr<const QueryControl> control;
    std::string host;
    bool has_place = false;
  };

  StatusOr<Entry> EntryOf(std::string_view id) const;
  void Erase(uint64_t number) KOIOS_REQUIRES(mutex_);
  void SetHasPlace(Entry* entry, bool has_place) KOIOS_REQUIRES(mutex_);
  Status HasRoom(const std::string& host) const KOIOS_REQUIRES(mutex_);

  const size_t most_;
  mutable Mutex mutex_;
  bool closed_ KOIOS_GUARDED_BY(mutex_) = false;
  uint64_t next_number_ KOIOS_GUARDED_BY(mutex_) = 1;
  size_t num_tickets_ KOIOS_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Entry> entries_ KOIOS_GUARDED_BY(mutex_);
  std::map<std::string, size_t> beside_ KOIOS_GUARDED_BY(mutex_);  // by host; none is 0
};

}  // namespace koios::server
