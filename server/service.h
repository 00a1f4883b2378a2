// KoiosService: the gRPC door (koios.v1.Koios). Each method is thin: a Submit is a SubmitSession,
// others answer at once from the registry, the graphs and the engine, or are a GraphJob.
#pragma once

#include "proto/service.grpc.pb.h"
#include "server/rpc/bytes_service.h"
#include "server/submit_session.h"
#include "server/task_pool.h"

namespace koios::server {

class KoiosService final {
 public:
  explicit KoiosService(const SessionEnvironment& environment);

  grpc::Service* service() { return &service_; }
  void Serve(EventQueue* queue) const { service_.Serve(queue); }

 private:
  void AddAnswers();
  void AddJobs();

  const SessionEnvironment environment_;
  // One of each at a time; the sessions' threads have no time for them.
  TaskPool check_pool_{1};
  TaskPool create_index_pool_{1};
  TaskPool drop_index_pool_{1};
  TaskPool snapshot_pool_{1};
  BytesService<v1::Koios::Service> service_;
};

}  // namespace koios::server
