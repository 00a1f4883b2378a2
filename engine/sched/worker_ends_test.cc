// How queries end at workers: forgotten by all, at their deadlines, when their coordinator is lost;
// and what a part that has nothing to do keeps.
#include "core/random.h"
#include "engine/engine.h"
#include "engine/spill/spill_space.h"
#include "engine/testing/fan_queries.h"
#include "engine/testing/worker_queries.h"
#include "gtest/gtest.h"

namespace koios::engine {
namespace {

// When a part that has had nothing to do since the beginning gives back what it can.
constexpr uint64_t kGiveBack = 1'000'000'001;

struct Started {
  std::shared_ptr<QuerySpec> spec;
  std::shared_ptr<CountingSink> sink;
};

// A query of worker 0.
Started StartAt(Worker* worker, uint64_t serial, const plan::Plan& plan) {
  Started started{std::make_shared<QuerySpec>(), std::make_shared<CountingSink>()};
  started.spec->id = {0, 1, serial};
  started.spec->plan = plan;
  started.spec->view = std::make_shared<storage::MemoryGraph>();
  started.spec->account = std::make_shared<MemoryAccount>("query");
  started.spec->sink = started.sink;
  Frame start;
  start.kind = FrameKind::kStart;
  start.query = started.spec->id;
  start.spec = started.spec;
  worker->Deliver(std::move(start));
  return started;
}

// Queries that can't begin, or fail at a worker that does not coordinate them, are forgotten by
// all.
TEST(WorkerEndsTest, EndedQueriesAreForgotten) {
  ManualClock clock;
  HeldTransport transport;
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t index = 0; index < 2; ++index) {
    WorkerContext context;
    context.index = index;
    context.num_workers = 2;
    context.transport = &transport;
    context.clock = &clock;
    workers.push_back(std::make_unique<Worker>(context));
  }
  plan::Plan good = PlanOf({Value::Long(1)}, {});
  good.mutable_operators(kOperator)->mutable_dedup();
  for (uint64_t serial = 0; serial < 30; ++serial) {
    // Of three one has a plan that is none, and one fails at the other worker.
    const auto [spec, sink] =
        StartAt(workers[0].get(), serial, serial % 3 != 0 ? good : plan::Plan());
    if (serial % 3 == 1) {
      Frame wrong;
      wrong.query = spec->id;
      wrong.from = 7;
      wrong.spec = spec;
      workers[1]->Deliver(std::move(wrong));
    }
    for (int turn = 0; turn < 1000 && !sink->result.has_value(); ++turn) {
      while (!transport.frames.empty()) {
        auto [to, frame] = std::move(transport.frames.front());
        transport.frames.pop_front();
        workers[to]->Deliver(std::move(frame));
      }
      for (const auto& worker : workers) worker->Step(1);
    }
    ASSERT_TRUE(sink->result.has_value()) << serial;
    EXPECT_EQ(sink->result->status.ok(), serial % 3 == 2) << sink->result->status;
  }
  while (!transport.frames.empty()) {
    auto [to, frame] = std::move(transport.frames.front());
    transport.frames.pop_front();
    workers[to]->Deliver(std::move(frame));
  }
  for (const auto& worker : workers) {
    EXPECT_EQ(worker->num_queries(), 0u);
    EXPECT_EQ(worker->num_remembered(), 0u);
  }
}

// Of a query that sent nothing nobody hears; what is over all the same comes with the next end.
TEST(WorkerEndsTest, AQueryThatStayedEndsInSilence) {
  ManualClock clock;
  HeldTransport transport;
  WorkerContext context;
  context.num_workers = 2;
  context.transport = &transport;
  context.clock = &clock;
  Worker here(context);
  context.index = 1;
  Worker there(context);
  plan::Plan good = PlanOf({Value::Long(1)}, {});
  good.mutable_operators(kOperator)->mutable_dedup();
  constexpr uint64_t kGoodQueries = 5;
  for (uint64_t serial = 0; serial <= kGoodQueries; ++serial) {
    const auto [spec, sink] = StartAt(&here, serial, good);
    if (serial == kGoodQueries) {
      Frame fail;
      fail.query = spec->id;
      fail.kind = FrameKind::kFail;
      fail.from = 1;
      fail.status = Internal("there");
      here.Deliver(std::move(fail));
    }
    for (int turn = 0; turn < 100 && !sink->result.has_value(); ++turn) here.Step(1);
    ASSERT_TRUE(sink->result.has_value());
    ASSERT_EQ(transport.frames.size(), serial == kGoodQueries ? 1u : 0u);
  }
  const Frame end = std::move(transport.frames.front().second);
  EXPECT_EQ(end.kind, FrameKind::kEnd);
  EXPECT_EQ(end.over_before, kGoodQueries + 1);
  there.Deliver(end);
  EXPECT_EQ(there.num_remembered(), 0u);
}

// Workers of one query, whose frames wait until the test hands them on.
class HeldWorkers {
 public:
  HeldWorkers(uint32_t num_workers, uint64_t lease_ns, uint64_t deadline_ns = 0) {
    for (uint32_t index = 0; index < num_workers; ++index) {
      WorkerContext context;
      context.index = index;
      context.num_workers = num_workers;
      context.transport = &transport;
      context.clock = &clock;
      context.spread_after_rows = 0;
      context.lease_ns = lease_ns;
      workers.push_back(std::make_unique<Worker>(context));
    }
    auto spec = std::make_shared<QuerySpec>();
    spec->id = {0, 1, 0};
    spec->plan = testing::Hops(3, false);
    spec->view = testing::FanGraph(40, 3);
    spec->options.deadline_ns = deadline_ns;
    spec->account = account;
    spec->sink = sink;
    Frame start;
    start.kind = FrameKind::kStart;
    start.query = spec->id;
    start.spec = std::move(spec);
    workers[0]->Deliver(std::move(start));
  }

