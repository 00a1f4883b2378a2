// Changes come in pieces of bounded work, so that the driver can look at deadlines between them,
// and none is kept that the account refuses.
#include "engine/op/mutate_ops.h"

#include "engine/op/op_test_support.h"
#include "engine/query_account.h"
#include "gtest/gtest.h"

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
  const OperatorBundle drop = MakeDrop(&host).value();
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
  const OperatorBundle drop = MakeDrop(&host).value();
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

}  // namespace
}  // namespace koios::engine
