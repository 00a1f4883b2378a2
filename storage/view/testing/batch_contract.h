// The contract of GraphView's calls that answer much at once: edges between pairs of vertices, and
// several properties of many elements. Its tests are in batch_contract_test.cc.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "storage/graph_view_contract.h"

namespace koios::storage {

class BatchContract : public GraphViewContract {
 protected:
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

  // Each vertex with each, and with what does not exist.
  void SetUp() override {
    GraphViewContract::SetUp();
    std::vector<VertexRef> vertices = graph_.vertices;
    vertices.push_back(Missing());
    for (const VertexRef a : vertices) {
      for (const VertexRef b : vertices) {
        here_.push_back(a);
        there_.push_back(b);
      }
    }
  }
  std::vector<int64_t> Expected(Direction direction, const std::vector<LabelId>& labels,
                                int64_t enough) const {
    std::vector<int64_t> expected;
    for (size_t i = 0; i < here_.size(); ++i) {
      const auto ends = EndsOf(here_[i], direction, labels);
      const auto between = std::count_if(
          ends.begin(), ends.end(), [&](const auto& end) { return end.neighbour == there_[i]; });
      expected.push_back(std::min<int64_t>(between, enough));
    }
    return expected;
  }

  static void ExpectSame(const PropertyColumn& column, const PropertyRows& rows) {
    EXPECT_EQ(column.rows, rows.rows);
    ASSERT_EQ(column.values.size(), rows.values.size());
    for (size_t i = 0; i < column.values.size(); ++i) {
      EXPECT_TRUE(Equivalent(column.values.Get(i), rows.values.Get(i)));
    }
  }

  std::vector<VertexRef> here_, there_;
};

}  // namespace koios::storage
