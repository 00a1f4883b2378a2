#include "engine/op/walk/reach_op.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/expr/call_size.h"
#include "engine/expr/element_functions.h"
#include "engine/op/walk/backward_walk.h"
#include "engine/op/walk/count_reaching_op.h"
#include "engine/op/walk/forward_walk.h"

namespace koios::engine {
namespace {

// Edges walked along in one call, about.
constexpr size_t kCallWork = 2 * kBatchRows;
// Rows that are walked from together: first, and at most. As many as come to few edges.
constexpr size_t kFirstWalkers = 8;
constexpr size_t kMostRows = 256;
constexpr size_t kSliceWork = 16 * kBatchRows;
// Edges that are looked at to tell how many there are behind them.
constexpr size_t kSampled = 128;
// What it costs to walk along an edge and keep the end, in edges whose end is looked up.
constexpr double kCostOfKeeping = 2;
// Fewer edges than this are walked along rather than looked at from the other side.
constexpr int64_t kFewEdges = 64;
// A search for the edges of a pair costs about as much as walking along so many.
constexpr int64_t kEdgesOfAPair = 16;

// Walks are looked at from both sides. Backwards from the ends is better where many rows have the
// same ones. Where the ends are the same for all rows nobody knows how many rows there will be:
// each side does as much work as the other one has done, until the rows need but look up. Where
// each row has its own end, rows with the same one stand together, and the numbers of edges say
// which side is shorter. The edges of a pair of vertices are searched for and not walked along.
class ReachOp final : public StreamOperator {
 public:
  ReachOp(const plan::Reach& op, Walk walk, OperatorHost* host)
      : result_(op.result()),
        flag_slot_(op.flag_slot()),
        host_(host),
        walk_(std::move(walk)),
        counts_(op.result() == plan::Reach::COUNT),
        are_pairs_(walk_.ends.at_slot() && walk_.hops.size() == 1 && !walk_.hops[0].repeats &&
                   walk_.hops[0].filter == nullptr),
        back_(&walk_, counts_, host),
        forward_(&walk_, counts_, host,
                 [this](std::span<const uint32_t> rows, std::span<const VertexRef> vertices) {
                   return Arrive(rows, vertices);
                 }) {
    if (!walk_.ends.at_slot()) back_.BeginWithEnds();
  }

  Status Process(const Batch& input, OpOutput* output, bool* done) override;
  bool SkipTo(size_t row, StreamCursor*) override {
    skipped_ = std::max(skipped_, row);
    if (slice_open_) {
      forward_.SkipTo(std::max(row, row_) - row_);
    } else if (!pairs_open_) {
      row_ = std::max(row_, row);
    }
    return true;
  }

 private:
  Status Open(const Batch& input);
  void ReadTargets(const Batch& input);
  Status BeginSlice(const Batch& input, OpOutput* output);
  Status BeginOfAll(const Batch& input, OpOutput* output);
  Status BeginOfOne(const Batch& input, OpOutput* output);
  // The first row behind those with the same end as row `row`.
  size_t EndOfSame(size_t row) const;
  int64_t EdgesOf(size_t begin, size_t end) const { return degrees_.Sum(begin, end); }
  // Edges that rows with so many edges will walk along on the last of `hops` hops, about.
  double LastHop(int64_t edges, size_t hops) const;
  Status ReadGrowth(size_t begin, size_t end);
  int64_t CostOf(size_t begin, size_t end) const;
  void StartPairs(size_t end);
  Status SearchPairs(const Batch& input, OpOutput* output);
  Status KeepPassing(std::span<const VertexRef> vertices, std::vector<uint32_t>* at);
  StatusOr<bool> DeepensFor(size_t begin, size_t end);
  Status Deepen();
  void StartWalk(size_t end, size_t hops, bool meets);
  Status Arrive(std::span<const uint32_t> rows, std::span<const VertexRef> vertices);
  Status GiveRow(const Batch& input, size_t row, int64_t times, OpOutput* output);
  Status LookUp(const Batch& input, size_t end, OpOutput* output);
  Status Emit(const Batch& input, OpOutput* output);
  bool IsAtEnd(uint32_t row, VertexRef vertex) const {
    return has_target_[row_ + row] != 0 && targets_[row_ + row] == vertex;
  }
  size_t hops() const { return walk_.hops.size(); }
  size_t work() const { return forward_.work() + back_.work() + pair_work_; }

