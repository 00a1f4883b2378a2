#include "server/graphs.h"

namespace koios::server {

std::string GraphOfSource(std::string_view source, std::string_view requested) {
  if (!source.empty() && source != kDefaultGraph) return std::string(source);
  return std::string(requested.empty() ? kDefaultGraph : requested);
}

Status NoSuchGraph(std::string_view name, const std::vector<std::string>& names) {
  ErrorDetail detail;
  detail.reason = "NO_SUCH_GRAPH";
  std::string message = "There is no graph '" + std::string(name) + "'; ";
  if (names.empty()) {
    return MakeStatus(StatusCode::kNotFound, message + "this data folder has none.", detail);
  }
  message += names.size() == 1 ? "the only graph is: " : "the graphs are: ";
  constexpr size_t kMaxNames = 20;
  for (size_t i = 0; i < names.size() && i < kMaxNames; ++i) {
    if (i > 0) message += ", ";
    message += names[i];
  }
  if (names.size() > kMaxNames) message += ", ...";
  return MakeStatus(StatusCode::kNotFound, message + ".", detail);
}

}  // namespace koios::server
