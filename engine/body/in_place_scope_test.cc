// Scopes in place, by themselves: what they give under every policy, in small calls and with rows
// passed over, and how much of their bodies they run for it. Never in time: in rows and in calls.
#include "engine/body/in_place_scope.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/print/value_print.h"
#include "core/testing/rounds.h"
#include "core/value_codec.h"
#include "engine/op/op_test_support.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// Vertex i has edges to the i % 5 vertices behind it; the last one may be a hub, with edges to all
// others. Where `rare`, vertex 3 has an edge of another label.
class GraphHost : public TestHost {
 public:
  explicit GraphHost(int64_t hub_edges = 0, bool rare = false) : graph_(2) {
    for (int64_t i = 0; i < 20; ++i) {
      vertices.push_back(graph_.AddVertex(Value::Long(i), "v").value());
    }
    for (size_t i = 0; i + 1 < vertices.size(); ++i) {
      for (size_t j = 1; j <= i % 5; ++j) AddEdge(i, (i + j) % vertices.size());
    }
    for (int64_t i = 0; i < hub_edges; ++i) AddEdge(19, static_cast<size_t>(i % 19));
    if (rare) AddEdge(3, 5, "rare");
  }
  const storage::GraphView& view() const override { return graph_; }
  Batch Rows() const {
    std::vector<Value> values;
    for (const VertexRef vertex : vertices) values.push_back(Value::Of(vertex));
    return engine::Rows(values);
  }
  // How many edges lead from it to where one can go so many hops, and then one by the label.
  int64_t Ways(size_t i, int hops, const std::string& last) const {
    return std::count_if(edges_.begin(), edges_.end(), [&](const Edge& edge) {
      return edge.from == i && (hops == 0 ? edge.label == last : Ways(edge.to, hops - 1, last) > 0);
    });
  }
  int64_t Degree(size_t i) const { return degrees_.contains(i) ? degrees_.at(i) : 0; }

  std::vector<VertexRef> vertices;

 private:
  struct Edge {
    size_t from = 0, to = 0;
    std::string label;
  };
  void AddEdge(size_t from, size_t to, const std::string& label = "e") {
    EXPECT_TRUE(graph_.AddEdge(vertices[from], vertices[to], label).ok());
    ++degrees_[from];
    edges_.push_back({from, to, label});
  }

  storage::MemoryGraph graph_;
  std::map<size_t, int64_t> degrees_;
  std::vector<Edge> edges_;
};

class TestBodyHost : public BodyHost {
 public:
  explicit TestBodyHost(OperatorHost* host) : host_(host) {}
  OperatorHost* HostOf(uint32_t) override { return host_; }
  uint64_t NowNanos() override { return 0; }
  uint64_t CountedNanos() const override { return 0; }
  void Count(uint32_t, uint64_t, const Batch& given, uint64_t) override { rows += given.rows; }

  size_t rows = 0;  // that the body's operators have given

 private:
  OperatorHost* const host_;
};

plan::Operator* Append(plan::Plan* plan, uint32_t scope) {
  const auto id = static_cast<uint32_t>(plan->operators_size());
  if (id > 0) plan->mutable_operators(static_cast<int>(id) - 1)->add_next(id);
  plan::Operator* op = plan->add_operators();
  op->set_id(id);
  op->set_scope(scope);
  return op;
}

// A scope with `hops` of out() and, where it says so, count(), or limit(2).
enum class End { kNone, kCount, kLimit };
plan::Plan MakePlan(int hops, End end, plan::ScopeExit::Policy policy) {
  plan::Plan plan;
  plan.set_num_slots(2);
  Append(&plan, 0)->mutable_scope_enter()->set_in_place(true);
  for (int i = 0; i < hops; ++i) Append(&plan, 1)->mutable_expand();
  if (end == End::kCount) {
    plan::Reduce* reduce = Append(&plan, 1)->mutable_reduce();
    reduce->set_function(plan::Reduce::COUNT);
    reduce->set_stage(plan::WHOLE);
  }
  if (end == End::kLimit) Append(&plan, 1)->mutable_limit()->set_high(2);
  plan::ScopeExit* exit = Append(&plan, 0)->mutable_scope_exit();
  exit->set_policy(policy);
  exit->set_slot(1);
  exit->set_absent(plan::Project::NULL_VALUE);
  return plan;
}

