// Slots that the rows of a child carry out of their scope: a path that grows inside local() and
// optional(), one in the other, under many schedules and numbers of workers.
#include <algorithm>

#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "engine/sim/simulation.h"
#include "gtest/gtest.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

constexpr uint32_t kPathSlot = 1;

using Policy = plan::ScopeExit::Policy;

// V(), then for each policy, outermost first, a scope around out(); at its end the path.
class CarryPlan {
 public:
  plan::Plan Build(const std::vector<Policy>& policies) {
    plan_.set_format(1);
    plan_.set_num_slots(2);
    Add()->mutable_partitions();
    Add()->mutable_exchange()->set_key(plan::Exchange::PARTITION);
    Add()->mutable_scan()->set_element(plan::VERTEX);
    AddAppend();
    AddScopes(policies, 0);
    SetCall(Add()->mutable_project(), 0, "", {kPathSlot});
    Add()->mutable_exchange()->set_key(plan::Exchange::HOME);
    Add()->mutable_sink();
    return plan_;
  }

 private:
  plan::Operator* Add() {
    const auto id = static_cast<uint32_t>(plan_.operators_size());
    if (id > 0) plan_.mutable_operators(static_cast<int>(id) - 1)->add_next(id);
    plan::Operator* op = plan_.add_operators();
    op->set_id(id);
    op->set_scope(scope_);
    return op;
  }

  // slot = function(arguments), or the argument itself.
  static void SetCall(plan::Project* project, uint32_t slot, const std::string& function,
                      const std::vector<uint32_t>& arguments) {
    project->set_slot(slot);
    for (uint32_t argument : arguments) project->mutable_expr()->add_nodes()->set_slot(argument);
    if (function.empty()) return;
    plan::Expr::Call* call = project->mutable_expr()->add_nodes()->mutable_call();
    call->set_function(function);
    for (uint32_t i = 0; i < arguments.size(); ++i) call->add_args(i);
  }

  void AddAppend() { SetCall(Add()->mutable_project(), kPathSlot, "path_append", {kPathSlot, 0}); }

  void AddScopes(const std::vector<Policy>& policies, size_t level) {
    if (level == policies.size()) {
      Add()->mutable_exchange()->set_key(plan::Exchange::OWNER);
      Add()->mutable_expand();
      return AddAppend();
    }
    const uint32_t outer = scope_;
    plan::Operator* enter = Add();
    enter->mutable_scope_enter();
    const uint32_t id = enter->id();
    scope_ = id + 1;
    AddScopes(policies, level + 1);
    Add()->mutable_exchange()->set_key(plan::Exchange::HOME);
    scope_ = outer;
    plan::ScopeExit* exit = Add()->mutable_scope_exit();
    exit->set_enter(id);
    exit->set_policy(policies[level]);
    exit->add_carry_slots(kPathSlot);
  }

  plan::Plan plan_;
  uint32_t scope_ = 0;
};

Value PathOf(ValueList objects) {
  std::vector<std::vector<std::string>> labels(objects.size());
  return Made(Value::Of(PathData{std::move(objects), std::move(labels)}));
}

// The paths of V().out(), and when `optional` those of one vertex where no edge leads on.
std::vector<Value> Expected(const storage::GraphView& graph, bool optional) {
  std::vector<Value> paths;
  const std::optional<Answer> vertices = Evaluate({{}, std::nullopt}, graph);
  for (const Value& vertex : vertices->rows) {
    const VertexRef ref = vertex.AsVertex();
    const size_t before = paths.size();
    storage::ExpandCursor cursor;
    while (!cursor.done) {
      storage::Expansion expansion;
      CHECK(graph.Expand({&ref, 1}, Direction::kOut, {}, false, &cursor, 100, &expansion).ok());
      for (VertexRef other : expansion.neighbours) {
        paths.push_back(PathOf({vertex, Made(Value::Of(other))}));
      }
    }
    if (optional && paths.size() == before) paths.push_back(PathOf({vertex}));
  }
  return paths;
}

std::vector<Value> InOrder(std::vector<Value> rows) {
  std::sort(rows.begin(), rows.end(), [](const Value& a, const Value& b) {
    return TotalOrder(a, b) == std::strong_ordering::less;
  });
  return rows;
}

void ExpectPaths(const std::vector<Policy>& policies, bool optional) {
  Rng graphs(7);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const auto graph = MakeGraph(&graphs);
    engine::SimulationOptions options;
    options.seed = seed;
    options.num_workers = static_cast<uint32_t>(1 + seed % 5);
    options.deliver_percent = static_cast<uint32_t>(5 + seed * 7 % 90);
    const engine::SimulationResult result =
        engine::Simulate(CarryPlan().Build(policies), graph, options);
    ASSERT_TRUE(result.status.ok()) << result.status << " seed " << seed;
    const std::vector<Value> wanted = InOrder(Expected(*graph, optional));
    const std::vector<Value> got = InOrder(result.rows);
    ASSERT_EQ(wanted.size(), got.size()) << "seed " << seed;
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_TRUE(Equals(wanted[i], got[i])) << "seed " << seed << " row " << i;
    }
  }
}

TEST(CarryTest, LocalCarriesThePathOfItsChild) { ExpectPaths({plan::ScopeExit::ALL}, false); }

TEST(CarryTest, OptionalKeepsItsOwnPathWhenTheChildGivesNothing) {
  ExpectPaths({plan::ScopeExit::OPTIONAL}, true);
}

TEST(CarryTest, NestedScopesCarryOutwards) {
  ExpectPaths({plan::ScopeExit::ALL, plan::ScopeExit::ALL}, false);
  ExpectPaths({plan::ScopeExit::OPTIONAL, plan::ScopeExit::ALL}, true);
  ExpectPaths({plan::ScopeExit::ALL, plan::ScopeExit::OPTIONAL}, true);
}

}  // namespace
}  // namespace koios::simulation
