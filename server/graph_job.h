// GraphJob: one call about a whole graph (CheckGraph, CreateIndex). It runs on a thread of the pool
// that it is given, one of a kind at a time, and is listed among the running queries, with the
// entries read so far for rows: so CancelQuery, the client's cancel or deadline, and a shutdown all
// stop it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/mutex.h"
#include "core/status.h"
#include "server/query_registry.h"
#include "server/submit_session.h"
#include "server/task_pool.h"

namespace koios::server {

class GraphJob final : public std::enable_shared_from_this<GraphJob> {
 public:
  // To be called now and then with the entries read so far: an error ends the job.
  using Watch = std::function<Status(uint64_t entries)>;
  // The job itself.
  using Work = std::function<Status(const std::string& graph, const Watch& watch)>;
  using Done = std::function<void(const Status& status)>;

  // `done` is called once, by this thread or the pool's. The job is listed as `kind`, with a blank
  // and what it is `about` behind. FAILED_PRECONDITION while another one of the kind runs.
  static std::shared_ptr<GraphJob> Start(const SessionEnvironment& environment, TaskPool* pool,
                                         std::string_view kind, const std::string& graph, Work work,
                                         std::string_view about, Done done);

  void Stop(const Status& why);

 private:
  GraphJob(const SessionEnvironment& environment, const std::string& graph, Work work);

  Status Admit(std::string_view kind, std::string_view about);
  Status Run();
  Status Stopped();

  const SessionEnvironment environment_;
  const std::string graph_;
  const Work work_;
  QueryRegistry::Ticket ticket_;  // Start()'s, then the pool's
  std::atomic<uint64_t> entries_{0};
  Mutex mutex_;
  Status stopped_ KOIOS_GUARDED_BY(mutex_);  // why it was stopped, when it was
};

}  // namespace koios::server