  const plan::Reach::Result result_;
  const uint32_t flag_slot_;
  OperatorHost* const host_;
  Walk walk_;
  const bool counts_;
  const bool are_pairs_;  // rows and their ends are joined by one edge: its search is a walk
  BackwardWalk back_;
  ForwardWalk forward_;

  // Of the batch.
  bool open_ = false;
  ElementRows elements_;
  std::vector<VertexRef> targets_;  // by row, where ends are at a slot
  std::vector<uint8_t> has_target_;
  HopDegrees degrees_;  // of the first hop, by row
  size_t row_ = 0;      // those before it have had their answer
  size_t skipped_ = 0;

  // Rows [row_, slice_end_) are being walked from, or searched as pairs.
  bool slice_open_ = false;
  bool pairs_open_ = false;
  storage::BetweenCursor between_;
  std::vector<int64_t> between_found_;
  size_t pair_work_ = 0;
  CallSize pairs_searched_ = {32, kBatchRows / 4, kBatchRows};
  bool meets_ = false;  // what arrives is looked up in back_
  size_t slice_end_ = 0;
  size_t slice_rows_ = kFirstWalkers;
  size_t slice_work_ = 0;  // work of forward_ before it

  // Whose walk back_ is, where ends are at a slot.
  bool has_end_ = false;
  VertexRef end_;
  double growth_ = 1;         // edges behind one of its rows' edges, about
  int64_t edges_to_end_ = 0;  // first hops of rows that it is the end of
  size_t counted_to_ = 0;     // rows of the batch before it are counted in there
  bool deepens_ = false;      // it is on a hop from this depth on
  size_t deepens_from_ = 0;
};

Status ReachOp::Open(const Batch& input) {
  Operand current;
  current.column = &input.slots[0];
  elements_ = ElementRows::Of(current, input.rows);
  if (elements_.vertices.size() != input.rows) return OnlyVerticesHaveEdges();
  row_ = skipped_ = counted_to_ = 0;
  open_ = true;
  degrees_.Clear();
  if (walk_.ends.at_slot()) ReadTargets(input);
  return OkStatus();
}

// What is no vertex, or not there, is at the end of no walk.
void ReachOp::ReadTargets(const Batch& input) {
  targets_.assign(input.rows, VertexRef());
  has_target_.assign(input.rows, 0);
  if (!input.Has(walk_.ends.slot())) return;
  const Column& column = input.slots[walk_.ends.slot()];
  if (column.kind() == Column::Kind::kVertex && !column.has_absent()) {
    const std::span<const VertexRef> vertices = column.vertices();
    targets_.assign(vertices.begin(), vertices.end());
    has_target_.assign(input.rows, 1);
    return;
  }
  for (size_t row = 0; row < input.rows; ++row) {
    if (column.IsAbsent(row)) continue;
    const Value value = column.Get(row);
    if (value.kind() != ValueKind::kVertex) continue;
    targets_[row] = value.AsVertex();
    has_target_[row] = 1;
  }
}

size_t ReachOp::EndOfSame(size_t row) const {
  size_t end = row + 1;
  while (end < targets_.size() && targets_[end] == targets_[row] &&
         has_target_[end] == has_target_[row]) {
    ++end;
  }
  return end;
}

double ReachOp::LastHop(int64_t edges, size_t hops) const {
  auto walked = static_cast<double>(edges);
  for (size_t hop = 1; hop < hops; ++hop) walked *= growth_;
  return walked;
}

// How many edges there are behind one of theirs. Neighbours have more of them than rows have, as
// vertices with many are everybody's neighbours.
Status ReachOp::ReadGrowth(size_t begin, size_t end) {
  growth_ = 1;
  if (hops() == 1 || walk_.hops[0].none || walk_.hops[1].none) return OkStatus();
  storage::Expansion sample;
  storage::ExpandCursor edges;
  RETURN_IF_ERROR(host_->view().Expand(elements_.vertices.subspan(begin, end - begin),
                                       walk_.hops[0].direction, walk_.hops[0].labels,
                                       /*want_edges=*/false, &edges, kSampled, &sample));
  if (sample.neighbours.empty()) return OkStatus();
  const auto at = [&sample](size_t i) { return sample.neighbours[i]; };
  ASSIGN_OR_RETURN(const int64_t all,
                   EstimateEnds(host_->view(), host_->clock(), sample.neighbours.size(), at,
                                walk_.hops[1].direction, walk_.hops[1].labels));
  const auto sampled = static_cast<double>(sample.neighbours.size());
  growth_ = std::max(1.0, static_cast<double>(all) / sampled);
  return OkStatus();
}

Status ReachOp::BeginSlice(const Batch& input, OpOutput* output) {
  slice_work_ = forward_.work();
  return walk_.ends.at_slot() ? BeginOfOne(input, output) : BeginOfAll(input, output);
}

Status ReachOp::BeginOfAll(const Batch& input, OpOutput* output) {
  // What is looked up by its id is no work; a scan has its turn as the rows have theirs.
  while (!back_.is_over() && (!walk_.ends.is_scan() && !back_.has_ends())) {
    RETURN_IF_ERROR(back_.Proceed());
  }
  if (!walk_.ends.is_scan() && !back_.has_ends()) return back_.refused();
  const CallEnd end(host_->clock());
  const size_t most = std::min(forward_.work(), back_.work() + kCallWork);
  while (!back_.is_over() && back_.work() < most) {
    RETURN_IF_ERROR(back_.Proceed());
    if (end.has_come()) break;
  }
  const size_t depth = back_.has_ends() ? back_.depth() : 0;
  if (depth == hops()) return LookUp(input, input.rows, output);
  StartWalk(std::min(row_ + slice_rows_, input.rows), hops() - depth, back_.has_ends());
  return OkStatus();
}

// Rows with one end are walked from until the walk from there; those whose ends are not worth that,
// all together.
Status ReachOp::BeginOfOne(const Batch& input, OpOutput* output) {
  size_t end = EndOfSame(row_);
  if (has_end_ && has_target_[row_] != 0 && end_ == targets_[row_] && back_.depth() == hops()) {
    return LookUp(input, end, output);
  }
  ASSIGN_OR_RETURN(const bool known, degrees_.Read(walk_.hops[0], elements_.vertices, host_));
  if (!known) return OkStatus();
  const auto is_worth_it = [this](size_t begin, size_t behind) {
    if (has_target_[begin] == 0) return false;
    if (has_end_ && end_ == targets_[begin]) return true;
    return CostOf(begin, behind) > (hops() == 1 ? kFewEdges : 0);
  };
  if (is_worth_it(row_, end)) {
    ASSIGN_OR_RETURN(const bool deepens, DeepensFor(row_, end));
    if (deepens || back_.depth() == hops()) return OkStatus();
    if (CostOf(row_, end) < EdgesOf(row_, end)) {
      StartPairs(std::min(end, row_ + kMostRows));
    } else {
      StartWalk(std::min(end, row_ + slice_rows_), hops() - back_.depth(), back_.depth() > 0);
    }
    return OkStatus();
  }
  const size_t most = std::min(row_ + kMostRows, targets_.size());
  while (end < most && !is_worth_it(end, EndOfSame(end))) end = EndOfSame(end);
  end = std::min(end, most);
  if (CostOf(row_, end) < EdgesOf(row_, end)) {
    StartPairs(end);
  } else {
    StartWalk(end, hops(), false);
  }
  return OkStatus();
}

// What the first hop of these rows costs, in edges: those there are, or a search for each pair.
int64_t ReachOp::CostOf(size_t begin, size_t end) const {
  const int64_t edges = EdgesOf(begin, end);
  return are_pairs_ ? std::min(edges, kEdgesOfAPair * static_cast<int64_t>(end - begin)) : edges;
}

// As many of them as the filter of the ends may be asked about at once.
void ReachOp::StartPairs(size_t end) {
  slice_end_ = std::min(end, row_ + RowsAtOnce(walk_.ends.filter()));
  pairs_open_ = true;
  between_ = {};
  between_found_.clear();
}

// A call's share of the pairs; at their end they have their answers.
Status ReachOp::SearchPairs(const Batch& input, OpOutput* output) {
  const BoundHop& hop = walk_.hops[0];
  const size_t count = slice_end_ - row_;
  const size_t before = between_.row;
  if (!hop.none) {
    const storage::VertexPairs pairs{elements_.vertices.subspan(row_, count),
                                     std::span(targets_).subspan(row_, count)};
    const int64_t enough = counts_ ? std::numeric_limits<int64_t>::max() : 1;
    const size_t steps = pairs_searched_.size();
    RETURN_IF_ERROR(pairs_searched_.Measure(
        host_->clock(),
        [&] {
          return host_->view().CountBetween(pairs, hop.direction, hop.labels, enough, &between_,
                                            steps, &between_found_);
        },
        [&] { return !between_.done; }));
    pair_work_ += between_.done ? kEdgesOfAPair * (count - before) : steps;
    if (!between_.done) return OkStatus();
  }
  between_found_.resize(count, 0);
  std::vector<uint32_t> at_end;
  for (uint32_t i = 0; i < count; ++i) {
    if (has_target_[row_ + i] != 0 && between_found_[i] > 0) at_end.push_back(i);
  }
  RETURN_IF_ERROR(KeepPassing(std::span(targets_).subspan(row_, count), &at_end));
  std::vector<int64_t> kept(count, 0);
  for (const uint32_t i : at_end) kept[i] = between_found_[i];
  between_found_ = std::move(kept);
  for (size_t row = std::max(row_, skipped_); row < slice_end_; ++row) {
    RETURN_IF_ERROR(GiveRow(input, row, between_found_[row - row_], output));
  }
  row_ = slice_end_;
  pairs_open_ = false;
  return OkStatus();
}

// Drops the positions of vertices which the filter of the ends does not let pass.
Status ReachOp::KeepPassing(std::span<const VertexRef> vertices, std::vector<uint32_t>* at) {
  if (walk_.ends.filter() == nullptr || at->empty()) return OkStatus();
  std::vector<VertexRef> asked;
  for (const uint32_t i : *at) asked.push_back(vertices[i]);
  std::vector<uint32_t> passing;
  RETURN_IF_ERROR(walk_.ends.filter()->Select(asked, &passing));
  for (size_t i = 0; i < passing.size(); ++i) (*at)[i] = (*at)[passing[i]];
  at->resize(passing.size());
  return OkStatus();
}

// Whether a hop back from the end of these rows spares them more than it takes: then it begins.
StatusOr<bool> ReachOp::DeepensFor(size_t begin, size_t end) {
  if (!has_end_ || end_ != targets_[begin]) {
    has_end_ = true;
    end_ = targets_[begin];
    edges_to_end_ = 0;
    RETURN_IF_ERROR(back_.Begin(end_));
    RETURN_IF_ERROR(ReadGrowth(begin, end));
  }
  const int64_t edges = CostOf(begin, end);
  counted_to_ = std::max(counted_to_, begin);
  if (counted_to_ < end) edges_to_end_ += CostOf(counted_to_, end);
  counted_to_ = std::max(counted_to_, end);
  if (back_.is_over()) return false;
  const double again =
      static_cast<double>(edges_to_end_) / static_cast<double>(std::max<int64_t>(edges, 1));
  ASSIGN_OR_RETURN(const int64_t cost, back_.NextCost());
  const double spared = again * LastHop(edges, hops() - back_.depth());
  deepens_ = kCostOfKeeping * static_cast<double>(cost) < spared;
  deepens_from_ = back_.depth();
  return deepens_;
}

Status ReachOp::Deepen() {
  RETURN_IF_ERROR(back_.Proceed());
  deepens_ = !back_.is_over() && back_.depth() == deepens_from_;
  return OkStatus();
}

void ReachOp::StartWalk(size_t end, size_t hops, bool meets) {
  slice_open_ = true;
  slice_end_ = end;
  meets_ = meets;
  forward_.Begin(elements_.vertices.subspan(row_, end - row_), hops,
                 meets ? nullptr : walk_.ends.filter());
  if (skipped_ > row_) forward_.SkipTo(skipped_ - row_);
}

Status ReachOp::Arrive(std::span<const uint32_t> rows, std::span<const VertexRef> vertices) {
  std::vector<int64_t>& found = forward_.found();
  if (meets_) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!counts_) {
        if (back_.Contains(vertices[i])) found[rows[i]] = 1;
      } else if (__builtin_add_overflow(found[rows[i]], back_.TimesOf(vertices[i]),
                                        &found[rows[i]])) {
        return TooManyWalks();
      }
    }
    return OkStatus();
  }
  std::vector<uint32_t> at_end;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    if (!walk_.ends.at_slot() || IsAtEnd(rows[i], vertices[i])) at_end.push_back(i);
  }
  RETURN_IF_ERROR(KeepPassing(vertices, &at_end));
  for (const uint32_t i : at_end) ++found[rows[i]];
  return OkStatus();
}

