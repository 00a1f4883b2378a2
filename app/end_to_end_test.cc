// The whole way: a data folder on disk, a server with a real engine, the client over the in-process
// channel or a port, the printers.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include "app/connection.h"
#include "client/console/query_session.h"
#include "server/data_folder_graphs.h"
#include "storage/data_folder.h"
#include "storage/write_batch.h"

namespace koios::app {
namespace {

namespace fs = std::filesystem;

storage::VertexHandle Added(uint32_t index) {
  storage::VertexHandle handle;
  handle.added = index;
  return handle;
}

// TinkerPop's modern graph: four people, two programs.
storage::WriteBatch ModernGraph() {
  storage::WriteBatch batch;
  const auto person = [&](int64_t id, const char* name, int age) {
    batch.vertices.push_back(
        {Value::Long(id), "person", {{"name", Value::String(name)}, {"age", Value::Int(age)}}});
  };
  const auto software = [&](int64_t id, const char* name) {
    batch.vertices.push_back({Value::Long(id),
                              "software",
                              {{"name", Value::String(name)}, {"lang", Value::String("java")}}});
  };
  person(1, "marko", 29);
  person(2, "vadas", 27);
  software(3, "lop");
  person(4, "josh", 32);
  software(5, "ripple");
  person(6, "peter", 35);
  const auto edge = [&](int64_t id, uint32_t out, const char* label, uint32_t in, double weight) {
    batch.edges.push_back({Value::Long(id),
                           label,
                           Added(out - 1),
                           Added(in - 1),
                           {{"weight", Value::Double(weight)}}});
  };
  edge(7, 1, "knows", 2, 0.5);
  edge(8, 1, "knows", 4, 1.0);
  edge(9, 1, "created", 3, 0.4);
  edge(10, 4, "created", 5, 1.0);
  edge(11, 4, "created", 3, 0.4);
  edge(12, 6, "created", 3, 0.2);
  return batch;
}

// `count` vertices that all know each other: walks explode.
storage::WriteBatch Clique(uint32_t count) {
  storage::WriteBatch batch;
  for (uint32_t i = 0; i < count; ++i) batch.vertices.push_back({Value::Long(i), "node", {}});
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t j = 0; j < count; ++j) {
      if (i != j) batch.edges.push_back({std::nullopt, "link", Added(i), Added(j), {}});
    }
  }
  return batch;
}

class EndToEndTest : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "koios-e2e-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    storage::DataFolderOptions options;
    options.create = true;
    auto folder = storage::DataFolder::Open(DataPath(), options);
    ASSERT_TRUE(folder.ok()) << MessageOf(folder.status());
    Load(folder->get(), "g", ModernGraph());
    Load(folder->get(), "clique", Clique(40));
    folder->reset();

    ConnectionFlags flags;
    flags.data = DataPath();
    flags.workers = GetParam();
    auto connection = Connect(flags);
    ASSERT_TRUE(connection.ok()) << MessageOf(connection.status());
    connection_ = *std::move(connection);
  }
  void TearDown() override {
    connection_ = {};
    fs::remove_all(folder_);
  }

  std::string DataPath() const { return folder_ + "/data"; }
  static void Load(storage::DataFolder* folder, const std::string& name,
                   const storage::WriteBatch& batch) {
    auto store = folder->CreateGraph(name);
    ASSERT_TRUE(store.ok()) << MessageOf(store.status());
    const auto result = (*store)->Commit(batch);
    ASSERT_TRUE(result.ok()) << MessageOf(result.status());
  }

  // What a user sees on standard output.
  std::string Output(const std::string& query, const client::SessionSettings& settings = {}) {
    std::ostringstream out, err;
    client::QuerySession session(connection_.client.get(), nullptr, out, err,
                                 client::SessionStyle());
    session.settings() = settings;
    EXPECT_TRUE(session.RunQuery(query, v1::RUN).ok()) << err.str();
    return out.str();
  }
  client::Request RequestOf(const std::string& query) {
    client::Request request;
    request.query = query;
    return request;
  }

  std::string folder_;
  Connection connection_;
};

