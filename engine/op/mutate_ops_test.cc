// Changes come in pieces of bounded work, so that the driver can look at deadlines between them,
// and none is kept that the account refuses.
#include "engine/op/mutate_ops.h"

#include <set>

#include "core/testing/make_value.h"
#include "core/testing/step_clock.h"
#include "core/value_codec.h"
#include "engine/op/op_test_support.h"
#include "engine/query_account.h"
#include "gtest/gtest.h"
#include "storage/conflict/conflict_window.h"

namespace koios::engine {
namespace {

constexpr int kEdges = 100'000;

std::shared_ptr<storage::Transaction> HubAndSpokes(VertexRef* hub) {
  auto graph = std::make_shared<storage::MemoryGraph>(4);
  *hub = graph->AddVertex(Value::Long(0), "hub").value();
  const VertexRef other = graph->AddVertex(Value::Long(1), "v").value();
  for (int i = 0; i < kEdges; ++i) CHECK(graph->AddEdge(*hub, other, "e").ok());
  return std::make_shared<storage::Transaction>(graph, std::make_shared<storage::Numbers>(4));
}

TEST(MutateOpsTest, ASupernodeIsDroppedInManyCalls) {
  VertexRef hub;
  TestHost host;
  host.changes = HubAndSpokes(&hub);
  const OperatorBundle drop = MakeDrop(plan::Drop(), &host).value();
  const Batch rows = Rows({Value::Of(hub), Value::Of(hub)});
  bool done = false;
  int calls = 0;
  for (; !done; ++calls) {
    const size_t before = host.changes->ByteSize();
    OpOutput output;
    ASSERT_TRUE(drop.stream->Process(rows, &output, &done).ok());
    EXPECT_EQ(output.rows(rows), 0u);
    EXPECT_LT(host.changes->ByteSize() - before, size_t{4} << 20);
  }
  EXPECT_GE(calls, 2);
  std::vector<int64_t> degree;
  ASSERT_TRUE(host.changes->Degrees(std::span(&hub, 1), Direction::kBoth, {}, &degree).ok());
  EXPECT_EQ(degree[0], 0);
}

TEST(MutateOpsTest, ASupernodeThatDoesNotFitTheAccountIsRefused) {
  VertexRef hub;
  TestHost host;
  host.changes = HubAndSpokes(&hub);
  const auto account = MakeQueryAccount(1 << 20);
  host.changes->ChargeTo(account);
  const OperatorBundle drop = MakeDrop(plan::Drop(), &host).value();
  const Batch rows = Rows({Value::Of(hub)});
  Status status;
  for (bool done = false; status.ok() && !done;) {
    OpOutput output;
    status = drop.stream->Process(rows, &output, &done);
  }
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
  EXPECT_EQ(DetailOf(status)->setting, "query-memory-mb");
  EXPECT_LE(host.changes->ByteSize(), size_t{1} << 20);
  host.changes.reset();
  EXPECT_EQ(account->used(), 0);
}

class SlowChanges : public TestHost {
 public:
  const Clock& clock() const override { return slow_; }

