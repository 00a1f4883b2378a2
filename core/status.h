// The whole error story of Koios in one place: factories for absl::Status, the macros that pass
// errors on, and the ErrorDetail that tells a user where and what to do instead.
// Rule: no status is dropped, no exception of ours crosses a function.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace koios {

using absl::Status;
using absl::StatusCode;
template <typename T>
using StatusOr = absl::StatusOr<T>;

inline Status OkStatus() { return absl::OkStatus(); }

// A place in the query's text. Lines and columns count from 1, columns in code points;
// line 0 means "unknown".
struct SourceSpan {
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 0;
  bool operator==(const SourceSpan&) const = default;
};

// What a user needs to mend an error. Travels as a payload of the status, then as
// koios.v1.ErrorDetail in gRPC's status details. Empty fields are unknown.
struct ErrorDetail {
  std::string reason;  // a stable word, e.g. "UNKNOWN_STEP"
  SourceSpan span;
  std::string step;     // the step as written, e.g. "order()"
  std::string limit;    // the limit that was hit, with its value
  std::string used;     // how much was asked for
  std::string setting;  // the setting that changes the limit
  std::string hint;     // what to write instead
};

// Factories. `message` is a full sentence without the position; the position is in the detail.
Status MakeStatus(StatusCode code, std::string_view message);
Status MakeStatus(StatusCode code, std::string_view message, const ErrorDetail& detail);
Status InvalidArgument(std::string_view message);
Status InvalidArgument(std::string_view message, const ErrorDetail& detail);
Status NotFound(std::string_view message);
Status AlreadyExists(std::string_view message);
Status FailedPrecondition(std::string_view message);
Status ResourceExhausted(std::string_view message, const ErrorDetail& detail);
// RESOURCE_EXHAUSTED for `used` bytes where there may be `limit`. `setting`: that changes it.
Status TooManyBytes(std::string_view message, std::string_view reason, uint64_t used,
                    uint64_t limit, std::string_view hint,
                    std::string_view setting = "none: the limit is fixed");
Status Unimplemented(std::string_view message, const ErrorDetail& detail);
Status Internal(std::string_view message);
Status DataLoss(std::string_view message);
Status Aborted(std::string_view message);
Status Cancelled(std::string_view message);
Status DeadlineExceeded(std::string_view message);
Status Unavailable(std::string_view message);

// The detail of a status; nullopt when it has none.
std::optional<ErrorDetail> DetailOf(const Status& status);
// The same status with its detail's empty fields (span, step) filled in from `detail`.
Status WithDetail(const Status& status, const ErrorDetail& detail);
// The message as std::string (Debian's absl::string_view is its own type).
std::string MessageOf(const Status& status);

}  // namespace koios

#define KOIOS_CONCAT_INNER(a, b) a##b
#define KOIOS_CONCAT(a, b) KOIOS_CONCAT_INNER(a, b)

#define RETURN_IF_ERROR(expr)                      \
  do {                                             \
    ::koios::Status koios_status_ = (expr);        \
    if (!koios_status_.ok()) return koios_status_; \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_IMPL(KOIOS_CONCAT(koios_statusor_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL(statusor, lhs, expr) \
  auto statusor = (expr);                          \
  if (!statusor.ok()) return statusor.status();    \
  lhs = std::move(statusor).value()

// Broken invariants that no query can reach: always on. DCHECK for hot loops.
#define CHECK(condition) \
  ((condition) ? (void)0 : ::koios::CheckFailed(#condition, __FILE__, __LINE__))
#ifdef NDEBUG
#define DCHECK(condition) ((void)sizeof(condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif

namespace koios {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace koios
