// The contract of GraphView's calls that answer much at once: edges between pairs of vertices, and
// several properties of many elements. A backend is that of graph_view_contract.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "storage/graph_view_contract.h"

namespace koios::storage {

template <typename Backend>
class BatchContract : public GraphViewContract<Backend> {
 protected:
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

  // Each vertex with each, and with what does not exist.
  void SetUp() override {
    GraphViewContract<Backend>::SetUp();
    std::vector<VertexRef> vertices = this->graph_.vertices;
    vertices.push_back(this->Missing());
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
      const auto ends = this->EndsOf(here_[i], direction, labels);
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

TYPED_TEST_SUITE_P(BatchContract);

TYPED_TEST_P(BatchContract, CountsEdgesBetweenPairsAtAnyLimit) {
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : this->LabelChoices()) {
      for (const int64_t enough : {int64_t{1}, int64_t{2}, this->kAll}) {
        const std::vector<int64_t> expected = this->Expected(direction, labels, enough);
        for (const size_t limit : {1, 2, 7, 1000}) {
          std::vector<int64_t> counts;
          BetweenCursor cursor;
          for (int calls = 0; !cursor.done && calls < 10'000; ++calls) {
            ASSERT_TRUE(this->view()
                            .CountBetween({this->here_, this->there_}, direction, labels, enough,
                                          &cursor, limit, &counts)
                            .ok());
            ASSERT_EQ(cursor.row, counts.size());
          }
          ASSERT_EQ(counts, expected) << limit << " " << enough;
        }
      }
    }
  }
}

TYPED_TEST_P(BatchContract, CountsBetweenNoPairs) {
  BetweenCursor cursor;
  std::vector<int64_t> counts = {5};
  ASSERT_TRUE(this->view().CountBetween({}, Direction::kOut, {}, 1, &cursor, 10, &counts).ok());
  EXPECT_TRUE(cursor.done);
  EXPECT_EQ(counts, std::vector<int64_t>{5});
}

// As if each key were asked for by itself.
TYPED_TEST_P(BatchContract, GivesSeveralPropertiesAsColumns) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices[1] = this->Missing();
  vertices.push_back(vertices[0]);
  std::vector<EdgeRef> edges = this->graph_.edges;
  edges[1].id = this->Missing().bits;
  std::vector<KeyId> keys = {this->Key("weight"), 12345,
                             this->Key("name"),   this->Key("tags"),
                             this->Key("since"),  this->Key("age")};
  for (int round = 0; round < 2; ++round) {
    std::vector<PropertyColumn> of_vertices(3), of_edges;
    ASSERT_TRUE(this->view().VertexColumns(vertices, keys, &of_vertices).ok());
    ASSERT_TRUE(this->view().EdgeColumns(edges, keys, &of_edges).ok());
    ASSERT_EQ(of_vertices.size(), keys.size());
    ASSERT_EQ(of_edges.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      PropertyRows one;
      ASSERT_TRUE(this->view().VertexProperties(vertices, {&keys[i], 1}, &one).ok());
      this->ExpectSame(of_vertices[i], one);
      one = {};
      ASSERT_TRUE(this->view().EdgeProperties(edges, {&keys[i], 1}, &one).ok());
      this->ExpectSame(of_edges[i], one);
    }
    const size_t name = round == 0 ? 2 : 0;
    EXPECT_EQ(of_vertices[name].rows, (std::vector<uint32_t>{0, 4, 7, 8}));
    EXPECT_TRUE(Equivalent(of_vertices[name].values.Get(3), Value::String("marko")));
    EXPECT_TRUE(of_edges[name].rows.empty());
    keys = {this->Key("name")};
  }
}

REGISTER_TYPED_TEST_SUITE_P(BatchContract, CountsEdgesBetweenPairsAtAnyLimit, CountsBetweenNoPairs,
                            GivesSeveralPropertiesAsColumns);

}  // namespace koios::storage