TEST_P(EndToEndTest, AnswersAsTheGremlinConsoleDoes) {
  EXPECT_EQ(Output("g.V().count()"), "==>6\n");
  EXPECT_EQ(Output("g.V(1)"), "==>v[1]\n");
  EXPECT_EQ(Output("g.E(7)"), "==>e[7][1-knows->2]\n");
  EXPECT_EQ(Output("g.V(1).values('name')"), "==>marko\n");
  EXPECT_EQ(Output("g.V(1).out('knows').has('age', gt(30)).values('name')"), "==>josh\n");
}

TEST_P(EndToEndTest, ParametersAreValuesNotText) {
  client::SessionSettings settings;
  settings.parameters["who"] = Value::String("marko').drop(");
  EXPECT_EQ(Output("g.V().has('name', who).count()", settings), "==>0\n");
  settings.parameters["who"] = Value::String("marko");
  EXPECT_EQ(Output("g.V().has('name', who).count()", settings), "==>1\n");
}

TEST_P(EndToEndTest, MaterializedElementsHaveTheirProperties) {
  client::SessionSettings settings;
  settings.format = client::Format::kJsonl;
  EXPECT_EQ(Output("g.V(3)", settings), "{\"id\":3,\"label\":\"software\"}\n");
  settings.materialize = true;
  const std::string text = Output("g.V(3)", settings);
  EXPECT_NE(text.find("\"lop\""), std::string::npos) << text;
}

TEST_P(EndToEndTest, APropertyHasTheIdThatIdGives) {
  Value sent, asked;
  const auto run = [&](const std::string& query, Value* value) {
    return connection_.client->Run(RequestOf(query), [&](const client::Batch& batch) {
      *value = batch.values[0];
      return OkStatus();
    });
  };
  ASSERT_TRUE(run("g.V(1).properties('name')", &sent).ok());
  ASSERT_TRUE(run("g.V(1).properties('name').id()", &asked).ok());
  ASSERT_EQ(sent.kind(), ValueKind::kElement);
  EXPECT_EQ(sent.AsElement().id.AsInteger(), asked.AsInteger());
}

TEST_P(EndToEndTest, ErrorsShowTheirPlace) {
  std::ostringstream out, err;
  client::QuerySession session(connection_.client.get(), nullptr, out, err, client::SessionStyle());
  EXPECT_EQ(session.RunQuery("g.V().outt()", v1::RUN).code(), StatusCode::kInvalidArgument);
  EXPECT_NE(err.str().find("line 1, column 7"), std::string::npos) << err.str();
  EXPECT_NE(err.str().find("^^^^"), std::string::npos) << err.str();
  EXPECT_EQ(out.str(), "");
}

// Each looks a vertex up and adds it when it is missing; all at once, they add one.
TEST_P(EndToEndTest, ConcurrentUpsertsAddOneVertex) {
  constexpr int kThreads = 8;
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      client::Request request = RequestOf(
          "g.V().has('city', 'name', 'Wien').fold()"
          ".coalesce(unfold(), addV('city').property('name', 'Wien'))");
      Status status;
      for (int attempt = 0; attempt < 20; ++attempt) {
        status = connection_.client->Run(request, [](const client::Batch&) { return OkStatus(); })
                     .status();
        if (status.code() != StatusCode::kAborted) break;
      }
      if (status.ok()) ++done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, kThreads);
  EXPECT_EQ(Output("g.V().hasLabel('city').count()"), "==>1\n");
}

TEST_P(EndToEndTest, SnapshotsAreMadeWhileTheGraphIsServed) {
  Output("g.addV('city').property('name', 'Wien')");
  const auto built = connection_.client->BuildSnapshots("");
  ASSERT_TRUE(built.ok()) << MessageOf(built.status());
  EXPECT_EQ(built->vertices(), 7u);
  EXPECT_EQ(built->edges(), 6u);
  EXPECT_GT(built->file_bytes(), 0u);
  Output("g.V().has('city', 'name', 'Wien').addE('near').to(V(1))");
  EXPECT_EQ(Output("g.V(1).in('near').values('name')"), "==>Wien\n");
  EXPECT_EQ(connection_.client->BuildSnapshots("nope").status().code(), StatusCode::kNotFound);
}

