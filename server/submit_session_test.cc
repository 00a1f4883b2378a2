// A session between a scripted engine and a scripted client, without gRPC: what is held, what is
// run again, when it stops. The threads are the session's own pools.
#include "server/submit_session.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "core/value_proto.h"
#include "engine/spill/spill_space.h"
#include "server/fake_engine.h"
#include "server/fake_graphs.h"
#include "server/fake_stream.h"

namespace koios::server {
namespace {

constexpr int kMaxAttempts = 8;
constexpr size_t kWindow = 4;

class SubmitSessionTest : public testing::Test {
 protected:
  // Changes the graph or does not; the engine is scripted, so that only the kind matters.
  void Start(const std::string& query, uint64_t timeout_ms = 0) {
    request_.set_timeout_ms(timeout_ms);
    session_ = Begin(query, &stream_);
  }
  std::shared_ptr<SubmitSession> Begin(const std::string& query, FakeStream* stream) {
    request_.set_query(query);
    SessionEnvironment environment;
    environment.graphs = &graphs_;
    environment.engine = &engine_;
    environment.requests = &requests_;
    environment.registry = &registry_;
    environment.pool = &pool_;
    environment.commits = &commits_;
    environment.limits.window_batches = kWindow;
    environment.limits.held_bytes = 1 << 20;
    environment.limits.max_attempts = kMaxAttempts;
    environment.plans = plans_;
    environment.begin_slots = begin_slots_;
    auto session = SubmitSession::Create(environment, stream, &request_);
    session->Start();
    return session;
  }
  void TearDown() override {
    if (session_ != nullptr) session_->OnDone();
  }
  // Attempt `index` of the request gives `rows` results and ends.
  void RunAttempt(size_t index, int rows) {
    const auto query = engine_.Query(index);
    for (int i = 0; i < rows; ++i) EXPECT_TRUE(query->PushOne(i));
    query->End(OkStatus(), static_cast<uint64_t>(rows));
  }

  MemoryGraphs graphs_;
  static constexpr int64_t kMemoryBytes = 1 << 20;
  FakeEngine engine_{kMemoryBytes};
  MemoryAccount requests_{
      "all requests", kMemoryBytes / 2, &engine_.memory(), {"REQUEST_MEMORY", "memory-mb", ""}};
  QueryRegistry registry_{1, 1};
  PlanCache* plans_ = nullptr;
  BeginSlots* begin_slots_ = nullptr;
  FakeStream stream_;
  v1::SubmitRequest request_;
  std::shared_ptr<SubmitSession> session_;
  static constexpr int kPoolThreads = 2;
  TaskPool pool_{kPoolThreads}, commits_{1};  // these end first, with what they still run
};

TEST_F(SubmitSessionTest, BeginsWhereItWasReceivedWhileThereIsASlot) {
  BeginSlots slots(1);
  begin_slots_ = &slots;
  std::promise<void> free;
  const std::shared_future<void> is_free = free.get_future().share();
  for (int i = 0; i < kPoolThreads; ++i) pool_.Run([is_free] { is_free.wait(); });
  Start("g.V()");
  EXPECT_EQ(engine_.num_queries(), 1U);  // and nobody else could
  RunAttempt(0, 0);

  ASSERT_TRUE(slots.TryTake());  // it was given back
  FakeStream other;
  const auto waiting = Begin("g.V()", &other);
  EXPECT_EQ(engine_.num_queries(), 1U);
  free.set_value();
  RunAttempt(1, 0);
  EXPECT_TRUE(other.ReadAll(waiting.get()).ok());
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  waiting->OnDone();
}

TEST_F(SubmitSessionTest, StreamsBatchesThenTheSummary) {
  Start("g.V()");
  RunAttempt(0, 3);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), 3u);
  EXPECT_EQ(stream_.summary().rows(), 3u);
  EXPECT_EQ(stream_.summary().query_id(), stream_.query_id);
  EXPECT_EQ(graphs_.begun, 0);
}

