#include "client/rpc_status.h"

#include <string>

#include "proto/rpc_status.pb.h"
#include "proto/value.pb.h"

namespace koios::client {

Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return OkStatus();
  const auto code = static_cast<StatusCode>(status.error_code());
  std::string message = status.error_message();
  v1::RpcStatus rpc;
  v1::ErrorDetail proto;
  // A status without our details comes from gRPC itself or from something in between.
  if (!rpc.ParseFromString(status.error_details()) || rpc.details().empty() ||
      rpc.details(0).type_url() != "type.googleapis.com/koios.v1.ErrorDetail" ||
      !proto.ParseFromString(rpc.details(0).value())) {
    return MakeStatus(code, message);
  }
  ErrorDetail detail;
  detail.reason = proto.reason();
  detail.span = {proto.line(), proto.column(), proto.length()};
  detail.step = proto.step();
  detail.limit = proto.limit();
  detail.used = proto.used();
  detail.setting = proto.setting();
  detail.hint = proto.hint();
  const std::string prefix =
      "line " + std::to_string(proto.line()) + ", column " + std::to_string(proto.column()) + ": ";
  if (proto.line() > 0 && message.rfind(prefix, 0) == 0) message.erase(0, prefix.size());
  return MakeStatus(code, message, detail);
}

}  // namespace koios::client
