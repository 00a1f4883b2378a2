// SkipTo: in the middle of a batch an operator passes over rows, and gives of all others what it
// would have given.
#include <algorithm>
#include <functional>

#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/op/element_ops.h"
#include "engine/op/op_test_support.h"
#include "engine/op/row_ops.h"
#include "engine/op/source_ops.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

constexpr size_t kRowsAtOnce = 3;

// Vertex i has i % 5 edges out and, but for every fourth, two properties.
class SkipHost : public TestHost {
 public:
  SkipHost() : graph_(2) {
    for (int64_t i = 0; i < 20; ++i) {
      storage::PropertyList properties;
      if (i % 4 != 0) properties = {{"n", Value::Long(i)}, {"m", Value::Long(-i)}};
      vertices.push_back(graph_.AddVertex(Value::Long(i), "v", properties).value());
    }
    for (size_t i = 0; i < vertices.size(); ++i) {
      for (size_t j = 0; j < i % 5; ++j) {
        edges.push_back(graph_.AddEdge(vertices[i], vertices[j], "e").value());
      }
    }
  }
  const storage::GraphView& view() const override { return graph_; }

  std::vector<VertexRef> vertices;
  std::vector<EdgeRef> edges;

 private:
  storage::MemoryGraph graph_;
};

using Make = std::function<std::unique_ptr<StreamOperator>(SkipHost*)>;
using Given = std::vector<std::pair<uint32_t, Value>>;  // input row, current value

// Runs the batch through the operator; before its call number `call` it is to pass over the rows
// before `row`. Whether it did.
bool RunBatch(const Make& make, SkipHost* host, const Batch& input, size_t call, size_t row,
              Given* given) {
  const std::unique_ptr<StreamOperator> op = make(host);
  std::unique_ptr<StreamCursor> cursor;
  bool skipped = false;
  bool done = false;
  for (size_t calls = 0; !done && calls < 1000; ++calls) {
    if (calls > 0 && calls == call) skipped = op->SkipTo(row, cursor.get());
    OpOutput output;
    output.limit = kRowsAtOnce;
    output.cursor = std::move(cursor);
    EXPECT_TRUE(op->Process(input, &output, &done).ok());
    cursor = std::move(output.cursor);
    for (size_t i = 0; i < output.rows(input); ++i) {
      const uint32_t origin = output.identity ? static_cast<uint32_t>(i) : output.origin[i];
      if (skipped) {
        EXPECT_GE(origin, row);
      }
      given->emplace_back(origin, output.slot < 0 ? Value() : output.column.Get(i));
    }
  }
  EXPECT_TRUE(done);
  // The next batch begins at its beginning.
  OpOutput next;
  next.limit = kRowsAtOnce;
  EXPECT_TRUE(op->Process(input, &next, &done).ok());
  if (next.rows(input) > 0 && !given->empty() && !next.identity) {
    EXPECT_EQ(next.origin.front(), given->front().first);
  }
  return skipped;
}

void ExpectSkips(const Make& make, const std::function<Batch(const SkipHost&)>& rows) {
  SkipHost host;
  const Batch input = rows(host);
  Given all;
  RunBatch(make, &host, input, 0, 0, &all);
  size_t skips = 0;
  for (size_t call = 1; call < 8; ++call) {
    for (size_t row = 1; row < input.rows; ++row) {
      Given some;
      if (RunBatch(make, &host, input, call, row, &some)) ++skips;
      // Everything from `row` on, and before it only what came before.
      const auto is_later = [row](const auto& one) { return one.first >= row; };
      Given wanted, got;
      std::copy_if(all.begin(), all.end(), std::back_inserter(wanted), is_later);
      std::copy_if(some.begin(), some.end(), std::back_inserter(got), is_later);
      ASSERT_EQ(got.size(), wanted.size()) << "call " << call << ", row " << row;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].first, wanted[i].first);
        ASSERT_TRUE(Equivalent(got[i].second, wanted[i].second));
      }
    }
  }
  EXPECT_GT(skips, 0u);
}

Batch Vertices(const SkipHost& host) {
  std::vector<Value> values;
  for (const VertexRef vertex : host.vertices) values.push_back(Made(Value::Of(vertex)));
  return Rows(values);
}