// Each slice is a few rows here, and all go in one message, unless it is stopped on the way.
TEST_F(SubmitSessionTest, ABatchIsEncodedInSlices) {
  engine_.manual_clock()->step_nanos = kEncodeSliceNanos;
  for (const bool stops : {false, true}) {
    FakeStream stream;
    const auto session = Begin("g.V()", &stream);
    const auto query = engine_.Query(stops ? 1 : 0);
    EXPECT_TRUE(query->Push(std::vector<Value>(200, ListOf({Value::Int(1)}))));
    if (stops) session->OnCancel();
    query->End(OkStatus(), 200);
    EXPECT_EQ(stream.ReadAll(session.get()).ok(), !stops);
    EXPECT_TRUE(stops || stream.messages().at(0).batch().values().items_size() == 200);
    session->OnDone();
    EXPECT_EQ(engine_.memory().used(), 0);
  }
}

TEST_F(SubmitSessionTest, TheLastRowsComeWithTheSummaryToThoseWhoTakeThem) {
  for (const bool joins : {false, true}) {
    request_.set_joins_summary(joins);
    FakeStream stream;
    const auto session = Begin("g.V()", &stream);
    const auto query = engine_.Query(joins ? 1 : 0);
    EXPECT_TRUE(query->PushOne(1));
    stream.WaitForWrite();
    EXPECT_TRUE(query->PushOne(2));
    query->End(OkStatus(), 2);
    EXPECT_TRUE(stream.ReadAll(session.get()).ok());
    EXPECT_EQ(stream.num_messages(), joins ? 1u : 2u);
    EXPECT_EQ(stream.last().has_end(), joins);
    EXPECT_EQ(stream.last().has_summary(), !joins);
    const v1::SubmitResponse last = stream.last();
    EXPECT_EQ(last.end().batch().longs().values_size(), joins ? 1 : 0);
    EXPECT_EQ(joins ? last.end().summary().rows() : last.summary().rows(), 2u);
    session->OnDone();
  }
}

TEST_F(SubmitSessionTest, AShortAnswerIsOneMessage) {
  request_.set_joins_summary(true);
  engine_.first_turn = [](FakeQuery* query) {
    EXPECT_TRUE(query->PushOne(7));
    query->End(OkStatus(), 1);
  };
  Start("g.V()");
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), 0u);
  EXPECT_EQ(stream_.last().end().batch().longs().values(0), 7);
  EXPECT_EQ(stream_.last().end().summary().rows(), 1u);
  EXPECT_EQ(stream_.last().end().summary().query_id(), stream_.query_id);
  EXPECT_TRUE(engine_.Query(0)->options.begins_here);
}

TEST_F(SubmitSessionTest, AnAnswerWithoutRowsIsTheSummary) {
  request_.set_joins_summary(true);
  engine_.first_turn = [](FakeQuery* query) { query->End(OkStatus()); };
  Start("g.V()");
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_TRUE(stream_.last().has_summary());
}

TEST_F(SubmitSessionTest, AnErrorInTheFirstTurnIsTheAnswer) {
  request_.set_joins_summary(true);
  engine_.first_turn = [](FakeQuery* query) {
    EXPECT_TRUE(query->PushOne(7));
    query->End(InvalidArgument("by the test"));
  };
  Start("g.V()");
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(stream_.num_messages(), 0u);
}

TEST_F(SubmitSessionTest, ACancelInTheFirstTurnEndsIt) {
  request_.set_joins_summary(true);
  engine_.first_turn = [this](FakeQuery* query) {
    EXPECT_TRUE(query->PushOne(7));
    EXPECT_TRUE(registry_.Cancel(stream_.query_id, Cancelled("by the test")).ok());
    query->PushOne(8);
    query->End(OkStatus(), 2);
  };
  Start("g.V()");
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
  EXPECT_EQ(stream_.num_messages(), 0u);
}

TEST_F(SubmitSessionTest, AFirstTurnThatFillsTheWindowGoesOnWhenTheClientReads) {
  request_.set_joins_summary(true);
  engine_.first_turn = [](FakeQuery* query) {
    for (size_t i = 0; i < kWindow; ++i) EXPECT_TRUE(query->PushOne(static_cast<int64_t>(i)));
    EXPECT_FALSE(query->PushOne(99));
  };
  Start("g.V()");
  const auto query = engine_.Query(0);
  stream_.WaitForWrite();
  query->WaitForResumes(1);
  stream_.Written(session_.get());
  stream_.WaitForWrite();
  EXPECT_TRUE(query->PushOne(99));
  query->End(OkStatus(), kWindow + 1);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), kWindow);
  EXPECT_EQ(stream_.last().end().batch().longs().values(0), 99);
}

