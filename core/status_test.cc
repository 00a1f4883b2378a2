#include "core/status.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"
#include "proto/value.pb.h"

namespace koios {
namespace {

ErrorDetail FullDetail() {
  ErrorDetail detail;
  detail.reason = "UNKNOWN_STEP";
  detail.span = {3, 14, 5};
  detail.step = "ordr()";
  detail.limit = "10";
  detail.used = "11";
  detail.setting = "--max-x";
  detail.hint = "order()";
  return detail;
}

TEST(StatusTest, FactoriesSetCodeAndMessage) {
  EXPECT_EQ(NotFound("gone").code(), StatusCode::kNotFound);
  EXPECT_EQ(MessageOf(NotFound("gone")), "gone");
  EXPECT_EQ(DataLoss("x").code(), StatusCode::kDataLoss);
  EXPECT_EQ(Unavailable("x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(Unimplemented("x", {}).code(), StatusCode::kUnimplemented);
  EXPECT_EQ(ResourceExhausted("x", {}).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(OkStatus().ok());
}

TEST(StatusTest, DetailTravelsAsProtoPayload) {
  const Status status = InvalidArgument("No such step.", FullDetail());
  const auto detail = DetailOf(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->reason, "UNKNOWN_STEP");
  EXPECT_EQ(detail->span, (SourceSpan{3, 14, 5}));
  EXPECT_EQ(detail->step, "ordr()");
  EXPECT_EQ(detail->limit, "10");
  EXPECT_EQ(detail->used, "11");
  EXPECT_EQ(detail->setting, "--max-x");
  EXPECT_EQ(detail->hint, "order()");
  const auto payload = status.GetPayload("type.googleapis.com/koios.v1.ErrorDetail");
  ASSERT_TRUE(payload.has_value());
  v1::ErrorDetail message;
  ASSERT_TRUE(message.ParseFromString(std::string(*payload)));
  EXPECT_EQ(message.column(), 14u);
}

TEST(StatusTest, NoDetailAndDamagedDetail) {
  EXPECT_FALSE(DetailOf(Internal("x")).has_value());
  Status damaged = Internal("x");
  damaged.SetPayload("type.googleapis.com/koios.v1.ErrorDetail", absl::Cord("\xFF\xFF"));
  EXPECT_FALSE(DetailOf(damaged).has_value());
}

TEST(StatusTest, WithDetailFillsOnlyWhatIsEmpty) {
  ErrorDetail inner;
  inner.reason = "LIMIT";
  inner.step = "fold()";
  const Status status = WithDetail(ResourceExhausted("x", inner), FullDetail());
  const auto detail = DetailOf(status);
  ASSERT_TRUE(detail.has_value());
  EXPECT_EQ(detail->reason, "LIMIT");
  EXPECT_EQ(detail->step, "fold()");
  EXPECT_EQ(detail->span.line, 3u);
  EXPECT_EQ(detail->hint, "order()");
  EXPECT_EQ(MessageOf(status), "x");
  EXPECT_TRUE(WithDetail(OkStatus(), FullDetail()).ok());
}

StatusOr<int> Half(int v) {
  if (v % 2 != 0) return InvalidArgument("odd");
  return v / 2;
}

StatusOr<int> Quarter(int v) {
  ASSIGN_OR_RETURN(const int half, Half(v));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status Both(int a, int b) {
  RETURN_IF_ERROR(Half(a).status());
  RETURN_IF_ERROR(Half(b).status());
  return OkStatus();
}

TEST(StatusTest, MacrosPassErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Both(2, 4).ok());
  EXPECT_FALSE(Both(2, 5).ok());
}

TEST(StatusDeathTest, CheckNamesTheConditionAndThePlace) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "status_test.cc:.*CHECK failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace koios