// A vertex is dropped while others tie edges to it: none of them is left without an end.
// One request that adds and seeks finds what it added; the next one finds it as well, and an index
// that is dropped is missed by nobody.
TEST_P(EndToEndTest, UpsertsSeekByABusinessKey) {
  ASSERT_TRUE(connection_.client->CreateIndex("g", "person", {"name", "age"}).ok());
  const std::string upsert =
      "g.V().has('person', 'name', who).fold().coalesce(__.unfold(), "
      "__.addV('person').property('name', who).property('age', 1)).values('age')";
  client::SessionSettings settings;
  settings.parameters["who"] = Value::String("new");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Output(upsert, settings), "==>1\n");
  client::Request request = RequestOf(upsert);
  request.mode = v1::EXPLAIN;
  request.parameters = settings.parameters;
  const auto plan =
      connection_.client->Run(request, [](const client::Batch&) { return OkStatus(); });
  ASSERT_TRUE(plan.ok());
  EXPECT_NE(plan->text().find("seek person(name, age): name=[\"new\"]"), std::string::npos)
      << plan->text();
  const std::string count = "g.V().has('person', 'name', startingWith('n')).count()";
  EXPECT_EQ(Output(count), "==>1\n");
  EXPECT_EQ(Output("g.addV('person').property('name', 'nn').fold()"
                   ".V().has('person', 'name', startingWith('n')).count()"),
            "==>2\n");
  ASSERT_TRUE(connection_.client->DropIndex("g", "person", {"name", "age"}).ok());
  EXPECT_EQ(Output(count), "==>2\n");
}

// Without a label all indexes of the key are asked; a request's own vertices are found whatever
// their label, and whatever kind of number they have.
TEST_P(EndToEndTest, SeeksWithoutALabelSeeTheRequestsOwnVertices) {
  for (const char* label : {"person", "software"}) {
    ASSERT_TRUE(connection_.client->CreateIndex("g", label, {"name"}).ok());
  }
  ASSERT_TRUE(connection_.client->CreateIndex("g", "person", {"age"}).ok());
  const std::string named = "V().has('name', within('marko', 'lop', 'r2')).count()";
  client::Request request = RequestOf("g." + named);
  request.mode = v1::EXPLAIN;
  const auto plan =
      connection_.client->Run(request, [](const client::Batch&) { return OkStatus(); });
  ASSERT_TRUE(plan.ok());
  EXPECT_NE(plan->text().find("seek (name): name=["), std::string::npos) << plan->text();
  EXPECT_EQ(Output("g." + named), "==>2\n");
  EXPECT_EQ(Output("g.addV('robot').property('name', 'r2').fold()." + named), "==>3\n");
  EXPECT_EQ(Output("g.V().has('person', 'name', 'marko').property('age', 29.0000000000000000001m)"
                   ".fold().V().has('person', 'age', inside(29, 30)).values('name')"),
            "==>marko\n");
}

TEST_P(EndToEndTest, ConcurrentDropsLeaveNoDanglingEdge) {
  constexpr int kThreads = 6;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const std::string query = i == 3 ? "g.V(4).drop()" : "g.V(1).addE('tie').to(V(4)).iterate()";
      for (int n = 0; n < 10; ++n) {
        // Refused is fine (no such vertex any more, or aborted); half is not.
        connection_.client->Run(RequestOf(query), [](const client::Batch&) { return OkStatus(); })
            .status()
            .IgnoreError();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Output("g.V(4).count()"), "==>0\n");
  EXPECT_EQ(Output("g.E().hasLabel('tie').count()"), "==>0\n");
  EXPECT_EQ(Output("g.V(1).outE('tie').count()"), "==>0\n");
}

