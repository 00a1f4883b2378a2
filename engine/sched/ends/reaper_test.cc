#include "engine/sched/ends/reaper.h"

#include <vector>

#include "core/clock.h"
#include "core/memory.h"
#include "engine/exchange/in_process.h"
#include "engine/sched/query_run.h"
#include "engine/testing/fan_queries.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

TEST(ReaperTest, FreesAllThatItTookBeforeItEnds) {
  InProcessTransport transport(1);
  WorkerContext context;
  context.transport = &transport;
  context.clock = SteadyClock::Get();
  std::vector<std::weak_ptr<const QuerySpec>> specs;
  {
    Reaper reaper;
    for (int i = 0; i < 20; ++i) {
      auto spec = std::make_shared<QuerySpec>();
      spec->plan = testing::Hops(2, true);
      spec->view = testing::FanGraph(10, 2);
      spec->account = std::make_shared<MemoryAccount>("a query", int64_t{1} << 30);
      specs.push_back(spec);
      reaper.Take(QueryRun::Create(std::move(spec), context).value());
    }
  }
  for (const auto& spec : specs) EXPECT_TRUE(spec.expired());
}

}  // namespace
}  // namespace koios::engine
