#include "engine/op/walk/count_reaching_op.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/expr/call_size.h"
#include "engine/expr/element_functions.h"
#include "engine/op/walk/backward_walk.h"
#include "engine/op/walk/reach_op.h"

namespace koios::engine {
namespace {

// What one call does, in edges: walked along or looked at.
constexpr size_t kCountWork = size_t{1} << 16;
// What it costs to walk along an edge and keep the end, in edges whose end is looked up.
constexpr int64_t kCostOfKeepingCounts = 2;

// The vertices from which the other hops lead to an end are kept, where that is worth it: rows with
// the same end stand together, and their ends are looked up where they stand in their lists. Else,
// or when the account has no room, they are expanded, and each is asked by an operator of its own.
class CountReachingOp final : public StreamOperator, private storage::EndVisitor {
 public:
  CountReachingOp(BoundHop first, Walk walk, std::unique_ptr<StreamOperator> asks,
                  uint32_t num_slots, OperatorHost* host)
      : host_(host),
        num_slots_(num_slots),
        first_hop_(std::move(first)),
        walk_(std::move(walk)),
        back_(&walk_, /*counts=*/false, host),
        asks_(std::move(asks)) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    if (!open_) RETURN_IF_ERROR(Open(input));
    if (first_hop_.none) row_ = input.rows;
    const size_t before = work();
    const CallEnd end(host_->clock());
    while (row_ < input.rows && work() - before < kCountWork) {
      RETURN_IF_ERROR(Step());
      if (end.has_come()) break;
    }
    output->looked_at = work() - before;
    *done = row_ == input.rows;
    open_ = !*done;
    output->identity = row_ - given_ == input.rows;
    if (!output->identity) {
      output->origin.resize(row_ - given_);
      std::iota(output->origin.begin(), output->origin.end(), static_cast<uint32_t>(given_));
    }
    const auto begin = counts_.begin() + static_cast<std::ptrdiff_t>(given_);
    output->column = Column::Of(
        std::vector<int64_t>(begin, counts_.begin() + static_cast<std::ptrdiff_t>(row_)));
    given_ = row_;
    return OkStatus();
  }

 private:
  enum class State : uint8_t { kChoosing, kLookingUp, kAsking };

  size_t work() const { return work_ + back_.work(); }

  Status Open(const Batch& input) {
    Operand current;
    current.column = &input.slots[0];
    elements_ = ElementRows::Of(current, input.rows);
    if (elements_.vertices.size() != input.rows) return OnlyVerticesHaveEdges();
    const uint32_t slot = walk_.ends.slot();
    const Column* targets = input.Has(slot) ? &input.slots[slot] : nullptr;
    if (targets == nullptr || targets->kind() != Column::Kind::kVertex || targets->has_absent()) {
      return Internal("The plan counts walks to what is no vertex.");
    }
    targets_ = *targets;
    counts_.assign(input.rows, 0);
    degrees_.Clear();
    row_ = end_ = given_ = 0;
    state_ = State::kChoosing;
    return OkStatus();
  }

  // Rows [row_, end_) have the same end.
  Status Step() {
    if (row_ == end_) {
      const std::span<const VertexRef> targets = targets_.vertices();
      while (end_ < targets.size() && targets[end_] == targets[row_]) ++end_;
      state_ = State::kChoosing;
      if (!has_target_ || target_ != targets[row_]) {
        has_target_ = true;
        target_ = targets[row_];
        edges_ = 0;
        RETURN_IF_ERROR(back_.Begin(target_));
      }
      counted_ = false;
    }
    if (!counted_) {
      ASSIGN_OR_RETURN(counted_, degrees_.Read(first_hop_, elements_.vertices, host_));
      if (!counted_) return OkStatus();
      edges_ += degrees_.Sum(row_, end_);
    }
    switch (state_) {
      case State::kChoosing:
        return Choose();
      case State::kLookingUp:
        return LookUp();
      case State::kAsking:
        return Ask();
    }
    return OkStatus();
  }

  // A hop back is walked when it spares the ends that have come so far more than it takes.
  Status Choose() {
    ++work_;
    if (back_.depth() == walk_.hops.size()) {
      Begin(State::kLookingUp);
      return OkStatus();
    }
    bool deepens = !back_.is_over();
    if (deepens && deepening_from_ != back_.depth()) {
      ASSIGN_OR_RETURN(const int64_t cost, back_.NextCost());
      deepens = cost / 2 <= edges_ / kCostOfKeepingCounts;
    }
    if (!deepens) {
      Begin(State::kAsking);
      return OkStatus();
    }
    deepening_from_ = back_.depth();
    RETURN_IF_ERROR(back_.Proceed());
    if (back_.depth() != deepening_from_ || back_.is_over()) deepening_from_ = kNowhere;
    return OkStatus();
  }

  void Begin(State state) {
    state_ = state;
    first_ = row_;
    cursor_ = {};
  }

  std::span<const VertexRef> Vertices() const {
    return elements_.vertices.subspan(first_, end_ - first_);
  }

