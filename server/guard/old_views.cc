#include "server/guard/old_views.h"

#include <map>
#include <optional>
#include <utility>

namespace koios::server {
namespace {

Status TooOld(const RunningQuery& query, uint64_t folded) {
  ErrorDetail detail;
  detail.reason = "SNAPSHOT_TOO_OLD";
  detail.setting = "delta-mb";
  detail.hint = "Ask again, read results sooner, or raise the setting.";
  return ResourceExhausted("The query reads version " + std::to_string(query.version) +
                               " of the graph, whose snapshots tell version " +
                               std::to_string(folded) +
                               " by now: what is kept in memory for queries of before is more than "
                               "all changes may take.",
                           detail);
}

}  // namespace

void OldViews::Look() {
  if (!graphs_->OldViewsKeepTooMuch()) return;
  const int64_t now = clock_->NowNanos();
  if (last_ != 0 && now - last_ < kWaitNanos && graphs_->NumReleases() == releases_) return;
  std::map<std::string, uint64_t> folded;  // versions
  std::set<std::string> told;
  std::optional<RunningQuery> oldest;
  for (RunningQuery& query : registry_->List()) {
    if (told_.contains(query.id)) told.insert(query.id);
    if (query.version == 0 || told_.contains(query.id)) continue;
    const auto [at, is_new] = folded.try_emplace(query.graph);
    if (is_new) at->second = graphs_->FoldedVersion(query.graph);
    if (query.version >= at->second) continue;
    if (!oldest.has_value() || query.reads_us > oldest->reads_us) oldest = std::move(query);
  }
  told_ = std::move(told);
  if (!oldest.has_value()) return;
  last_ = now;
  releases_ = graphs_->NumReleases();
  told_.insert(oldest->id);
  (void)registry_->Cancel(oldest->id, TooOld(*oldest, folded[oldest->graph]));
}

}  // namespace koios::server
