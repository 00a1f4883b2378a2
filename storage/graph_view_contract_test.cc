#include "storage/graph_view_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace koios::storage {
namespace {

TEST_P(GraphViewContract, ScansEachVertexOnceAtAnyLimit) {
  const std::vector<std::vector<LabelId>> choices = {
      {},
      {Label("person")},
      {Label("software"), Label("hub"), Label("person")},
      {kNoName},
      {Label("knows")}};
  for (const auto& labels : choices) {
    std::set<VertexRef> expected;
    for (size_t i = 0; i < batch_.vertices.size(); ++i) {
      const LabelId label = Label(batch_.vertices[i].label);
      if (labels.empty() || std::count(labels.begin(), labels.end(), label) > 0) {
        expected.insert(graph_.vertices[i]);
      }
    }
    for (const size_t limit : {1u, 2u, 3u, 100u}) {
      std::vector<VertexRef> found;
      for (uint32_t p = 0; p < view().num_partitions(); ++p) {
        ScanCursor cursor;
        while (!cursor.done) {
          const size_t before = found.size();
          ASSERT_TRUE(view().ScanVertices(p, labels, &cursor, limit, &found).ok());
          ASSERT_LE(found.size() - before, limit);
          ASSERT_TRUE(cursor.done || found.size() > before);
          for (size_t i = before; i < found.size(); ++i) ASSERT_EQ(found[i].partition(), p);
        }
      }
      EXPECT_EQ(found.size(), expected.size());
      EXPECT_EQ(std::set<VertexRef>(found.begin(), found.end()), expected);
    }
  }
}

TEST_P(GraphViewContract, ScansEachEdgeOnceAtAnyLimit) {
  for (const auto& labels : LabelChoices()) {
    std::set<uint64_t> expected;
    for (const EdgeRef& edge : graph_.edges) {
      if (labels.empty() || std::count(labels.begin(), labels.end(), edge.label) > 0) {
        expected.insert(edge.id);
      }
    }
    for (const size_t limit : {1u, 5u, 100u}) {
      std::vector<EdgeRef> found;
      for (uint32_t p = 0; p < view().num_partitions(); ++p) {
        ExpandCursor cursor;
        while (!cursor.done) {
          const size_t before = found.size();
          ASSERT_TRUE(view().ScanEdges(p, labels, &cursor, limit, &found).ok());
          ASSERT_LE(found.size() - before, limit);
          ASSERT_TRUE(cursor.done || found.size() > before);
        }
      }
      std::set<uint64_t> ids;
      for (const EdgeRef& edge : found) {
        ids.insert(edge.id);
        auto same = std::find(graph_.edges.begin(), graph_.edges.end(), edge);
        ASSERT_NE(same, graph_.edges.end());
        EXPECT_EQ(same->out, edge.out);
        EXPECT_EQ(same->in, edge.in);
        EXPECT_EQ(same->label, edge.label);
        EXPECT_EQ(VertexRef{edge.id}.partition(), edge.out.partition());
      }
      EXPECT_EQ(found.size(), expected.size());
      EXPECT_EQ(ids, expected);
    }
  }
}

TEST_P(GraphViewContract, ExpandsInOrderAndResumesAtEveryLimit) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices.insert(vertices.begin() + 2, Missing());
  vertices.push_back(vertices[0]);  // a row may come twice
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : LabelChoices()) {
      std::vector<uint32_t> rows;
      std::vector<VertexRef> neighbours;
      std::vector<uint64_t> edges;
      for (uint32_t row = 0; row < vertices.size(); ++row) {
        for (const auto& end : EndsOf(vertices[row], direction, labels)) {
          rows.push_back(row);
          neighbours.push_back(end.neighbour);
          edges.push_back(end.edge);
        }
      }
      for (size_t limit = 1; limit <= rows.size() + 1; ++limit) {
        const bool want_edges = limit % 2 == 0;
        ExpandCursor cursor;
        Expansion all;
        while (!cursor.done) {
          Expansion some;
          const size_t before = cursor.row;
          ASSERT_TRUE(
              view().Expand(vertices, direction, labels, want_edges, &cursor, limit, &some).ok());
          ASSERT_LE(some.rows.size(), limit);
          // Fewer only where as much was sought, of two directions and all labels.
          const size_t sought = dynamic_cast<const RocksView*>(&view()) != nullptr
                                    ? RocksView::kSeekCost * 2 *
                                          std::max<size_t>(1, labels.size()) * (cursor.row - before)
                                    : 0;
          ASSERT_TRUE(cursor.done || some.rows.size() == limit || sought >= limit);
          ASSERT_EQ(some.edges.size(), want_edges ? some.rows.size() : 0);
          for (size_t i = 0; i < some.edges.size(); ++i) {
            const EdgeRef& edge = some.edges[i];
            const VertexRef here = vertices[some.rows[i]];
            EXPECT_TRUE((edge.out == here && edge.in == some.neighbours[i]) ||
                        (edge.in == here && edge.out == some.neighbours[i]));
            EXPECT_EQ(edge.id, edges[all.rows.size() + i]);
            EXPECT_NE(edge.label, kNoName);
          }
          all.rows.insert(all.rows.end(), some.rows.begin(), some.rows.end());
          all.neighbours.insert(all.neighbours.end(), some.neighbours.begin(),
                                some.neighbours.end());
        }
        ASSERT_EQ(all.rows, rows);
        ASSERT_EQ(all.neighbours, neighbours);
      }
    }
  }
}