TEST_F(SubmitSessionTest, AKeptPlanIsRunWithTheValuesOfTheRequest) {
  MemoryAccount account("all plans", 1 << 20);
  PlanCache plans(&account);
  plans_ = &plans;
  for (int64_t i = 0; i < 3; ++i) {
    FakeStream stream;
    (*request_.mutable_parameters())["x"].set_long_value(i);
    const auto session = Begin("g.V(x).label()", &stream);
    const auto query = engine_.Query(static_cast<size_t>(i));
    EXPECT_EQ(query->plan.operators(0).inject().values(0), EncodeValue(Value::Long(i)));
    EXPECT_EQ(query->plan.graph(), "g");
    query->End(OkStatus());
    EXPECT_TRUE(stream.ReadAll(session.get()).ok());
    session->OnDone();
  }
  EXPECT_EQ(plans.counts().hits, 2u);
  EXPECT_EQ(plans.counts().misses, 1u);
}

TEST_F(SubmitSessionTest, AKeptPlanOfAChangeGetsATransactionEachTime) {
  MemoryAccount account("all plans", 1 << 20);
  PlanCache plans(&account);
  plans_ = &plans;
  for (size_t i = 0; i < 2; ++i) {
    FakeStream stream;
    const auto session = Begin("g.addV()", &stream);
    EXPECT_NE(engine_.Query(i)->options.transaction, nullptr);
    EXPECT_FALSE(engine_.Query(i)->options.begins_here);
    engine_.Query(i)->End(OkStatus());
    EXPECT_TRUE(stream.ReadAll(session.get()).ok());
    session->OnDone();
  }
  EXPECT_EQ(graphs_.begun, 2);
  EXPECT_EQ(plans.counts().hits, 1u);
}

TEST_F(SubmitSessionTest, WhatWaitsForTheClientIsCharged) {
  Start("g.V()");
  const auto query = engine_.Query(0);
  const int64_t with_request = engine_.memory().used();
  EXPECT_GT(with_request, 0);
  EXPECT_TRUE(query->PushOne(1));
  stream_.WaitForWrite();
  EXPECT_GT(engine_.memory().used(), with_request);
  query->End(OkStatus(), 1);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  session_->OnDone();
  EXPECT_EQ(engine_.memory().used(), 0);
  session_ = nullptr;
}

TEST_F(SubmitSessionTest, ARequestThatDoesNotFitTheMemoryIsRefused) {
  // Twice, as what the client sent and as a value.
  (*request_.mutable_parameters())["x"].set_string_value(std::string(kMemoryBytes / 3, 'x'));
  Start("g.V()");
  const Status status = stream_.ReadAll(session_.get());
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->reason, "REQUEST_MEMORY");
  EXPECT_EQ(DetailOf(status)->setting, "memory-mb");
  EXPECT_EQ(engine_.memory().used(), 0);
  EXPECT_EQ(engine_.num_queries(), 0u);
}

TEST_F(SubmitSessionTest, ARequestBeyondItsLimitIsRefused) {
  (*request_.mutable_parameters())["x"].set_string_value(std::string(11 << 20, 'x'));
  Start("g.V()");
  const Status status = stream_.ReadAll(session_.get());
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->setting, "request-mb");
  EXPECT_EQ(DetailOf(status)->limit, std::to_string(10 << 20) + " bytes");
}

TEST_F(SubmitSessionTest, ResultsAreHeldUntilTheCommitDecides) {
  graphs_.Hold(true);
  Start("g.addV()");
  RunAttempt(0, 2);
  graphs_.WaitForCommits(1);
  EXPECT_EQ(stream_.num_messages(), 0u);
  graphs_.Hold(false);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), 2u);
  EXPECT_EQ(stream_.summary().version(), MemoryGraphs::kCommittedVersion);
}