TEST_P(EndToEndTest, AnEnumerationStreamsWhileItRuns) {
  auto stream = connection_.client->Submit(RequestOf("clique.V().out().out().out().out().path()"));
  ASSERT_TRUE(stream.ok());
  client::Batch batch;
  // The first results of a hundred million come at once; then the rest is not wanted.
  const auto more = (*stream)->Next(&batch);
  ASSERT_TRUE(more.ok()) << MessageOf(more.status());
  EXPECT_TRUE(*more);
  EXPECT_FALSE(batch.values.empty());
  (*stream)->Cancel();
  while (true) {
    const auto next = (*stream)->Next(&batch);
    if (next.ok() && *next) continue;
    EXPECT_EQ(next.status().code(), StatusCode::kCancelled);
    break;
  }
}

TEST_P(EndToEndTest, ATimeoutEndsAQueryThatNobodyReads) {
  client::Request request = RequestOf("clique.V().out().out().out().out().path()");
  request.timeout_ms = 300;
  auto stream = connection_.client->Submit(request);
  ASSERT_TRUE(stream.ok());
  client::Batch batch;
  ASSERT_TRUE((*stream)->Next(&batch).ok());
  // It leaves the list without having been read: the deadline also holds for a paused query.
  while (true) {
    const auto queries = connection_.client->ListQueries();
    ASSERT_TRUE(queries.ok());
    if (queries->queries().empty() || queries->queries(0).memory_bytes() == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  StatusOr<bool> next = true;
  while (next.ok() && *next) next = (*stream)->Next(&batch);
  EXPECT_EQ(next.status().code(), StatusCode::kDeadlineExceeded);
  const ErrorDetail detail = DetailOf(next.status()).value_or(ErrorDetail());
  EXPECT_EQ(detail.reason, "DEADLINE");
  EXPECT_EQ(detail.limit.substr(detail.limit.find(' ')), " ms");
  EXPECT_GT(std::stoi(detail.limit), 200);
  EXPECT_LE(std::stoi(detail.limit), 300);
  EXPECT_GE(std::stoi(detail.used), std::stoi(detail.limit));
  EXPECT_EQ(detail.setting, "query-timeout");
  EXPECT_NE(detail.hint, "");
}

TEST_P(EndToEndTest, ARunningQueryShowsWhatItsOperatorsHaveTaken) {
  auto stream = connection_.client->Submit(
      RequestOf("clique.V().out().out().tail(50000).out().out().path()"));
  ASSERT_TRUE(stream.ok());
  client::Batch batch;
  ASSERT_TRUE((*stream)->Next(&batch).ok());
  // The tail stays kept until it has gone on, and nobody reads.
  const v1::OperatorProfile* tail = nullptr;
  StatusOr<v1::RunningQuery> query = NotFound("");
  for (int tries = 0; tail == nullptr; ++tries) {
    ASSERT_LT(tries, 3000);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const auto queries = connection_.client->ListQueries();
    ASSERT_TRUE(queries.ok() && !queries->queries().empty());
    EXPECT_TRUE(queries->queries(0).operators().empty());
    query = connection_.client->GetQuery(queries->queries(0).id());
    ASSERT_TRUE(query.ok()) << query.status();
    for (const v1::OperatorProfile& op : query->operators()) {
      if (op.name() == "Tail tail(50000)" && op.kept_bytes() > 0) tail = &op;
    }
  }
  EXPECT_GT(tail->rows_in(), 0u);
  EXPECT_GE(tail->peak_bytes(), tail->kept_bytes());
  EXPECT_GE(query->peak_bytes(), tail->peak_bytes());
  EXPECT_GT(query->operators(0).time_ns(), 0u);
  EXPECT_EQ(connection_.client->GetQuery("q0").status().code(), StatusCode::kNotFound);
}

TEST_P(EndToEndTest, ErrorsHaveAReason) {
  const auto reason_of = [this](const std::string& query) {
    const auto summary =
        connection_.client->Run(RequestOf(query), [](const client::Batch&) { return OkStatus(); });
    return DetailOf(summary.status()).value_or(ErrorDetail()).reason;
  };
  EXPECT_EQ(reason_of("nowhere.V()"), "NO_SUCH_GRAPH");
  EXPECT_EQ(reason_of("g.addV('person').property(T.id, 1)"), "DUPLICATE_ID");
}

TEST_P(EndToEndTest, CancelQueryEndsAnother) {
  std::atomic<bool> done{false};
  Status status;
  std::thread runner([&] {
    status = connection_.client
                 ->Run(RequestOf("clique.V().out().out().out().out().path()"),
                       [](const client::Batch&) { return OkStatus(); })
                 .status();
    done = true;
  });
  std::string id;
  while (id.empty() && !done) {
    const auto queries = connection_.client->ListQueries();
    ASSERT_TRUE(queries.ok());
    if (!queries->queries().empty()) id = queries->queries(0).id();
  }
  EXPECT_TRUE(connection_.client->CancelQuery(id).ok());
  runner.join();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST_P(EndToEndTest, ManyClientsAtOnceGetTheirOwnAnswers) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t, &wrong] {
      for (int i = 0; i < 20; ++i) {
        int64_t found = 0;
        client::Request request = RequestOf("g.V(who).id()");
        request.parameters["who"] = Value::Long(1 + (t + i) % 6);
        const auto summary = connection_.client->Run(request, [&](const client::Batch& batch) {
          found = batch.values[0].AsInteger();
          return OkStatus();
        });
        if (!summary.ok() || summary->rows() != 1 || found != 1 + (t + i) % 6) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(EndToEndTest, AFolderServesOneProcessAtATime) {
  ConnectionFlags flags;
  flags.data = DataPath();
  EXPECT_EQ(Connect(flags).status().code(), StatusCode::kFailedPrecondition);
}

TEST_P(EndToEndTest, NothingIsMadeWhereNothingIs) {
  ConnectionFlags flags;
  flags.data = folder_ + "/absent";
  const Status status = Connect(flags).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(MessageOf(status).find("koios import --data"), std::string::npos) << MessageOf(status);
  EXPECT_FALSE(fs::exists(flags.data));
}

TEST_P(EndToEndTest, AConsolesNewFolderHasAnEmptyGraphToWriteInto) {
  ConnectionFlags flags;
  flags.data = folder_ + "/new";
  flags.make_folder = true;
  connection_ = {};
  auto connection = Connect(flags);
  ASSERT_TRUE(connection.ok()) << MessageOf(connection.status());
  connection_ = *std::move(connection);
  EXPECT_EQ(Output("g.V().count()"), "==>0\n");
  EXPECT_EQ(Output("g.addV('person').property('name', 'marko').values('name')"), "==>marko\n");
  EXPECT_EQ(Output("g.V().count()"), "==>1\n");
}

TEST_P(EndToEndTest, TheLimitFlagsHold) {
  ConnectionFlags flags;
  flags.data = DataPath();
  flags.limits.text.max_list = 3;
  connection_ = {};
  auto connection = Connect(flags);
  ASSERT_TRUE(connection.ok()) << MessageOf(connection.status());
  connection_ = *std::move(connection);
  std::ostringstream out, err;
  client::QuerySession session(connection_.client.get(), nullptr, out, err, client::SessionStyle());
  EXPECT_EQ(session.RunQuery("g.inject(1,2,3,4)", v1::RUN).code(), StatusCode::kResourceExhausted);
  EXPECT_NE(err.str().find("query-max-list"), std::string::npos) << err.str();
}

TEST_P(EndToEndTest, AClosedPortIsSaidAtOnce) {
  const auto client = client::Client::Connect("127.0.0.1:1", std::chrono::minutes(5));
  EXPECT_EQ(client.status().code(), StatusCode::kUnavailable);
}

INSTANTIATE_TEST_SUITE_P(Workers, EndToEndTest, testing::Values(1, 4));

}  // namespace
}  // namespace koios::app