TEST_P(GraphViewContract, GivesASelfLoopTwiceForBoth) {
  const std::vector<VertexRef> vertices = {graph_.vertices[4]};
  const std::vector<LabelId> knows = {Label("knows")};
  const uint64_t loop = graph_.edges[5].id;
  for (const auto& [direction, times] :
       {std::pair(Direction::kOut, 1), {Direction::kIn, 1}, {Direction::kBoth, 2}}) {
    ExpandCursor cursor;
    Expansion found;
    found.rows = {7};  // what is there stays, whatever the limit
    found.neighbours = {vertices[0]};
    ASSERT_TRUE(view().Expand(vertices, direction, knows, true, &cursor, SIZE_MAX, &found).ok());
    EXPECT_TRUE(cursor.done);
    EXPECT_EQ(found.rows.size(), found.edges.size() + 1);
    EXPECT_EQ(std::count_if(found.edges.begin(), found.edges.end(),
                            [&](const EdgeRef& edge) { return edge.id == loop; }),
              times);
  }
}

TEST_P(GraphViewContract, CountsDegrees) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices.push_back(Missing());
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : LabelChoices()) {
      std::vector<int64_t> expected, degrees;
      for (const VertexRef vertex : vertices) {
        expected.push_back(static_cast<int64_t>(EndsOf(vertex, direction, labels).size()));
      }
      ASSERT_TRUE(view().Degrees(vertices, direction, labels, &degrees).ok());
      EXPECT_EQ(degrees, expected);
      for (const size_t limit : {1, 2, 3, 7}) {
        std::vector<int64_t> in_parts;
        DegreeCursor cursor;
        for (int calls = 0; !cursor.done && calls < 1000; ++calls) {
          ASSERT_TRUE(
              view().CountEnds(vertices, direction, labels, &cursor, limit, &in_parts).ok());
        }
        EXPECT_EQ(in_parts, expected) << limit;
      }
    }
  }
}

TEST_P(GraphViewContract, TellsLabelsAndIds) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices.insert(vertices.begin() + 1, Missing());
  std::vector<LabelId> labels;
  Column ids;
  ASSERT_TRUE(view().VertexLabels(vertices, &labels).ok());
  ASSERT_TRUE(view().VertexIds(vertices, &ids).ok());
  ASSERT_EQ(labels.size(), vertices.size());
  ASSERT_EQ(ids.size(), vertices.size());
  EXPECT_EQ(labels[1], kNoName);
  EXPECT_TRUE(ids.Get(1).is_null());
  for (size_t row = 0; row < vertices.size(); ++row) {
    if (row == 1) continue;
    const size_t i = row == 0 ? 0 : row - 1;
    EXPECT_EQ(labels[row], Label(batch_.vertices[i].label));
    EXPECT_TRUE(Equivalent(ids.Get(row), graph_.vertex_ids[i]));
  }
  EXPECT_TRUE(Equivalent(ids.Get(0), Value::Long(1)));

  std::vector<EdgeRef> edges = graph_.edges;
  edges.push_back(EdgeRef{Missing().bits, {}, {}, 1});
  Column edge_ids;
  ASSERT_TRUE(view().EdgeIds(edges, &edge_ids).ok());
  ASSERT_EQ(edge_ids.size(), edges.size());
  EXPECT_TRUE(Equivalent(edge_ids.Get(0), Value::Long(7)));
  EXPECT_TRUE(Equivalent(edge_ids.Get(1), Value::String("e8")));
  EXPECT_TRUE(Equivalent(edge_ids.Get(2), Value::Long(static_cast<int64_t>(edges[2].id))));
  EXPECT_TRUE(edge_ids.Get(edges.size() - 1).is_null());
}