TEST_F(SubmitSessionTest, NothingIsSentWhenTheCommitFails) {
  graphs_.commits_fail = true;
  Start("g.addV()");
  RunAttempt(0, 2);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kInternal);
  EXPECT_EQ(stream_.num_messages(), 0u);
  EXPECT_EQ(engine_.num_queries(), 1u);
}

TEST_F(SubmitSessionTest, AConflictRunsTheRequestAgainAndOnlyTheLastResultsCount) {
  graphs_.conflicts = kMaxAttempts - 1;
  Start("g.addV()");
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    RunAttempt(attempt, attempt == kMaxAttempts - 1 ? 1 : 3);
  }
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), 1u);
  EXPECT_EQ(stream_.summary().rows(), 1u);
  EXPECT_EQ(graphs_.begun, kMaxAttempts);  // each on a view of its own
  const auto requests = graphs_.requests();
  ASSERT_EQ(requests.size(), static_cast<size_t>(kMaxAttempts));
  for (size_t i = 0; i < requests.size(); ++i) {
    EXPECT_FALSE(requests[i].first.is_null());
    EXPECT_EQ(requests[i].first, requests[0].first);  // of one request, whose attempts differ
    EXPECT_EQ(requests[i].second, i + 1);
  }
}

TEST_F(SubmitSessionTest, TheLastConflictAborts) {
  graphs_.conflicts = 1000;
  Start("g.addV()");
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) RunAttempt(attempt, 1);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kAborted);
  EXPECT_EQ(engine_.num_queries(), static_cast<size_t>(kMaxAttempts));
  EXPECT_EQ(stream_.num_messages(), 0u);
}

// Another request conflicted on the same key before: `Leave` lets this one go on.
class WaitingSessionTest : public SubmitSessionTest {
 protected:
  static constexpr uint64_t kKey = 7;

  void StartBehindAnother(uint64_t timeout_ms) {
    ahead_ = graphs_.turns->Take();
    const std::vector<storage::ClaimedKey> sets = {{kKey, storage::Claim::kSet}};
    ASSERT_TRUE(graphs_.turns->Enter(ahead_, sets, nullptr));
    graphs_.conflicts = 1;
    graphs_.conflict_keys = {{kKey, storage::Claim::kGuard}};
    Start("g.addV()", timeout_ms);
    RunAttempt(0, 2);
    while (!WaitsForItsTurn()) std::this_thread::yield();
  }
  bool WaitsForItsTurn() const {
    return graphs_.turns->IsClaimedBefore(0, kKey, storage::Claim::kSet);  // its guard
  }

  storage::ConflictTurns::Ticket ahead_ = 0;
};

TEST_F(WaitingSessionTest, ItRunsAgainWhenItsTurnHasCome) {
  StartBehindAnother(0);
  EXPECT_EQ(engine_.num_queries(), 1u);
  graphs_.turns->Leave(ahead_);
  RunAttempt(1, 1);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.summary().rows(), 1u);
  EXPECT_FALSE(graphs_.turns->HasClaims());
}

TEST_F(WaitingSessionTest, ACancelEndsTheWait) {
  StartBehindAnother(0);
  session_->OnCancel();
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
  EXPECT_EQ(engine_.num_queries(), 1u);
  EXPECT_FALSE(WaitsForItsTurn());
}

// The engine ends it, as any query that begins behind its deadline.
TEST_F(WaitingSessionTest, TheDeadlineEndsTheWait) {
  StartBehindAnother(1);
  engine_.Query(1)->End(MakeStatus(StatusCode::kDeadlineExceeded, "late", {}), 0);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(WaitsForItsTurn());
}

TEST_F(SubmitSessionTest, AllAttemptsHaveOneDeadline) {
  graphs_.conflicts = 2;
  constexpr uint64_t kTimeoutMs = 500, kNsPerMs = 1'000'000;
  const auto start = static_cast<uint64_t>(engine_.clock().NowNanos());
  Start("g.addV()", kTimeoutMs);
  for (size_t attempt = 0; attempt < 3; ++attempt) {
    EXPECT_EQ(engine_.Query(attempt)->options.deadline_ns, start + kTimeoutMs * kNsPerMs);
    engine_.manual_clock()->Advance(100 * kNsPerMs);
    RunAttempt(attempt, 0);
  }
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
}

