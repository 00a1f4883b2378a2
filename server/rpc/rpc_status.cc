#include "server/rpc/rpc_status.h"

#include "proto/rpc_status.pb.h"
#include "proto/value.pb.h"
#include "server/rpc/text_bounds.h"

namespace koios::server {
namespace {

constexpr size_t kMaxMessageBytes = 1000;
constexpr size_t kMaxHintBytes = 500;
constexpr size_t kMaxWordBytes = 200;

v1::ErrorDetail DetailToProto(const ErrorDetail& detail) {
  v1::ErrorDetail proto;
  proto.set_reason(BoundedText(detail.reason, kMaxWordBytes));
  proto.set_line(detail.span.line);
  proto.set_column(detail.span.column);
  proto.set_length(detail.span.length);
  proto.set_step(BoundedText(detail.step, kMaxWordBytes));
  proto.set_limit(BoundedText(detail.limit, kMaxWordBytes));
  proto.set_used(BoundedText(detail.used, kMaxWordBytes));
  proto.set_setting(BoundedText(detail.setting, kMaxWordBytes));
  proto.set_hint(BoundedText(detail.hint, kMaxHintBytes));
  return proto;
}

}  // namespace

grpc::Status ToGrpcStatus(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  std::string message;
  if (detail.span.line > 0) {
    message = "line " + std::to_string(detail.span.line) + ", column " +
              std::to_string(detail.span.column) + ": ";
  }
  message += BoundedText(MessageOf(status), kMaxMessageBytes);
  v1::RpcStatus rpc;
  rpc.set_code(static_cast<int32_t>(status.code()));
  rpc.set_message(message);
  google::protobuf::Any* any = rpc.add_details();
  any->set_type_url("type.googleapis.com/koios.v1.ErrorDetail");
  any->set_value(DetailToProto(detail).SerializeAsString());
  // The codes of both libraries are the same canonical ones.
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), message,
                      rpc.SerializeAsString());
}

}  // namespace koios::server
