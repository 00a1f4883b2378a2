#include "app/memory_plan.h"

#include "gtest/gtest.h"

namespace koios::app {
namespace {

TEST(MemoryPlanTest, ThePartsFitTheTotalAtEverySize) {
  for (uint64_t total = kMinMemoryMegabytes << 20; total < uint64_t{1} << 45;
       total = total * 7 / 4) {
    const MemoryPlan plan = PlanMemory(total, 0);
    const uint64_t parts =
        plan.queries_bytes + plan.blocks_bytes + plan.delta_bytes + plan.fold_bytes +
        plan.network_bytes;
    EXPECT_GE(total, parts + total / 10) << total;  // the rest is for what nobody counts
    EXPECT_LE(plan.writes_bytes, plan.blocks_bytes / 4);
    EXPECT_EQ(plan.query_bytes, plan.queries_bytes / 4);
    EXPECT_LE(plan.commit_bytes, total / 16);
    EXPECT_GT(plan.writes_bytes, uint64_t{1} << 20);
  }
  EXPECT_EQ(PlanMemory(uint64_t{1} << 30, 5 << 20).query_bytes, 5u << 20);
}

TEST(MemoryPlanTest, TheCachesAreWithinTheTotal) {
  const MemoryPlan plan = PlanMemory(uint64_t{1} << 30, 0);
  server::ServerOptions server;
  storage::StoreOptions store;
  plan.ApplyTo(&server);
  plan.ApplyTo(&store);
  EXPECT_LE(store.block_cache_bytes + store.delta_bytes + store.fold_bytes + server.network_bytes,
            server.rest_bytes);
  EXPECT_EQ(server.engine.process_memory_bytes + server.rest_bytes, plan.total_bytes);
}

}  // namespace
}  // namespace koios::app
