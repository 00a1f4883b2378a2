#include "engine/op/walk/shortest_path_op.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/path/path.h"
#include "engine/expr/element_functions.h"
#include "engine/op/walk/search_side.h"

namespace koios::engine {
namespace {

// Edges walked along in one call, about.
constexpr size_t kSearchWork = 8 * kBatchRows;

// Levels are expanded as a whole, each time of the side that has fewer edges to walk along. When
// all within f hops of the start and all within b hops of the ends are known and none is both, no
// walk is shorter than f + b + 1: the first vertex that is met from both sides is on a shortest.
// From the start alone where the ends can't be found but by asking each vertex, and where the
// start is an end that has to be come back to.
class ShortestPathOp final : public StreamOperator {
 public:
  ShortestPathOp(const plan::ShortestPath& op, BoundHop hop, BoundEnds ends, OperatorHost* host)
      : path_slot_(op.path_slot()),
        may_stay_(op.may_stay()),
        simple_(op.simple()),
        host_(host),
        hop_(std::move(hop)),
        ends_(std::move(ends)),
        forward_(&hop_, hop_.direction, host),
        backward_(&hop_, hop_.Back(), host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override;
  bool SkipTo(size_t row, StreamCursor*) override {
    if (row <= row_) return true;
    row_ = row;
    phase_ = Phase::kBegin;
    return true;
  }

 private:
  enum class Phase { kBegin, kFindEnds, kSearch, kFound, kNone };

  Status Step(const Batch& input);
  Status BeginRow(const Batch& input);
  Status FindEnds();
  Status AddEnds(std::vector<VertexRef> ends);
  Status BeginSearch();
  Status SearchOn();
  Status ExpandSome(size_t at_once);
  Status BeginLevel();
  Status Discover(SearchSide* side, const std::vector<uint32_t>& parents,
                  const std::vector<VertexRef>& neighbours);
  void Found(uint32_t forward, std::optional<uint32_t> backward);
  Status Give(const Batch& input, OpOutput* output);

  const uint32_t path_slot_;
  const bool may_stay_, simple_;
  OperatorHost* const host_;
  BoundHop hop_;
  BoundEnds ends_;
  SearchSide forward_, backward_;

  ElementRows elements_;
  bool open_ = false;
  size_t row_ = 0;
  Phase phase_ = Phase::kBegin;
  VertexRef start_;
  bool knows_ends_ = false;  // they are the roots of backward_
  bool both_sides_ = false;
  bool start_is_end_ = false;
  SearchSide* side_ = nullptr;  // whose level is being expanded
  // The walk behind the start.
  std::vector<VertexRef> walk_;
  size_t work_ = 0;
  CallSize expanded_ = ExpandedInACall();
};

Status ShortestPathOp::BeginRow(const Batch& input) {
  forward_.Clear();
  backward_.Clear();
  walk_.clear();
  start_ = elements_.vertices[row_];
  side_ = nullptr;
  start_is_end_ = false;
  knows_ends_ = true;
  phase_ = Phase::kFindEnds;
  if (!ends_.at_slot()) {
    knows_ends_ = ends_.can_find();
    if (!knows_ends_) return BeginSearch();
    ends_.Restart();
    return OkStatus();
  }
  // What is no vertex, or not there, is the end of nothing.
  phase_ = Phase::kNone;
  if (!input.Has(ends_.slot()) || input.slots[ends_.slot()].IsAbsent(row_)) return OkStatus();
  const Value end = input.slots[ends_.slot()].Get(row_);
  if (end.kind() != ValueKind::kVertex) return OkStatus();
  std::vector<VertexRef> ends = {end.AsVertex()};
  if (ends_.filter() != nullptr) RETURN_IF_ERROR(ends_.filter()->Keep(&ends));
  RETURN_IF_ERROR(AddEnds(std::move(ends)));
  return BeginSearch();
}

// Those that a walk may come to: all but the start must pass what each hop asks.
Status ShortestPathOp::AddEnds(std::vector<VertexRef> ends) {
  const bool starts_there = std::find(ends.begin(), ends.end(), start_) != ends.end();
  start_is_end_ = start_is_end_ || starts_there;
  if (simple_ && starts_there) std::erase(ends, start_);
  if (hop_.filter != nullptr) RETURN_IF_ERROR(hop_.filter->Keep(&ends));
  work_ += WorkOf(ends.size(), RowsAtOnce(hop_.filter.get()));
  for (const VertexRef vertex : ends) RETURN_IF_ERROR(backward_.Add(vertex, {}).status());
  return OkStatus();
}

Status ShortestPathOp::FindEnds() {
  std::vector<VertexRef> ends;
  bool done = false;
  RETURN_IF_ERROR(ends_.Find(&ends, &work_, &done));
  RETURN_IF_ERROR(AddEnds(std::move(ends)));
  return done ? BeginSearch() : OkStatus();
}

Status ShortestPathOp::BeginSearch() {
  phase_ = Phase::kSearch;
  if (!knows_ends_) {
    std::vector<VertexRef> start = {start_};
    RETURN_IF_ERROR(ends_.filter()->Keep(&start));
    start_is_end_ = !start.empty();
  }
  RETURN_IF_ERROR(forward_.Add(start_, {}, /*hidden=*/!simple_ && !may_stay_).status());
  forward_.BeginLevel();
  if (may_stay_ && start_is_end_) {
    Found(0, std::nullopt);
    return OkStatus();
  }
  if (!knows_ends_) {
    both_sides_ = false;
    return OkStatus();
  }
  backward_.BeginLevel();
  both_sides_ = simple_ || !start_is_end_;
  if (backward_.LevelIsEmpty()) phase_ = Phase::kNone;
  return OkStatus();
}

// One batch of edges of the level that is under way.
Status ShortestPathOp::SearchOn() {
  if (side_ == nullptr) {
    RETURN_IF_ERROR(BeginLevel());
    if (phase_ != Phase::kSearch) return OkStatus();
  }
  const size_t at_once = std::min(RowsAtOnce(hop_.filter.get()),
                                  knows_ends_ ? kBatchRows : RowsAtOnce(ends_.filter()));
  RETURN_IF_ERROR(expanded_.Measure(
      host_->clock(), [&] { return ExpandSome(at_once); },
      [&] { return !side_->LevelIsDone() && at_once > expanded_.size(); }));
  if (phase_ != Phase::kSearch || !side_->LevelIsDone()) return OkStatus();
  side_->BeginLevel();
  if (side_->LevelIsEmpty()) phase_ = Phase::kNone;
  side_ = nullptr;
  return OkStatus();
}

Status ShortestPathOp::ExpandSome(size_t at_once) {
  std::vector<uint32_t> parents;
  std::vector<VertexRef> neighbours;
  RETURN_IF_ERROR(side_->Expand(std::min(at_once, expanded_.size()), &parents, &neighbours));
  work_ += WorkOf(parents.size(), at_once);
  return Discover(side_, parents, neighbours);
}

Status ShortestPathOp::BeginLevel() {
  side_ = &forward_;
  if (!both_sides_) return OkStatus();
  ASSIGN_OR_RETURN(const int64_t forward, forward_.Cost());
  ASSIGN_OR_RETURN(const int64_t backward, backward_.Cost());
  if (backward < forward) side_ = &backward_;
  if (std::min(forward, backward) == 0) phase_ = Phase::kNone;
  return OkStatus();
}

Status ShortestPathOp::Discover(SearchSide* side, const std::vector<uint32_t>& parents,
                                const std::vector<VertexRef>& neighbours) {
  // The start need not pass the filter: no hop leads there.
  if (side == &backward_) {
    for (size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] != start_) continue;
      Found(0, parents[i]);
      return OkStatus();
    }
  }
  std::vector<uint32_t> passing(neighbours.size());
  std::iota(passing.begin(), passing.end(), 0u);
  if (hop_.filter != nullptr) {
    passing.clear();
    RETURN_IF_ERROR(hop_.filter->Select(neighbours, &passing));
  }
  std::vector<uint32_t> fresh;
  std::vector<VertexRef> fresh_vertices;
  for (const uint32_t i : passing) {
    ASSIGN_OR_RETURN(const std::optional<uint32_t> added, side->Add(neighbours[i], parents[i]));
    if (!added) continue;
    const SearchSide& other = side == &forward_ ? backward_ : forward_;
    if (const auto met = knows_ends_ ? other.Find(neighbours[i]) : std::nullopt) {
      if (side == &forward_) {
        Found(*added, both_sides_ ? met : std::nullopt);
      } else {
        Found(*met, *added);
      }
      return OkStatus();
    }
    fresh.push_back(*added);
    fresh_vertices.push_back(neighbours[i]);
  }
  if (knows_ends_) return OkStatus();
  std::vector<uint32_t> ends;
  RETURN_IF_ERROR(ends_.filter()->Select(fresh_vertices, &ends));
  if (!ends.empty()) Found(fresh[ends[0]], std::nullopt);
  return OkStatus();
}

// The walk goes through these two nodes: of one vertex, or `backward` is the first one behind the
// start.
void ShortestPathOp::Found(uint32_t forward, std::optional<uint32_t> backward) {
  phase_ = Phase::kFound;
  walk_.clear();
  for (uint32_t at = forward; forward_.node(at).parent != at; at = forward_.node(at).parent) {
    walk_.push_back(forward_.node(at).vertex);
  }
  std::reverse(walk_.begin(), walk_.end());
  if (!backward) return;
  uint32_t at = *backward;
  if (!walk_.empty()) {  // it is the last one already
    if (backward_.node(at).parent == at) return;
    at = backward_.node(at).parent;
  }
  for (;; at = backward_.node(at).parent) {
    walk_.push_back(backward_.node(at).vertex);
    if (backward_.node(at).parent == at) return;
  }
}

Status ShortestPathOp::Give(const Batch& input, OpOutput* output) {
  output->origin.push_back(static_cast<uint32_t>(row_));
  if (path_slot_ == 0) {
    output->column.AppendVertex(walk_.empty() ? start_ : walk_.back());
    return OkStatus();
  }
  Value path = input.Has(path_slot_) ? input.slots[path_slot_].Get(row_) : Value();
  if (path.kind() != ValueKind::kPath) path = PathMaker::Empty();
  PathMaker maker(&host_->paths());
  for (const VertexRef vertex : walk_) {
    const Value object = Value::Of(vertex);
    RETURN_IF_ERROR(maker.Take(PathMaker::BytesFor(object)));
    ASSIGN_OR_RETURN(path, maker.Append(path, object, nullptr));
  }
  output->column.Append(path);
  return OkStatus();
}

Status ShortestPathOp::Step(const Batch& input) {
  switch (phase_) {
    case Phase::kBegin:
      return BeginRow(input);
    case Phase::kFindEnds:
      return FindEnds();
    case Phase::kSearch:
      return SearchOn();
    case Phase::kFound:
    case Phase::kNone:
      break;
  }
  return OkStatus();
}

Status ShortestPathOp::Process(const Batch& input, OpOutput* output, bool* done) {
  output->slot = 0;
  *done = false;
  if (!open_) {
    Operand current;
    current.column = &input.slots[0];
    elements_ = ElementRows::Of(current, input.rows);
    if (elements_.vertices.size() != input.rows) return OnlyVerticesHaveEdges();
    open_ = true;
    row_ = 0;
    phase_ = Phase::kBegin;
  }
  const size_t before = work_;
  const CallEnd end(host_->clock());
  bool over = false;
  while (!over && row_ < input.rows && work_ - before < kSearchWork &&
         output->origin.size() < output->limit) {
    RETURN_IF_ERROR(Step(input));
    over = end.has_come();
    if (phase_ != Phase::kFound && phase_ != Phase::kNone) continue;
    if (phase_ == Phase::kFound) RETURN_IF_ERROR(Give(input, output));
    forward_.Clear();
    backward_.Clear();
    phase_ = Phase::kBegin;
    ++row_;
    ++work_;
  }
  if (row_ < input.rows) return OkStatus();
  open_ = false;
  elements_ = {};
  *done = true;
  return OkStatus();
}

}  // namespace

StatusOr<OperatorBundle> MakeShortestPath(const plan::ShortestPath& op, uint32_t num_slots,
                                          OperatorHost* host) {
  ASSIGN_OR_RETURN(BoundHop hop, BoundHop::Bind(op.hop(), num_slots, host));
  ASSIGN_OR_RETURN(BoundEnds ends, BoundEnds::Bind(op.ends(), num_slots, host));
  if (op.path_slot() >= num_slots) return Internal("A path is in a slot that does not exist.");
  OperatorBundle bundle;
  bundle.stream = std::make_unique<ShortestPathOp>(op, std::move(hop), std::move(ends), host);
  return bundle;
}

}  // namespace koios::engine
