// The contract of look-ups by id.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/graph_view_contract.h"

namespace koios::storage {
namespace {

TEST_P(LookupContract, LooksUpVertices) {
  const auto& vertices = graph_.vertices;
  const std::vector<Value> ids = {Value::Byte(1),      Value::Long(1),       Value::String("1"),
                                  Value::String("01"), Value::String("lop"), Value::Long(404),
                                  Value::String("17"), Value::Int(17),       Value::Double(1.0),
                                  Value::Null(),       Value::Long(-2),      Value::String("-2"),
                                  Value::Long(8),      Value::String("8"),   Value::String("lop"),
                                  Value::String("+1"), graph_.vertex_ids[5]};
  std::vector<uint32_t> rows = {99};
  std::vector<VertexRef> found = {VertexRef{99}};
  ASSERT_TRUE(view().LookupVertices(ids, &rows, &found).ok());
  const std::vector<uint32_t> expected_rows = {99, 0, 1, 2, 4, 6, 7, 10, 11, 13, 14, 16};
  EXPECT_EQ(rows, expected_rows);
  const std::vector<VertexRef> expected = {VertexRef{99}, vertices[0], vertices[0], vertices[0],
                                           vertices[2],   vertices[3], vertices[4], vertices[1],
                                           vertices[1],   vertices[6], vertices[2], vertices[5]};
  EXPECT_EQ(found, expected);
  for (size_t i = 0; i < vertices.size(); ++i) {
    EXPECT_EQ(view().PartitionOfId(graph_.vertex_ids[i]), vertices[i].partition());
  }
  EXPECT_EQ(view().PartitionOfId(Value::Byte(17)), vertices[4].partition());
}

TEST_P(LookupContract, LooksUpInOnePlace) {
  const auto& edges = graph_.edges;
  const std::vector<Value> ids = {Value::Byte(1), Value::String("1"), Value::String("17"),
                                  Value::Null(), Value::Int(17)};
  std::vector<uint32_t> rows;
  std::vector<VertexRef> vertices;
  ASSERT_TRUE(view().LookupExactVertices(ids, &rows, &vertices).ok());
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 2, 4}));
  const auto& all = graph_.vertices;
  EXPECT_EQ(vertices, (std::vector<VertexRef>{all[0], all[3], all[4]}));

  const std::vector<Value> edge_ids = {Value::Int(7), Value::String("7"), Value::String("e8"),
                                       Value::Long(static_cast<int64_t>(edges[2].id))};
  rows.clear();
  std::vector<uint64_t> numbers;
  ASSERT_TRUE(view().LookupEdgeNumbers(edge_ids, &rows, &numbers).ok());
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(numbers, (std::vector<uint64_t>{edges[0].id, edges[1].id}));

  numbers = {edges[0].id, 404, edges[2].id};
  rows.clear();
  std::vector<EdgeRef> found;
  std::vector<bool> given;
  ASSERT_TRUE(view().EdgesOfNumbers(numbers, &rows, &found, &given).ok());
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(found, (std::vector<EdgeRef>{edges[0], edges[2]}));
  EXPECT_EQ(given, (std::vector<bool>{true, false}));
}

TEST_P(LookupContract, LooksUpEdges) {
  const auto& edges = graph_.edges;
  const std::vector<Value> ids = {Value::Int(7),
                                  Value::String("7"),
                                  Value::String("e8"),
                                  Value::Long(static_cast<int64_t>(edges[0].id)),
                                  Value::Long(static_cast<int64_t>(edges[2].id)),
                                  Value::String(std::to_string(edges[2].id)),
                                  Value::Long(404),
                                  Value::Double(7.0),
                                  graph_.edge_ids[5]};
  std::vector<uint32_t> rows;
  std::vector<EdgeRef> found;
  ASSERT_TRUE(view().LookupEdges(ids, &rows, &found).ok());
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 1, 2, 4, 5, 8}));
  EXPECT_EQ(found,
            (std::vector<EdgeRef>{edges[0], edges[0], edges[1], edges[2], edges[2], edges[5]}));
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[2].in, graph_.vertices[4]);
  EXPECT_EQ(found[2].label, Label("knows"));
}

}  // namespace
}  // namespace koios::storage
