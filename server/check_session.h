// CheckSession: one CheckGraph call. It reads a whole graph on a thread of its own, one at a time,
// and is listed among the running queries, with the entries read so far for rows: so CancelQuery,
// the client's cancel or deadline, and a shutdown all stop it. Owns itself until OnDone().
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <string>

#include "core/mutex.h"
#include "core/status.h"
#include "proto/service.pb.h"
#include "server/query_registry.h"
#include "server/submit_session.h"
#include "server/task_pool.h"

namespace koios::server {

class CheckSession final : public grpc::ServerUnaryReactor,
                           public std::enable_shared_from_this<CheckSession> {
 public:
  // Starts the call; the reactor to hand to gRPC. FAILED_PRECONDITION while another check runs.
  static grpc::ServerUnaryReactor* Start(const SessionEnvironment& environment, TaskPool* pool,
                                         const v1::CheckGraphRequest* request,
                                         v1::CheckGraphResponse* response);

  void OnCancel() override;
  void OnDone() override { self_.reset(); }

 private:
  CheckSession(const SessionEnvironment& environment, const v1::CheckGraphRequest* request,
               v1::CheckGraphResponse* response);

  Status Admit();
  void Run();
  Status Check();
  void Stop(const Status& why);
  Status Stopped();

  const SessionEnvironment environment_;
  v1::CheckGraphResponse* const response_;  // gRPC's, until OnDone
  const std::string graph_;
  std::shared_ptr<CheckSession> self_;  // until OnDone
  QueryRegistry::Ticket ticket_;        // Start()'s, then the pool's
  std::atomic<uint64_t> entries_{0};
  Mutex mutex_;
  Status stopped_ KOIOS_GUARDED_BY(mutex_);  // why it was stopped, when it was
};

}  // namespace koios::server
