// What elements have shows only when it is read: after many small ones come large ones, and no read
// brings more than ReadBudget::kBytes of several. Whoever reads them gives what he would have.
#include "engine/op/state/row_slices.h"

#include <algorithm>
#include <string>

#include "core/testing/make_value.h"
#include "core/testing/step_clock.h"
#include "core/value_codec.h"
#include "engine/op/element_ops.h"
#include "engine/op/mutate_ops.h"
#include "engine/op/op_test_support.h"
#include "engine/op/row_ops.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr size_t kNumSmall = 2'000, kNumLarge = 200;
constexpr size_t kSmall = 3, kLarge = 256 << 10;

// Tells the most that a read has brought, whether or not it went well.
class MeasuredGraph final : public storage::MemoryGraph {
 public:
  MeasuredGraph() : MemoryGraph(4) {
    const Value small = Value::String(std::string(kSmall, 'x'));
    const Value large = Value::String(std::string(kLarge, 'x'));
    for (size_t i = 0; i < kNumSmall + kNumLarge; ++i) {
      const storage::PropertyList text = {{"text", i < kNumSmall ? small : large}};
      vertices.push_back(AddVertex(Value::Long(static_cast<int64_t>(i)), "v", text).value());
      edges.push_back(AddEdge(vertices[i], vertices[0], "e", text).value());
    }
  }
  Status ReadVertexProperties(std::span<const VertexRef> of, std::span<const KeyId> keys,
                              storage::ReadBudget* budget,
                              storage::PropertyRows* out) const override {
    return Measured(MemoryGraph::ReadVertexProperties(of, keys, budget, out), *out);
  }
  Status ReadEdgeProperties(std::span<const EdgeRef> of, std::span<const KeyId> keys,
                            storage::ReadBudget* budget,
                            storage::PropertyRows* out) const override {
    return Measured(MemoryGraph::ReadEdgeProperties(of, keys, budget, out), *out);
  }

  std::vector<VertexRef> vertices;
  std::vector<EdgeRef> edges;
  mutable size_t most = 0;

 private:
  Status Measured(Status status, const storage::PropertyRows& found) const {
    most = std::max(most, found.values.FlatByteSize());
    return status;
  }
};

class MeasuredHost : public TestHost {
 public:
  const storage::GraphView& view() const override { return graph; }
  MeasuredGraph graph;
};

