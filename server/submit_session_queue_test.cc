// Sessions that wait to be run, between a scripted engine and scripted clients, without gRPC.
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "core/random.h"
#include "server/fake_engine.h"
#include "server/fake_graphs.h"
#include "server/fake_stream.h"
#include "server/submit_session.h"

namespace koios::server {
namespace {

constexpr char kScan[] = "g.V()";  // long
constexpr char kLookUp[] = "g.V(1)";

class SubmitSessionQueueTest : public testing::Test {
 protected:
  struct Call {
    FakeStream stream;
    v1::SubmitRequest request;
    std::shared_ptr<SubmitSession> session;

    Status ReadAll() { return stream.ReadAll(session.get()); }
  };

  void Open(size_t max_queries, size_t max_queued, uint64_t queue_timeout_ms = 60'000) {
    AdmissionLimits limits;
    limits.max_queries = max_queries;
    limits.max_queued = max_queued;
    limits.queue_timeout_ms = queue_timeout_ms;
    limits.query_bytes = kMemoryBytes / 4;
    admission_ = std::make_unique<Admission>(limits, &engine_.memory(), &engine_.clock(), &pool_);
  }
  Call* Start(const std::string& query, uint64_t timeout_ms = 0, bool joins_summary = false,
              size_t large = 0) {
    Call& call = calls_.emplace_back();
    call.request.set_query(query);
    call.request.set_timeout_ms(timeout_ms);
    call.request.set_joins_summary(joins_summary);
    if (large > 0)
      (*call.request.mutable_parameters())["x"].set_string_value(std::string(large, 'x'));
    SessionEnvironment environment;
    environment.graphs = &graphs_;
    environment.engine = &engine_;
    environment.requests = &requests_;
    environment.small_requests = &small_requests_;
    environment.registry = &registry_;
    environment.admission = admission_.get();
    environment.pool = &pool_;
    environment.commits = &commits_;
    environment.limits.held_bytes = 1 << 20;
    environment.limits.max_attempts = 2;
    environment.limits.unread_ms = 1;
    call.session = SubmitSession::Create(environment, &call.stream, &call.request);
    call.session->Start();
    return &call;
  }
  void WaitForQueue(size_t waiting) {
    while (admission_->num_waiting() != waiting) std::this_thread::yield();
  }
  // Who ended a query may hold its account for a moment longer.
  void WaitForMemory(int64_t at_most) {
    while (engine_.memory().used() > at_most) std::this_thread::yield();
  }
  void TearDown() override {
    for (Call& call : calls_) call.session->OnDone();
    EXPECT_EQ(admission_->num_running(), 0u);
    EXPECT_EQ(admission_->num_waiting(), 0u);
    EXPECT_EQ(registry_.num_tickets(), 0u);
    calls_.clear();
  }

