#include "storage/conflict/commit_decision.h"

#include <optional>
#include <string>

namespace koios::storage {

StatusOr<Decision> Decide(const CommitRecord& record, uint64_t newest, const ConflictWindow& window,
                          const ConflictTurns* turns, CommitTurn* turn) {
  if (record.request.is_null()) return InvalidArgument("A commit's record names no request.");
  if (record.read_version > newest) {
    return InvalidArgument("The request read version " + std::to_string(record.read_version) +
                           ", but the graph is at " + std::to_string(newest) + ".");
  }
  const std::optional<CommittedRequest> before = window.Find(record.request);
  if (before && before->attempt == record.attempt) return Decision{before->version};
  if (before) {
    return FailedPrecondition("Another attempt of this request was committed as version " +
                              std::to_string(before->version) + ".");
  }
  RETURN_IF_ERROR(window.Validate(record.keys, record.read_version, turns, turn));
  return Decision{};
}

}  // namespace koios::storage