// The row has had its answer.
Status ReachOp::GiveRow(const Batch& input, size_t row, int64_t times, OpOutput* output) {
  if (result_ == plan::Reach::FLAG) {
    output->column.AppendBool(times != 0);
  } else if ((times != 0) == (result_ == plan::Reach::STOP)) {
    return OkStatus();
  }
  output->origin.push_back(static_cast<uint32_t>(row));
  if (result_ != plan::Reach::COUNT) return OkStatus();
  output->column.AppendVertex(targets_[row]);
  int64_t bulk = 0;
  if (__builtin_mul_overflow(input.BulkAt(row), times, &bulk)) return TooManyWalks();
  output->bulk.push_back(bulk);
  return OkStatus();
}

// The rows before `end` need not walk at all.
Status ReachOp::LookUp(const Batch& input, size_t end, OpOutput* output) {
  for (size_t row = std::max(row_, skipped_); row < end; ++row) {
    const VertexRef vertex = elements_.vertices[row];
    const int64_t times = counts_ ? back_.TimesOf(vertex) : back_.Contains(vertex) ? 1 : 0;
    RETURN_IF_ERROR(GiveRow(input, row, times, output));
  }
  row_ = end;
  return OkStatus();
}

// What the slice has come to.
Status ReachOp::Emit(const Batch& input, OpOutput* output) {
  const std::vector<int64_t>& found = forward_.found();
  for (size_t row = std::max(row_, skipped_); row < slice_end_; ++row) {
    RETURN_IF_ERROR(GiveRow(input, row, found[row - row_], output));
  }
  const size_t work = forward_.work() - slice_work_;
  if (work < kSliceWork / 4) slice_rows_ = std::min(slice_rows_ * 2, kMostRows);
  if (work > kSliceWork) slice_rows_ = std::max<size_t>(slice_rows_ / 2, 1);
  row_ = slice_end_;
  slice_open_ = false;
  return OkStatus();
}