TEST_F(SubmitSessionTest, TheClientsDeadlineCountsWhenItIsTheEarlier) {
  stream_.remaining_ns = 7'000;
  const auto start = static_cast<uint64_t>(engine_.clock().NowNanos());
  Start("g.V()", 500);
  EXPECT_EQ(engine_.Query(0)->options.deadline_ns, start + 7'000);
  RunAttempt(0, 0);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
}

TEST_F(SubmitSessionTest, ACancelDuringTheCommitComesTooLateWhenItCommits) {
  graphs_.Hold(true);
  Start("g.addV()");
  RunAttempt(0, 2);
  graphs_.WaitForCommits(1);
  session_->OnCancel();
  graphs_.Hold(false);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), 2u);
  EXPECT_EQ(stream_.summary().version(), MemoryGraphs::kCommittedVersion);
}

TEST_F(SubmitSessionTest, AResultThatCannotBeSentIsAnErrorAlsoBehindTheQuerysEnd) {
  Start("g.addV()");  // what it gives is encoded when it has been committed
  Value deep = Value::Int(1);
  while (deep.depth() <= kMaxSentDepth) deep = ListOf({deep});
  EXPECT_TRUE(engine_.Query(0)->PushOne(deep));
  engine_.Query(0)->End(OkStatus(), 1);
  const Status ended = stream_.ReadAll(session_.get());
  EXPECT_EQ(ended.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(MessageOf(ended).starts_with("The change is committed, but")) << ended;
}

TEST_F(SubmitSessionTest, ACancelBeforeTheCommitIsAppliedEndsIt) {
  graphs_.Hold(true);
  graphs_.commits_watch = true;
  Start("g.addV()");
  RunAttempt(0, 2);
  graphs_.WaitForCommits(1);
  session_->OnCancel();
  graphs_.Hold(false);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
  EXPECT_EQ(stream_.num_messages(), 0u);
  EXPECT_EQ(stream_.announced, 1);
}

TEST_F(SubmitSessionTest, ACommitThatIsNotAppliedEndsAtTheDeadline) {
  graphs_.Hold(true);
  graphs_.commits_watch = true;
  Start("g.addV()", 1);
  RunAttempt(0, 2);
  graphs_.WaitForCommits(1);
  engine_.manual_clock()->Advance(2'000'000);
  graphs_.Hold(false);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kDeadlineExceeded);
}

TEST_F(SubmitSessionTest, ACancelDuringACommitThatConflictsEndsTheRequest) {
  graphs_.Hold(true);
  graphs_.conflicts = 1;
  Start("g.addV()");
  RunAttempt(0, 2);
  graphs_.WaitForCommits(1);
  session_->OnCancel();
  graphs_.Hold(false);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
  EXPECT_EQ(stream_.num_messages(), 0u);
  EXPECT_EQ(engine_.num_queries(), 1u);
}

TEST_F(SubmitSessionTest, AFullWindowPausesTheQueryUntilTheClientReads) {
  Start("g.V()");
  const auto query = engine_.Query(0);
  ASSERT_TRUE(query->PushOne(0));
  stream_.WaitForWrite();  // this one is outstanding, and nothing else is sent meanwhile
  for (size_t i = 1; i < kWindow; ++i) EXPECT_TRUE(query->PushOne(static_cast<int64_t>(i)));
  EXPECT_FALSE(query->PushOne(99));
  EXPECT_EQ(stream_.num_messages(), 1u);
  stream_.Written(session_.get());
  query->WaitForResumes(1);
  query->End(OkStatus(), kWindow);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  EXPECT_EQ(stream_.num_messages(), kWindow);
}

TEST_F(SubmitSessionTest, ACancelEndsResultsThatWaitBehindTheQuerysEnd) {
  Start("g.V()");
  const auto query = engine_.Query(0);
  ASSERT_TRUE(query->PushOne(0));
  stream_.WaitForWrite();
  EXPECT_TRUE(query->PushOne(1));
  query->End(OkStatus(), 2);
  session_->OnCancel();
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
  EXPECT_EQ(stream_.num_messages(), 1u);
}

