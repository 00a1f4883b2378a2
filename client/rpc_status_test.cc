#include "client/rpc_status.h"

#include <gtest/gtest.h>

#include "proto/rpc_status.pb.h"
#include "proto/value.pb.h"

namespace koios::client {
namespace {

grpc::Status WithDetail(const std::string& message, const v1::ErrorDetail& detail) {
  v1::RpcStatus rpc;
  rpc.set_code(3);
  rpc.set_message(message);
  rpc.add_details()->set_type_url("type.googleapis.com/koios.v1.ErrorDetail");
  rpc.mutable_details(0)->set_value(detail.SerializeAsString());
  return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, message, rpc.SerializeAsString());
}

TEST(RpcStatusTest, ReadsTheDetailAndDropsThePositionFromTheMessage) {
  v1::ErrorDetail detail;
  detail.set_line(1);
  detail.set_column(7);
  detail.set_length(4);
  detail.set_hint("out");
  const Status status = FromGrpcStatus(WithDetail("line 1, column 7: No step.", detail));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(status), "No step.");
  ASSERT_TRUE(DetailOf(status).has_value());
  EXPECT_EQ(DetailOf(status)->span, (SourceSpan{1, 7, 4}));
  EXPECT_EQ(DetailOf(status)->hint, "out");
}

TEST(RpcStatusTest, AStatusOfSomebodyElseIsKept) {
  const Status status =
      FromGrpcStatus(grpc::Status(grpc::StatusCode::UNAVAILABLE, "no route", "garbage"));
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(MessageOf(status), "no route");
  EXPECT_TRUE(FromGrpcStatus(grpc::Status::OK).ok());
}

}  // namespace
}  // namespace koios::client