Status ReachOp::Process(const Batch& input, OpOutput* output, bool* done) {
  output->slot = result_ == plan::Reach::COUNT  ? 0
                 : result_ == plan::Reach::FLAG ? static_cast<int>(flag_slot_)
                                                : -1;
  output->has_bulk = counts_;
  *done = false;
  if (!open_) RETURN_IF_ERROR(Open(input));
  const size_t before = work();
  const CallEnd end(host_->clock());
  while (row_ < input.rows && work() - before < kCallWork) {
    if (deepens_) {
      RETURN_IF_ERROR(Deepen());
    } else if (pairs_open_) {
      RETURN_IF_ERROR(SearchPairs(input, output));
    } else if (!slice_open_) {
      RETURN_IF_ERROR(BeginSlice(input, output));
    } else {
      ASSIGN_OR_RETURN(const bool more, forward_.Proceed());
      if (!more) RETURN_IF_ERROR(Emit(input, output));
    }
    if (end.has_come()) break;
  }
  if (row_ < input.rows) return OkStatus();
  open_ = false;
  elements_ = {};
  *done = true;
  output->identity = output->origin.size() == input.rows;
  return OkStatus();
}

}  // namespace

StatusOr<OperatorBundle> MakeReach(const plan::Reach& op, uint32_t num_slots, OperatorHost* host) {
  if (op.result() == plan::Reach::NUMBER) return MakeCountReaching(op, num_slots, host);
  ASSIGN_OR_RETURN(Walk walk, Walk::Bind(op, num_slots, host));
  const bool counts = op.result() == plan::Reach::COUNT;
  const bool repeats = std::any_of(walk.hops.begin(), walk.hops.end(),
                                   [](const BoundHop& hop) { return hop.repeats; });
  if (counts && (repeats || !walk.ends.at_slot())) {
    return Internal("The plan counts walks that can't be counted.");
  }
  if (op.result() == plan::Reach::FLAG && op.flag_slot() >= num_slots) {
    return Internal("The plan writes a flag to a slot that does not exist.");
  }
  OperatorBundle bundle;
  bundle.stream = std::make_unique<ReachOp>(op, std::move(walk), host);
  return bundle;
}

}  // namespace koios::engine