  Status LookUp() {
    RETURN_IF_ERROR(visited_.Measure(
        host_->clock(),
        [&] {
          return host_->view().VisitEnds(Vertices(), first_hop_.direction, first_hop_.labels,
                                         &cursor_, visited_.size(), this);
        },
        [&] { return !cursor_.done; }));
    row_ = cursor_.done ? end_ : first_ + cursor_.row;
    return OkStatus();
  }
  void Visit(uint32_t row, std::span<const VertexRef> neighbours) override {
    int64_t found = 0;
    for (const VertexRef vertex : neighbours) found += back_.Contains(vertex) ? 1 : 0;
    counts_[first_ + row] += found;
    work_ += neighbours.size();
  }
  void VisitNarrow(uint32_t row, std::span<const uint32_t> neighbours,
                   const storage::NarrowRefs& refs) override {
    int64_t found = 0;
    for (const uint32_t vertex : neighbours) found += back_.Contains(refs.Widen(vertex)) ? 1 : 0;
    counts_[first_ + row] += found;
    work_ += neighbours.size();
  }

  // A batch of ends, or a share of its answers.
  Status Ask() {
    ++work_;
    if (asked_.rows == 0) {
      storage::Expansion ends;
      RETURN_IF_ERROR(expanded_.Measure(
          host_->clock(),
          [&] {
            return host_->view().Expand(Vertices(), first_hop_.direction, first_hop_.labels,
                                        /*want_edges=*/false, &cursor_, expanded_.size(), &ends);
          },
          [&] { return !cursor_.done; }));
      work_ += ends.rows.size();
      asked_rows_ = std::move(ends.rows);
      asked_.rows = asked_rows_.size();
      asked_.slots.resize(num_slots_);
      asked_.slots[0] = Column::Of(std::move(ends.neighbours));
      asked_.slots[walk_.ends.slot()] = Column::Of(std::vector<VertexRef>(asked_.rows, target_));
    }
    bool done = asked_.rows == 0;
    if (!done) {
      OpOutput answers;
      answers.cursor = std::move(asked_cursor_);
      RETURN_IF_ERROR(asks_->Process(asked_, &answers, &done));
      work_ += kBatchRows;
      asked_cursor_ = done ? nullptr : std::move(answers.cursor);
      for (size_t i = 0; i < answers.rows(asked_); ++i) {
        ++counts_[first_ + asked_rows_[answers.identity ? i : answers.origin[i]]];
      }
    }
    if (!done) return OkStatus();
    asked_ = {};
    if (cursor_.done) row_ = end_;
    return OkStatus();
  }

  static constexpr size_t kNowhere = ~size_t{0};

  OperatorHost* const host_;
  const uint32_t num_slots_;
  const BoundHop first_hop_;
  Walk walk_;  // of the other hops
  BackwardWalk back_;
  const std::unique_ptr<StreamOperator> asks_;
  size_t work_ = 0;
  CallSize visited_ = {64, kBatchRows, kCountWork};
  CallSize expanded_ = ExpandedInACall();

  // Whose walk back_ is, and the edges of rows that it is the end of.
  bool has_target_ = false;
  VertexRef target_;
  int64_t edges_ = 0;
  size_t deepening_from_ = kNowhere;  // depth; it is on its way to the next one

  // Of the batch.
  bool open_ = false;
  ElementRows elements_;
  Column targets_;
  HopDegrees degrees_;
  bool counted_ = true;  // of the rows with this end
  std::vector<int64_t> counts_;
  size_t row_ = 0;  // those before it are counted
  size_t end_ = 0;
  size_t given_ = 0;  // and these have come out
  State state_ = State::kChoosing;
  size_t first_ = 0;  // row where the cursor begins
  storage::ExpandCursor cursor_;
  Batch asked_;
  std::vector<uint32_t> asked_rows_;
  std::unique_ptr<StreamCursor> asked_cursor_;
};

}  // namespace

StatusOr<OperatorBundle> MakeCountReaching(const plan::Reach& op, uint32_t num_slots,
                                           OperatorHost* host) {
  if (op.hops_size() < 2 || op.hops(0).repeat() || op.hops(0).filter().nodes_size() > 0 ||
      !op.ends().has_at_slot() || op.ends().at_slot() == 0) {
    return Internal("The plan counts walks that can't be counted.");
  }
  plan::Reach others = op;
  others.mutable_hops()->DeleteSubrange(0, 1);
  others.set_result(plan::Reach::PASS);
  ASSIGN_OR_RETURN(BoundHop first, BoundHop::Bind(op.hops(0), num_slots, host));
  ASSIGN_OR_RETURN(Walk walk, Walk::Bind(others, num_slots, host));
  ASSIGN_OR_RETURN(OperatorBundle asks, MakeReach(others, num_slots, host));
  OperatorBundle bundle;
  bundle.stream = std::make_unique<CountReachingOp>(std::move(first), std::move(walk),
                                                    std::move(asks.stream), num_slots, host);
  return bundle;
}

}  // namespace koios::engine
