// Health: grpc.health.v1, by which load balancers and orchestrators ask whether a server can be
// asked. The server as a whole ("") and koios.v1.Koios are what it knows. Any thread.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/mutex.h"
#include "proto/health.grpc.pb.h"
#include "server/rpc/bytes_service.h"

namespace koios::server {

class Health {
 public:
  Health();
  grpc::Service* service() { return &service_; }
  void Serve(EventQueue* queue) const { service_.Serve(queue); }

  // NOT_SERVING from now on; who watches is told.
  void Shutdown();

 private:
  class Watcher;

  // nullopt: it knows no such service.
  std::optional<grpc::health::v1::HealthCheckResponse::ServingStatus> StatusOf(
      const std::string& service) const KOIOS_REQUIRES(mutex_);

  BytesService<grpc::health::v1::Health::Service> service_;
  mutable Mutex mutex_;
  bool serving_ KOIOS_GUARDED_BY(mutex_) = true;
  std::set<Watcher*> watchers_ KOIOS_GUARDED_BY(mutex_);  // between Start() and OnDone()
};

}  // namespace koios::server
