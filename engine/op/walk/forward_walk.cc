#include "engine/op/walk/forward_walk.h"

#include <algorithm>
#include <numeric>

namespace koios::engine {
namespace {

// What a vertex that a repeating hop has met takes, with those that wait.
constexpr int64_t kMetBytes = 64;

}  // namespace

void ForwardWalk::Begin(std::span<const VertexRef> vertices, size_t hops,
                        const VertexFilter* asked_there) {
  Forget();
  asked_there_ = asked_there;
  found_.assign(vertices.size(), 0);
  skipped_ = 0;
  levels_.resize(hops + 1);
  Pairs& start = levels_[0].at;
  start.vertices.assign(vertices.begin(), vertices.end());
  start.rows.resize(vertices.size());
  std::iota(start.rows.begin(), start.rows.end(), 0u);
}

StatusOr<bool> ForwardWalk::Proceed() {
  if (levels_.empty()) return false;
  const size_t last = levels_.size() - 1;
  for (size_t position = levels_.size(); position-- > 0;) {
    Level& level = levels_[position];
    if (level.at.rows.empty()) continue;
    if (position < last) {
      RETURN_IF_ERROR(Expand(position));
      return true;
    }
    const Pairs at = std::exchange(level.at, {});
    work_ += at.rows.size();
    RETURN_IF_ERROR(arrive_(at.rows, at.vertices));
    return true;
  }
  return false;
}

// To the next vertex whose row still asks. False: there is none.
bool ForwardWalk::SkipDone(Level* level) const {
  const size_t standing = level->first + level->cursor.row;
  size_t next = standing;
  while (next < level->at.rows.size() && NeedsNoMore(level->at.rows[next])) ++next;
  if (next == level->at.rows.size()) return false;
  if (next != standing) {
    level->first = next;
    level->cursor = {};
  }
  return true;
}

Status ForwardWalk::Expand(size_t position) {
  bool more = false;
  return expanded_.Measure(
      host_->clock(), [&] { return ExpandSome(position, &more); }, [&] { return more; });
}

Status ForwardWalk::ExpandSome(size_t position, bool* more) {
  Level& level = levels_[position];
  const BoundHop& hop = walk_->hops[position];
  bool done = hop.none || !SkipDone(&level);
  Pairs pairs;
  if (!done) {
    storage::Expansion expansion;
    const size_t first = level.first;
    const bool arrives = position + 2 == levels_.size();
    const size_t at_once = RowsAtOnce(arrives ? asked_there_ : hop.filter.get());
    RETURN_IF_ERROR(host_->view().Expand(
        std::span<const VertexRef>(level.at.vertices).subspan(first), hop.direction, hop.labels,
        /*want_edges=*/false, &level.cursor, std::min(at_once, expanded_.size()), &expansion));
    pairs.rows = std::move(expansion.rows);
    for (uint32_t& row : pairs.rows) row = level.at.rows[first + row];
    pairs.vertices = std::move(expansion.neighbours);
    work_ += WorkOf(pairs.rows.size(), at_once);
    done = level.cursor.done;
    *more = !done && at_once > expanded_.size();
  }
  if (hop.repeats) RETURN_IF_ERROR(Remember(&level, &pairs));
  if (done) {
    level.at = std::exchange(level.later, {});
    level.first = 0;
    level.cursor = {};
  }
  return Deliver(position + 1, std::move(pairs));
}

// What leads on, of what a repeating hop has come to: each vertex once for each row.
Status ForwardWalk::Remember(Level* level, Pairs* pairs) {
  size_t kept = 0;
  for (size_t i = 0; i < pairs->rows.size(); ++i) {
    if (NeedsNoMore(pairs->rows[i])) continue;
    RETURN_IF_ERROR(host_->ChargeState(kMetBytes));
    charged_ += kMetBytes;
    if (!level->met.insert({pairs->rows[i], pairs->vertices[i].bits}).second) {
      (void)host_->ChargeState(-kMetBytes);
      charged_ -= kMetBytes;
      continue;
    }
    level->later.rows.push_back(pairs->rows[i]);
    level->later.vertices.push_back(pairs->vertices[i]);
    pairs->rows[kept] = pairs->rows[i];
    pairs->vertices[kept++] = pairs->vertices[i];
  }
  pairs->rows.resize(kept);
  pairs->vertices.resize(kept);
  return OkStatus();
}

// They have come to the position.
Status ForwardWalk::Deliver(size_t position, Pairs pairs) {
  if (pairs.rows.empty()) return OkStatus();
  const size_t last = levels_.size() - 1;
  VertexFilter* filter = walk_->hops[position - 1].filter.get();
  // At the last position it is asked by who meets them there.
  if (filter != nullptr && position < last) {
    std::vector<uint32_t> passing;
    RETURN_IF_ERROR(filter->Select(pairs.vertices, &passing));
    for (size_t i = 0; i < passing.size(); ++i) {
      pairs.rows[i] = pairs.rows[passing[i]];
      pairs.vertices[i] = pairs.vertices[passing[i]];
    }
    pairs.rows.resize(passing.size());
    pairs.vertices.resize(passing.size());
  }
  if (position == last) {
    work_ += pairs.rows.size();
    return arrive_(pairs.rows, pairs.vertices);
  }
  if (walk_->hops[position].repeats) {  // also by none of its hops
    Pairs here = pairs;
    RETURN_IF_ERROR(Remember(&levels_[position], &here));
    levels_[position].at = std::exchange(levels_[position].later, {});
    return Deliver(position + 1, std::move(here));
  }
  levels_[position].at = std::move(pairs);
  return OkStatus();
}

void ForwardWalk::Forget() {
  (void)host_->ChargeState(-charged_);
  charged_ = 0;
  levels_.clear();
}

}  // namespace koios::engine
