// The door with a scripted engine behind it: windows, cancelling, deadlines, errors, shutdown.
#include "server/server.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <thread>

#include "proto/rpc_status.pb.h"
#include "proto/service.grpc.pb.h"
#include "server/fake_engine.h"
#include "server/fake_graphs.h"
#include "server/rpc/answer_bytes.h"
#include "server/rpc/connect_to.h"

namespace koios::server {
namespace {

// One Submit call as a client makes it.
struct Call {
  Call(v1::Koios::Stub* stub, const std::string& query, uint64_t timeout_ms = 0,
       v1::Mode mode = v1::RUN) {
    v1::SubmitRequest request;
    request.set_query(query);
    request.set_timeout_ms(timeout_ms);
    request.set_mode(mode);
    reader = stub->Submit(&context, request);
  }
  ~Call() {
    if (!finished) context.TryCancel();
  }
  grpc::Status Finish() {
    finished = true;
    v1::SubmitResponse response;
    while (reader->Read(&response)) {
      if (response.has_summary()) summary = response.summary();
      num_batches += response.has_batch() ? 1 : 0;
    }
    return reader->Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::SubmitResponse>> reader;
  v1::Summary summary;
  int num_batches = 0;
  bool finished = false;
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() { Start(ServerOptions()); }

  void Start(ServerOptions options, int64_t memory_bytes = kNoMemoryLimit) {
    stub_.reset();
    server_.reset();
    options.embedded = !has_port_;
    options.grpc_port = 0;
    auto engine = std::make_unique<FakeEngine>(memory_bytes);
    engine_ = engine.get();
    auto graphs = std::make_unique<MemoryGraphs>();
    graphs_ = graphs.get();
    auto server = Server::Start(std::move(graphs), std::move(engine), options);
    CHECK(server.ok());
    server_ = *std::move(server);
    stub_ = v1::Koios::NewStub(server_->InProcessChannel());
  }

  std::vector<v1::RunningQuery> Running() {
    grpc::ClientContext context;
    v1::ListQueriesResponse response;
    EXPECT_TRUE(stub_->ListQueries(&context, {}, &response).ok());
    return {response.queries().begin(), response.queries().end()};
  }

  bool has_port_ = false;
  FakeEngine* engine_ = nullptr;
  MemoryGraphs* graphs_ = nullptr;
  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::Koios::Stub> stub_;
};

TEST_F(ServerTest, StreamsBatchesThenASummary) {
  Call call(stub_.get(), "g.V().count()");
  auto query = engine_->Query(0);
  EXPECT_TRUE(query->PushOne(5));
  EXPECT_TRUE(query->PushOne(6));
  query->End(OkStatus(), 2);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(call.num_batches, 2);
  EXPECT_EQ(call.summary.rows(), 2u);
  EXPECT_EQ(call.summary.query_id(), "q1");
  EXPECT_EQ(call.context.GetServerInitialMetadata().count("koios-query-id"), 1u);
}

TEST_F(ServerTest, AClientThatDoesNotReadPausesItsQuery) {
  Call call(stub_.get(), "g.V().count()");
  auto query = engine_->Query(0);
  // The window is 4; gRPC itself takes a few small messages on the way before its flow control
  // stops the writes. What matters: it ends, and long before the results do.
  int pushed = 0;
  int refusals = 0;
  while (refusals < 3 && pushed < 200'000) {
    if (query->PushOne(pushed)) {
      ++pushed;
      refusals = 0;
    } else {
      ++refusals;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ASSERT_LT(pushed, 200'000);

  // Reading makes room again, and says so.
  v1::SubmitResponse response;
  int read = 0;
  while (read < pushed && call.reader->Read(&response)) {
    EXPECT_EQ(response.batch().longs().values(0), read);
    ++read;
  }
  EXPECT_EQ(read, pushed);
  query->WaitForResumes(1);
  EXPECT_TRUE(query->PushOne(pushed));
  query->End(OkStatus(), 1);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(call.num_batches, 1);
}

TEST_F(ServerTest, AChangesResultsWaitForTheCommit) {
  Call call(stub_.get(), "g.addV('a')");
  auto query = engine_->Query(0);
  ASSERT_NE(query->options.transaction, nullptr);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(query->PushOne(i));  // more than the window
  query->End(OkStatus(), 20);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(call.num_batches, 20);
  EXPECT_EQ(call.summary.version(), 77u);
}

TEST_F(ServerTest, AConflictRunsTheRequestAgainAndForgetsItsResults) {
  graphs_->conflicts = 2;
  Call call(stub_.get(), "g.addV('a')");
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto query = engine_->Query(static_cast<size_t>(attempt));
    EXPECT_TRUE(query->PushOne(attempt));
    query->End(OkStatus(), 1);
  }
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(call.num_batches, 1);
  EXPECT_EQ(call.summary.rows(), 1u);
  EXPECT_EQ(graphs_->begun, 3);
}

TEST_F(ServerTest, ConflictsWithoutEndAreAborted) {
  graphs_->conflicts = 1000;
  Call call(stub_.get(), "g.addV('a')");
  const size_t attempts = static_cast<size_t>(ServerOptions().max_attempts);
  for (size_t attempt = 0; attempt < attempts; ++attempt) {
    engine_->Query(attempt)->End(OkStatus());
  }
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(engine_->num_queries(), attempts);
  EXPECT_EQ(call.num_batches, 0);
}

TEST_F(ServerTest, AChangeThatFailsIsNotCommitted) {
  graphs_->conflicts = 1;
  Call call(stub_.get(), "g.addV('a')");
  auto query = engine_->Query(0);
  EXPECT_TRUE(query->PushOne(1));
  query->End(InvalidArgument("no"));
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(graphs_->conflicts, 1);
  EXPECT_EQ(call.num_batches, 0);
}

TEST_F(ServerTest, HeldResultsHaveABound) {
  ServerOptions options;
  options.held_bytes = 64;
  Start(options);
  Call call(stub_.get(), "g.addV('a')");
  auto query = engine_->Query(0);
  for (int i = 0; i < 20 && query->PushOne(i); ++i) {
  }
  EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(graphs_->conflicts, 0);
}

TEST_F(ServerTest, AClientsCancelStopsTheQuery) {
  Call call(stub_.get(), "g.V().count()");
  auto query = engine_->Query(0);
  call.context.TryCancel();
  EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kCancelled);
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServerTest, AClientsDeadlineStopsTheQuery) {
  v1::SubmitRequest request;
  request.set_query("g.V().count()");
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  auto reader = stub_->Submit(&context, request);
  auto query = engine_->Query(0);
  EXPECT_FALSE(query->WaitForCancel().ok());
  v1::SubmitResponse response;
  EXPECT_FALSE(reader->Read(&response));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(ServerTest, TheEngineGetsTheDeadline) {
  const auto now = static_cast<uint64_t>(engine_->clock().NowNanos());
  Call by_default(stub_.get(), "g.V()");
  EXPECT_EQ(engine_->Query(0)->options.deadline_ns, now + 30'000'000'000);
  Call by_request(stub_.get(), "g.V()", 1500);
  EXPECT_EQ(engine_->Query(1)->options.deadline_ns, now + 1'500'000'000);

  ServerOptions options;
  options.query_timeout_ms = 0;
  Start(options);
  Call without(stub_.get(), "g.V()");
  EXPECT_EQ(engine_->Query(0)->options.deadline_ns, 0u);
}

// Whatever queries have, there is room for requests that wait, also for many together.
TEST_F(ServerTest, WhoWaitsIsNotRefusedForItsRequest) {
  ServerOptions options;
  options.max_queries = 1;
  Start(options, /*memory_bytes=*/64 << 20);
  engine_->memory().KeepForSmall(8 << 20);
  std::deque<Call> calls;
  MemoryAccount others("others", kNoMemoryLimit, &engine_->memory());
  ASSERT_TRUE(others.TryCharge((56 << 20) - engine_->memory().used()));
  while (calls.size() < 9) calls.emplace_back(stub_.get(), "g.V()" + std::string(100'000, ' '));
  for (int i = 0; i < 1000 && Running().size() < 9; ++i) usleep(5'000);
  EXPECT_EQ(Running().size(), 9u);
}

TEST_F(ServerTest, AnEnginesErrorReachesTheClientAfterTheBatches) {
  Call call(stub_.get(), "g.V().count()");
  auto query = engine_->Query(0);
  ErrorDetail detail;
  detail.setting = "query-memory-mb";
  query->End(ResourceExhausted("Too much.", detail));
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_details().find("query-memory-mb"), std::string::npos);
}

TEST_F(ServerTest, WrongTextsNeverReachTheEngine) {
  EXPECT_EQ(Call(stub_.get(), "g.V(").Finish().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const grpc::Status status = Call(stub_.get(), "g.V().outt()").Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message().rfind("line 1, column 7: ", 0), 0u) << status.error_message();
  EXPECT_EQ(engine_->num_queries(), 0u);
}

TEST_F(ServerTest, WhatIsNoRequestIsAnsweredInWords) {
  const auto channel = server_->InProcessChannel();
  for (const char* method :
       {"Submit", "ListQueries", "GetStats", "CheckGraph", "CreateIndex", "ListIndexes"}) {
    const std::string answer =
        AnswerBytes(channel, std::string("/koios.v1.Koios/") + method, "\xff\xff\xff garbage");
    EXPECT_EQ(answer.rfind("error 3 The request can't be read", 0), 0u) << answer;
    EXPECT_NE(answer.find(method), std::string::npos) << answer;
  }
  const std::string unknown = AnswerBytes(channel, "/koios.v1.Koios/Sumbit", "");
  EXPECT_EQ(unknown.rfind("error 12 There is no method /koios.v1.Koios/Sumbit", 0), 0u) << unknown;
  EXPECT_EQ(engine_->num_queries(), 0u);
}

// Until the server closes the connection; how many bytes it sent before.
size_t ReadToEnd(int fd) {
  size_t total = 0;
  char buffer[4096];
  for (ssize_t got = 1; got > 0; total += static_cast<size_t>(std::max<ssize_t>(got, 0))) {
    got = read(fd, buffer, sizeof(buffer));
  }
  close(fd);
  return total;
}

TEST_F(ServerTest, ConnectionsThatSayNothingOrAreIdleAreClosed) {
  has_port_ = true;
  ServerOptions options;
  options.handshake_timeout_ms = 100;
  options.idle_timeout_ms = 100;
  Start(options);
  ReadToEnd(ConnectTo(server_->port()));
  const int half = ConnectTo(server_->port());
  EXPECT_EQ(write(half, "PRI * HT", 8), 8);
  ReadToEnd(half);
  const int idle = ConnectTo(server_->port());
  const std::string greeting("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  EXPECT_EQ(write(idle, greeting.data(), greeting.size()), 33);
  EXPECT_GT(ReadToEnd(idle), 0u);  // it was understood
}

TEST_F(ServerTest, TheFirstWordNamesTheGraph) {
  Call call(stub_.get(), "money.V()");
  EXPECT_EQ(engine_->Query(0)->plan.graph(), "money");
  const grpc::Status status = Call(stub_.get(), "nope.V()").Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(status.error_message().find("g, money"), std::string::npos);
}

TEST_F(ServerTest, ExplainRunsNothing) {
  Call call(stub_.get(), "g.V().out()", 0, v1::EXPLAIN);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_FALSE(call.summary.text().empty());
  Call in_text(stub_.get(), "g.V().out().explain()");
  EXPECT_TRUE(in_text.Finish().ok());
  EXPECT_EQ(in_text.summary.mode(), v1::EXPLAIN);
  EXPECT_EQ(engine_->num_queries(), 0u);
}

TEST_F(ServerTest, ProfileCountsResultsAndSendsNone) {
  Call call(stub_.get(), "g.V()", 0, v1::PROFILE);
  auto query = engine_->Query(0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(query->PushOne(i));
  query->End(OkStatus(), 100);
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(call.num_batches, 0);
  EXPECT_EQ(call.summary.rows(), 100u);
  EXPECT_EQ(call.summary.profile_size(), query->plan.operators_size());
  EXPECT_NE(call.summary.text().find("total: 100 results"), std::string::npos);
}

TEST_F(ServerTest, MoreQueriesThanAllowedAreRefused) {
  ServerOptions options;
  options.max_queries = 1;
  options.max_queued = 0;
  Start(options);
  Call first(stub_.get(), "g.V()");
  auto query = engine_->Query(0);
  EXPECT_EQ(Call(stub_.get(), "g.V()").Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  query->End(OkStatus());
  EXPECT_TRUE(first.Finish().ok());
  Call third(stub_.get(), "g.V()");
  engine_->Query(1)->End(OkStatus());
  EXPECT_TRUE(third.Finish().ok());
}

TEST_F(ServerTest, RunningQueriesAreListedAndCancelled) {
  Call call(stub_.get(), "g.V().count()");
  auto query = engine_->Query(0);
  EXPECT_TRUE(query->PushOne(1));
  v1::ListQueriesResponse list;
  // The handle is known to the session only a moment after the engine has it.
  do {
    grpc::ClientContext context;
    ASSERT_TRUE(stub_->ListQueries(&context, {}, &list).ok());
    ASSERT_EQ(list.queries_size(), 1);
  } while (list.queries(0).memory_bytes() == 0);
  EXPECT_EQ(list.queries(0).query(), "g.V().count()");
  EXPECT_EQ(list.queries(0).rows(), 1u);

  v1::CancelQueryRequest cancel;
  cancel.set_id(list.queries(0).id());
  v1::CancelQueryResponse nothing;
  grpc::ClientContext cancel_context;
  EXPECT_TRUE(stub_->CancelQuery(&cancel_context, cancel, &nothing).ok());
  EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kCancelled);
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::CANCELLED);

  grpc::ClientContext again_context;
  EXPECT_EQ(stub_->CancelQuery(&again_context, cancel, &nothing).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, AnswersSchemaSizesAndGraphs) {
  v1::GetSchemaResponse schema;
  grpc::ClientContext schema_context;
  ASSERT_TRUE(stub_->GetSchema(&schema_context, {}, &schema).ok());
  ASSERT_EQ(schema.vertex_labels_size(), 1);
  EXPECT_EQ(schema.vertex_labels(0).label(), "person");
  EXPECT_EQ(schema.vertex_labels(0).count(), 1u);
  ASSERT_EQ(schema.vertex_labels(0).properties_size(), 1);
  EXPECT_EQ(schema.vertex_labels(0).properties(0).key(), "name");
  EXPECT_EQ(schema.vertex_labels(0).properties(0).type(), "String");

  v1::GetStatsResponse stats;
  grpc::ClientContext stats_context;
  ASSERT_TRUE(stub_->GetStats(&stats_context, {}, &stats).ok());
  EXPECT_EQ(stats.vertices(), 1u);
  EXPECT_EQ(stats.disk_bytes(), 42u);
  EXPECT_EQ(stats.partitions(), 4u);

  v1::ListGraphsResponse graphs;
  grpc::ClientContext graphs_context;
  ASSERT_TRUE(stub_->ListGraphs(&graphs_context, {}, &graphs).ok());
  EXPECT_EQ(graphs.graphs_size(), 2);
}

TEST_F(ServerTest, ACheckReportsProblems) {
  v1::CheckGraphRequest request;
  v1::CheckGraphResponse report;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->CheckGraph(&context, request, &report).ok());
  EXPECT_EQ(report.problems_found(), 3u);
  EXPECT_EQ(report.problems_size(), 2);
  request.set_graph("nope");
  grpc::ClientContext nope_context;
  EXPECT_EQ(stub_->CheckGraph(&nope_context, request, &report).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

// Checks that never end by themselves: each way to stop one does.
TEST_F(ServerTest, ADeadlineStopsACheck) {
  graphs_->endless_check = true;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
  v1::CheckGraphResponse report;
  EXPECT_EQ(stub_->CheckGraph(&context, {}, &report).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  while (!Running().empty()) std::this_thread::yield();
}

TEST_F(ServerTest, ACheckIsListedAndCancelledAsAQueryIs) {
  graphs_->endless_check = true;
  grpc::Status status;
  std::thread check([&] {
    grpc::ClientContext context;
    v1::CheckGraphResponse report;
    status = stub_->CheckGraph(&context, {}, &report);
  });
  std::vector<v1::RunningQuery> running;
  while (running.empty() || running[0].rows() < 10) running = Running();
  EXPECT_EQ(running[0].query(), "admin check");
  EXPECT_EQ(running[0].graph(), "g");

  grpc::ClientContext second_context;
  v1::CheckGraphResponse second;
  EXPECT_EQ(stub_->CheckGraph(&second_context, {}, &second).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);

  v1::CancelQueryRequest cancel;
  cancel.set_id(running[0].id());
  grpc::ClientContext cancel_context;
  v1::CancelQueryResponse cancelled;
  EXPECT_TRUE(stub_->CancelQuery(&cancel_context, cancel, &cancelled).ok());
  check.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServerTest, SnapshotsAreBuiltListedAndCancelled) {
  v1::BuildSnapshotsRequest request;
  v1::BuildSnapshotsResponse report;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->BuildSnapshots(&context, request, &report).ok());
  EXPECT_EQ(report.version(), 7u);
  EXPECT_EQ(report.files(), 4u);
  request.set_graph("nope");
  grpc::ClientContext nope_context;
  EXPECT_EQ(stub_->BuildSnapshots(&nope_context, request, &report).error_code(),
            grpc::StatusCode::NOT_FOUND);

  graphs_->endless_snapshots = true;
  grpc::Status status;
  std::thread build([&] {
    grpc::ClientContext endless_context;
    v1::BuildSnapshotsResponse endless;
    status = stub_->BuildSnapshots(&endless_context, {}, &endless);
  });
  std::vector<v1::RunningQuery> running;
  while (running.empty() || running[0].rows() < 10) running = Running();
  EXPECT_EQ(running[0].query(), "admin snapshot");
  grpc::ClientContext second_context;
  v1::BuildSnapshotsResponse second;
  EXPECT_EQ(stub_->BuildSnapshots(&second_context, {}, &second).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  // A check is something else.
  grpc::ClientContext check_context;
  v1::CheckGraphResponse check;
  EXPECT_TRUE(stub_->CheckGraph(&check_context, {}, &check).ok());
  v1::CancelQueryRequest cancel;
  cancel.set_id(running[0].id());
  grpc::ClientContext cancel_context;
  v1::CancelQueryResponse cancelled;
  EXPECT_TRUE(stub_->CancelQuery(&cancel_context, cancel, &cancelled).ok());
  build.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ServerTest, ShutdownStopsACheck) {
  graphs_->endless_check = true;
  grpc::Status status;
  std::thread check([&] {
    grpc::ClientContext context;
    v1::CheckGraphResponse report;
    status = stub_->CheckGraph(&context, {}, &report);
  });
  while (Running().empty()) std::this_thread::yield();
  server_->Shutdown(std::chrono::milliseconds(20));
  check.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(ServerTest, IndexesAreListedMadeAndDropped) {
  v1::ListIndexesResponse indexes;
  grpc::ClientContext list_context;
  ASSERT_TRUE(stub_->ListIndexes(&list_context, {}, &indexes).ok());
  ASSERT_EQ(indexes.indexes_size(), 1);
  EXPECT_EQ(indexes.indexes(0).label(), "person");
  ASSERT_EQ(indexes.indexes(0).keys_size(), 2);
  EXPECT_EQ(indexes.indexes(0).keys(1), "age");
  EXPECT_TRUE(indexes.indexes(0).ready());
  EXPECT_EQ(indexes.indexes(0).vertices(), 1u);
  EXPECT_EQ(indexes.indexes(0).bytes(), 99u);

  v1::CreateIndexRequest create;
  create.set_label("person");
  create.add_keys("name");
  v1::CreateIndexResponse created;
  grpc::ClientContext create_context;
  ASSERT_TRUE(stub_->CreateIndex(&create_context, create, &created).ok());
  EXPECT_EQ(created.vertices(), 7u);
  EXPECT_EQ(created.entries(), 5u);
  create.set_graph("nope");
  grpc::ClientContext nope_context;
  EXPECT_EQ(stub_->CreateIndex(&nope_context, create, &created).error_code(),
            grpc::StatusCode::NOT_FOUND);

  v1::DropIndexRequest drop;
  drop.set_label("person");
  v1::DropIndexResponse dropped;
  grpc::ClientContext drop_context;
  EXPECT_TRUE(stub_->DropIndex(&drop_context, drop, &dropped).ok());
  drop.set_label("nobody");
  grpc::ClientContext nobody_context;
  EXPECT_EQ(stub_->DropIndex(&nobody_context, drop, &dropped).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, TheBuildingOfAnIndexIsListedAndCancelledAsAQueryIs) {
  graphs_->endless_check = true;
  v1::CreateIndexRequest create;
  create.set_label("person");
  create.add_keys("name");
  create.add_keys("age");
  grpc::Status status;
  std::thread build([&] {
    grpc::ClientContext context;
    v1::CreateIndexResponse created;
    status = stub_->CreateIndex(&context, create, &created);
  });
  std::vector<v1::RunningQuery> running;
  while (running.empty() || running[0].rows() < 10) running = Running();
  EXPECT_EQ(running[0].query(), "admin index create person(name, age)");

  v1::CreateIndexRequest other;
  other.set_label("city");
  other.add_keys("name");
  grpc::ClientContext second_context;
  v1::CreateIndexResponse second;
  EXPECT_EQ(stub_->CreateIndex(&second_context, other, &second).error_code(),
            grpc::StatusCode::FAILED_PRECONDITION);
  v1::DropIndexRequest drop;  // does not wait for it
  drop.set_label("person");
  grpc::ClientContext drop_context;
  v1::DropIndexResponse dropped;
  EXPECT_TRUE(stub_->DropIndex(&drop_context, drop, &dropped).ok());

  v1::CancelQueryRequest cancel;
  cancel.set_id(running[0].id());
  grpc::ClientContext cancel_context;
  v1::CancelQueryResponse cancelled;
  EXPECT_TRUE(stub_->CancelQuery(&cancel_context, cancel, &cancelled).ok());
  build.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
}

// grpc.health.v1: the response's field 1 is SERVING (1), then NOT_SERVING (2).
TEST_F(ServerTest, HealthIsServingUntilShutdownBegins) {
  const std::string method = "/grpc.health.v1.Health/Check";
  const auto channel = server_->InProcessChannel();
  EXPECT_EQ(AnswerBytes(channel, method, ""), "\x08\x01");
  EXPECT_EQ(AnswerBytes(channel, method, "\x0a\x0ekoios.v1.Koios"), "\x08\x01");
  EXPECT_EQ(AnswerBytes(channel, method, "\x0a\x04nope").substr(0, 7), "error 5");
  Call call(stub_.get(), "g.V()");
  auto query = engine_->Query(0);
  std::thread shutdown([this] { server_->Shutdown(std::chrono::minutes(1)); });
  while (AnswerBytes(channel, method, "") != "\x08\x02") std::this_thread::yield();
  query->End(OkStatus());
  EXPECT_TRUE(call.Finish().ok());
  shutdown.join();
}

// grpc.reflection.v1alpha: list_services is the request's field 7; a file's descriptor by a symbol
// in it is field 4.
TEST_F(ServerTest, ReflectionTellsTheServiceAndItsMessages) {
  const std::string method = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  const auto channel = server_->InProcessChannel();
  const std::string services = AnswerBytes(channel, method, std::string("\x3a\x00", 2));
  EXPECT_NE(services.find("koios.v1.Koios"), std::string::npos) << services;
  EXPECT_NE(services.find("grpc.health.v1.Health"), std::string::npos) << services;
  const std::string file = AnswerBytes(channel, method, "\x22\x0ekoios.v1.Koios");
  EXPECT_NE(file.find("SubmitRequest"), std::string::npos) << file;
}

TEST_F(ServerTest, TheLimitsOfTheTextAreTheOptions) {
  ServerOptions options;
  options.parser.max_steps = 2;
  Start(options);
  Call call(stub_.get(), "g.V().out().out()");
  const grpc::Status status = call.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("query-max-steps"), std::string::npos);
}

TEST_F(ServerTest, ShutdownCancelsWhatStillRuns) {
  Call call(stub_.get(), "g.V()");
  auto query = engine_->Query(0);
  std::thread shutdown([this] { server_->Shutdown(std::chrono::milliseconds(20)); });
  EXPECT_EQ(query->WaitForCancel().code(), StatusCode::kUnavailable);
  EXPECT_EQ(call.Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  shutdown.join();
}

TEST_F(ServerTest, ShutdownLetsARunningQueryEnd) {
  Call call(stub_.get(), "g.V()");
  auto query = engine_->Query(0);
  std::thread shutdown([this] { server_->Shutdown(std::chrono::minutes(5)); });
  EXPECT_TRUE(query->PushOne(1));
  query->End(OkStatus(), 1);
  EXPECT_TRUE(call.Finish().ok());
  shutdown.join();
}

TEST_F(ServerTest, ATooLargeRequestIsRefused) {
  ServerOptions options;
  options.max_request_bytes = 1000;
  Start(options);
  const std::string text = "g.V()//" + std::string(2000, 'x');
  EXPECT_EQ(Call(stub_.get(), text).Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

// Two bytes of a request are some forty when they are decoded. Whether these are a request at all
// would show only then.
TEST_F(ServerTest, ARequestThatWouldTakeTooMuchIsNotDecoded) {
  Start(ServerOptions(), /*memory_bytes=*/int64_t{16} << 20);
  v1::SubmitRequest request;
  v1::ValueList* list = (*request.mutable_parameters())["x"].mutable_list_value();
  for (int i = 0; i < 500'000; ++i) list->add_items();
  const std::string answer = AnswerBytes(server_->InProcessChannel(), "/koios.v1.Koios/Submit",
                                         request.SerializeAsString() + "\xff\xff garbage");
  EXPECT_EQ(answer.rfind("error 8 ", 0), 0u) << answer;
  EXPECT_NE(answer.find("memory"), std::string::npos) << answer;
  const std::string names = AnswerBytes(server_->InProcessChannel(), "/koios.v1.Koios/GetStats",
                                        std::string(size_t{300} << 10, '\0'));
  EXPECT_EQ(names.rfind("error 8 The request has more bytes", 0), 0u) << names;
}

TEST(ServerPortTest, PicksAPortAndRefusesOneThatIsTaken) {
  ServerOptions options;
  options.grpc_port = 0;
  auto first =
      Server::Start(std::make_unique<MemoryGraphs>(), std::make_unique<FakeEngine>(), options);
  ASSERT_TRUE(first.ok());
  EXPECT_GT((*first)->port(), 0);
  options.grpc_port = (*first)->port();
  const auto second =
      Server::Start(std::make_unique<MemoryGraphs>(), std::make_unique<FakeEngine>(), options);
  EXPECT_EQ(second.status().code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace koios::server