// where(out().where(outE().inV().where(... out(label)))), `depth` scopes deep. With `dedup` each of
// the innermost neighbours is looked at once.
plan::Plan MakeNested(int depth, bool dedup, const std::string& label,
                      plan::ScopeExit::Policy policy) {
  plan::Plan plan;
  plan.set_num_slots(2);
  std::vector<uint32_t> enters;
  for (int i = 0; i < depth; ++i) {
    plan::Operator* enter = Append(&plan, enters.empty() ? 0 : enters.back() + 1);
    enter->mutable_scope_enter()->set_in_place(true);
    enters.push_back(enter->id());
    const uint32_t scope = enter->id() + 1;
    if (i % 2 == 0) {
      Append(&plan, scope)->mutable_expand();
    } else {
      Append(&plan, scope)->mutable_expand()->set_to(plan::Expand::INCIDENT);
      Append(&plan, scope)->mutable_edge_end()->set_end(plan::EdgeEnd::IN_VERTEX);
    }
  }
  if (dedup) Append(&plan, enters.back() + 1)->mutable_dedup()->add_key_slots(0);
  Append(&plan, enters.back() + 1)->mutable_expand()->add_labels(label);
  for (int i = depth; i-- > 0;) {
    plan::Operator* end = Append(&plan, i == 0 ? 0 : enters[static_cast<size_t>(i) - 1] + 1);
    end->mutable_scope_exit()->set_enter(enters[static_cast<size_t>(i)]);
    end->mutable_scope_exit()->set_policy(i == 0 ? policy : plan::ScopeExit::EXISTS);
    end->mutable_scope_exit()->set_slot(1);
  }
  return plan;
}

struct Ran {
  std::vector<std::pair<uint32_t, std::string>> rows;  // which row came out, and its new value
  size_t most_inside = 0;                              // rows of the body in one call
  size_t inside = 0;
  size_t calls = 0;
  size_t before_skip = 0;  // rows that had come out
  int64_t charged = 0;     // at the end
};

// In calls of `limit` rows; before call `skip_call` the rows before `skip_to` are passed over.
Ran RunScope(const plan::Plan& plan, GraphHost* graph, size_t limit, size_t skip_call = SIZE_MAX,
             size_t skip_to = 0) {
  Ran ran;
  TestBodyHost host(graph);
  {
    StatusOr<std::unique_ptr<StreamOperator>> scope = MakeInPlaceScope(plan, 0, limit, &host);
    EXPECT_TRUE(scope.ok()) << scope.status();
    const Batch input = graph->Rows();
    for (bool done = false; !done && ran.calls < 20'000; ++ran.calls) {
      if (ran.calls == skip_call) {
        (*scope)->SkipTo(skip_to, nullptr);
        ran.before_skip = ran.rows.size();
      }
      const size_t before = host.rows;
      OpOutput output;
      output.limit = limit;
      const Status status = (*scope)->Process(input, &output, &done);
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_LE(output.rows(input), std::max(limit, input.rows));
      ran.most_inside = std::max(ran.most_inside, host.rows - before);
      for (size_t i = 0; i < output.rows(input); ++i) {
        const uint32_t row = output.identity ? static_cast<uint32_t>(i) : output.origin[i];
        EXPECT_TRUE(ran.rows.empty() || row >= ran.rows.back().first);
        ran.rows.emplace_back(row, output.slot < 0 ? "" : PrintValue(output.column.Get(i)));
      }
    }
    ran.inside = host.rows;
  }
  ran.charged = graph->charged;
  return ran;
}

