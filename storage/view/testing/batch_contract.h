// The contract of GraphView's calls that answer much at once: edges between pairs of vertices, and
// several properties of many elements. A backend is that of graph_view_contract.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/value_codec.h"
#include "storage/graph_view_contract.h"

namespace koios::storage {

// All that a visitor is shown.
struct SeenEnds final : EndVisitor {
  void Visit(uint32_t row, std::span<const VertexRef> found) override {
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    rows.insert(rows.end(), found.size(), row);
    neighbours.insert(neighbours.end(), found.begin(), found.end());
  }
  void VisitNarrow(uint32_t row, std::span<const uint32_t> found, const NarrowRefs& refs) override {
    std::vector<VertexRef> wide;
    for (const uint32_t neighbour : found) wide.push_back(refs.Widen(neighbour));
    Visit(row, wide);
  }
  std::vector<uint32_t> rows;
  std::vector<VertexRef> neighbours;
};

using ValueCounts = std::map<std::string, int64_t>;  // by the value's bytes

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

// What Expand gives, row by row, each call's in order.
TYPED_TEST_P(BatchContract, VisitsEndsAtAnyLimit) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices.push_back(this->Missing());
  vertices.insert(vertices.end(), this->graph_.vertices.begin(), this->graph_.vertices.end());
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : this->LabelChoices()) {
      Expansion expected;
      for (ExpandCursor cursor; !cursor.done;) {
        ASSERT_TRUE(
            this->view().Expand(vertices, direction, labels, false, &cursor, 1000, &expected).ok());
      }
      for (const size_t limit : {1, 2, 7, 1000}) {
        SeenEnds seen;
        ExpandCursor cursor;
        for (int calls = 0; !cursor.done && calls < 10'000; ++calls) {
          const size_t before = seen.rows.size();
          ASSERT_TRUE(
              this->view().VisitEnds(vertices, direction, labels, &cursor, limit, &seen).ok());
          ASSERT_LE(seen.rows.size() - before, limit);
        }
        ASSERT_EQ(seen.rows, expected.rows) << limit;
        ASSERT_EQ(seen.neighbours, expected.neighbours) << limit;
      }
    }
  }
}

// What Expand gives of the neighbours that have the labels; a label that nobody has.
TYPED_TEST_P(BatchContract, ExpandsToLabelsAtAnyLimit) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices.push_back(this->Missing());
  vertices.insert(vertices.end(), this->graph_.vertices.begin(), this->graph_.vertices.end());
  std::vector<LabelId> of_all;
  ASSERT_TRUE(this->view().VertexLabels(this->graph_.vertices, &of_all).ok());
  std::vector<std::vector<LabelId>> choices = {{this->Label("knows") + 1000}};
  for (const LabelId label : of_all) choices.push_back({label});
  choices.push_back(of_all);
  size_t given = 0, left_out = 0;
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : this->LabelChoices()) {
      Expansion all;
      std::vector<LabelId> of;
      for (ExpandCursor cursor; !cursor.done;) {
        ASSERT_TRUE(
            this->view().Expand(vertices, direction, labels, false, &cursor, 1000, &all).ok());
      }
      ASSERT_TRUE(this->view().VertexLabels(all.neighbours, &of).ok());
      for (const std::vector<LabelId>& wanted : choices) {
        Expansion expected;
        for (size_t i = 0; i < of.size(); ++i) {
          if (std::find(wanted.begin(), wanted.end(), of[i]) == wanted.end()) continue;
          expected.rows.push_back(all.rows[i]);
          expected.neighbours.push_back(all.neighbours[i]);
        }
        given += expected.rows.size();
        left_out += of.size() - expected.rows.size();
        for (const size_t limit : {1, 2, 7, 1000}) {
          Expansion found;
          ExpandCursor cursor;
          for (int calls = 0; !cursor.done && calls < 10'000; ++calls) {
            const size_t before = found.rows.size();
            ASSERT_TRUE(this->view()
                            .ExpandTo(vertices, direction, labels, wanted, &cursor, limit, &found)
                            .ok());
            ASSERT_LE(found.rows.size() - before, limit);
          }
          ASSERT_EQ(found.rows, expected.rows) << limit;
          ASSERT_EQ(found.neighbours, expected.neighbours) << limit;
        }
      }
    }
  }
  EXPECT_GT(given, 0);
  EXPECT_GT(left_out, 0);
}

TYPED_TEST_P(BatchContract, KnowsNoOtherTotalsThanTheSums) {
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& of : {std::vector<LabelId>(),
                           {this->Label("person")},
                           {kNoName},
                           {this->Label("hub"), this->Label("software")}}) {
      for (const auto& labels : this->LabelChoices()) {
        for (uint32_t p = 0; p < this->view().num_partitions(); ++p) {
          std::vector<VertexRef> vertices;
          for (ScanCursor cursor; !cursor.done;) {
            ASSERT_TRUE(this->view().ScanVertices(p, of, &cursor, 100, &vertices).ok());
          }
          std::vector<int64_t> degrees;
          ASSERT_TRUE(this->view().Degrees(vertices, direction, labels, &degrees).ok());
          const int64_t sum = std::accumulate(degrees.begin(), degrees.end(), int64_t{0});
          EXPECT_EQ(this->view().TotalEnds(p, of, direction, labels).value_or(sum), sum);
        }
      }
    }
  }
}

// Each as often as vertices have it.
TYPED_TEST_P(BatchContract, CountsValuesAsVerticesHaveThem) {
  for (const char* name : {"name", "age", "lang", "tags", "weight"}) {
    const KeyId key = this->Key(name);
    for (const auto& of : {std::vector<LabelId>(), {this->Label("person")}, {kNoName}}) {
      for (uint32_t p = 0; p < this->view().num_partitions(); ++p) {
        std::vector<VertexRef> vertices;
        for (ScanCursor cursor; !cursor.done;) {
          ASSERT_TRUE(this->view().ScanVertices(p, of, &cursor, 100, &vertices).ok());
        }
        std::vector<PropertyColumn> expected;
        ASSERT_TRUE(this->view().VertexColumns(vertices, {&key, 1}, &expected).ok());
        for (const size_t limit : {1, 2, 1000}) {
          ValueCounts wanted, got;
          for (size_t i = 0; i < expected[0].rows.size(); ++i) {
            ++wanted[EncodeValue(expected[0].values.Get(i))];
          }
          CountedValues found;
          ValueCursor cursor;
          for (int calls = 0; !cursor.done && calls < 1000; ++calls) {
            ASSERT_TRUE(this->view().ScanValues(p, of, key, &cursor, limit, &found).ok());
          }
          ASSERT_TRUE(cursor.done);
          ASSERT_EQ(found.values.size(), found.counts.size());
          for (size_t i = 0; i < found.counts.size(); ++i) {
            got[EncodeValue(found.values.Get(i))] += found.counts[i];
          }
          EXPECT_EQ(got, wanted) << name;
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
                            VisitsEndsAtAnyLimit, ExpandsToLabelsAtAnyLimit,
                            KnowsNoOtherTotalsThanTheSums, GivesSeveralPropertiesAsColumns,
                            CountsValuesAsVerticesHaveThem);

}  // namespace koios::storage
