#include "server/rpc/unknown_methods.h"

#include <string>

#include "proto/service.pb.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/text_bounds.h"

namespace koios::server {
namespace {

constexpr size_t kMaxMethodBytes = 200;

grpc::Status NoSuchMethod(const std::string& method) {
  ErrorDetail detail;
  detail.reason = "UNKNOWN_METHOD";
  const google::protobuf::ServiceDescriptor* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("koios.v1.Koios");
  for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
    detail.hint += (i == 0 ? "The methods of koios.v1.Koios are " : ", ") +
                   std::string(service->method(i)->name());
  }
  return ToGrpcStatus(Unimplemented(
      "There is no method " + BoundedText(method, kMaxMethodBytes) + " on this server.", detail));
}

// Deletes itself when the client has its answer, or when no call came.
class Refusal final : public RpcEvent, public QueuedCall {
 public:
  Refusal(grpc::AsyncGenericService* service, EventQueue* queue)
      : QueuedCall(queue), service_(service) {
    service_->RequestCall(&context_, &stream_, queue->queue(), queue->queue(), this);
  }
  void Happened(bool ok) override {
    if (has_come_ && ok) events()->NoteRequest();
    if (!ok || has_come_) {
      delete this;
      return;
    }
    has_come_ = true;
    RefuseUnknownMethods(service_, events());
    stream_.Finish(NoSuchMethod(context_.method()), this);
  }

 private:
  grpc::AsyncGenericService* const service_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  bool has_come_ = false;
};

}  // namespace

void RefuseUnknownMethods(grpc::AsyncGenericService* service, EventQueue* queue) {
  new Refusal(service, queue);
}

}  // namespace koios::server