Batch NumberRows(const SkipHost&) {
  std::vector<Value> values;
  for (int i = 0; i < 12; ++i) values.push_back(Value::Int(i));
  return Rows(values);
}

TEST(SkipTest, Expand) {
  for (const plan::Expand::To to : {plan::Expand::NEIGHBOUR, plan::Expand::INCIDENT}) {
    plan::Expand op;
    op.set_direction(plan::BOTH);
    op.set_to(to);
    ExpectSkips([&op](SkipHost* host) { return std::move(MakeExpand(op, host).stream); }, Vertices);
  }
}

TEST(SkipTest, TheFirstEndsOfEach) {
  for (const plan::Expand::To to : {plan::Expand::NEIGHBOUR, plan::Expand::INCIDENT}) {
    for (const uint64_t most : {1, 2, 4, 100}) {
      plan::Expand op;
      op.set_direction(plan::BOTH);
      op.set_to(to);
      const auto make = [&op](SkipHost* host) { return std::move(MakeExpand(op, host).stream); };
      SkipHost host;
      Given all, first, wanted;
      RunBatch(make, &host, Vertices(host), 0, 0, &all);
      op.set_most(most);
      RunBatch(make, &host, Vertices(host), 0, 0, &first);
      std::vector<uint64_t> given(host.vertices.size(), 0);
      for (const auto& one : all) {
        if (given[one.first]++ < most) wanted.push_back(one);
      }
      ASSERT_EQ(first.size(), wanted.size());
      for (size_t i = 0; i < first.size(); ++i) {
        EXPECT_EQ(first[i].first, wanted[i].first);
        EXPECT_TRUE(Equivalent(first[i].second, wanted[i].second));
      }
      ExpectSkips(make, Vertices);
    }
  }
}

TEST(SkipTest, EdgeEnds) {
  plan::EdgeEnd op;
  op.set_end(plan::EdgeEnd::BOTH_VERTICES);
  ExpectSkips([&op](SkipHost*) { return std::move(MakeEdgeEnd(op).stream); },
              [](const SkipHost& host) {
                std::vector<Value> values;
                for (const EdgeRef& edge : host.edges) values.push_back(Made(Value::Of(edge)));
                return Rows(values);
              });
}

TEST(SkipTest, Fetch) {
  ExpectSkips([](SkipHost* host) { return std::move(MakeFetch(plan::Fetch(), host).stream); },
              Vertices);
}

TEST(SkipTest, Unfold) {
  ExpectSkips(
      [](SkipHost*) { return std::move(MakeUnfold().stream); },
      [](const SkipHost&) {
        std::vector<Value> values;
        for (int i = 0; i < 12; ++i) {
          values.push_back(ListOf(std::vector<Value>(static_cast<size_t>(i % 4), Value::Int(i))));
        }
        return Rows(values);
      });
}

TEST(SkipTest, Inject) {
  plan::Inject op;
  for (int i = 0; i < 5; ++i) op.add_values(EncodeValue(Value::Int(i)));
  ExpectSkips([&op](SkipHost* host) { return std::move(MakeInject(op, host)->stream); },
              NumberRows);
}

TEST(SkipTest, PartitionsAndScan) {
  ExpectSkips([](SkipHost* host) { return std::move(MakePartitions(host).stream); }, NumberRows);
  ExpectSkips([](SkipHost* host) { return std::move(MakeScan(plan::Scan(), host)->stream); },
              [](const SkipHost&) {
                return Rows({Value::Int(0), Value::Int(1), Value::Int(1), Value::Int(0)});
              });
}

// A slice of rows that is being evaluated is finished first; else it goes on behind them.
TEST(SkipTest, Filter) {
  plan::Filter op;
  op.mutable_predicate()->add_nodes()->set_slot(0);
  op.mutable_predicate()->add_nodes()->set_constant(EncodeValue(Value::String("x")));
  plan::Expr::Call* call = op.mutable_predicate()->add_nodes()->mutable_call();
  call->set_function("neq");
  call->add_args(0);
  call->add_args(1);
  ExpectSkips([&op](SkipHost* host) { return std::move(MakeFilter(op, 2, host)->stream); },
              [](const SkipHost&) {
                const Value big = Value::String(std::string(3 << 19, 'y'));
                return Rows(std::vector<Value>(10, big));
              });
}

}  // namespace
}  // namespace koios::engine
