#include "server/rpc/health.h"

#include <optional>
#include <utility>

#include "proto/service.pb.h"
#include "server/rpc/text_bounds.h"

namespace koios::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ServingStatus = HealthCheckResponse::ServingStatus;

namespace {

constexpr size_t kMaxServiceBytes = 200;

}  // namespace

// A stream of Watch: ends with its client.
class Health::Watcher final : public RpcHandler {
 public:
  Watcher(Health* health, RpcCall* call) : health_(health), call_(call) {}
  void Start() override {
    MutexLock lock(&health_->mutex_);
    health_->watchers_.insert(this);
    Tell(health_);
  }
  void OnWriteDone(bool ok) override {
    MutexLock lock(&health_->mutex_);
    is_writing_ = false;
    is_gone_ = is_gone_ || !ok;
    Tell(health_);
  }
  void OnCancel() override {
    MutexLock lock(&health_->mutex_);
    is_gone_ = true;
    Tell(health_);
  }
  void OnDone() override {
    MutexLock lock(&health_->mutex_);
    health_->watchers_.erase(this);
  }

  // What the client does not know yet, as soon as it can be written.
  void Tell(Health* health) KOIOS_REQUIRES(health->mutex_) {
    if (is_writing_ || has_ended_) return;
    const ServingStatus status =
        health->StatusOf(request.service()).value_or(HealthCheckResponse::SERVICE_UNKNOWN);
    if (is_gone_) {
      has_ended_ = true;
      call_->Finish(grpc::Status::CANCELLED);
    } else if (told_ != status) {
      is_writing_ = true;
      told_ = status;
      HealthCheckResponse response;
      response.set_status(status);
      call_->Write(response);
    }
  }

  HealthCheckRequest request;

 private:
  Health* const health_;
  RpcCall* const call_;
  std::optional<ServingStatus> told_;
  bool is_writing_ = false;
  bool is_gone_ = false;
  bool has_ended_ = false;
};

Health::Health() : service_(HealthCheckRequest::descriptor()->file()->service(0)) {
  service_.AddAnswer<HealthCheckRequest, HealthCheckResponse>(
      "Check", [this](const HealthCheckRequest& request, HealthCheckResponse* response) -> Status {
        MutexLock lock(&mutex_);
        const std::optional<ServingStatus> status = StatusOf(request.service());
        if (!status) {
          return NotFound("There is no service " +
                          BoundedText(request.service(), kMaxServiceBytes) + ".");
        }
        response->set_status(*status);
        return OkStatus();
      });
  service_.Add("Watch", [this](RpcCall* call) { return std::make_unique<Watcher>(this, call); });
}

std::optional<ServingStatus> Health::StatusOf(const std::string& service) const {
  if (!service.empty() && service != "koios.v1.Koios") return std::nullopt;
  return serving_ ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

void Health::Shutdown() {
  MutexLock lock(&mutex_);
  serving_ = false;
  for (Watcher* watcher : watchers_) watcher->Tell(this);
}

}  // namespace koios::server
