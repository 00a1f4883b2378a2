#include "engine/deadline.h"

#include <string>

namespace koios::engine {

Status RanIntoDeadline(uint64_t asked_ns, uint64_t deadline_ns, uint64_t now_ns,
                       std::string_view meanwhile) {
  const auto since_asked = [asked_ns](uint64_t ns) {
    constexpr uint64_t kNsPerMs = 1'000'000;
    const uint64_t elapsed_ns = ns > asked_ns ? ns - asked_ns : 0;
    return std::to_string((elapsed_ns + kNsPerMs - 1) / kNsPerMs) + " ms";
  };
  ErrorDetail detail;
  detail.reason = "DEADLINE";
  detail.limit = since_asked(deadline_ns);
  detail.used = since_asked(now_ns);
  detail.setting = "query-timeout";
  detail.hint =
      "Ask for less, for example with limit(), or give the query more time: a timeout of its own "
      "goes before the setting.";
  std::string message = "The query ran into its deadline";
  if (!meanwhile.empty()) message += " " + std::string(meanwhile);
  return MakeStatus(StatusCode::kDeadlineExceeded, message + ".", detail);
}

}  // namespace koios::engine