TEST(InPlaceScopeTest, EveryPolicyGivesWhatTheDegreesSay) {
  GraphHost graph(7);
  for (const size_t limit : {size_t{1}, size_t{3}, kBatchRows}) {
    const auto rows_of = [&](plan::ScopeExit::Policy policy) {
      std::map<uint32_t, std::vector<std::string>> rows;
      const Ran ran = RunScope(MakePlan(1, End::kNone, policy), &graph, limit);
      for (const auto& [row, value] : ran.rows) rows[row].push_back(value);
      EXPECT_EQ(ran.charged, 0);
      return rows;
    };
    auto exists = rows_of(plan::ScopeExit::EXISTS);
    auto none = rows_of(plan::ScopeExit::NONE);
    auto flag = rows_of(plan::ScopeExit::EXISTS_FLAG);
    auto first = rows_of(plan::ScopeExit::FIRST);
    auto all = rows_of(plan::ScopeExit::ALL);
    auto optional = rows_of(plan::ScopeExit::OPTIONAL);
    for (uint32_t i = 0; i < 20; ++i) {
      const auto degree = static_cast<size_t>(graph.Degree(i));
      const bool any = degree > 0;
      EXPECT_EQ(exists[i].size(), any ? 1 : 0);
      EXPECT_EQ(none[i].size(), any ? 0 : 1);
      EXPECT_EQ(flag[i], std::vector<std::string>{any ? "true" : "false"});
      ASSERT_EQ(first[i].size(), 1u);
      EXPECT_EQ(first[i][0] == "null", !any);
      EXPECT_EQ(all[i].size(), degree);
      EXPECT_EQ(optional[i].size(), any ? degree : 1);
      EXPECT_TRUE(!any || all[i] == optional[i]);
    }
  }
}

TEST(InPlaceScopeTest, BarriersAndLimitsKnowWhoseRowsTheyHave) {
  GraphHost graph(7);
  for (const size_t limit : {size_t{1}, size_t{3}, kBatchRows}) {
    const Ran counted = RunScope(MakePlan(1, End::kCount, plan::ScopeExit::FIRST), &graph, limit);
    const Ran limited = RunScope(MakePlan(1, End::kLimit, plan::ScopeExit::ALL), &graph, limit);
    ASSERT_EQ(counted.rows.size(), 20u);
    std::map<uint32_t, int64_t> of_limit;
    for (const auto& [row, value] : limited.rows) ++of_limit[row];
    for (uint32_t i = 0; i < 20; ++i) {
      EXPECT_EQ(counted.rows[i].first, i);
      EXPECT_EQ(counted.rows[i].second, std::to_string(graph.Degree(i)));
      EXPECT_EQ(of_limit[i], std::min<int64_t>(graph.Degree(i), 2));
    }
    EXPECT_EQ(counted.charged, 0);
    EXPECT_EQ(limited.charged, 0);
  }
}

TEST(InPlaceScopeTest, RowsThatArePassedOverGiveNothingMore) {
  GraphHost graph(7);
  for (const End end : {End::kNone, End::kCount, End::kLimit}) {
    for (const auto policy : {plan::ScopeExit::EXISTS, plan::ScopeExit::NONE,
                              plan::ScopeExit::FIRST, plan::ScopeExit::OPTIONAL}) {
      const plan::Plan plan = MakePlan(2, end, policy);
      const Ran all = RunScope(plan, &graph, 2);
      for (size_t call = 0; call < all.calls; ++call) {
        for (size_t row = 1; row < 20; ++row) {
          const Ran some = RunScope(plan, &graph, 2, call, row);
          std::vector<std::pair<uint32_t, std::string>> wanted, got;
          for (const auto& one : all.rows) {
            if (one.first >= row) wanted.push_back(one);
          }
          for (const auto& one : some.rows) {
            if (one.first >= row) got.push_back(one);
          }
          ASSERT_EQ(got, wanted) << "call " << call << ", row " << row;
          EXPECT_EQ(some.charged, 0);
        }
      }
    }
  }
}

// An inner scope stops in the middle of its rows when its call is full, and the outer one goes on
// to its next row: what the inner one's operators had not begun with is cut, what they had is let
// go.
TEST(InPlaceScopeTest, ScopesInScopesGiveWhatTheirWaysSay) {
  for (int64_t hub_edges = 0; hub_edges < 500; hub_edges += TestRounds(31, 124)) {
    GraphHost graph(hub_edges, /*rare=*/true);
    for (int depth = 2; depth <= 3; ++depth) {
      std::vector<int64_t> ways;
      for (size_t i = 0; i < 20; ++i) ways.push_back(graph.Ways(i, depth, "rare"));
      for (const bool dedup : {false, true}) {
        for (const size_t limit : {size_t{1}, size_t{2}, size_t{7}, kBatchRows}) {
          const auto rows_of = [&](plan::ScopeExit::Policy policy) {
            std::vector<int64_t> rows(20);
            const Ran ran = RunScope(MakeNested(depth, dedup, "rare", policy), &graph, limit);
            for (const auto& [row, value] : ran.rows) ++rows[row];
            EXPECT_EQ(ran.charged, 0);
            return rows;
          };
          EXPECT_EQ(rows_of(plan::ScopeExit::ALL), ways);
          std::vector<int64_t> exist;
          for (const int64_t count : ways) exist.push_back(std::min<int64_t>(count, 1));
          EXPECT_EQ(rows_of(plan::ScopeExit::EXISTS), exist);
        }
      }
    }
  }
}