class WideReadsTest : public ::testing::Test {
 protected:
  // The text of each row of batches of 1,000, or of what is made of it, counted.
  void ExpectAllTexts(StreamOperator* op, bool of_edges) {
    size_t found = 0;
    for (size_t begin = 0; begin < host_.graph.vertices.size(); begin += 1'000) {
      const size_t end = std::min(begin + 1'000, host_.graph.vertices.size());
      ValueList rows;
      for (size_t i = begin; i < end; ++i) {
        rows.push_back(of_edges ? Value::Of(host_.graph.edges[i])
                                : Value::Of(host_.graph.vertices[i]));
      }
      const Batch input = Rows(rows);
      std::unique_ptr<StreamCursor> cursor;
      for (bool done = false; !done;) {
        OpOutput output;
        output.cursor = std::move(cursor);
        ASSERT_TRUE(op->Process(input, &output, &done).ok());
        cursor = std::move(output.cursor);
        found += output.rows(input);
      }
    }
    EXPECT_EQ(found, kNumSmall + kNumLarge);
    ExpectBounded();
  }
  void ExpectBounded() {
    // Something was refused, and refused before it was there.
    EXPECT_GT(host_.graph.most, storage::ReadBudget::kBytes / 32);
    EXPECT_LE(host_.graph.most, storage::ReadBudget::kBytes + kLarge);
  }

  void ProjectsAll(const plan::Expr& expr, bool of_edges) {
    plan::Project project;
    *project.mutable_expr() = expr;
    project.set_absent(plan::Project::DROP_ROW);
    StatusOr<OperatorBundle> bundle = MakeProject(project, 2, &host_);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    ExpectAllTexts(bundle->stream.get(), of_edges);
  }

  MeasuredHost host_;
};

TEST_F(WideReadsTest, AProjectionReadsFewLargeOnesAtATime) {
  for (const bool of_edges : {false, true}) {
    ProjectsAll(CallWith("property", {Value::String("text")}), of_edges);
  }
}

TEST_F(WideReadsTest, AMapOfAllReadsFewLargeOnesAtATime) {
  for (const bool of_edges : {false, true}) {
    ProjectsAll(CallWith("detached", {Value::Bool(true)}), of_edges);
  }
}

TEST_F(WideReadsTest, AFilterReadsFewLargeOnesAtATime) {
  plan::Filter filter;
  plan::Expr* expr = filter.mutable_predicate();
  *expr = CallWith("property", {Value::String("text")});
  expr->add_nodes()->set_constant(EncodeValue(Value::String("x")));
  plan::Expr::Call* contains = expr->add_nodes()->mutable_call();
  contains->set_function("containing");
  contains->add_args(2);
  contains->add_args(3);
  StatusOr<OperatorBundle> bundle = MakeFilter(filter, 2, &host_);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  ExpectAllTexts(bundle->stream.get(), /*of_edges=*/false);
}

TEST_F(WideReadsTest, AFetchReadsFewLargeOnesAtATime) {
  for (const bool of_edges : {false, true}) {
    plan::Fetch fetch;
    fetch.add_keys("text");
    ExpectAllTexts(MakeFetch(fetch, &host_).stream.get(), of_edges);
  }
}

TEST_F(WideReadsTest, AChangeReadsFewLargeOnesAtATime) {
  const std::shared_ptr<const storage::GraphView> graph(std::shared_ptr<void>(), &host_.graph);
  host_.changes =
      std::make_shared<storage::Transaction>(graph, std::make_shared<storage::Numbers>(4));
  plan::SetProperty set;
  plan::PropertyExpr* property = set.mutable_property();
  property->mutable_key()->add_nodes()->set_constant(EncodeValue(Value::String("copy")));
  *property->mutable_value() = CallWith("property", {Value::String("text")});
  ExpectAllTexts(MakeSetProperty(set, 2, &host_).value().stream.get(), /*of_edges=*/false);
  plan::AddVertex add;
  add.mutable_label()->add_nodes()->set_constant(EncodeValue(Value::String("copy")));
  *add.add_properties() = *property;
  host_.graph.most = 0;
  ExpectAllTexts(MakeAddVertex(add, 2, &host_).value().stream.get(), /*of_edges=*/false);
  const std::vector<VertexRef> last = {host_.graph.vertices.back()};
  const std::vector<KeyId> key = {host_.changes->schema().keys.Find("copy")};
  storage::PropertyRows found;
  ASSERT_TRUE(host_.changes->VertexProperties(last, key, &found).ok());
  ASSERT_EQ(found.values.size(), 1u);
  EXPECT_EQ(found.values.Get(0).AsString().size(), kLarge);
}

TEST_F(WideReadsTest, AScanOfValuesReadsFewLargeOnesAtATime) {
  const KeyId key = host_.graph.schema().keys.Find("text");
  size_t found = 0;
  for (uint32_t partition = 0; partition < 4; ++partition) {
    storage::ValueCursor cursor;
    while (!cursor.done) {
      storage::CountedValues values;
      ASSERT_TRUE(host_.graph.ScanValues(partition, {}, key, &cursor, 1'000, &values).ok());
      found += values.counts.size();
    }
  }
  EXPECT_EQ(found, kNumSmall + kNumLarge);
  ExpectBounded();
}

// A clock by which everything takes a millisecond.
class SlowHost : public TestHost {
 public:
  const Clock& clock() const override { return slow_; }

 private:
  const StepClock slow_{1'000'000};
};

// However small rows are: a call is over when it has taken long.
TEST(SlowRowsTest, ACallEndsByTheClock) {
  const Batch input = Rows(ValueList(500, Value::Int(1)));
  plan::Project project;
  *project.mutable_expr() = CallWith("present", {});
  const auto calls = [&](OperatorHost* host) {
    StatusOr<OperatorBundle> bundle = MakeProject(project, 2, host);
    EXPECT_TRUE(bundle.ok()) << bundle.status();
    int count = 0;
    std::unique_ptr<StreamCursor> cursor;
    for (bool done = false; !done && count < 10'000; ++count) {
      OpOutput output;
      output.cursor = std::move(cursor);
      EXPECT_TRUE(bundle->stream->Process(input, &output, &done).ok());
      cursor = std::move(output.cursor);
    }
    return count;
  };
  TestHost quick;
  SlowHost slow;
  EXPECT_EQ(calls(&quick), 1);
  EXPECT_GE(calls(&slow), 400);
}

// What is made of many members is bounded as one value is.
TEST(SlowRowsTest, TextsOfAListAreBoundedTogether) {
  TestHost host(/*account_bytes=*/int64_t{1} << 30);
  const Value text = Value::String(std::string(1 << 20, 'a'));
  const Batch input = Rows({ListOf(ValueList(40, text))});
  plan::Project project;
  *project.mutable_expr() =
      CallWith("replace", {Value::Bool(true), Value::String(std::string(1 << 10, 'a')),
                           Value::String(std::string(2 << 10, 'b'))});
  StatusOr<OperatorBundle> bundle = MakeProject(project, 2, &host);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  OpOutput output;
  Status status;
  for (bool done = false; status.ok() && !done;) {
    status = bundle->stream->Process(input, &output, &done);
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->reason, "VALUE_TOO_LARGE");
}

// Nobody knows before what rows make: after many small ones come such as make large ones, of which
// no call makes more than a few. Where they don't fit the query ends before all are there.
TEST(SlowRowsTest, RowsThatMakeLargeOnesAreLeftToTheNextCall) {
  constexpr size_t kNumSmallMade = 511, kNumLargeMade = 64;
  ValueList rows(kNumSmallMade, Value::String("b"));
  rows.resize(kNumSmallMade + kNumLargeMade, Value::String("a"));
  const Batch input = Rows(rows);
  plan::Project project;
  *project.mutable_expr() = CallWith("replace", {Value::Bool(false), Value::String("a"),
                                                 Value::String(std::string(1 << 20, 'c'))});
  for (const bool fits : {true, false}) {
    TestHost host((fits ? int64_t{256} : int64_t{24}) << 20);
    StatusOr<OperatorBundle> bundle = MakeProject(project, 2, &host);
    ASSERT_TRUE(bundle.ok()) << bundle.status();
    std::unique_ptr<StreamCursor> cursor;
    Status status;
    size_t found = 0, calls = 0;
    for (bool done = false; status.ok() && !done; ++calls) {
      OpOutput output;
      output.cursor = std::move(cursor);
      status = bundle->stream->Process(input, &output, &done);
      cursor = std::move(output.cursor);
      found += output.rows(input);
    }
    EXPECT_EQ(status.ok(), fits) << status;
    EXPECT_EQ(found, fits ? kNumSmallMade + kNumLargeMade : kNumSmallMade);
    EXPECT_GE(calls, fits ? kNumLargeMade / 4 : 4);
    EXPECT_LE(calls, kNumLargeMade / (fits ? 1 : 4));
  }
}

}  // namespace
}  // namespace koios::engine