  static constexpr int64_t kMemoryBytes = 64 << 20;
  MemoryGraphs graphs_;
  FakeEngine engine_{kMemoryBytes};
  MemoryAccount requests_{"all requests", kMemoryBytes / 2, &engine_.memory()};
  MemoryAccount small_requests_{"all requests", kNoMemoryLimit, &requests_};
  QueryRegistry registry_{64, 64};
  std::unique_ptr<Admission> admission_;
  std::deque<Call> calls_;
  TaskPool pool_{2}, commits_{1};  // these end first, with what they still run
};

TEST_F(SubmitSessionQueueTest, WhatWaitsRunsWhenAnotherEnds) {
  Open(1, 10);
  Call* first = Start(kScan);
  const auto running = engine_.Query(0);
  EXPECT_GT(running->options.account->reserved(), 0);
  Call* second = Start(kScan);
  WaitForQueue(1);
  const std::vector<RunningQuery> list = registry_.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_FALSE(list[0].waits);
  EXPECT_TRUE(list[1].waits);
  EXPECT_EQ(engine_.num_queries(), 1u);
  engine_.manual_clock()->Advance(7'000'000);
  running->End(OkStatus());
  EXPECT_TRUE(first->ReadAll().ok());
  engine_.Query(1)->End(OkStatus());
  EXPECT_TRUE(second->ReadAll().ok());
  EXPECT_EQ(first->stream.summary().queued_us(), 0u);
  EXPECT_EQ(second->stream.summary().queued_us(), 7'000u);
}

TEST_F(SubmitSessionQueueTest, ALookUpDoesNotWaitForScans) {
  Open(8, 10);
  for (int i = 0; i < 9; ++i) Start(kScan);
  WaitForQueue(2);
  Call* look_up = Start(kLookUp);
  engine_.Query(7)->End(OkStatus());
  EXPECT_TRUE(look_up->ReadAll().ok());
  EXPECT_EQ(look_up->stream.summary().queued_us(), 0u);
  for (Call& call : calls_) call.session->OnCancel();
  for (Call& call : calls_) {
    if (&call == look_up) continue;
    EXPECT_EQ(call.ReadAll().code(), StatusCode::kCancelled);
  }
}

// A large request takes nothing of what is kept for small ones.
TEST_F(SubmitSessionQueueTest, ALookUpRunsBesideALargeRequestWhenMemoryIsFull) {
  constexpr int64_t kReserve = 1 << 20, kOfLookUp = 64 << 10;
  ASSERT_TRUE(small_requests_.TryReserve(kReserve));
  Open(8, 10);
  Start(kScan, 0, false, /*large=*/4 * kReserve);
  const auto running = engine_.Query(0);
  EXPECT_GT(engine_.memory().used(), 4 * kReserve);
  const int64_t rest = kMemoryBytes - engine_.memory().used() - kOfLookUp;
  engine_.memory().Charge(rest);
  Call* look_up = Start(kLookUp, /*timeout_ms=*/10'000);
  for (int i = 0; i < 1000 && engine_.num_queries() < 2; ++i) usleep(5'000);
  EXPECT_EQ(engine_.num_queries(), 2U);
  if (engine_.num_queries() == 2) engine_.Query(1)->End(OkStatus());
  EXPECT_TRUE(look_up->ReadAll().ok());
  // Another large one is refused, until there is room.
  const Status refused = Start(kLookUp, 0, false, /*large=*/kReserve)->ReadAll();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(DetailOf(refused)->hint.starts_with("Try again in ")) << refused;
  engine_.memory().Release(rest);
  running->End(OkStatus());
  EXPECT_TRUE(calls_.front().ReadAll().ok());
}

// Small on the way, large where it is named.
TEST_F(SubmitSessionQueueTest, AParameterThatIsNamedTooOftenIsRefused) {
  Open(8, 10);
  std::string text = "g.inject(x";
  for (int i = 0; i < 7; ++i) text += ",x";
  Call* call = Start(text + ")", 0, false, /*large=*/6 << 20);
  const Status refused = call->ReadAll();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused)->reason, "REQUEST_TOO_LARGE");
  EXPECT_EQ(DetailOf(refused)->span.column, 24u);  // where it is too often
  EXPECT_EQ(engine_.num_queries(), 0u);
}

// Operators are the query's, so that those of a few on many workers leave small requests theirs.
TEST_F(SubmitSessionQueueTest, OperatorsAreChargedToTheirQuery) {
  engine_.standing_bytes = 3 << 20;
  Open(8, 10);
  Call* call = Start(kScan);
  const auto running = engine_.Query(0);
  EXPECT_GE(running->options.account->used(), 3 << 20);
  EXPECT_LT(requests_.used(), 1 << 20);
  running->End(OkStatus());
  EXPECT_TRUE(call->ReadAll().ok());
  engine_.Forget();
  WaitForMemory(1 << 20);

  engine_.standing_bytes = kMemoryBytes / 2;  // more than a query may have
  const Status refused = Start(kScan)->ReadAll();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused)->setting, "query-memory-mb");
}

TEST_F(SubmitSessionQueueTest, OneMoreThanMayWaitIsRefused) {
  Open(1, 0);
  Call* first = Start(kScan);
  const auto running = engine_.Query(0);
  Call* second = Start(kScan);
  const Status refused = second->ReadAll();
  EXPECT_EQ(refused.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(DetailOf(refused)->hint.find("Try again in"), std::string::npos);
  EXPECT_EQ(engine_.num_queries(), 1u);
  running->End(OkStatus());
  EXPECT_TRUE(first->ReadAll().ok());
}

TEST_F(SubmitSessionQueueTest, NobodyWaitsForLongerThanTheQueueAllows) {
  Open(1, 10, /*queue_timeout_ms=*/1);
  Call* first = Start(kScan);
  const auto running = engine_.Query(0);
  Call* second = Start(kScan);
  const Status late = second->ReadAll();
  EXPECT_EQ(late.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(late)->setting, "queue-timeout");
  EXPECT_EQ(admission_->num_waiting(), 0u);
  running->End(OkStatus());
  EXPECT_TRUE(first->ReadAll().ok());
  EXPECT_EQ(engine_.num_queries(), 1u);
}

TEST_F(SubmitSessionQueueTest, ADeadlineAndACancelEndTheWaiting) {
  Open(1, 10);
  Call* first = Start(kScan);
  const auto running = engine_.Query(0);
  Call* cancelled = Start(kScan);
  WaitForQueue(1);
  cancelled->session->OnCancel();
  EXPECT_EQ(cancelled->ReadAll().code(), StatusCode::kCancelled);
  WaitForQueue(0);
  // The alarm comes by the pool's clock.
  Call* late = Start(kScan, /*timeout_ms=*/50);
  WaitForQueue(1);
  engine_.manual_clock()->Advance(50'000'000);
  const Status too_late = late->ReadAll();
  EXPECT_EQ(too_late.code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(DetailOf(too_late)->hint.starts_with("Try again in ")) << too_late;
  WaitForQueue(0);
  EXPECT_EQ(engine_.num_queries(), 1u);
  running->End(OkStatus());
  EXPECT_TRUE(first->ReadAll().ok());
}

// It keeps its place through all attempts.
TEST_F(SubmitSessionQueueTest, AChangeWaitsAndRunsAgainWithoutWaiting) {
  Open(1, 10);
  Call* first = Start(kScan);
  const auto running = engine_.Query(0);
  graphs_.conflicts = 1;
  Call* change = Start("g.addV()");
  WaitForQueue(1);
  EXPECT_EQ(graphs_.begun, 0);  // nothing is held while it waits
  Call* third = Start(kScan);
  WaitForQueue(2);
  running->End(OkStatus());
  EXPECT_TRUE(first->ReadAll().ok());
  engine_.Query(1)->End(OkStatus());
  engine_.Query(2)->End(OkStatus());
  EXPECT_TRUE(change->ReadAll().ok());
  EXPECT_EQ(graphs_.begun, 2);
  engine_.Query(3)->End(OkStatus());
  EXPECT_TRUE(third->ReadAll().ok());
}

// A query that ran into its deadline while its client does not read makes place at once; the client
// is cut off after a while.
TEST_F(SubmitSessionQueueTest, AClientThatDoesNotReadHoldsNoPlaceWhenItsQueryHasFailed) {
  Open(1, 10);
  Call* stalled = Start(kScan);
  const auto query = engine_.Query(0);
  ASSERT_TRUE(query->PushOne(1));
  stalled->stream.WaitForWrite();
  ASSERT_TRUE(query->PushOne(2));
  Call* next = Start(kScan);
  WaitForQueue(1);
  query->End(DeadlineExceeded("The query ran into its deadline."));
  engine_.Query(1)->End(OkStatus());
  EXPECT_TRUE(next->ReadAll().ok());
  while (stalled->stream.aborted == 0) std::this_thread::yield();
  stalled->stream.Written(stalled->session.get(), false);
  EXPECT_EQ(stalled->ReadAll().code(), StatusCode::kDeadlineExceeded);
}

// The same when it succeeded: what the client has not read yet holds neither place nor reserve, and
// it is cut off at its deadline.
TEST_F(SubmitSessionQueueTest, AClientThatDoesNotReadHoldsNoPlaceWhenItsQueryIsThrough) {
  Open(1, 10);
  Call* stalled = Start(kScan, /*timeout_ms=*/20);
  const int64_t reserve = engine_.Query(0)->options.account->reserved();
  ASSERT_TRUE(engine_.Query(0)->PushOne(1));
  stalled->stream.WaitForWrite();
  ASSERT_TRUE(engine_.Query(0)->PushOne(2));
  ASSERT_TRUE(engine_.Query(0)->PushOne(3));
  engine_.Query(0)->End(OkStatus(), 3);
  EXPECT_EQ(admission_->num_running(), 0u);
  ASSERT_EQ(registry_.List().size(), 1u);  // it can still be cancelled
  engine_.Forget();
  // Of what waits for its client.
  EXPECT_GT(registry_.List()[0].numbers.memory_bytes, 0u);
  EXPECT_LE(registry_.List()[0].numbers.memory_bytes,
            static_cast<uint64_t>(engine_.memory().used()));
  EXPECT_GT(engine_.memory().used(), 0);
  WaitForMemory(reserve / 2);
  Call* next = Start(kScan);
  engine_.Query(0)->End(OkStatus());
  EXPECT_TRUE(next->ReadAll().ok());
  while (stalled->stream.aborted == 0) std::this_thread::yield();
  stalled->stream.Written(stalled->session.get(), false);
  EXPECT_EQ(stalled->ReadAll().code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SubmitSessionQueueTest, AClientThatDoesNotReadIsCutOffWhenItsQueryIsCancelled) {
  Open(1, 10);
  Call* stalled = Start(kScan, /*timeout_ms=*/3'600'000);
  ASSERT_TRUE(engine_.Query(0)->PushOne(1));
  stalled->stream.WaitForWrite();
  engine_.Query(0)->End(OkStatus(), 1);
  EXPECT_EQ(stalled->stream.aborted, 0);
  EXPECT_TRUE(registry_.Cancel(stalled->stream.query_id, Cancelled("enough")).ok());
  while (stalled->stream.aborted == 0) std::this_thread::yield();
  stalled->stream.Written(stalled->session.get(), false);
  EXPECT_EQ(stalled->ReadAll().code(), StatusCode::kCancelled);
}

// Nor is the last message waited for for ever.
TEST_F(SubmitSessionQueueTest, ALastMessageThatIsNotTakenIsGivenUp) {
  Open(1, 10);
  Call* stalled = Start(kScan, /*timeout_ms=*/20, /*joins_summary=*/true);
  engine_.Query(0)->PushOne(Value::String(std::string(100'000, 'x')));
  stalled->stream.WaitForWrite();
  engine_.Query(0)->PushOne(Value::String(std::string(100'000, 'y')));
  engine_.Query(0)->End(OkStatus(), 2);
  stalled->stream.Written(stalled->session.get());
  EXPECT_TRUE(stalled->ReadAll().ok());
  while (stalled->stream.aborted == 0) std::this_thread::yield();
}

// What was encoded when the query failed is not written any more.
TEST_F(SubmitSessionQueueTest, OfAFailedQueryNothingMoreIsWritten) {
  Open(1, 10);
  Call* call = Start(kScan);
  const Value large = Value::String(std::string(200'000, 'x'));
  engine_.Query(0)->Push({large, large});  // a message each
  call->stream.WaitForWrite();
  engine_.Query(0)->End(Internal("It failed."));
  EXPECT_EQ(call->ReadAll().code(), StatusCode::kInternal);
  EXPECT_EQ(call->stream.num_messages(), 1u);
}

// 10,000 queries of three clients, cancelled at different moments: before they are planned, while
// they wait, while they run, while their results are on their way. No place, no ticket and no byte
// is left.
TEST_F(SubmitSessionQueueTest, NothingIsLeftOfCancelledQueries) {
  Open(8, 64);
  Rng rng(7);
  size_t ran = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Call*> open;
    for (int i = 0; i < 100; ++i) {
      Call* call = Start(i % 3 == 0 ? kLookUp : i % 7 == 1 ? "g.addV()" : kScan);
      call->stream.client = std::to_string(i % 3);
      open.push_back(call);
      if (rng.Uniform(3) == 0) call->session->OnCancel();
      if (rng.Uniform(2) == 0 && engine_.num_queries() > ran) {
        const auto query = engine_.Query(ran++);
        if (rng.Uniform(2) == 0) query->PushOne(1);
        if (rng.Uniform(2) == 0) query->End(OkStatus(), 1);
      }
    }
    for (Call* call : open) call->session->OnCancel();
    for (Call* call : open) {
      call->ReadAll().IgnoreError();
      call->session->OnDone();
      call->session = nullptr;
    }
    calls_.clear();
    ASSERT_EQ(admission_->num_running(), 0u);
    ASSERT_EQ(admission_->num_waiting(), 0u);
    ASSERT_EQ(registry_.num_tickets(), 0u);
    engine_.Forget();
    ran = 0;
    WaitForMemory(0);
  }
}

}  // namespace
}  // namespace koios::server