TEST_P(GraphViewContract, FetchesProperties) {
  std::vector<VertexRef> vertices = graph_.vertices;
  vertices[1] = Missing();
  PropertyRows all;
  ASSERT_TRUE(view().VertexProperties(vertices, {}, &all).ok());
  EXPECT_EQ(all.rows, (std::vector<uint32_t>{0, 0, 2, 4, 5, 7}));
  ASSERT_EQ(all.values.size(), all.rows.size());
  EXPECT_LT(all.keys[0], all.keys[1]);
  for (size_t i = 0; i < 2; ++i) {
    const Value expected = all.keys[i] == Key("age") ? Value::Int(29) : Value::String("marko");
    EXPECT_TRUE(Equivalent(all.values.Get(i), expected));
  }
  EXPECT_TRUE(Equivalent(all.values.Get(4), ListOf({Value::Int(1), Value::String("x")})));

  // A budget that suffices changes nothing; what it does not suffice for is not read.
  ReadBudget ample(1 << 20), small(1);
  PropertyRows same, none;
  ASSERT_TRUE(view().ReadVertexProperties(vertices, {}, &ample, &same).ok());
  EXPECT_EQ(same.rows, all.rows);
  EXPECT_FALSE(ample.exceeded());
  EXPECT_FALSE(view().ReadVertexProperties(vertices, {}, &small, &none).ok());
  EXPECT_TRUE(small.exceeded());

  PropertyRows names;
  const std::vector<KeyId> wanted = {Key("lang"), Key("name"), Key("name"), 12345};
  ASSERT_TRUE(view().VertexProperties(vertices, wanted, &names).ok());
  EXPECT_EQ(names.rows, (std::vector<uint32_t>{0, 2, 4, 7}));
  EXPECT_TRUE(Equivalent(names.values.Get(0), Value::String("marko")));
  EXPECT_TRUE(Equivalent(names.values.Get(1), Value::String("java")));

  PropertyRows weights;
  std::vector<EdgeRef> edges = graph_.edges;
  edges[1].id = Missing().bits;
  const std::vector<KeyId> weight = {Key("weight")};
  ASSERT_TRUE(view().EdgeProperties(edges, weight, &weights).ok());
  EXPECT_EQ(weights.rows, (std::vector<uint32_t>{0, 2}));
  EXPECT_TRUE(Equivalent(weights.values.Get(1), Value::Double(0.4)));
  PropertyRows every;
  ASSERT_TRUE(view().EdgeProperties(edges, {}, &every).ok());
  EXPECT_EQ(every.rows, (std::vector<uint32_t>{0, 2, 2}));
}

TEST_P(GraphViewContract, KnowsItsSchema) {
  const Schema& schema = view().schema();
  auto kind = [&](const std::string& label, const std::string& key) {
    auto found = schema.property_kinds.find({Label(label), Key(key)});
    return found == schema.property_kinds.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(kind("person", "name"), ValueKind::kString);
  EXPECT_EQ(kind("person", "age"), ValueKind::kNull);  // an int and a long
  EXPECT_EQ(kind("knows", "weight"), ValueKind::kDouble);
  EXPECT_EQ(kind("software", "name"), std::nullopt);
  EXPECT_EQ(schema.vertex_counts.Count(Label("person")), 4u);
  EXPECT_EQ(schema.vertex_counts.size(), 4u);
  EXPECT_EQ(schema.edge_counts.Count(Label("created")), 3u);
  EXPECT_EQ(schema.edge_counts.Count(Label("knows")), 11u);
  EXPECT_EQ(schema.edge_counts.size(), 3u);
}

}  // namespace
}  // namespace koios::storage
