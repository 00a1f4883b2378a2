// Answers in words to calls that never reach the service: methods that are not there, and requests
// whose bytes are no such message. gRPC by itself answers both with UNIMPLEMENTED and no word.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/server_interceptor.h>

#include <memory>
#include <vector>

namespace koios::server {

// Takes the calls of all methods that nobody else has.
class UnknownMethods final : public grpc::CallbackGenericService {
 public:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
};

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>>
WordsForUnreadableRequests();

}  // namespace koios::server
