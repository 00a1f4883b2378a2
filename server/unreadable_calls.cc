#include "server/unreadable_calls.h"

#include <string>

#include "proto/service.pb.h"
#include "server/rpc_status.h"
#include "server/text_bounds.h"

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

grpc::Status Unreadable(const std::string& method) {
  ErrorDetail detail;
  detail.reason = "UNREADABLE_REQUEST";
  detail.hint = "Make the request with the classes generated from proto/service.proto.";
  return ToGrpcStatus(InvalidArgument("The request can't be read: its bytes are not the message " +
                                          std::string("that ") + method + " takes.",
                                      detail));
}

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Refusal(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// Methods of ours never end with UNIMPLEMENTED and no word: that is gRPC's answer to a request
// that it could not decode.
class Words final : public grpc::experimental::Interceptor {
 public:
  explicit Words(const char* method) : method_(method) {}
  void Intercept(grpc::experimental::InterceptorBatchMethods* call) override {
    if (call->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::PRE_SEND_STATUS)) {
      const grpc::Status status = call->GetSendStatus();
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
          status.error_message().empty()) {
        call->ModifySendStatus(Unreadable(method_));
      }
    }
    call->Proceed();
  }

 private:
  const std::string method_;
};

class WordsFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    return new Words(info->method());
  }
};

}  // namespace

grpc::ServerGenericBidiReactor* UnknownMethods::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  return new Refusal(NoSuchMethod(context->method()));
}

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
WordsForUnreadableRequests() {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<WordsFactory>());
  return factories;
}

}  // namespace koios::server
