// Whether two views of one version say the same of everything that they are asked: all answers
// whose order is promised in that order, others as sets.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/value_codec.h"
#include "storage/graph_view.h"

namespace koios::storage::testing {

// What is asked about, besides what there is: elements and ids that came and went.
struct Known {
  std::vector<VertexRef> vertices;
  std::vector<EdgeRef> edges;
  std::vector<Value> ids;
};

inline std::vector<std::string> Words(const Column& column) {
  std::vector<std::string> words;
  for (size_t i = 0; i < column.size(); ++i) words.push_back(EncodeValue(column.Get(i)));
  return words;
}

inline std::vector<VertexRef> AllVertices(const GraphView& view, std::span<const LabelId> labels,
                                          size_t limit) {
  std::vector<VertexRef> all;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    for (ScanCursor cursor; !cursor.done;) {
      EXPECT_TRUE(view.ScanVertices(p, labels, &cursor, limit, &all).ok());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

inline std::vector<uint64_t> AllEdges(const GraphView& view, std::span<const LabelId> labels,
                                      size_t limit) {
  std::vector<EdgeRef> all;
  for (uint32_t p = 0; p < view.num_partitions(); ++p) {
    for (ExpandCursor cursor; !cursor.done;) {
      EXPECT_TRUE(view.ScanEdges(p, labels, &cursor, limit, &all).ok());
    }
  }
  std::vector<uint64_t> ids;
  for (const EdgeRef& edge : all) ids.push_back(edge.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

inline Expansion WholeExpansion(const GraphView& view, std::span<const VertexRef> vertices,
                                Direction direction, std::span<const LabelId> labels,
                                bool want_edges, size_t limit) {
  Expansion all;
  for (ExpandCursor cursor; !cursor.done;) {
    EXPECT_TRUE(view.Expand(vertices, direction, labels, want_edges, &cursor, limit, &all).ok());
  }
  return all;
}

inline std::vector<int64_t> WholeCount(const GraphView& view, const VertexPairs& pairs,
                                       Direction direction, std::span<const LabelId> labels,
                                       int64_t enough, size_t limit) {
  std::vector<int64_t> counts;
  for (BetweenCursor cursor; !cursor.done;) {
    EXPECT_TRUE(view.CountBetween(pairs, direction, labels, enough, &cursor, limit, &counts).ok());
  }
  return counts;
}

inline void ExpectSameProperties(const PropertyRows& a, const PropertyRows& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.keys, b.keys);
  EXPECT_EQ(Words(a.values), Words(b.values));
}

inline void ExpectSameElements(const GraphView& a, const GraphView& b, const Known& known) {
  std::vector<LabelId> labels_a, labels_b;
  Column ids_a, ids_b, edges_a, edges_b;
  ASSERT_TRUE(a.VertexLabels(known.vertices, &labels_a).ok());
  ASSERT_TRUE(b.VertexLabels(known.vertices, &labels_b).ok());
  EXPECT_EQ(labels_a, labels_b);
  ASSERT_TRUE(a.VertexIds(known.vertices, &ids_a).ok());
  ASSERT_TRUE(b.VertexIds(known.vertices, &ids_b).ok());
  EXPECT_EQ(Words(ids_a), Words(ids_b));
  ASSERT_TRUE(a.EdgeIds(known.edges, &edges_a).ok());
  ASSERT_TRUE(b.EdgeIds(known.edges, &edges_b).ok());
  EXPECT_EQ(Words(edges_a), Words(edges_b));
  std::vector<KeyId> some;
  for (KeyId key = a.schema().keys.size() + 1; key > 0; key -= std::min<KeyId>(key, 2)) {
    some.push_back(key);
  }
  for (const std::vector<KeyId>& keys : {std::vector<KeyId>(), some, {kNoName}}) {
    PropertyRows of_a, of_b;
    ASSERT_TRUE(a.VertexProperties(known.vertices, keys, &of_a).ok());
    ASSERT_TRUE(b.VertexProperties(known.vertices, keys, &of_b).ok());
    ExpectSameProperties(of_a, of_b);
    of_a = of_b = {};
    ASSERT_TRUE(a.EdgeProperties(known.edges, keys, &of_a).ok());
    ASSERT_TRUE(b.EdgeProperties(known.edges, keys, &of_b).ok());
    ExpectSameProperties(of_a, of_b);
  }
  std::vector<uint32_t> rows_a, rows_b;
  std::vector<VertexRef> found_a, found_b;
  ASSERT_TRUE(a.LookupVertices(known.ids, &rows_a, &found_a).ok());
  ASSERT_TRUE(b.LookupVertices(known.ids, &rows_b, &found_b).ok());
  EXPECT_EQ(rows_a, rows_b);
  EXPECT_EQ(found_a, found_b);
}

inline void ExpectSameEnds(const GraphView& a, const GraphView& b, const Known& known) {
  std::vector<LabelId> all, odd;
  for (LabelId label = 1; label <= a.schema().labels.size(); ++label) {
    if (label % 2 == 1) odd.push_back(label);
  }
  for (const std::vector<LabelId>& labels : {all, odd, {kNoName}}) {
    EXPECT_EQ(AllVertices(a, labels, 3), AllVertices(b, labels, 1000));
    EXPECT_EQ(AllEdges(a, labels, 7), AllEdges(b, labels, 1000));
    for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
      const auto whole = WholeExpansion(b, known.vertices, direction, labels, true, 1 << 20);
      for (const size_t limit : {1, 2, 5, 1 << 20}) {
        const auto parts = WholeExpansion(a, known.vertices, direction, labels, limit != 2, limit);
        EXPECT_EQ(parts.rows, whole.rows);
        EXPECT_EQ(parts.neighbours, whole.neighbours);
        if (limit == 2) continue;
        ASSERT_EQ(parts.edges, whole.edges);
        for (size_t i = 0; i < whole.edges.size(); ++i) {
          EXPECT_EQ(parts.edges[i].out, whole.edges[i].out);
          EXPECT_EQ(parts.edges[i].in, whole.edges[i].in);
          EXPECT_EQ(parts.edges[i].label, whole.edges[i].label);
        }
      }
      // Those that are neighbours, and as many that need not be.
      std::vector<VertexRef> here, there;
      for (size_t i = 0; i < whole.rows.size(); ++i) {
        for (const size_t other : {i, (i * 7 + 3) % whole.rows.size()}) {
          here.push_back(known.vertices[whole.rows[i]]);
          there.push_back(whole.neighbours[other]);
        }
      }
      const auto counts = WholeCount(b, {here, there}, direction, labels, 100, 1 << 20);
      EXPECT_EQ(WholeCount(a, {here, there}, direction, labels, 100, 1 << 20), counts);
      EXPECT_EQ(WholeCount(a, {here, there}, direction, labels, 100, 3), counts);
      std::vector<int64_t> degrees_a, degrees_b;
      ASSERT_TRUE(a.Degrees(known.vertices, direction, labels, &degrees_a).ok());
      ASSERT_TRUE(b.Degrees(known.vertices, direction, labels, &degrees_b).ok());
      EXPECT_EQ(degrees_a, degrees_b);
    }
  }
}

inline void ExpectSame(const GraphView& a, const GraphView& b, const Known& known) {
  ASSERT_EQ(a.version(), b.version());
  ExpectSameElements(a, b, known);
  ExpectSameEnds(a, b, known);
}

}  // namespace koios::storage::testing