TEST_F(SubmitSessionTest, AWriteThatFailsStopsTheQuery) {
  Start("g.V()");
  const auto query = engine_.Query(0);
  ASSERT_TRUE(query->PushOne(0));
  stream_.WaitForWrite();
  stream_.Written(session_.get(), false);
  EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kCancelled);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
}

// Whatever comes first of the client's cancel, the results and the end: the call ends once, and no
// write overtakes another (FakeStream checks both).
TEST_F(SubmitSessionTest, ACancelThatRacesWithTheResultsEndsTheCallOnce) {
  Start("g.V()");
  const auto query = engine_.Query(0);
  std::thread canceller([this] { session_->OnCancel(); });
  std::thread worker([&query] {
    for (int i = 0; i < 1000; ++i) query->PushOne(i);
    query->End(OkStatus(), 1000);
  });
  const Status status = stream_.ReadAll(session_.get());
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kCancelled) << status;
  canceller.join();
  worker.join();
}

// Results of a change beyond what is held in memory wait on disk.
class SubmitSessionHeldTest : public testing::Test {
 protected:
  static constexpr int kBatches = 100;
  static constexpr int kRows = 50;  // of a batch

  SubmitSessionHeldTest() { engine_.space = &space_; }
  void Start() { Start(&stream_); }
  void Start(FakeStream* stream) {
    request_.set_query("g.addV()");
    SessionEnvironment environment;
    environment.graphs = &graphs_;
    environment.engine = &engine_;
    environment.registry = &registry_;
    environment.pool = &pool_;
    environment.commits = &commits_;
    environment.limits.held_bytes = 1000;
    environment.limits.max_attempts = 2;
    session_ = SubmitSession::Create(environment, stream, &request_);
    session_->Start();
  }
  // Attempt `index` gives numbers from `first` on, and ends.
  void RunAttempt(size_t index, int64_t first) {
    const auto query = engine_.Query(index);
    for (int b = 0; b < kBatches; ++b) {
      std::vector<Value> values;
      for (int i = 0; i < kRows; ++i) values.push_back(Value::Long(first++));
      EXPECT_TRUE(query->Push(values));
    }
    query->End(OkStatus(), kBatches * kRows);
  }
  // All of an attempt have come, in their order.
  void ExpectNumbersFrom(int64_t first) {
    for (const v1::SubmitResponse& message : stream_.messages()) {
      for (const int64_t value : message.batch().longs().values()) EXPECT_EQ(value, first++);
    }
    EXPECT_EQ(first % (kBatches * kRows), 0);
    EXPECT_GT(first, 0);
    EXPECT_EQ(stream_.summary().rows(), static_cast<uint64_t>(kBatches * kRows));
  }
  void EndAll() {
    session_->OnDone();
    session_ = nullptr;
    while (space_.used() > 0) std::this_thread::yield();  // the pool lets the file go
    EXPECT_EQ(engine_.memory().used(), 0);
  }

  MemoryGraphs graphs_;
  engine::SpillSpace space_{"/tmp"};
  FakeEngine engine_{int64_t{64} << 20};
  QueryRegistry registry_{1, 1};
  FakeStream stream_;
  v1::SubmitRequest request_;
  std::shared_ptr<SubmitSession> session_;
  TaskPool pool_{2}, commits_{1};  // these end first, with what they still run
};

TEST_F(SubmitSessionHeldTest, TheyComeFromDiskInTheirOrderBehindTheCommit) {
  graphs_.Hold(true);
  Start();
  RunAttempt(0, 0);
  graphs_.WaitForCommits(1);
  EXPECT_EQ(stream_.num_messages(), 0u);
  const uint64_t on_disk = space_.used();
  EXPECT_GT(on_disk, 1000u);
  graphs_.Hold(false);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  ExpectNumbersFrom(0);
  EXPECT_EQ(stream_.summary().spilled_bytes(), on_disk);
  EXPECT_EQ(space_.used(), 0u);
  EndAll();
}