  // Those that are there take `turns` turns.
  void Run(int turns, int64_t nanos = 1000) {
    for (int turn = 0; turn < turns; ++turn) {
      clock.Advance(nanos);
      for (size_t count = transport.frames.size(); count > 0; --count) {
        auto [to, frame] = std::move(transport.frames.front());
        transport.frames.pop_front();
        if (workers[to] != nullptr) workers[to]->Deliver(std::move(frame));
      }
      for (const auto& worker : workers) {
        if (worker != nullptr) worker->Step(static_cast<uint64_t>(clock.NowNanos()));
      }
    }
  }
  size_t num_parts() const {
    size_t parts = 0;
    for (const auto& worker : workers) parts += worker == nullptr ? 0 : worker->num_queries();
    return parts;
  }

  ManualClock clock{1};
  HeldTransport transport;
  std::shared_ptr<MemoryAccount> account = std::make_shared<MemoryAccount>("query");
  std::shared_ptr<CountingSink> sink = std::make_shared<CountingSink>();
  std::vector<std::unique_ptr<Worker>> workers;
};

constexpr uint64_t kLease = 3'000'000;

// A coordinator that is lost at any moment leaves nothing at the other workers but for a lease.
TEST(WorkerEndsTest, PartsOfALostCoordinatorEnd) {
  int with_parts = 0;
  for (int moment = 1; moment < 60; ++moment) {
    HeldWorkers all(3, kLease);
    all.sink->room = 0;
    all.Run(moment);
    all.workers[0] = nullptr;
    all.Run(2);
    with_parts += all.num_parts() > 0 ? 1 : 0;
    all.Run(3, kLease);
    EXPECT_EQ(all.num_parts(), 0u) << moment;
    EXPECT_EQ(all.account->used(), 0) << moment;
    for (const auto& worker : all.workers) {
      EXPECT_TRUE(worker == nullptr || worker->NextDeadline() == 0);
    }
  }
  EXPECT_GT(with_parts, 3);
}

// A coordinator that is there, but has nothing to say as its client does not read, keeps the parts.
TEST(WorkerEndsTest, ACoordinatorThatIsPausedRenewsTheLease) {
  HeldWorkers all(3, kLease);
  all.sink->room = 0;
  all.Run(200);
  ASSERT_EQ(all.num_parts(), 3u);
  all.Run(100, kLease / 6);
  EXPECT_EQ(all.num_parts(), 3u);
  EXPECT_FALSE(all.sink->result.has_value());
  all.sink->room = 1;
  Frame resume;
  resume.kind = FrameKind::kResume;
  resume.query = {0, 1, 0};
  all.workers[0]->Deliver(std::move(resume));
  all.Run(2000);
  ASSERT_TRUE(all.sink->result.has_value());
  EXPECT_TRUE(all.sink->result->status.ok()) << all.sink->result->status;
  EXPECT_EQ(all.sink->rows, 40u * 27);
  EXPECT_EQ(all.num_parts(), 0u);
}

// A coordinator that was away for too long is told that parts have ended, and does not wait for
// their rows.
TEST(WorkerEndsTest, ACoordinatorThatComesBackTooLateEndsItsQuery) {
  HeldWorkers all(3, kLease);
  all.sink->room = 0;
  all.Run(200);
  std::unique_ptr<Worker> away = std::move(all.workers[0]);
  all.Run(1);
  all.clock.Advance(kLease);
  for (const uint32_t index : {1u, 2u}) {
    all.workers[index]->Step(static_cast<uint64_t>(all.clock.NowNanos()));
  }
  all.workers[0] = std::move(away);
  all.Run(10);
  ASSERT_TRUE(all.sink->result.has_value());
  EXPECT_EQ(all.sink->result->status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(all.num_parts(), 0u);
  EXPECT_EQ(all.account->used(), 0);
}

// Each worker ends its part at the deadline, whether the coordinator says so or not.
TEST(WorkerEndsTest, EveryWorkerKnowsTheDeadline) {
  constexpr uint64_t kSoon = 1'000'000;
  HeldWorkers all(3, 0, kSoon);
  all.sink->room = 0;
  all.Run(200);
  ASSERT_EQ(all.num_parts(), 3u);
  EXPECT_EQ(all.workers[1]->NextDeadline(), kSoon);
  all.workers[0] = nullptr;
  all.Run(2, kSoon);
  EXPECT_EQ(all.num_parts(), 0u);
  EXPECT_EQ(all.account->used(), 0);
}

// While a client does not read, its query ends at its deadline.
TEST(WorkerEndsTest, APausedQueryEndsAtItsDeadline) {
  HeldWorkers all(3, 0, 1'000'000);
  all.sink->room = 0;
  all.Run(200);
  ASSERT_EQ(all.num_parts(), 3u);
  all.Run(2, 1'000'000);
  ASSERT_TRUE(all.sink->result.has_value());
  EXPECT_EQ(all.sink->result->status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(all.num_parts(), 0u);
  EXPECT_EQ(all.account->used(), 0);
}

// A part with nothing to do for a second keeps no rows in memory that can be on disk.
TEST(WorkerEndsTest, APartThatWaitsForLongGivesItsRowsBack) {
  plan::Operator order;
  order.mutable_order()->add_keys();
  ManualClock clock;
  NoTransport transport;
  SpillSpace disk("/tmp");
  WorkerContext context;
  context.index = 1;
  context.num_workers = 2;
  context.transport = &transport;
  context.clock = &clock;
  context.spill = &disk;
  context.bounds.spill_bytes = 1;
  Worker worker(context);
  auto spec = std::make_shared<QuerySpec>();
  spec->id = {0, 1, 0};
  spec->plan = PlanOf({}, order);
  spec->view = std::make_shared<storage::MemoryGraph>();
  spec->account = std::make_shared<MemoryAccount>("query");
  Frame rows;  // whoever coordinates it has nothing else to say
  rows.query = spec->id;
  rows.spec = spec;
  rows.op = 1;
  Column column;
  for (const Value& value : Shuffled(1000)) column.Append(value);
  rows.batch.rows = column.size();
  rows.batch.runs.push_back({{}, {}, static_cast<uint32_t>(column.size()), 3});
  rows.batch.slots = {column};
  worker.Deliver(std::move(rows));
  while (worker.Step(1)) {
  }
  const int64_t before = spec->account->used();
  EXPECT_GT(before, 8000);
  EXPECT_EQ(worker.NextDeadline(), kGiveBack);
  worker.Step(kGiveBack - 1);
  EXPECT_EQ(disk.used(), 0u);
  while (worker.Step(kGiveBack)) {
  }
  EXPECT_GT(disk.used(), 0u);
  EXPECT_LT(spec->account->used(), before - 8000);
  EXPECT_EQ(spec->live.Sum(&OperatorStats::spilled_bytes), disk.used());
  EXPECT_EQ(worker.NextDeadline(), 0u);
  Frame end;
  end.query = spec->id;
  end.kind = FrameKind::kEnd;
  worker.Deliver(std::move(end));
  EXPECT_EQ(disk.used(), 0u);
  EXPECT_EQ(spec->account->used(), 0);
}

// A query whose client does not read, with `values` on their way to it.
class PausedQuery {
 public:
  explicit PausedQuery(const std::vector<Value>& values, uint64_t disk_fails_from = UINT64_MAX,
                       const plan::Operator& op = Home(), uint64_t disk_bytes = UINT64_MAX)
      : disk("/tmp", disk_bytes) {
    disk.FailFromWrite(disk_fails_from);
    WorkerContext context;
    context.transport = &transport_;
    context.clock = &clock_;
    context.spill = &disk;
    worker = std::make_unique<Worker>(context);
    const Started started = StartAt(worker.get(), 0, PlanOf(values, op));
    spec = started.spec;
    sink = started.sink;
    sink->room = 0;
    Run(1);
  }
  static plan::Operator Home() {
    plan::Operator home;
    home.mutable_exchange()->set_key(plan::Exchange::HOME);
    return home;
  }
  void Run(uint64_t now_ns) {
    while (worker->Step(now_ns)) {
    }
  }
  // Ends well, with so many rows, and leaves nothing.
  void ReadAll(size_t rows) {
    sink->room = 1;
    Frame resume;
    resume.query = spec->id;
    resume.kind = FrameKind::kResume;
    worker->Deliver(std::move(resume));
    Run(kGiveBack);
    ASSERT_TRUE(sink->result.has_value());
    EXPECT_TRUE(sink->result->status.ok()) << sink->result->status;
    EXPECT_EQ(sink->rows, rows);
    EXPECT_EQ(disk.used(), 0u);
    EXPECT_EQ(spec->account->used(), 0);
  }

 private:
  ManualClock clock_;
  NoTransport transport_;

 public:
  SpillSpace disk;
  std::shared_ptr<QuerySpec> spec;
  std::shared_ptr<CountingSink> sink;
  std::unique_ptr<Worker> worker;
};

// Rows that wait in front of a client that does not read, between operators, wait on disk, and come
// to it all the same. A full disk is no reason to end the query.
TEST(WorkerEndsTest, WhatWaitsForAClientWaitsOnDisk) {
  std::vector<Value> values;
  for (int64_t i = 0; i < 4000; ++i) {
    values.push_back(Value::String(std::string(100, 'a') + std::to_string(i)));
  }
  for (const uint64_t fails_from : {UINT64_MAX, uint64_t{1}, uint64_t{2}}) {
    PausedQuery query(values, fails_from);
    const int64_t before = query.spec->account->used();
    ASSERT_GT(before, 400'000);
    EXPECT_EQ(query.disk.used(), 0u);
    query.Run(kGiveBack);
    EXPECT_EQ(query.sink->rows, 0u);
    EXPECT_FALSE(query.sink->result.has_value());
    EXPECT_EQ(query.spec->live.Sum(&OperatorStats::spilled_bytes), query.disk.used());
    EXPECT_EQ(query.spec->live.disk_bytes, query.disk.used());
    if (fails_from == UINT64_MAX) {
      EXPECT_LT(query.spec->account->used(), before / 4);
      EXPECT_EQ(query.worker->NextDeadline(), 0u);  // there is nothing left to give
    }
    EXPECT_EQ(query.disk.used() > 0, fails_from > 1);
    query.ReadAll(values.size());
  }
}

std::string Incompressible(size_t size, Rng* rng) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng->Uniform(256));
  return bytes;
}

// Where others have most of the disk they stay in memory until it is free again.
TEST(WorkerEndsTest, WhatWaitsForAClientGoesToDiskWhenItHasRoom) {
  const std::vector<Value> values(4000, Value::String(std::string(100, 'a')));
  constexpr uint64_t kDiskBytes = 1'000'000;
  PausedQuery query(values, UINT64_MAX, PausedQuery::Home(), kDiskBytes);
  auto others = query.disk.Open();
  ASSERT_TRUE(others.ok());
  Rng rng(7);
  ASSERT_TRUE((*others)->Append(Incompressible(kDiskBytes * 2 / 3, &rng)).ok());
  const int64_t before = query.spec->account->used();
  const uint64_t theirs = query.disk.used();
  ASSERT_GT(theirs, kDiskBytes / 2);
  query.Run(kGiveBack);
  EXPECT_EQ(query.disk.used(), theirs);
  EXPECT_EQ(query.spec->account->used(), before);
  *others = nullptr;
  query.Run(2 * kGiveBack);
  EXPECT_GT(query.disk.used(), 0u);
  EXPECT_LT(query.spec->account->used(), before / 4);
  query.ReadAll(values.size());
}

// Only so much goes there that half of it stays free, whoever has the other half.
TEST(WorkerEndsTest, WhatWaitsForAClientLeavesRoomForOthers) {
  constexpr uint64_t kDiskBytes = 2'000'000;
  Rng rng(7);
  std::vector<Value> values;
  for (int i = 0; i < 4000; ++i) values.push_back(Value::Binary(Incompressible(100, &rng)));
  PausedQuery query(values, UINT64_MAX, PausedQuery::Home(), kDiskBytes);
  auto others = query.disk.Open();
  ASSERT_TRUE(others.ok());
  ASSERT_TRUE((*others)->Append(Incompressible(kDiskBytes * 7 / 20, &rng)).ok());
  const uint64_t theirs = query.disk.used();
  query.Run(kGiveBack);
  EXPECT_GT(query.disk.used(), theirs);
  EXPECT_LE(query.disk.used(), kDiskBytes / 2);
  *others = nullptr;
  query.ReadAll(values.size());
}

// So do rows that a barrier has begun to give.
TEST(WorkerEndsTest, WhatIsComingOutOfABarrierWaitsOnDisk) {
  std::vector<Value> values;
  for (int64_t i = 0; i < 40'000; ++i) {
    values.push_back(Value::String(std::string(100, 'a') + std::to_string(i * 7919 % 40'000)));
  }
  plan::Operator order;
  order.mutable_order()->add_keys();
  PausedQuery query(values, UINT64_MAX, order);
  const int64_t before = query.spec->account->used();
  ASSERT_GT(before, 4'000'000);
  query.Run(kGiveBack);
  EXPECT_EQ(query.sink->rows, 0u);
  EXPECT_LT(query.spec->account->used(), before / 16);
  EXPECT_EQ(query.spec->live.Sum(&OperatorStats::spilled_bytes), query.disk.used());
  EXPECT_EQ(query.worker->NextDeadline(), 0u);  // there is nothing left to give
  // What is given back fills no disk: the query would have been answered without.
  PausedQuery careful(values, UINT64_MAX, order, query.disk.used());
  query.ReadAll(values.size());
  careful.Run(kGiveBack);
  EXPECT_FALSE(careful.sink->result.has_value());
  EXPECT_GT(careful.spec->account->used(), before / 2);
  careful.ReadAll(values.size());
}

// What would come back larger stays: each row would have a list of its own. So does a row that is
// much by itself.
TEST(WorkerEndsTest, RowsThatShareAValueStayInMemory) {
  const Value list = *Value::List(ValueList(3000, Value::Long(1)));
  const Value text = Value::String(std::string(3 * kBatchBytes, 'x'));
  for (const std::vector<Value>& values :
       {std::vector<Value>(20, list), std::vector<Value>(1, text)}) {
    PausedQuery query(values);
    ASSERT_GT(query.spec->account->used(), 10'000);
    query.Run(kGiveBack);
    EXPECT_EQ(query.disk.used(), 0u);
    EXPECT_EQ(query.worker->NextDeadline(), 0u);
    query.ReadAll(values.size());
  }
}

}  // namespace
}  // namespace koios::engine
