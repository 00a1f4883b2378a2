#include "engine/op/walk/backward_walk.h"

#include <algorithm>
#include <utility>

#include "engine/account/free_room.h"

namespace koios::engine {

void BackwardWalk::Forget() {
  (void)host_->ChargeState(-(charged_ + known_.bytes() + next_.bytes()));
  charged_ = 0;
  known_.Clear();
  next_.Clear();
  for (auto* list : {&frontier_, &next_frontier_, &round_, &behind_}) FreeRoom(list);
  FreeRoom(&times_);
  cursor_ = {};
  walking_ = has_ends_ = false;
  over_ = true;
  depth_ = 0;
  next_cost_.reset();
  refused_ = OkStatus();
}

void BackwardWalk::Start() {
  Forget();
  most_bytes_ = std::min(kMostBytes, host_->StateRoom() / kShareOfRoom);
}

Status BackwardWalk::Begin(VertexRef end) {
  Start();
  std::vector<VertexRef> ends = {end};
  if (walk_->ends.filter() != nullptr) RETURN_IF_ERROR(walk_->ends.filter()->Keep(&ends));
  over_ = false;
  has_ends_ = true;
  const std::vector<int64_t> times(ends.size(), 1);
  Status status = AddNext(std::move(ends), times, &next_frontier_);
  if (GivesUp(status)) return OkStatus();
  std::swap(known_, next_);
  frontier_ = std::exchange(next_frontier_, {});
  return status;
}

void BackwardWalk::BeginWithEnds() {
  Start();
  over_ = !walk_->ends.can_find();
  walk_->ends.Restart();
}

StatusOr<int64_t> BackwardWalk::NextCost() {
  if (hop().none) return 0;
  if (next_cost_) return *next_cost_;
  const auto at = [this](size_t i) { return frontier_[i]; };
  ASSIGN_OR_RETURN(next_cost_, EstimateEnds(host_->view(), host_->clock(), frontier_.size(), at,
                                            hop().Back(), hop().labels));
  return *next_cost_;
}

Status BackwardWalk::Proceed() {
  if (over_) return OkStatus();
  Status status = has_ends_ ? OkStatus() : FindEnds();
  if (has_ends_ && status.ok() && depth_ < hops()) {
    if (!walking_) status = BeginHop();
    if (status.ok()) status = WalkOn();
  }
  if (GivesUp(status)) return OkStatus();
  over_ = over_ || (has_ends_ && depth_ == hops());
  return status;
}

Status BackwardWalk::FindEnds() {
  std::vector<VertexRef> ends;
  bool done = false;
  RETURN_IF_ERROR(walk_->ends.Find(&ends, &work_, &done));
  const std::vector<int64_t> times(ends.size(), 1);
  RETURN_IF_ERROR(AddNext(std::move(ends), times, &next_frontier_));
  if (!done) return OkStatus();
  has_ends_ = true;
  std::swap(known_, next_);
  frontier_ = std::exchange(next_frontier_, {});
  return OkStatus();
}

Status BackwardWalk::BeginHop() {
  walking_ = true;
  cursor_ = {};
  RETURN_IF_ERROR(Charge(frontier_.size()));
  round_ = frontier_;
  if (counts_) {
    for (const VertexRef vertex : round_) times_.push_back(known_.TimesOf(vertex));
  }
  if (!hop().repeats) return OkStatus();
  return AddNext(frontier_, times_, &next_frontier_);
}

Status BackwardWalk::WalkOn() {
  if (hop().none || round_.empty()) cursor_.done = true;
  if (!cursor_.done) {
    const size_t at_once = RowsAtOnce(FilterBehind());
    RETURN_IF_ERROR(expanded_.Measure(
        host_->clock(), [&] { return ExpandSome(at_once); },
        [&] { return !cursor_.done && at_once > expanded_.size(); }));
  }
  if (!cursor_.done) return OkStatus();
  round_ = std::exchange(behind_, {});
  cursor_ = {};
  if (round_.empty()) EndHop();
  return OkStatus();
}

Status BackwardWalk::ExpandSome(size_t at_once) {
  storage::Expansion expansion;
  RETURN_IF_ERROR(host_->view().Expand(round_, hop().Back(), hop().labels, /*want_edges=*/false,
                                       &cursor_, std::min(at_once, expanded_.size()), &expansion));
  work_ += WorkOf(expansion.rows.size(), at_once);
  return Meet(expansion);
}

Status BackwardWalk::Meet(const storage::Expansion& expansion) {
  std::vector<int64_t> times;
  if (counts_) {
    times.reserve(expansion.rows.size());
    for (const uint32_t row : expansion.rows) times.push_back(times_[row]);
  }
  if (!hop().repeats) return AddNext(expansion.neighbours, std::move(times), &next_frontier_);
  const size_t before = next_frontier_.size();
  RETURN_IF_ERROR(AddNext(expansion.neighbours, std::move(times), &next_frontier_));
  behind_.insert(behind_.end(), next_frontier_.begin() + static_cast<std::ptrdiff_t>(before),
                 next_frontier_.end());
  return Charge(next_frontier_.size() - before);
}

// Of the ends the filter has been asked; of the others it is that of the hop before.
VertexFilter* BackwardWalk::FilterBehind() const {
  const size_t position = has_ends_ && walking_ ? hops() - 1 - depth_ : 0;
  return position > 0 ? walk_->hops[position - 1].filter.get() : nullptr;
}

Status BackwardWalk::AddNext(std::vector<VertexRef> vertices, std::vector<int64_t> times,
                             std::vector<VertexRef>* fresh) {
  if (VertexFilter* const filter = FilterBehind(); filter != nullptr) {
    std::vector<uint32_t> passing;
    RETURN_IF_ERROR(filter->Select(vertices, &passing));
    for (size_t i = 0; i < passing.size(); ++i) {
      vertices[i] = vertices[passing[i]];
      if (counts_) times[i] = times[passing[i]];
    }
    vertices.resize(passing.size());
  }
  const size_t before = fresh->size();
  for (size_t i = 0; i < vertices.size(); ++i) {
    ASSIGN_OR_RETURN(const bool is_fresh, next_.Add(vertices[i], counts_ ? times[i] : 1, host_));
    if (is_fresh) fresh->push_back(vertices[i]);
  }
  return Charge(fresh->size() - before);
}

void BackwardWalk::EndHop() {
  walking_ = false;
  next_cost_.reset();
  (void)host_->ChargeState(-known_.bytes());
  known_.Clear();
  std::swap(known_, next_);
  frontier_ = std::exchange(next_frontier_, {});
  FreeRoom(&times_);
  if (++depth_ == hops()) FreeRoom(&frontier_);
  const auto kept = static_cast<int64_t>(frontier_.size() * sizeof(VertexRef));
  (void)host_->ChargeState(kept - charged_);
  charged_ = kept;
}

Status BackwardWalk::Charge(size_t vertices) {
  // A list grows to twice its size.
  const auto bytes = static_cast<int64_t>(2 * vertices * (sizeof(VertexRef) + sizeof(int64_t)));
  RETURN_IF_ERROR(host_->ChargeState(bytes));
  charged_ += bytes;
  // Ids are not found in another way.
  if (!has_ends_ && !walk_->ends.is_scan()) return OkStatus();
  if (charged_ + known_.bytes() + next_.bytes() <= most_bytes_) return OkStatus();
  return ResourceExhausted("the ends of a walk are too many to be kept", {});
}

bool BackwardWalk::GivesUp(const Status& status) {
  // The latter of more walks than can be counted: filters of walks raise no errors.
  if (status.code() != absl::StatusCode::kResourceExhausted &&
      status.code() != absl::StatusCode::kInvalidArgument) {
    return false;
  }
  refused_ = status;
  over_ = true;
  walking_ = false;
  (void)host_->ChargeState(-next_.bytes());
  next_.Clear();
  for (auto* list : {&frontier_, &next_frontier_, &round_, &behind_}) FreeRoom(list);
  FreeRoom(&times_);
  (void)host_->ChargeState(-std::exchange(charged_, 0));
  return true;
}

}  // namespace koios::engine
