#include "engine/op/walk/count_others_op.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/expr/call_size.h"
#include "engine/expr/element_functions.h"
#include "engine/op/source_ops.h"
#include "engine/op/walk/walk.h"

namespace koios::engine {
namespace {

// A shorter list is read through; in a longer one what is equal is searched for.
constexpr size_t kReadThrough = 64;

// How many of the list, which ascends, are this one.
template <typename Reference>
size_t TimesOf(Reference reference, std::span<const Reference> list) {
  if (list.size() <= kReadThrough) {
    uint32_t times = 0;
    for (const Reference each : list) times += each == reference ? 1 : 0;
    return times;
  }
  const auto [begin, end] = std::equal_range(list.begin(), list.end(), reference);
  return static_cast<size_t>(end - begin);
}

class CountOthersOp final : public StreamOperator, private storage::EndVisitor {
 public:
  CountOthersOp(const plan::Expand& op, OperatorHost* host)
      : host_(host),
        direction_(static_cast<Direction>(op.direction())),
        slot_(op.other_than_slot()),
        labels_(FindLabels(host, op.labels(), &none_)) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    output->slot = 0;
    if (!open_) RETURN_IF_ERROR(Open(input));
    if (none_) cursor_.done = true;
    if (!cursor_.done) {
      RETURN_IF_ERROR(most_counted_.Measure(
          host_->clock(),
          [&] {
            return host_->view().VisitEnds(elements_.vertices.subspan(first_), direction_, labels_,
                                           &cursor_, most_counted_.size(), this);
          },
          [&] { return !cursor_.done; }));
    }
    output->looked_at = std::exchange(looked_at_, 0);
    *done = cursor_.done;
    open_ = !*done;
    const size_t end = *done ? input.rows : first_ + cursor_.row;
    output->identity = end - given_ == input.rows;
    if (!output->identity) {
      output->origin.resize(end - given_);
      std::iota(output->origin.begin(), output->origin.end(), static_cast<uint32_t>(given_));
    }
    const auto begin = counts_.begin() + static_cast<std::ptrdiff_t>(given_);
    output->column =
        Column::Of(std::vector<int64_t>(begin, counts_.begin() + static_cast<std::ptrdiff_t>(end)));
    given_ = end;
    return OkStatus();
  }

  bool SkipTo(size_t row, StreamCursor*) override {
    if (row <= first_ + cursor_.row) return true;
    first_ = given_ = row;
    cursor_ = {};
    return true;
  }

 private:
  Status Open(const Batch& input) {
    Operand current;
    current.column = &input.slots[0];
    elements_ = ElementRows::Of(current, input.rows);
    if (elements_.vertices.size() != input.rows) return OnlyVerticesHaveEdges();
    const Column* others = input.Has(slot_) ? &input.slots[slot_] : nullptr;
    if (others == nullptr || others->kind() != Column::Kind::kVertex || others->has_absent()) {
      return Internal("The plan counts ends that are not what is no vertex.");
    }
    others_ = *others;
    counts_.assign(input.rows, 0);
    first_ = given_ = 0;
    cursor_ = {};
    return OkStatus();
  }

  void Visit(uint32_t row, std::span<const VertexRef> neighbours) override {
    const VertexRef other = others_.vertices()[first_ + row];
    Add(row, neighbours.size() - TimesOf(other, neighbours));
  }
  void VisitNarrow(uint32_t row, std::span<const uint32_t> neighbours,
                   const storage::NarrowRefs& refs) override {
    const VertexRef other = others_.vertices()[first_ + row];
    const size_t times = refs.Fits(other) ? TimesOf(refs.Narrow(other), neighbours) : 0;
    Add(row, neighbours.size() - times);
  }
  void Add(uint32_t row, size_t ends) {
    counts_[first_ + row] += static_cast<int64_t>(ends);
    looked_at_ += ends;
  }

  OperatorHost* const host_;
  const Direction direction_;
  const uint32_t slot_;
  bool none_ = false;
  const std::vector<LabelId> labels_;
  // Of the batch.
  bool open_ = false;
  ElementRows elements_;
  Column others_;
  std::vector<int64_t> counts_;
  size_t looked_at_ = 0;
  size_t first_ = 0;  // row where the cursor begins
  size_t given_ = 0;  // rows before it have come out, or are not needed
  storage::ExpandCursor cursor_;
  CallSize most_counted_ = CountedInACall();
};

}  // namespace

OperatorBundle MakeCountOthers(const plan::Expand& op, OperatorHost* host) {
  OperatorBundle bundle;
  bundle.stream = std::make_unique<CountOthersOp>(op, host);
  return bundle;
}

}  // namespace koios::engine
