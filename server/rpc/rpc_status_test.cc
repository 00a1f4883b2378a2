#include "server/rpc/rpc_status.h"

#include <gtest/gtest.h>

#include "proto/rpc_status.pb.h"
#include "proto/value.pb.h"

namespace koios::server {
namespace {

TEST(RpcStatusTest, CarriesCodePositionAndDetail) {
  ErrorDetail detail;
  detail.reason = "UNKNOWN_STEP";
  detail.span = {1, 7, 4};
  detail.hint = "out";
  const grpc::Status status = ToGrpcStatus(InvalidArgument("No step 'outt'.", detail));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "line 1, column 7: No step 'outt'.");

  v1::RpcStatus rpc;
  ASSERT_TRUE(rpc.ParseFromString(status.error_details()));
  EXPECT_EQ(rpc.code(), 3);
  EXPECT_EQ(rpc.message(), status.error_message());
  ASSERT_EQ(rpc.details_size(), 1);
  EXPECT_EQ(rpc.details(0).type_url(), "type.googleapis.com/koios.v1.ErrorDetail");
  v1::ErrorDetail proto;
  ASSERT_TRUE(proto.ParseFromString(rpc.details(0).value()));
  EXPECT_EQ(proto.reason(), "UNKNOWN_STEP");
  EXPECT_EQ(proto.column(), 7u);
  EXPECT_EQ(proto.hint(), "out");
}

TEST(RpcStatusTest, AnErrorWithoutPositionKeepsItsMessage) {
  EXPECT_EQ(ToGrpcStatus(NotFound("Gone.")).error_message(), "Gone.");
  EXPECT_TRUE(ToGrpcStatus(OkStatus()).ok());
}

TEST(RpcStatusTest, StaysWithinTheHeadersAClientAccepts) {
  ErrorDetail detail;
  detail.hint = std::string(100'000, 'h');
  detail.step = std::string(100'000, 's');
  const grpc::Status status = ToGrpcStatus(InvalidArgument(std::string(100'000, 'm'), detail));
  EXPECT_LT(status.error_message().size() + status.error_details().size(), 4000u);
}

}  // namespace
}  // namespace koios::server
