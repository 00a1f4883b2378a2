// The contract of GraphView as a test suite. A backend is a type with
//   BuiltGraph Build(const WriteBatch& batch);
// that makes a graph of a batch's vertices and edges. Run it with
//   INSTANTIATE_TYPED_TEST_SUITE_P(Name, GraphViewContract, testing::Types<Backend...>);
// Expected answers are worked out from the batch, naively.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "storage/contract_graph.h"
#include "storage/graph_view.h"
#include "storage/rocks/rocks_view.h"
#include "storage/write_batch.h"

namespace koios::storage {

template <typename Backend>
class GraphViewContract : public testing::Test {
 protected:
  void SetUp() override {
    batch_ = ContractBatch();
    graph_ = backend_.Build(batch_);
    ASSERT_EQ(graph_.vertices.size(), batch_.vertices.size());
    ASSERT_EQ(graph_.edges.size(), batch_.edges.size());
  }

  const GraphView& view() const { return *graph_.view; }
  LabelId Label(const std::string& name) const { return view().schema().labels.Find(name); }
  KeyId Key(const std::string& name) const { return view().schema().keys.Find(name); }
  VertexRef Missing() const { return VertexRef::Make(0, 1'000'000); }
  std::vector<std::vector<LabelId>> LabelChoices() const {
    return {{},
            {Label("knows")},
            {Label("in"), Label("created")},
            {Label("knows"), Label("in"), Label("created")},
            {Label("person")},
            {kNoName}};
  }

  struct End {
    Direction direction;
    LabelId label;
    VertexRef neighbour;
    uint64_t edge;
    auto Order() const { return std::tuple(direction, label, neighbour, edge); }
  };
  std::vector<End> EndsOf(VertexRef vertex, Direction direction,
                          const std::vector<LabelId>& labels) const {
    std::vector<End> ends;
    for (size_t i = 0; i < batch_.edges.size(); ++i) {
      const LabelId label = Label(batch_.edges[i].label);
      if (!labels.empty() && std::count(labels.begin(), labels.end(), label) == 0) continue;
      const VertexRef out = graph_.vertices[*batch_.edges[i].out.added];
      const VertexRef in = graph_.vertices[*batch_.edges[i].in.added];
      const uint64_t id = graph_.edges[i].id;
      if (out == vertex && direction != Direction::kIn) {
        ends.push_back({Direction::kOut, label, in, id});
      }
      if (in == vertex && direction != Direction::kOut) {
        ends.push_back({Direction::kIn, label, out, id});
      }
    }
    std::sort(ends.begin(), ends.end(),
              [](const End& a, const End& b) { return a.Order() < b.Order(); });
    return ends;
  }

