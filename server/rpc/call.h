// RpcCall: one call of a method that takes one message and answers with one, or with a stream. It
// is bytes to gRPC: what is no message of ours is refused in our words. An RpcHandler answers it.
// Of calls whose message is not there yet the queue has so many (ArrivingCalls); the oldest one
// makes room for the next.
// Threads: those of the queue, and whoever the handler lets write; see RpcHandler.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/memory.h"
#include "core/mutex.h"
#include "core/status.h"
#include "server/rpc/event_queue.h"

namespace koios::server {

class RpcCall;

// Answers one call. Start() comes first and OnDone() last; OnCancel() may come beside all but that.
// The call and the handler live until OnDone() has returned, which is behind WriteLast() or
// Finish().
class RpcHandler {
 public:
  virtual ~RpcHandler() = default;
  virtual void Start() = 0;
  virtual void OnWriteDone(bool /*ok*/) {}
  virtual void OnCancel() {}  // the client is gone, or its deadline is
  virtual void OnDone() {}
};

using BytesStream = grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>;

// A method of a service: how gRPC is asked for its next call, and who answers that.
struct RpcMethod {
  std::string name;        // in full
  size_t num_awaited = 2;  // as many are taken at once; others wait in gRPC
  std::function<void(grpc::ServerContext* context, BytesStream* stream,
                     grpc::ServerCompletionQueue* queue, void* tag)>
      await;
  std::function<StatusOr<std::unique_ptr<RpcHandler>>(grpc::ByteBuffer* request, RpcCall* call)>
      answer;
};

class RpcCall : public QueuedCall {
 public:
  // Takes the calls of the method from now on. It and the queue outlive them.
  static void Serve(const RpcMethod& method, EventQueue* queue);

  // For the handler: one write at a time, and nothing behind WriteLast() or Finish().
  grpc::ServerContext* context() { return &context_; }
  void SendInitialMetadata();
  void Write(const google::protobuf::MessageLite& message);
  void WriteLast(const google::protobuf::MessageLite& message);
  void Answer(const Status& status, const google::protobuf::MessageLite& message);
  void Finish(const grpc::Status& status);

 private:
  // One of what may happen to the call.
  class Event final : public RpcEvent {
   public:
    Event(RpcCall* call, void (RpcCall::*happened)(bool)) : call_(call), happened_(happened) {}
    void Happened(bool ok) override { (call_->*happened_)(ok); }

   private:
    RpcCall* const call_;
    void (RpcCall::*const happened_)(bool);
  };

  RpcCall(const RpcMethod& method, EventQueue* queue) : QueuedCall(queue), method_(method) {}
  ~RpcCall() = default;

  static void Await(const RpcMethod& method, EventQueue* queue);
  grpc::ByteBuffer BytesOf(const google::protobuf::MessageLite& message);
  void Begun(bool ok);
  void Arrived(bool ok);
  void Sent(bool ok);
  void Wrote(bool ok);
  void Finished(bool ok);
  void Ended(bool ok);
  void Return();

  const RpcMethod& method_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_;
  BytesStream stream_{&context_};
  Event begun_{this, &RpcCall::Begun};
  Event arrived_{this, &RpcCall::Arrived};
  Event sent_{this, &RpcCall::Sent};
  Event wrote_{this, &RpcCall::Wrote};
  Event finished_{this, &RpcCall::Finished};
  Event ended_{this, &RpcCall::Ended};
  // What has yet to return: the message, the last write, the end, and others as they are asked for.
  std::atomic<int> open_{3};
  Mutex mutex_;
  bool is_cancelled_ KOIOS_GUARDED_BY(mutex_) = false;
  bool has_handler_ KOIOS_GUARDED_BY(mutex_) = false;
  std::unique_ptr<RpcHandler> handler_;  // set by Arrived()
};

// Of a request that has names and numbers, no data: nothing is charged. RESOURCE_EXHAUSTED where it
// is no such request.
StatusOr<MemoryCharge> AdmitShort(grpc::ByteBuffer* bytes);
// INVALID_ARGUMENT in words where the bytes are no such message.
Status ReadRequest(const std::string& method, grpc::ByteBuffer* bytes,
                   google::protobuf::MessageLite* request);

}  // namespace koios::server
