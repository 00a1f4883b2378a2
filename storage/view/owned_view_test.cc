#include "storage/view/owned_view.h"

#include <gtest/gtest.h>

#include "storage/index/vertex_seek.h"
#include "storage/memory_graph.h"

namespace koios::storage {
namespace {

constexpr uint32_t kOwners = 3;

// Vertices 0 to 19, each with an edge to the next, and what their owners and others may read.
class OwnedViewTest : public ::testing::Test {
 protected:
  OwnedViewTest() : graph_(std::make_shared<MemoryGraph>()) {
    for (int64_t id = 0; id < 20; ++id) {
      vertices_.push_back(
          graph_->AddVertex(Value::Long(id), "v", {{"n", Value::Long(id)}}).value());
    }
    for (size_t i = 0; i + 1 < vertices_.size(); ++i) {
      EXPECT_TRUE(graph_->AddEdge(vertices_[i], vertices_[i + 1], "e").ok());
    }
  }
  OwnedView ViewOf(uint32_t worker) const { return OwnedView(graph_, worker, kOwners); }

  // What reads of these vertices say, one after the other.
  static std::vector<StatusCode> Read(const GraphView& view, std::span<const VertexRef> some) {
    std::vector<StatusCode> codes;
    const auto add = [&codes](const Status& status) { codes.push_back(status.code()); };
    const std::vector<KeyId> keys = {view.schema().keys.Find("n")};
    Column ids;
    std::vector<LabelId> labels;
    PropertyRows rows;
    std::vector<PropertyColumn> columns(1);
    Expansion expansion;
    ExpandCursor expand, expand_to, visit;
    DegreeCursor degree;
    BetweenCursor between;
    std::vector<int64_t> counts, pairs;
    struct : EndVisitor {
      void Visit(uint32_t, std::span<const VertexRef>) override {}
      void VisitNarrow(uint32_t, std::span<const uint32_t>, const NarrowRefs&) override {}
    } visitor;
    add(view.VertexIds(some, &ids));
    add(view.VertexLabels(some, &labels));
    add(view.VertexProperties(some, keys, &rows));
    add(view.VertexColumns(some, keys, &columns));
    add(view.Expand(some, Direction::kOut, {}, true, &expand, 100, &expansion));
    add(view.ExpandTo(some, Direction::kOut, {}, {}, &expand_to, 100, &expansion));
    add(view.CountEnds(some, Direction::kBoth, {}, &degree, 100, &counts));
    add(view.VisitEnds(some, Direction::kOut, {}, &visit, 100, &visitor));
    add(view.CountBetween({some, some}, Direction::kOut, {}, 1, &between, 100, &pairs));
    return codes;
  }

  const std::shared_ptr<MemoryGraph> graph_;
  std::vector<VertexRef> vertices_;
};

TEST_F(OwnedViewTest, ReadsOfVerticesAreTheirOwners) {
  for (const VertexRef vertex : vertices_) {
    for (uint32_t worker = 0; worker < kOwners; ++worker) {
      const bool owns = vertex.partition() % kOwners == worker;
      for (const StatusCode code : Read(ViewOf(worker), {&vertex, 1})) {
        EXPECT_EQ(code, owns ? StatusCode::kOk : StatusCode::kInternal);
      }
    }
  }
}

TEST_F(OwnedViewTest, OneThatIsAnothersIsEnough) {
  for (const StatusCode code : Read(ViewOf(0), vertices_)) EXPECT_EQ(code, StatusCode::kInternal);
}

TEST_F(OwnedViewTest, ScansAndSeeksAreOfPartitions) {
  const OwnedView view = ViewOf(1);
  size_t found = 0, owned = 0;
  for (const VertexRef vertex : vertices_) owned += vertex.partition() % kOwners == 1 ? 1 : 0;
  for (uint32_t partition = 0; partition < view.num_partitions(); ++partition) {
    const bool owns = partition % kOwners == 1;
    std::vector<VertexRef> vertices;
    std::vector<EdgeRef> edges;
    CountedValues values;
    ScanCursor scan;
    ExpandCursor expand;
    ValueCursor value;
    SeekCursor seek;
    EXPECT_EQ(view.ScanVertices(partition, {}, &scan, 100, &vertices).ok(), owns);
    EXPECT_EQ(view.ScanEdges(partition, {}, &expand, 100, &edges).ok(), owns);
    EXPECT_EQ(
        view.ScanValues(partition, {}, view.schema().keys.Find("n"), &value, 100, &values).ok(),
        owns);
    if (!owns) {
      EXPECT_FALSE(view.SeekVertices(partition, {}, &seek, 100, &vertices).ok());
      EXPECT_EQ(view.TotalEnds(partition, {}, Direction::kOut, {}), std::nullopt);
    }
    found += vertices.size();
    for (const EdgeRef& edge : edges) {
      Column ids;
      PropertyRows rows;
      EXPECT_TRUE(view.EdgeIds({&edge, 1}, &ids).ok());
      EXPECT_EQ(ViewOf(0).EdgeIds({&edge, 1}, &ids).code(), StatusCode::kInternal);
      EXPECT_EQ(ViewOf(0).EdgeProperties({&edge, 1}, {}, &rows).code(), StatusCode::kInternal);
    }
  }
  EXPECT_EQ(found, owned);
}

TEST_F(OwnedViewTest, AnIdIsLookedUpWhereItsPartitionIs) {
  for (int64_t id = 0; id < 20; ++id) {
    const Value wanted = Value::Long(id);
    for (uint32_t worker = 0; worker < kOwners; ++worker) {
      std::vector<uint32_t> rows;
      std::vector<VertexRef> found;
      const OwnedView view = ViewOf(worker);
      const Status status = view.LookupVertices({&wanted, 1}, &rows, &found);
      EXPECT_EQ(status.ok(), view.PartitionOfId(wanted) % kOwners == worker);
      EXPECT_EQ(found.size(), status.ok() ? 1u : 0u);
    }
  }
}

TEST_F(OwnedViewTest, SaysWhoseItIs) {
  const VertexRef vertex = vertices_[0];
  const uint32_t other = (vertex.partition() + 1) % kOwners;
  Column ids;
  const Status status = ViewOf(other).VertexIds({&vertex, 1}, &ids);
  EXPECT_EQ(MessageOf(status), "Worker " + std::to_string(other) + " of 3 was to read partition " +
                                   std::to_string(vertex.partition()) + ", which is another's.");
}

}  // namespace
}  // namespace koios::storage