  Backend backend_;
  WriteBatch batch_;
  BuiltGraph graph_;
};

TYPED_TEST_SUITE_P(GraphViewContract);

TYPED_TEST_P(GraphViewContract, ScansEachVertexOnceAtAnyLimit) {
  const std::vector<std::vector<LabelId>> choices = {
      {},
      {this->Label("person")},
      {this->Label("software"), this->Label("hub"), this->Label("person")},
      {kNoName},
      {this->Label("knows")}};
  for (const auto& labels : choices) {
    std::set<VertexRef> expected;
    for (size_t i = 0; i < this->batch_.vertices.size(); ++i) {
      const LabelId label = this->Label(this->batch_.vertices[i].label);
      if (labels.empty() || std::count(labels.begin(), labels.end(), label) > 0) {
        expected.insert(this->graph_.vertices[i]);
      }
    }
    for (const size_t limit : {1u, 2u, 3u, 100u}) {
      std::vector<VertexRef> found;
      for (uint32_t p = 0; p < this->view().num_partitions(); ++p) {
        ScanCursor cursor;
        while (!cursor.done) {
          const size_t before = found.size();
          ASSERT_TRUE(this->view().ScanVertices(p, labels, &cursor, limit, &found).ok());
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

TYPED_TEST_P(GraphViewContract, ScansEachEdgeOnceAtAnyLimit) {
  for (const auto& labels : this->LabelChoices()) {
    std::set<uint64_t> expected;
    for (const EdgeRef& edge : this->graph_.edges) {
      if (labels.empty() || std::count(labels.begin(), labels.end(), edge.label) > 0) {
        expected.insert(edge.id);
      }
    }
    for (const size_t limit : {1u, 5u, 100u}) {
      std::vector<EdgeRef> found;
      for (uint32_t p = 0; p < this->view().num_partitions(); ++p) {
        ExpandCursor cursor;
        while (!cursor.done) {
          const size_t before = found.size();
          ASSERT_TRUE(this->view().ScanEdges(p, labels, &cursor, limit, &found).ok());
          ASSERT_LE(found.size() - before, limit);
          ASSERT_TRUE(cursor.done || found.size() > before);
        }
      }
      std::set<uint64_t> ids;
      for (const EdgeRef& edge : found) {
        ids.insert(edge.id);
        auto same = std::find(this->graph_.edges.begin(), this->graph_.edges.end(), edge);
        ASSERT_NE(same, this->graph_.edges.end());
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

TYPED_TEST_P(GraphViewContract, ExpandsInOrderAndResumesAtEveryLimit) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices.insert(vertices.begin() + 2, this->Missing());
  vertices.push_back(vertices[0]);  // a row may come twice
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : this->LabelChoices()) {
      std::vector<uint32_t> rows;
      std::vector<VertexRef> neighbours;
      std::vector<uint64_t> edges;
      for (uint32_t row = 0; row < vertices.size(); ++row) {
        for (const auto& end : this->EndsOf(vertices[row], direction, labels)) {
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
          ASSERT_TRUE(this->view()
                          .Expand(vertices, direction, labels, want_edges, &cursor, limit, &some)
                          .ok());
          ASSERT_LE(some.rows.size(), limit);
          // Fewer only where as much was sought, of two directions and all labels.
          const size_t sought = dynamic_cast<const RocksView*>(&this->view()) != nullptr
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

TYPED_TEST_P(GraphViewContract, GivesASelfLoopTwiceForBoth) {
  const std::vector<VertexRef> vertices = {this->graph_.vertices[4]};
  const std::vector<LabelId> knows = {this->Label("knows")};
  const uint64_t loop = this->graph_.edges[5].id;
  for (const auto& [direction, times] :
       {std::pair(Direction::kOut, 1), {Direction::kIn, 1}, {Direction::kBoth, 2}}) {
    ExpandCursor cursor;
    Expansion found;
    found.rows = {7};  // what is there stays, whatever the limit
    found.neighbours = {vertices[0]};
    ASSERT_TRUE(
        this->view().Expand(vertices, direction, knows, true, &cursor, SIZE_MAX, &found).ok());
    EXPECT_TRUE(cursor.done);
    EXPECT_EQ(found.rows.size(), found.edges.size() + 1);
    EXPECT_EQ(std::count_if(found.edges.begin(), found.edges.end(),
                            [&](const EdgeRef& edge) { return edge.id == loop; }),
              times);
  }
}

TYPED_TEST_P(GraphViewContract, CountsDegrees) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices.push_back(this->Missing());
  for (const Direction direction : {Direction::kOut, Direction::kIn, Direction::kBoth}) {
    for (const auto& labels : this->LabelChoices()) {
      std::vector<int64_t> expected, degrees;
      for (const VertexRef vertex : vertices) {
        expected.push_back(static_cast<int64_t>(this->EndsOf(vertex, direction, labels).size()));
      }
      ASSERT_TRUE(this->view().Degrees(vertices, direction, labels, &degrees).ok());
      EXPECT_EQ(degrees, expected);
      for (const size_t limit : {1, 2, 3, 7}) {
        std::vector<int64_t> in_parts;
        DegreeCursor cursor;
        for (int calls = 0; !cursor.done && calls < 1000; ++calls) {
          ASSERT_TRUE(
              this->view().CountEnds(vertices, direction, labels, &cursor, limit, &in_parts).ok());
        }
        EXPECT_EQ(in_parts, expected) << limit;
      }
    }
  }
}

TYPED_TEST_P(GraphViewContract, TellsLabelsAndIds) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices.insert(vertices.begin() + 1, this->Missing());
  std::vector<LabelId> labels;
  Column ids;
  ASSERT_TRUE(this->view().VertexLabels(vertices, &labels).ok());
  ASSERT_TRUE(this->view().VertexIds(vertices, &ids).ok());
  ASSERT_EQ(labels.size(), vertices.size());
  ASSERT_EQ(ids.size(), vertices.size());
  EXPECT_EQ(labels[1], kNoName);
  EXPECT_TRUE(ids.Get(1).is_null());
  for (size_t row = 0; row < vertices.size(); ++row) {
    if (row == 1) continue;
    const size_t i = row == 0 ? 0 : row - 1;
    EXPECT_EQ(labels[row], this->Label(this->batch_.vertices[i].label));
    EXPECT_TRUE(Equivalent(ids.Get(row), this->graph_.vertex_ids[i]));
  }
  EXPECT_TRUE(Equivalent(ids.Get(0), Value::Long(1)));

  std::vector<EdgeRef> edges = this->graph_.edges;
  edges.push_back(EdgeRef{this->Missing().bits, {}, {}, 1});
  Column edge_ids;
  ASSERT_TRUE(this->view().EdgeIds(edges, &edge_ids).ok());
  ASSERT_EQ(edge_ids.size(), edges.size());
  EXPECT_TRUE(Equivalent(edge_ids.Get(0), Value::Long(7)));
  EXPECT_TRUE(Equivalent(edge_ids.Get(1), Value::String("e8")));
  EXPECT_TRUE(Equivalent(edge_ids.Get(2), Value::Long(static_cast<int64_t>(edges[2].id))));
  EXPECT_TRUE(edge_ids.Get(edges.size() - 1).is_null());
}

TYPED_TEST_P(GraphViewContract, FetchesProperties) {
  std::vector<VertexRef> vertices = this->graph_.vertices;
  vertices[1] = this->Missing();
  PropertyRows all;
  ASSERT_TRUE(this->view().VertexProperties(vertices, {}, &all).ok());
  EXPECT_EQ(all.rows, (std::vector<uint32_t>{0, 0, 2, 4, 5, 7}));
  ASSERT_EQ(all.values.size(), all.rows.size());
  EXPECT_LT(all.keys[0], all.keys[1]);
  for (size_t i = 0; i < 2; ++i) {
    const Value expected =
        all.keys[i] == this->Key("age") ? Value::Int(29) : Value::String("marko");
    EXPECT_TRUE(Equivalent(all.values.Get(i), expected));
  }
  EXPECT_TRUE(Equivalent(all.values.Get(4), ListOf({Value::Int(1), Value::String("x")})));

  // A budget that suffices changes nothing; what it does not suffice for is not read.
  ReadBudget ample(1 << 20), small(1);
  PropertyRows same, none;
  ASSERT_TRUE(this->view().ReadVertexProperties(vertices, {}, &ample, &same).ok());
  EXPECT_EQ(same.rows, all.rows);
  EXPECT_FALSE(ample.exceeded());
  EXPECT_FALSE(this->view().ReadVertexProperties(vertices, {}, &small, &none).ok());
  EXPECT_TRUE(small.exceeded());

  PropertyRows names;
  const std::vector<KeyId> wanted = {this->Key("lang"), this->Key("name"), this->Key("name"),
                                     12345};
  ASSERT_TRUE(this->view().VertexProperties(vertices, wanted, &names).ok());
  EXPECT_EQ(names.rows, (std::vector<uint32_t>{0, 2, 4, 7}));
  EXPECT_TRUE(Equivalent(names.values.Get(0), Value::String("marko")));
  EXPECT_TRUE(Equivalent(names.values.Get(1), Value::String("java")));

  PropertyRows weights;
  std::vector<EdgeRef> edges = this->graph_.edges;
  edges[1].id = this->Missing().bits;
  const std::vector<KeyId> weight = {this->Key("weight")};
  ASSERT_TRUE(this->view().EdgeProperties(edges, weight, &weights).ok());
  EXPECT_EQ(weights.rows, (std::vector<uint32_t>{0, 2}));
  EXPECT_TRUE(Equivalent(weights.values.Get(1), Value::Double(0.4)));
  PropertyRows every;
  ASSERT_TRUE(this->view().EdgeProperties(edges, {}, &every).ok());
  EXPECT_EQ(every.rows, (std::vector<uint32_t>{0, 2, 2}));
}

TYPED_TEST_P(GraphViewContract, KnowsItsSchema) {
  const Schema& schema = this->view().schema();
  auto kind = [&](const std::string& label, const std::string& key) {
    auto found = schema.property_kinds.find({this->Label(label), this->Key(key)});
    return found == schema.property_kinds.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(kind("person", "name"), ValueKind::kString);
  EXPECT_EQ(kind("person", "age"), ValueKind::kNull);  // an int and a long
  EXPECT_EQ(kind("knows", "weight"), ValueKind::kDouble);
  EXPECT_EQ(kind("software", "name"), std::nullopt);
  EXPECT_EQ(schema.vertex_counts.Count(this->Label("person")), 4u);
  EXPECT_EQ(schema.vertex_counts.size(), 4u);
  EXPECT_EQ(schema.edge_counts.Count(this->Label("created")), 3u);
  EXPECT_EQ(schema.edge_counts.Count(this->Label("knows")), 11u);
  EXPECT_EQ(schema.edge_counts.size(), 3u);
}

REGISTER_TYPED_TEST_SUITE_P(GraphViewContract, ScansEachVertexOnceAtAnyLimit,
                            ScansEachEdgeOnceAtAnyLimit, ExpandsInOrderAndResumesAtEveryLimit,
                            GivesASelfLoopTwiceForBoth, CountsDegrees, TellsLabelsAndIds,
                            FetchesProperties, KnowsItsSchema);

}  // namespace koios::storage