TEST(InPlaceScopeTest, OfScopesInScopesNothingComesThatWasPassedOver) {
  GraphHost graph(7, /*rare=*/true);
  const plan::Plan plan = MakeNested(2, /*dedup=*/false, "rare", plan::ScopeExit::ALL);
  const Ran all = RunScope(plan, &graph, 1);
  for (size_t call = 0; call < all.calls; ++call) {
    for (size_t row = 1; row < 20; ++row) {
      const Ran some = RunScope(plan, &graph, 1, call, row);
      std::vector<std::pair<uint32_t, std::string>> wanted, got;
      for (const auto& one : all.rows) {
        if (one.first >= row) wanted.push_back(one);
      }
      for (size_t i = 0; i < some.rows.size(); ++i) {
        if (some.rows[i].first >= row) got.push_back(some.rows[i]);
        EXPECT_TRUE(i < some.before_skip || some.rows[i].first >= row);
      }
      ASSERT_EQ(got, wanted) << "call " << call << ", row " << row;
      EXPECT_EQ(some.charged, 0);
    }
  }
}

// where(out().out()) at a hub: its first neighbours are enough.
TEST(InPlaceScopeTest, OneResultIsEnough) {
  GraphHost graph(20'000);
  const Ran ran = RunScope(MakePlan(2, End::kNone, plan::ScopeExit::EXISTS), &graph, kBatchRows);
  EXPECT_LE(ran.inside, 8 * kBatchRows);
  GraphHost limited(20'000);
  const Ran two = RunScope(MakePlan(1, End::kLimit, plan::ScopeExit::ALL), &limited, kBatchRows);
  EXPECT_LE(two.inside, 4 * kBatchRows);
}

// A call does a bounded share of the work, whatever there is to do.
TEST(InPlaceScopeTest, ACallIsBounded) {
  GraphHost graph(20'000);
  const Ran ran = RunScope(MakePlan(2, End::kCount, plan::ScopeExit::FIRST), &graph, kBatchRows);
  EXPECT_GT(ran.inside, 50'000u);
  EXPECT_LE(ran.most_inside, 10 * kBatchRows);
}

// However deep scopes are nested, a call of the outermost one does the work of one.
TEST(InPlaceScopeTest, ACallWithScopesInsideIsBounded) {
  GraphHost graph(300);
  const Ran ran =
      RunScope(MakeNested(5, /*dedup=*/false, "none", plan::ScopeExit::EXISTS), &graph, kBatchRows);
  EXPECT_TRUE(ran.rows.empty());
  EXPECT_GT(ran.inside, 200'000u);
  EXPECT_LE(ran.most_inside, 24 * kBatchRows);
}

TEST(InPlaceScopeTest, WhatCantRunInPlaceIsRefused) {
  GraphHost graph;
  TestBodyHost host(&graph);
  plan::Plan plan = MakePlan(1, End::kNone, plan::ScopeExit::ALL);
  plan.mutable_operators(1)->mutable_exchange();
  EXPECT_EQ(MakeInPlaceScope(plan, 0, 1, &host).status().code(), StatusCode::kInternal);
  plan = MakePlan(1, End::kNone, plan::ScopeExit::ALL);
  plan.mutable_operators(2)->mutable_scope_exit()->add_carry_slots(1);
  EXPECT_EQ(MakeInPlaceScope(plan, 0, 1, &host).status().code(), StatusCode::kInternal);
  plan = MakePlan(1, End::kNone, plan::ScopeExit::ALL);
  plan.mutable_operators(1)->set_next(0, 0);
  EXPECT_EQ(MakeInPlaceScope(plan, 0, 1, &host).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace koios::engine
