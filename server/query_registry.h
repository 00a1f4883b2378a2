// QueryRegistry: the queries that run on this server, for ListQueries, CancelQuery, the bound on
// how many run at once, and shutdown. Any thread. An entry lives until its ticket ends it or goes.
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
  uint64_t memory_bytes = 0;
};

// What the registry asks of a running query. Called without the registry's lock, by any thread.
struct QueryControl {
  std::function<void(const Status& why)> cancel;
  // Fills rows and memory_bytes.
  std::function<void(RunningQuery*)> measure;
};

class QueryRegistry {
 public:
  static constexpr size_t kMaxListedText = 1000;

  explicit QueryRegistry(size_t max_queries) : max_queries_(max_queries) {}
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
    void End();  // the query runs no more, but its last words are still on their way
    void Release();

   private:
    friend class QueryRegistry;
    QueryRegistry* registry_ = nullptr;
    uint64_t number_ = 0;
    std::string id_;
  };

  // RESOURCE_EXHAUSTED when `max_queries` run already; UNAVAILABLE after Close().
  StatusOr<Ticket> Admit(std::string_view text, std::string_view graph, QueryControl control);
  std::vector<RunningQuery> List() const;
  // NOT_FOUND when no such query runs.
  Status Cancel(std::string_view id, const Status& why);

  void Close();  // admits no more
  void CancelAll(const Status& why);
  size_t num_tickets() const;

 private:
  struct Entry {
    RunningQuery query;
    uint64_t started_ns = 0;
    std::shared_ptr<const QueryControl> control;
  };

  const size_t max_queries_;
  mutable Mutex mutex_;
  bool closed_ KOIOS_GUARDED_BY(mutex_) = false;
  uint64_t next_number_ KOIOS_GUARDED_BY(mutex_) = 1;
  size_t num_tickets_ KOIOS_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, Entry> entries_ KOIOS_GUARDED_BY(mutex_);
};

}  // namespace koios::server