// Hardly more than the message under way is in memory.
TEST_F(SubmitSessionHeldTest, AClientThatReadsSlowlyHasThemOnDisk) {
  Start();
  RunAttempt(0, 0);
  for (int i = 0; i < kBatches; ++i) {
    stream_.WaitForWrite();
    EXPECT_LT(engine_.memory().used(), 20'000);
    EXPECT_EQ(space_.used() > 0, i < kBatches - 1) << i;
    stream_.Written(session_.get());
  }
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  ExpectNumbersFrom(0);
  EndAll();
}

TEST_F(SubmitSessionHeldTest, AConflictThrowsThemAway) {
  graphs_.conflicts = 1;
  Start();
  RunAttempt(0, 0);
  RunAttempt(1, 20 * kBatches * kRows);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  ExpectNumbersFrom(20 * kBatches * kRows);
  EndAll();
}

TEST_F(SubmitSessionHeldTest, ACommitThatFailsThrowsThemAway) {
  graphs_.commits_fail = true;
  Start();
  RunAttempt(0, 0);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kInternal);
  EXPECT_EQ(stream_.num_messages(), 0u);
  EXPECT_EQ(space_.used(), 0u);
  EndAll();
}

TEST_F(SubmitSessionHeldTest, ACancelThatComesTooLateLosesNone) {
  graphs_.Hold(true);
  Start();
  RunAttempt(0, 0);
  graphs_.WaitForCommits(1);
  session_->OnCancel();
  graphs_.Hold(false);
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());
  ExpectNumbersFrom(0);
  EndAll();
}

TEST_F(SubmitSessionHeldTest, AFullDiskEndsTheRequestBeforeItCommits) {
  size_t index = 0;
  for (const uint64_t write : {1, 2, 50}) {
    FakeStream stream;
    engine::SpillSpace space("/tmp");
    space.FailFromWrite(write);
    engine_.space = &space;
    graphs_.conflicts = 1;
    Start(&stream);
    const auto query = engine_.Query(index++);
    for (int i = 0; i < 60; ++i) query->Push(std::vector<Value>(kRows, Value::Int(i)));
    EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kResourceExhausted);
    const Status status = stream.ReadAll(session_.get());
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(DetailOf(status)->setting, "spill-dir");
    EXPECT_EQ(stream.num_messages(), 0u);
    EXPECT_EQ(graphs_.conflicts, 1);  // nothing was committed
    session_->OnDone();
    while (space.used() > 0) std::this_thread::yield();
  }
  session_ = nullptr;
}

TEST_F(SubmitSessionHeldTest, ACancelBeforeTheCommitLeavesNothing) {
  Start();
  const auto query = engine_.Query(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(query->Push(std::vector<Value>(kRows, Value::Int(i))));
  }
  EXPECT_GT(space_.used(), 0u);
  session_->OnCancel();
  EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kCancelled);
  EXPECT_EQ(stream_.ReadAll(session_.get()).code(), StatusCode::kCancelled);
  EndAll();
}

TEST_F(SubmitSessionHeldTest, AClientThatLeavesInTheMiddleLeavesNothing) {
  Start();
  RunAttempt(0, 0);
  for (int i = 0; i < kBatches / 2; ++i) {
    stream_.WaitForWrite();
    stream_.Written(session_.get(), /*ok=*/i + 1 < kBatches / 2);
  }
  EXPECT_TRUE(stream_.ReadAll(session_.get()).ok());  // it is committed
  EXPECT_LE(stream_.num_messages(), static_cast<size_t>(kBatches / 2 + 1));
  EndAll();
}

// Who hears of an error must know that the change is made all the same.
TEST_F(SubmitSessionHeldTest, WhatCannotBeReadAgainIsAnErrorBehindTheCommit) {
  Start();
  const auto query = engine_.Query(0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(query->Push(std::vector<Value>(kRows, PathOf({{Value::Int(i)}, {}}))));
  }
  query->End(OkStatus(), 10 * kRows);
  stream_.WaitForWrite();
  engine_.memory().Charge(int64_t{64} << 20);  // the nodes of paths have no room
  const Status status = stream_.ReadAll(session_.get());
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_NE(MessageOf(status).find("The change is committed"), std::string::npos);
  engine_.memory().Release(int64_t{64} << 20);
  EndAll();
}

}  // namespace
}  // namespace koios::server
