#include "server/guard/old_views.h"

#include <map>
#include <optional>

namespace koios::server {
namespace {

Status TooOld(const RunningQuery& query, uint64_t newest) {
  ErrorDetail detail;
  detail.reason = "SNAPSHOT_TOO_OLD";
  detail.setting = "delta-mb";
  detail.used = std::to_string(newest - query.version) + " commits since";
  detail.hint = "Ask again, read results sooner, or raise the setting.";
  return ResourceExhausted(
      "The query reads version " + std::to_string(query.version) + " of the graph, which is at " +
          std::to_string(newest) +
          ", and what old versions keep in memory is more than all changes may take.",
      detail);
}

}  // namespace

void OldViews::Look() {
  if (!graphs_->OldViewsKeepTooMuch()) return;
  const int64_t now = clock_->NowNanos();
  if (last_ != 0 && now - last_ < kBetweenNanos) return;
  std::map<std::string, uint64_t> newest;  // versions
  std::optional<RunningQuery> oldest;
  for (RunningQuery& query : registry_->List()) {
    if (query.version == 0 || query.id == told_) continue;
    if (!newest.contains(query.graph)) {
      const auto view = graphs_->View(query.graph);
      newest[query.graph] = view.ok() ? (*view)->version() : 0;
    }
    if (query.version >= newest[query.graph]) continue;
    if (!oldest.has_value() || query.reads_us > oldest->reads_us) oldest = std::move(query);
  }
  if (!oldest.has_value()) return;
  last_ = now;
  told_ = oldest->id;
  (void)registry_->Cancel(oldest->id, TooOld(*oldest, newest[oldest->graph]));
}

}  // namespace koios::server
