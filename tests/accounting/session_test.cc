// What a server has charged beside what it has allocated: requests with many values, plans, and
// results that wait for clients who read nothing. Sessions have threads, so the allocator counts
// for the whole process.
#include <gtest/gtest.h>
#include <jemalloc/jemalloc.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/value_proto.h"
#include "engine/engine.h"
#include "server/fake_graphs.h"
#include "server/submit_session.h"

namespace koios::server {
namespace {

constexpr size_t kSessions = 100;
// What may differ by itself: caches of the allocator, of threads that have ended a task.
constexpr int64_t kSlackOfThreads = int64_t{1} << 20;

int64_t LiveBytesOfAll() {
  uint64_t epoch = 1;
  size_t size = sizeof(epoch);
  CHECK(mallctl("epoch", &epoch, &size, &epoch, sizeof(epoch)) == 0);
  size_t live = 0;
  size = sizeof(live);
  CHECK(mallctl("stats.allocated", &live, &size, nullptr, 0) == 0);
  return static_cast<int64_t>(live);
}

// Reads one message and no more, and keeps nothing.
class UnreadStream final : public SubmitStream {
 public:
  void SetQueryId(const std::string&) override {}
  void SendQueryId() override {}
  ClientName Client() const override { return {"somebody", ""}; }
  std::optional<uint64_t> RemainingNs() const override { return std::nullopt; }
  void Write(const v1::SubmitResponse*) override { is_writing = true; }
  void WriteLast(const v1::SubmitResponse*) override { is_over = true; }
  void Fail(const Status& why) override {
    if (why.code() != StatusCode::kCancelled) ADD_FAILURE() << why;
    is_over = true;
  }
  void Abort() override {}

  std::atomic<bool> is_writing{false}, is_over{false};
};

struct Asked {
  v1::SubmitRequest request;
  UnreadStream stream;
  std::shared_ptr<SubmitSession> session;
};

engine::EngineOptions TwoWorkers() {
  engine::EngineOptions options;
  options.num_workers = 2;
  return options;
}

class SessionAccountingTest : public testing::Test {
 protected:
  SessionAccountingTest() {
    environment_.graphs = &graphs_;
    environment_.engine = engine_.get();
    environment_.registry = &registry_;
    environment_.pool = &pool_;
    environment_.commits = &commits_;
    environment_.limits.default_timeout_ms = 0;
  }
  void TearDown() override {
    for (const auto& asked : asked_) asked->session->OnCancel();
    for (const auto& asked : asked_) {
      asked->session->OnWriteDone(false);
      while (!asked->stream.is_over) std::this_thread::yield();
      asked->session->OnDone();
    }
  }

  // As many queries without end, whose clients do not read, with `value` as a parameter. All have
  // stopped then, or nothing changes any more.
  void Ask(const std::string& query, const Value& value) {
    for (size_t i = 0; i < kSessions; ++i) {
      auto asked = std::make_unique<Asked>();
      asked->request.set_query(query);
      CHECK(ToProto(value, &(*asked->request.mutable_parameters())["x"]).ok());
      asked->session = SubmitSession::Create(environment_, &asked->stream, &asked->request);
      asked->session->Start();
      asked_.push_back(std::move(asked));
    }
    for (const auto& asked : asked_) {
      while (!asked->stream.is_writing) std::this_thread::yield();
    }
    for (int64_t before = -1, same = 0; same < 20; before = engine_->memory().used()) {
      same = engine_->memory().used() == before ? same + 1 : 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  void Compare(const char* what) {
    const int64_t live = LiveBytesOfAll() - before_, charged = engine_->memory().used();
    std::printf("%12ld live %12ld charged  %s\n", static_cast<long>(live),
                static_cast<long>(charged), what);
    EXPECT_GT(live, int64_t{4} << 20) << "says nothing";
    EXPECT_NEAR(live, charged, live / 10 + kSlackOfThreads) << what;
  }

  MemoryGraphs graphs_;
  const std::unique_ptr<engine::Engine> engine_ = engine::Engine::Create(TwoWorkers());
  QueryRegistry registry_{kSessions, 1};
  TaskPool pool_{1}, commits_{1};
  SessionEnvironment environment_;
  std::vector<std::unique_ptr<Asked>> asked_;
  const int64_t before_ = LiveBytesOfAll();
};

Value ListOfTexts(int count) {
  std::vector<Value> texts;
  for (int i = 0; i < count; ++i) {
    texts.push_back(
        Value::String("a name that nobody in this graph has, however long, " + std::to_string(i)));
  }
  return *Value::List(std::move(texts));
}

TEST_F(SessionAccountingTest, RequestsAndTheirPlans) {
  Ask("g.inject('nobody').repeat(identity()).emit().is(without(x))", ListOfTexts(5000));
  Compare("values in requests and plans");
}

// Its value is there wherever it is named.
TEST_F(SessionAccountingTest, AParameterThatIsNamedOften) {
  Ask("g.inject('nobody').repeat(identity()).emit()"
      ".is(without(x)).is(without(x)).is(without(x)).is(without(x)).is(without(x)).is(without(x))",
      ListOfTexts(1000));
  Compare("a parameter that is named often");
}

TEST_F(SessionAccountingTest, ResultsThatWaitForClients) {
  Ask("g.inject(0).repeat(identity()).emit().project('first', 'second').by().by(constant(x))",
      Value::String("text"));
  Compare("results that wait");
}

}  // namespace
}  // namespace koios::server
