#include "storage/view/testing/batch_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

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

TEST_P(BatchContract, CountsEdgesBetweenPairsAtAnyLimit) {
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : LabelChoices()) {
      for (const int64_t enough : {int64_t{1}, int64_t{2}, kAll}) {
        const std::vector<int64_t> expected = Expected(direction, labels, enough);
        for (const size_t limit : {1, 2, 7, 1000}) {
          std::vector<int64_t> counts;
          BetweenCursor cursor;
          for (int calls = 0; !cursor.done && calls < 10'000; ++calls) {
            ASSERT_TRUE(view()
                            .CountBetween({here_, there_}, direction, labels, enough, &cursor,
                                          limit, &counts)
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
TEST_P(BatchContract, VisitsEndsAtAnyLimit) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices.push_back(Missing());
  vertices.insert(vertices.end(), graph_.vertices.begin(), graph_.vertices.end());
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : LabelChoices()) {
      Expansion expected;
      for (ExpandCursor cursor; !cursor.done;) {
        ASSERT_TRUE(
            view().Expand(vertices, direction, labels, false, &cursor, 1000, &expected).ok());
      }
      for (const size_t limit : {1, 2, 7, 1000}) {
        SeenEnds seen;
        ExpandCursor cursor;
        for (int calls = 0; !cursor.done && calls < 10'000; ++calls) {
          const size_t before = seen.rows.size();
          ASSERT_TRUE(view().VisitEnds(vertices, direction, labels, &cursor, limit, &seen).ok());
          ASSERT_LE(seen.rows.size() - before, limit);
        }
        ASSERT_EQ(seen.rows, expected.rows) << limit;
        ASSERT_EQ(seen.neighbours, expected.neighbours) << limit;
      }
    }
  }
}

// What Expand gives of the neighbours that have the labels; a label that nobody has.
TEST_P(BatchContract, ExpandsToLabelsAtAnyLimit) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices.push_back(Missing());
  vertices.insert(vertices.end(), graph_.vertices.begin(), graph_.vertices.end());
  std::vector<LabelId> of_all;
  ASSERT_TRUE(view().VertexLabels(graph_.vertices, &of_all).ok());
  std::vector<std::vector<LabelId>> choices = {{Label("knows") + 1000}};
  for (const LabelId label : of_all) choices.push_back({label});
  choices.push_back(of_all);
  size_t given = 0, left_out = 0;
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : LabelChoices()) {
      Expansion all;
      std::vector<LabelId> of;
      for (ExpandCursor cursor; !cursor.done;) {
        ASSERT_TRUE(view().Expand(vertices, direction, labels, false, &cursor, 1000, &all).ok());
      }
      ASSERT_TRUE(view().VertexLabels(all.neighbours, &of).ok());
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
            ASSERT_TRUE(
                view().ExpandTo(vertices, direction, labels, wanted, &cursor, limit, &found).ok());
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

TEST_P(BatchContract, KnowsNoOtherTotalsThanTheSums) {
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& of : {std::vector<LabelId>(),
                           {Label("person")},
                           {kNoName},
                           {Label("hub"), Label("software")}}) {
      for (const auto& labels : LabelChoices()) {
        for (uint32_t p = 0; p < view().num_partitions(); ++p) {
          std::vector<VertexRef> vertices;
          for (ScanCursor cursor; !cursor.done;) {
            ASSERT_TRUE(view().ScanVertices(p, of, &cursor, 100, &vertices).ok());
          }
          std::vector<int64_t> degrees;
          ASSERT_TRUE(view().Degrees(vertices, direction, labels, &degrees).ok());
          const int64_t sum = std::accumulate(degrees.begin(), degrees.end(), int64_t{0});
          EXPECT_EQ(view().TotalEnds(p, of, direction, labels).value_or(sum), sum);
        }
      }
    }
  }
}

// Each as often as vertices have it.
TEST_P(BatchContract, CountsValuesAsVerticesHaveThem) {
  for (const char* name : {"name", "age", "lang", "tags", "weight"}) {
    const KeyId key = Key(name);
    for (const auto& of : {std::vector<LabelId>(), {Label("person")}, {kNoName}}) {
      for (uint32_t p = 0; p < view().num_partitions(); ++p) {
        std::vector<VertexRef> vertices;
        for (ScanCursor cursor; !cursor.done;) {
          ASSERT_TRUE(view().ScanVertices(p, of, &cursor, 100, &vertices).ok());
        }
        std::vector<PropertyColumn> expected;
        ASSERT_TRUE(view().VertexColumns(vertices, {&key, 1}, &expected).ok());
        for (const size_t limit : {1, 2, 1000}) {
          ValueCounts wanted, got;
          for (size_t i = 0; i < expected[0].rows.size(); ++i) {
            ++wanted[EncodeValue(expected[0].values.Get(i))];
          }
          CountedValues found;
          ValueCursor cursor;
          for (int calls = 0; !cursor.done && calls < 1000; ++calls) {
            ASSERT_TRUE(view().ScanValues(p, of, key, &cursor, limit, &found).ok());
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

TEST_P(BatchContract, CountsBetweenNoPairs) {
  BetweenCursor cursor;
  std::vector<int64_t> counts = {5};
  ASSERT_TRUE(view().CountBetween({}, Direction::kOut, {}, 1, &cursor, 10, &counts).ok());
  EXPECT_TRUE(cursor.done);
  EXPECT_EQ(counts, std::vector<int64_t>{5});
}

// As if each key were asked for by itself.
TEST_P(BatchContract, GivesSeveralPropertiesAsColumns) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices[1] = Missing();
  vertices.push_back(vertices[0]);
  std::vector<EdgeRef> edges = graph_.edges;
  edges[1].id = Missing().bits;
  std::vector<KeyId> keys = {Key("weight"), 12345,        Key("name"),
                             Key("tags"),   Key("since"), Key("age")};
  for (int round = 0; round < 2; ++round) {
    std::vector<PropertyColumn> of_vertices(3), of_edges;
    ASSERT_TRUE(view().VertexColumns(vertices, keys, &of_vertices).ok());
    ASSERT_TRUE(view().EdgeColumns(edges, keys, &of_edges).ok());
    ASSERT_EQ(of_vertices.size(), keys.size());
    ASSERT_EQ(of_edges.size(), keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      PropertyRows one;
      ASSERT_TRUE(view().VertexProperties(vertices, {&keys[i], 1}, &one).ok());
      ExpectSame(of_vertices[i], one);
      one = {};
      ASSERT_TRUE(view().EdgeProperties(edges, {&keys[i], 1}, &one).ok());
      ExpectSame(of_edges[i], one);
    }
    const size_t name = round == 0 ? 2 : 0;
    EXPECT_EQ(of_vertices[name].rows, (std::vector<uint32_t>{0, 4, 7, 8}));
    EXPECT_TRUE(Equivalent(of_vertices[name].values.Get(3), Value::String("marko")));
    EXPECT_TRUE(of_edges[name].rows.empty());
    keys = {Key("name")};
  }
}

}  // namespace
}  // namespace koios::storage
