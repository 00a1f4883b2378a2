// BytesService: a service as it was generated (its Service), whose methods take and give bytes to
// gRPC and messages to their handlers. To gRPC all of them are streams: so it tells of a call when
// that begins, not when its message is there. Made and filled by one thread; it outlives its calls.
#pragma once

#include <google/protobuf/descriptor.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/method_handler.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/log.h"
#include "core/memory.h"
#include "server/rpc/call.h"

namespace koios::server {

// Answers a call at once, on the thread that received it.
template <typename Request, typename Response>
class AnswerHandler final : public RpcHandler {
 public:
  using Fill = std::function<Status(const Request&, Response*)>;

  AnswerHandler(Fill fill, RpcCall* call) : fill_(std::move(fill)), call_(call) {}
  void Start() override {
    Response response;
    const Status status = fill_(request, &response);
    call_->Answer(status, response);
  }

  Request request;

 private:
  const Fill fill_;
  RpcCall* const call_;
};

template <typename Generated>
class BytesService final : public Generated {
 public:
  // `service`: its descriptor.
  explicit BytesService(const google::protobuf::ServiceDescriptor* service) : service_(service) {
    for (int i = 0; i < service->method_count(); ++i) {
      this->MarkMethodStreamed(i, new grpc::internal::UnknownMethodHandler(""));
      this->MarkMethodRaw(i);  // which lets go of the handler
    }
  }

  // Before a request is decoded: what that may take, charged until it is there, or why it is not.
  using Admit = std::function<StatusOr<MemoryCharge>(grpc::ByteBuffer* bytes)>;

  // Calls of the method are answered by what `make` makes of an RpcCall*: a pointer to an
  // RpcHandler with a member `request`.
  template <typename Make>
  RpcMethod* Add(const char* name, Make make, Admit admit = AdmitShort) {
    const int index = service_->FindMethodByName(name)->index();
    RpcMethod& method = methods_.emplace_back();
    method.name = "/" + service_->full_name() + "/" + name;
    method.await = [this, index](grpc::ServerContext* context, BytesStream* stream,
                                 grpc::ServerCompletionQueue* queue, void* tag) {
      this->RequestAsyncBidiStreaming(index, context, stream, queue, queue, tag);
    };
    method.answer = [make, admit = std::move(admit), full_name = method.name](
                        grpc::ByteBuffer* bytes,
                        RpcCall* call) -> StatusOr<std::unique_ptr<RpcHandler>> {
      ASSIGN_OR_RETURN(const MemoryCharge decoding, admit(bytes));
      auto handler = make(call);
      RETURN_IF_ERROR(ReadRequest(full_name, bytes, &handler->request));
      return handler;
    };
    return &method;
  }

  // Likewise, at once.
  template <typename Request, typename Response>
  void AddAnswer(const char* name, std::function<Status(const Request&, Response*)> fill) {
    Add(name, [fill = std::move(fill)](RpcCall* call) {
      return std::make_unique<AnswerHandler<Request, Response>>(fill, call);
    });
  }

  // Takes calls from now on. REQUIRES: the server has begun.
  void Serve(EventQueue* queue) const {
    CHECK(methods_.size() == static_cast<size_t>(service_->method_count()));
    for (const RpcMethod& method : methods_) RpcCall::Serve(method, queue);
  }

 private:
  const google::protobuf::ServiceDescriptor* const service_;
  std::deque<RpcMethod> methods_;  // where they are, calls know them
};

}  // namespace koios::server