 private:
  const StepClock slow_{1'000'000};
};

// A batch of changes is left for others when it takes long, and goes on where it was.
TEST(MutateOpsTest, ACallWithChangesEndsByTheClock) {
  SlowChanges host;
  host.changes = std::make_shared<storage::Transaction>(std::make_shared<storage::MemoryGraph>(4),
                                                        std::make_shared<storage::Numbers>(4));
  plan::AddVertex add;
  add.mutable_label()->add_nodes()->set_constant(EncodeValue(Value::String("v")));
  plan::SetProperty set;
  set.mutable_property()->mutable_key()->add_nodes()->set_constant(
      EncodeValue(Value::String("name")));
  set.mutable_property()->mutable_value()->add_nodes()->set_constant(EncodeValue(Value::Int(7)));
  const auto go = [](StatusOr<OperatorBundle> op, const Batch& input, Batch* results) {
    EXPECT_TRUE(op.ok()) << op.status();
    size_t calls = 0, rows = 0;
    for (bool done = false; !done; ++calls) {
      OpOutput output;
      EXPECT_TRUE(op->stream->Process(input, &output, &done).ok());
      rows += output.rows(input);
      for (size_t i = 0; results != nullptr && i < output.column.size(); ++i) {
        results->slots[0].Append(output.column.Get(i));
      }
    }
    EXPECT_EQ(rows, input.rows);
    EXPECT_GE(calls, input.rows / 16);
    EXPECT_LE(calls, input.rows / 8);
  };
  Batch vertices;
  vertices.slots.resize(2);
  go(MakeAddVertex(add, 2, &host), Rows(ValueList(500, Value::Int(1))), &vertices);
  vertices.rows = vertices.slots[0].size();
  ASSERT_EQ(vertices.rows, 500u);
  go(MakeSetProperty(set, 2, &host), vertices, nullptr);
  storage::PropertyRows found;
  std::vector<VertexRef> all;
  for (size_t i = 0; i < 500; ++i) all.push_back(vertices.slots[0].Get(i).AsVertex());
  ASSERT_TRUE(host.changes->VertexProperties(all, {}, &found).ok());
  EXPECT_EQ(found.rows.size(), 500u);
}

// A row that stands for more vertices than fit is not worked off before it is refused.
TEST(MutateOpsTest, AdditionsAreChargedOneByOne) {
  TestHost host;
  host.changes = std::make_shared<storage::Transaction>(std::make_shared<storage::MemoryGraph>(4),
                                                        std::make_shared<storage::Numbers>(4));
  host.changes->ChargeTo(std::make_shared<MemoryAccount>("query", 10'000));
  plan::AddVertex op;
  op.mutable_label()->add_nodes()->set_slot(0);
  const OperatorBundle add = MakeAddVertex(op, 2, &host).value();
  const Batch rows = Rows({Value::String("v")}, {}, {1000});
  OpOutput output;
  bool done = false;
  EXPECT_EQ(add.stream->Process(rows, &output, &done).code(), StatusCode::kResourceExhausted);
  EXPECT_LE(host.changes->ByteSize(), 10'000u);
  EXPECT_GT(output.origin.size(), 10u);
}

// What a guard of edges notes, row by row: the neighbour of the row, or those of a list of ids, or
// none that is named.
TEST(MutateOpsTest, LooksAtEdgesAreNoted) {
  auto graph = std::make_shared<storage::MemoryGraph>(4);
  std::vector<VertexRef> v;
  for (int64_t id = 0; id < 4; ++id) v.push_back(graph->AddVertex(Value::Long(id), "v").value());
  const auto keys_at = [&](TestHost* host, const plan::Guard& op, const Batch& rows) {
    host->changes =
        std::make_shared<storage::Transaction>(graph, std::make_shared<storage::Numbers>(4));
    const OperatorBundle guard = MakeGuard(op, 2, host).value();
    for (bool done = false; !done;) {
      OpOutput output;
      EXPECT_TRUE(guard.stream->Process(rows, &output, &done).ok());
      EXPECT_EQ(output.rows(rows), done ? rows.rows : 0);
    }
    EXPECT_TRUE(host->changes->AddVertex("new", std::nullopt, {}).ok());
    const std::vector<uint64_t> keys = host->changes->TakeBatch().guard_keys;
    return std::set<uint64_t>(keys.begin(), keys.end());
  };
  // In one call, and in as many as the clock asks for.
  const auto keys_of = [&](const plan::Guard& op, const Batch& rows) {
    TestHost host;
    SlowChanges slow;
    std::set<uint64_t> keys = keys_at(&host, op, rows);
    EXPECT_EQ(keys_at(&slow, op, rows), keys);
    return keys;
  };
  using Keys = std::set<uint64_t>;
  const Value one = Value::Of(v[1]), two = Value::Of(v[2]);
  plan::Guard op;
  op.set_look(plan::Guard::ADJACENCY);
  op.set_direction(plan::OUT);
  op.add_labels("e");
  op.mutable_vertex()->add_nodes()->set_slot(0);
  EXPECT_EQ(keys_of(op, Rows({one, Value::Int(7)}, {two, two})),
            Keys({storage::ConflictKeyOfAdjacency(v[1], Direction::kOut, "e")}));
  op.mutable_neighbour()->add_nodes()->set_slot(1);
  EXPECT_EQ(keys_of(op, Rows({one, two}, {two, one})),
            Keys({storage::ConflictKeyOfEdgesBetween(v[1], v[2], "e"),
                  storage::ConflictKeyOfEdgesBetween(v[2], v[1], "e")}));
  const Value ids = ListOf({Value::Long(0), Value::Long(3), Value::Long(99)});
  EXPECT_EQ(keys_of(op, Rows({one}, {ids})),
            Keys({storage::ConflictKeyOfEdgesBetween(v[1], v[0], "e"),
                  storage::ConflictKeyOfEdgesBetween(v[1], v[3], "e")}));
  ValueList many(100, Value::Long(3));
  many.insert(many.end(), 100, Value::Long(0));
  EXPECT_EQ(keys_of(op, Rows(ValueList(40, one), ValueList(40, ListOf(many)))),
            Keys({storage::ConflictKeyOfEdgesBetween(v[1], v[0], "e"),
                  storage::ConflictKeyOfEdgesBetween(v[1], v[3], "e")}));
  // When in doubt, all.
  EXPECT_EQ(keys_of(op, Rows({one}, {Value::String("?")})),
            Keys({storage::ConflictKeyOfAdjacency(v[1], Direction::kOut, "e")}));
}

TEST(MutateOpsTest, ScansAreNotedWhenSomebodyComes) {
  for (const auto look : {plan::Guard::VERTEX_SCAN, plan::Guard::EDGE_SCAN}) {
    for (const bool comes : {true, false}) {
      TestHost host;
      host.changes = std::make_shared<storage::Transaction>(
          std::make_shared<storage::MemoryGraph>(4), std::make_shared<storage::Numbers>(4));
      plan::Guard op;
      op.set_look(look);
      op.add_labels("l");
      const OperatorBundle guard = MakeGuard(op, 2, &host).value();
      OpOutput output;
      bool done = false;
      const Batch rows = comes ? Rows({Value::Int(1)}) : Rows({});
      ASSERT_TRUE(guard.stream->Process(rows, &output, &done).ok());
      ASSERT_TRUE(host.changes->AddVertex("new", std::nullopt, {}).ok());
      const uint64_t key = look == plan::Guard::EDGE_SCAN ? storage::ConflictKeyOfEdgeScan("l")
                                                          : storage::ConflictKeyOfVertexScan("l");
      EXPECT_EQ(host.changes->TakeBatch().guard_keys,
                comes ? std::vector<uint64_t>{key} : std::vector<uint64_t>());
    }
  }
}

}  // namespace
}  // namespace koios::engine
