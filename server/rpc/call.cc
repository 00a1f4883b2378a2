#include "server/rpc/call.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <limits>
#include <string>
#include <utility>

#include "server/rpc/rpc_status.h"

namespace koios::server {

namespace {

constexpr size_t kMaxBlockBytes = size_t{1} << 20;
constexpr size_t kShortRequestBytes = size_t{256} << 10;

Status Unreadable(const std::string& message) {
  ErrorDetail detail;
  detail.reason = "UNREADABLE_REQUEST";
  detail.hint = "Make the request with the classes generated from proto/service.proto.";
  return InvalidArgument(message, detail);
}

}  // namespace

void RpcCall::Serve(const RpcMethod& method, EventQueue* queue) {
  for (size_t i = 0; i < method.num_awaited; ++i) Await(method, queue);
}

void RpcCall::Await(const RpcMethod& method, EventQueue* queue) {
  auto* call = new RpcCall(method, queue);
  call->context_.AsyncNotifyWhenDone(&call->ended_);
  method.await(&call->context_, &call->stream_, queue->queue(), &call->begun_);
}

void RpcCall::Begun(bool ok) {
  if (!ok) {  // the server is shut down, and of such a call nothing else is told
    delete this;
    return;
  }
  Await(method_, events());
  events()->arriving().Add(&context_);
  stream_.Read(&request_, &arrived_);
}

void RpcCall::Arrived(bool ok) {
  events()->arriving().Remove(&context_);
  if (ok) events()->NoteRequest();
  StatusOr<std::unique_ptr<RpcHandler>> handler =
      ok ? method_.answer(&request_, this) : Unreadable("The call has no message.");
  request_.Clear();
  if (handler.ok()) {
    bool is_cancelled = false;
    {
      MutexLock lock(&mutex_);
      handler_ = *std::move(handler);
      has_handler_ = true;
      is_cancelled = is_cancelled_;
    }
    handler_->Start();
    if (is_cancelled) handler_->OnCancel();
  } else {
    Finish(ToGrpcStatus(handler.status()));
  }
  Return();
}

void RpcCall::Sent(bool) { Return(); }

void RpcCall::Wrote(bool ok) {
  handler_->OnWriteDone(ok);
  Return();
}

void RpcCall::Finished(bool) { Return(); }

void RpcCall::Ended(bool) {
  if (context_.IsCancelled()) {
    bool tell = false;
    {
      MutexLock lock(&mutex_);
      is_cancelled_ = true;
      tell = has_handler_;
    }
    if (tell) handler_->OnCancel();
  }
  Return();
}

void RpcCall::Return() {
  if (--open_ > 0) return;
  if (handler_ != nullptr) handler_->OnDone();
  delete this;
}

grpc::ByteBuffer RpcCall::BytesOf(const google::protobuf::MessageLite& message) {
  grpc::ByteBuffer bytes;
  const size_t size = message.ByteSizeLong();
  if (size <= kMaxBlockBytes) {
    const grpc::Slice slice(size);
    message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
    return grpc::ByteBuffer(&slice, 1);
  }
  if (size > std::numeric_limits<int>::max()) {  // no client could read it
    context_.TryCancel();
    return bytes;
  }
  grpc::ProtoBufferWriter writer(&bytes, kMaxBlockBytes, static_cast<int>(size));
  message.SerializeToZeroCopyStream(&writer);
  return bytes;
}

void RpcCall::SendInitialMetadata() {
  ++open_;
  stream_.SendInitialMetadata(&sent_);
}

void RpcCall::Write(const google::protobuf::MessageLite& message) {
  ++open_;
  stream_.Write(BytesOf(message), &wrote_);
}

void RpcCall::WriteLast(const google::protobuf::MessageLite& message) {
  stream_.WriteAndFinish(BytesOf(message), grpc::WriteOptions(), grpc::Status::OK, &finished_);
}

void RpcCall::Finish(const grpc::Status& status) { stream_.Finish(status, &finished_); }

void RpcCall::Answer(const Status& status, const google::protobuf::MessageLite& message) {
  if (status.ok()) {
    WriteLast(message);
  } else {
    Finish(ToGrpcStatus(status));
  }
}

StatusOr<MemoryCharge> AdmitShort(grpc::ByteBuffer* bytes) {
  if (bytes->Length() <= kShortRequestBytes) return MemoryCharge();
  ErrorDetail detail;
  detail.reason = "REQUEST_TOO_LARGE";
  detail.limit = std::to_string(kShortRequestBytes) + " bytes";
  detail.used = std::to_string(bytes->Length()) + " bytes";
  detail.hint = "Only Submit takes data.";
  return ResourceExhausted("The request has more bytes than one of this method may have.", detail);
}

Status ReadRequest(const std::string& method, grpc::ByteBuffer* bytes,
                   google::protobuf::MessageLite* request) {
  grpc::ProtoBufferReader reader(bytes);
  if (reader.status().ok() && request->ParseFromZeroCopyStream(&reader)) return OkStatus();
  return Unreadable("The request can't be read: its bytes are not the message that " + method +
                    " takes.");
}

}  // namespace koios::server
