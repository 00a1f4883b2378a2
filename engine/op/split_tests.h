// SplitTests: which branch of a Split takes a row, by the tests of its options. Owned by the driver
// of one query on one worker; where it stands in a batch is in a cursor that the driver keeps.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/op/state/row_slices.h"

namespace koios::engine {

// Rows, in order, of each branch.
using PickedRows = std::vector<std::vector<uint32_t>>;

class SplitTests {
 public:
  // `copy`: a row goes to all branches whose test it passes, else to the first.
  SplitTests(std::vector<Expression> tests, bool copy);

  // A bounded share of the work. True: (*picked)[b] has the rows of branch b, for each test.
  // REQUIRES: the same batch until then.
  StatusOr<bool> Pick(const Batch& batch, const EvalSources& sources,
                      std::unique_ptr<StreamCursor>* cursor, PickedRows* picked);

 private:
  struct Picking : StreamCursor {
    size_t test = 0;
    std::unique_ptr<StreamCursor> at;  // of that test
    std::vector<uint8_t> taken;        // by row
    PickedRows picked;
  };

  void Take(const RowSlices::Slice& slice, Picking* picking);

  std::vector<RowSlices> tests_;
  const bool copy_;
  std::vector<uint32_t> selected_;  // scratch
};

}  // namespace koios::engine
