#include "core/status.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/cord.h"
#include "proto/value.pb.h"

namespace koios {
namespace {

constexpr char kDetailUrl[] = "type.googleapis.com/koios.v1.ErrorDetail";

void SetDetail(const ErrorDetail& detail, Status* status) {
  v1::ErrorDetail message;
  message.set_reason(detail.reason);
  message.set_line(detail.span.line);
  message.set_column(detail.span.column);
  message.set_length(detail.span.length);
  message.set_step(detail.step);
  message.set_limit(detail.limit);
  message.set_used(detail.used);
  message.set_setting(detail.setting);
  message.set_hint(detail.hint);
  status->SetPayload(kDetailUrl, absl::Cord(message.SerializeAsString()));
}

}  // namespace

Status MakeStatus(StatusCode code, std::string_view message) {
  return Status(code, absl::string_view(message.data(), message.size()));
}

Status MakeStatus(StatusCode code, std::string_view message, const ErrorDetail& detail) {
  Status status = MakeStatus(code, message);
  if (!status.ok()) SetDetail(detail, &status);
  return status;
}

Status InvalidArgument(std::string_view message) {
  return MakeStatus(StatusCode::kInvalidArgument, message);
}
Status InvalidArgument(std::string_view message, const ErrorDetail& detail) {
  return MakeStatus(StatusCode::kInvalidArgument, message, detail);
}
Status NotFound(std::string_view message) { return MakeStatus(StatusCode::kNotFound, message); }
Status AlreadyExists(std::string_view message) {
  return MakeStatus(StatusCode::kAlreadyExists, message);
}
Status FailedPrecondition(std::string_view message) {
  return MakeStatus(StatusCode::kFailedPrecondition, message);
}
Status ResourceExhausted(std::string_view message, const ErrorDetail& detail) {
  return MakeStatus(StatusCode::kResourceExhausted, message, detail);
}
Status TooManyBytes(std::string_view message, std::string_view reason, uint64_t used,
                    uint64_t limit, std::string_view hint, std::string_view setting) {
  ErrorDetail detail;
  detail.reason = reason;
  detail.limit = std::to_string(limit) + " bytes";
  detail.used = std::to_string(used) + " bytes";
  detail.setting = setting;
  detail.hint = hint;
  return ResourceExhausted(message, detail);
}
Status Unimplemented(std::string_view message, const ErrorDetail& detail) {
  return MakeStatus(StatusCode::kUnimplemented, message, detail);
}
Status Internal(std::string_view message) { return MakeStatus(StatusCode::kInternal, message); }
Status DataLoss(std::string_view message) { return MakeStatus(StatusCode::kDataLoss, message); }
Status Aborted(std::string_view message) { return MakeStatus(StatusCode::kAborted, message); }
Status Cancelled(std::string_view message) { return MakeStatus(StatusCode::kCancelled, message); }
Status DeadlineExceeded(std::string_view message) {
  return MakeStatus(StatusCode::kDeadlineExceeded, message);
}
Status Unavailable(std::string_view message) {
  return MakeStatus(StatusCode::kUnavailable, message);
}

std::optional<ErrorDetail> DetailOf(const Status& status) {
  const auto payload = status.GetPayload(kDetailUrl);
  if (!payload.has_value()) return std::nullopt;
  v1::ErrorDetail message;
  if (!message.ParseFromString(std::string(*payload))) return std::nullopt;
  ErrorDetail detail;
  detail.reason = message.reason();
  detail.span = {message.line(), message.column(), message.length()};
  detail.step = message.step();
  detail.limit = message.limit();
  detail.used = message.used();
  detail.setting = message.setting();
  detail.hint = message.hint();
  return detail;
}

Status WithDetail(const Status& status, const ErrorDetail& detail) {
  if (status.ok()) return status;
  ErrorDetail merged = DetailOf(status).value_or(ErrorDetail{});
  const auto fill = [](const std::string& from, std::string* to) {
    if (to->empty()) *to = from;
  };
  fill(detail.reason, &merged.reason);
  if (merged.span.line == 0) merged.span = detail.span;
  fill(detail.step, &merged.step);
  fill(detail.limit, &merged.limit);
  fill(detail.used, &merged.used);
  fill(detail.setting, &merged.setting);
  fill(detail.hint, &merged.hint);
  Status result = status;
  SetDetail(merged, &result);
  return result;
}

std::string MessageOf(const Status& status) {
  return std::string(status.message().data(), status.message().size());
}

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace koios
