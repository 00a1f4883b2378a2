#include "engine/op/split_tests.h"

namespace koios::engine {

SplitTests::SplitTests(std::vector<Expression> tests, bool copy) : copy_(copy) {
  tests_.reserve(tests.size());
  for (Expression& test : tests) tests_.emplace_back(std::move(test));
}

void SplitTests::Take(const RowSlices::Slice& slice, Picking* picking) {
  selected_.clear();
  SelectRows(*slice.result, slice.end - slice.begin, &selected_, nullptr);
  for (const uint32_t selected : selected_) {
    const auto row = static_cast<uint32_t>(slice.begin + selected);
    if (picking->taken[row] != 0) continue;
    picking->picked[picking->test].push_back(row);
    if (!copy_) picking->taken[row] = 1;
  }
}

StatusOr<bool> SplitTests::Pick(const Batch& batch, const EvalSources& sources,
                                std::unique_ptr<StreamCursor>* cursor, PickedRows* picked) {
  if (*cursor == nullptr) {
    auto fresh = std::make_unique<Picking>();
    fresh->taken.resize(batch.rows, 0);
    fresh->picked.resize(tests_.size());
    *cursor = std::move(fresh);
  }
  auto& picking = *static_cast<Picking*>(cursor->get());
  for (size_t bytes = 0; picking.test < tests_.size();) {
    if (bytes >= RowSlices::kCallBytes) return false;
    ASSIGN_OR_RETURN(const RowSlices::Slice slice,
                     tests_[picking.test].Next(batch, sources, kBatchRows, &picking.at));
    if (slice.result == nullptr) return false;
    Take(slice, &picking);
    bytes += slice.bytes;
    if (slice.end < batch.rows) continue;
    picking.at.reset();
    ++picking.test;
  }
  *picked = std::move(picking.picked);
  cursor->reset();
  return true;
}

}  // namespace koios::engine
