#include "engine/op/walk/count_others_op.h"

#include "core/random.h"
#include "core/testing/rounds.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

class OthersHost final : public TestHost {
 public:
  const storage::GraphView& view() const override { return graph; }
  storage::MemoryGraph graph;
};

// Lists that are read through and lists that are searched, parallel edges and loops.
TEST(CountOthersTest, LeavesOutOneNeighbour) {
  for (uint64_t seed = 1; seed <= TestRounds(30, 10); ++seed) {
    OthersHost host;
    Rng rng(seed);
    std::vector<VertexRef> vertices;
    for (int64_t i = 0; i < 40; ++i) {
      vertices.push_back(host.graph.AddVertex(Value::Long(i), "node", {}).value());
    }
    const auto any = [&] { return vertices[rng.Uniform(rng.Uniform(4) == 0 ? 40 : 2)]; };
    for (int i = 0; i < 1500; ++i) {
      ASSERT_TRUE(host.graph.AddEdge(any(), any(), rng.Uniform(2) == 0 ? "a" : "b").ok());
    }
    plan::Expand op;
    op.set_direction(static_cast<plan::Direction>(seed % 3));
    op.set_to(plan::Expand::DEGREE);
    op.set_other_than_slot(1);
    if (seed % 4 < 2) op.add_labels(seed % 4 == 0 ? "unknown" : "a");
    std::vector<Value> here, other;
    for (int i = 0; i < 500; ++i) {
      here.push_back(Value::Of(any()));
      other.push_back(Value::Of(any()));
    }
    const Batch rows = Rows(here, other);
    const OperatorBundle bundle = MakeCountOthers(op, &host);
    std::vector<int64_t> counts(rows.rows, -1);
    for (bool done = false; !done;) {
      OpOutput output;
      const Status status = bundle.stream->Process(rows, &output, &done);
      ASSERT_TRUE(status.ok()) << status;
      for (size_t i = 0; i < output.rows(rows); ++i) {
        counts[output.identity ? i : output.origin[i]] = output.column.longs()[i];
      }
    }
    std::vector<LabelId> labels;
    if (op.labels_size() > 0) labels.push_back(host.graph.schema().labels.Find(op.labels(0)));
    storage::Expansion all;
    storage::ExpandCursor cursor;
    while (!cursor.done) {
      ASSERT_TRUE(host.graph
                      .Expand(rows.slots[0].vertices(), static_cast<Direction>(op.direction()),
                              labels, false, &cursor, 1000, &all)
                      .ok());
    }
    std::vector<int64_t> expected(rows.rows, 0);
    for (size_t i = 0; i < all.rows.size(); ++i) {
      expected[all.rows[i]] += all.neighbours[i] != other[all.rows[i]].AsVertex() ? 1 : 0;
    }
    EXPECT_EQ(counts, expected) << seed;
  }
}

TEST(CountOthersTest, RefusesWhatIsNoVertex) {
  OthersHost host;
  const VertexRef vertex = host.graph.AddVertex(Value::Long(1), "node", {}).value();
  plan::Expand op;
  op.set_other_than_slot(1);
  bool done = false;
  OpOutput output;
  const Batch numbers = Rows({Value::Long(1)}, {Value::Of(vertex)});
  EXPECT_EQ(MakeCountOthers(op, &host).stream->Process(numbers, &output, &done).code(),
            StatusCode::kInvalidArgument);
  const Batch others = Rows({Value::Of(vertex)}, {Value::Long(1)});
  EXPECT_EQ(MakeCountOthers(op, &host).stream->Process(others, &output, &done).code(),
            StatusCode::kInternal);
}

}  // namespace
}  // namespace koios::engine
