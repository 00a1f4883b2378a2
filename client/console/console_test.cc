// The console as a script over a scripted client.
#include "client/console/console.h"

#include <gtest/gtest.h>

#include <sstream>
#include <utility>

namespace koios::client {
namespace {

class ListStream final : public ResultStream {
 public:
  ListStream(std::vector<Batch> batches, Status end, v1::Summary summary)
      : batches_(std::move(batches)), end_(std::move(end)), summary_(std::move(summary)) {}
  StatusOr<bool> Next(Batch* batch) override {
    if (next_ < batches_.size()) {
      *batch = batches_[next_++];
      return true;
    }
    if (!end_.ok()) return end_;
    return false;
  }
  const v1::Summary& summary() const override { return summary_; }
  void Cancel() override {}

 private:
  std::vector<Batch> batches_;
  Status end_;
  v1::Summary summary_;
  size_t next_ = 0;
};

// Answers every query with two results, one of them twice; a query with "fail" fails after them.
class FakeClient final : public Client {
 public:
  StatusOr<std::unique_ptr<ResultStream>> Submit(const Request& request) override {
    requests.push_back(request);
    Batch batch;
    batch.values = {Value::Long(1), Value::String("two")};
    batch.bulk = {1, 2};
    Status end = OkStatus();
    if (request.query.find("fail") != std::string::npos) {
      ErrorDetail detail;
      detail.span = {1, 3, 4};
      detail.limit = "30000 ms";
      detail.setting = "query-timeout";
      detail.hint = "Ask for less.";
      end = MakeStatus(fail_code, "It failed.", detail);
    }
    v1::Summary summary;
    summary.set_mode(request.mode);
    std::vector<Batch> batches;
    if (request.mode == v1::RUN) {
      batches.push_back(batch);
    } else {
      summary.set_text("the plan\n");
    }
    return std::unique_ptr<ResultStream>(
        std::make_unique<ListStream>(std::move(batches), end, summary));
  }
  StatusOr<v1::ListQueriesResponse> ListQueries() override { return v1::ListQueriesResponse(); }
  StatusOr<v1::RunningQuery> GetQuery(const std::string& id) override {
    if (id != "q7") return NotFound("No query " + id + ".");
    v1::RunningQuery query;
    query.set_id(id);
    v1::OperatorProfile* sorts = query.add_operators();
    sorts->set_name("Order order()");
    sorts->set_kept_bytes(4711);
    query.set_memory_bytes(5711);
    return query;
  }
  Status CancelQuery(const std::string& id) override { return NotFound("No query " + id + "."); }
  StatusOr<v1::GetSchemaResponse> GetSchema(const std::string&) override {
    v1::GetSchemaResponse schema;
    v1::LabelSchema* label = schema.add_vertex_labels();
    label->set_label("person");
    label->set_count(4);
    label->add_properties()->set_key("name");
    label->mutable_properties(0)->set_type("String");
    return schema;
  }
  StatusOr<v1::GetStatsResponse> GetStats(const std::string& graph) override {
    if (graph == "nope") return NotFound("There is no graph 'nope'.");
    return v1::GetStatsResponse();
  }
  StatusOr<v1::ListGraphsResponse> ListGraphs() override { return v1::ListGraphsResponse(); }

  StatusOr<v1::CheckGraphResponse> CheckGraph(const std::string&) override {
    return v1::CheckGraphResponse();
  }
  StatusOr<v1::CreateIndexResponse> CreateIndex(const std::string&, const std::string&,
                                                const std::vector<std::string>&) override {
    return v1::CreateIndexResponse();
  }
  Status DropIndex(const std::string&, const std::string&,
                   const std::vector<std::string>&) override {
    return OkStatus();
  }
  StatusOr<v1::ListIndexesResponse> ListIndexes(const std::string&) override {
    v1::ListIndexesResponse indexes;
    v1::IndexInfo* index = indexes.add_indexes();
    index->set_label("person");
    index->add_keys("name");
    index->add_keys("age");
    index->set_vertices(4);
    return indexes;
  }
  StatusOr<v1::BuildSnapshotsResponse> BuildSnapshots(const std::string&) override {
    return v1::BuildSnapshotsResponse();
  }

  StatusCode fail_code = StatusCode::kInvalidArgument;
  std::vector<Request> requests;
};

class ConsoleTest : public testing::Test {
 protected:
  int Run(const std::string& script) {
    std::istringstream in(script);
    auto lines = MakeStreamReader(in);
    QuerySession session(&client_, nullptr, out_, err_, SessionStyle());
    const std::vector<StepHelp> steps = {
        {"match", {"match(patterns: traversal...)"}, "binds variables", "", false},
        {"out", {"out(labels: string...)"}, "the vertices behind", "g.V(1).out()", true}};
    return Console(&session, lines.get(), nullptr, steps).Run();
  }

  FakeClient client_;
  std::ostringstream out_, err_;
};

TEST_F(ConsoleTest, PrintsResultsAsOftenAsTheirBulk) {
  EXPECT_EQ(Run("g.V()\n"), kExitOk);
  EXPECT_EQ(out_.str(), "==>1\n==>two\n==>two\n");
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ConsoleTest, OneQueryIsShownWithItsOperators) {
  EXPECT_EQ(Run(":queries\n:queries q7\n"), kExitOk);
  EXPECT_NE(out_.str().find("No query is running."), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("0 Order order()"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("4711"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("operators: 1000 bytes"), std::string::npos) << out_.str();
  EXPECT_EQ(Run(":queries q8\n"), kExitFailed);
}

TEST_F(ConsoleTest, AScriptStopsAtItsFirstError) {
  EXPECT_EQ(Run("g.V()\ng.fail()\ng.V()\n"), kExitFailed);
  EXPECT_EQ(client_.requests.size(), 2u);
  EXPECT_NE(err_.str().find("It failed."), std::string::npos);
  EXPECT_NE(err_.str().find("g.fail()"), std::string::npos);
  EXPECT_NE(err_.str().find("  ^"), std::string::npos);
}

TEST_F(ConsoleTest, ExitCodesSayWhatHappened) {
  client_.fail_code = StatusCode::kDeadlineExceeded;
  EXPECT_EQ(Run("g.fail()"), kExitTimeout);
  client_.fail_code = StatusCode::kResourceExhausted;
  EXPECT_EQ(Run("g.fail()"), kExitLimit);
  client_.fail_code = StatusCode::kUnavailable;
  EXPECT_EQ(Run("g.fail()"), kExitCannotConnect);
  client_.fail_code = StatusCode::kCancelled;
  EXPECT_EQ(Run("g.fail()"), kExitFailed);
}

TEST_F(ConsoleTest, CommandsChangeWhatIsSent) {
  EXPECT_EQ(Run(":use money\n:param x=1L\n:param y='a'\n:param y\n:timeout 500ms\ng.V(x)\n"),
            kExitOk);
  ASSERT_EQ(client_.requests.size(), 1u);
  const Request& request = client_.requests[0];
  EXPECT_EQ(request.graph, "money");
  EXPECT_EQ(request.timeout_ms, 500u);
  ASSERT_EQ(request.parameters.size(), 1u);
  EXPECT_EQ(request.parameters.at("x").kind(), ValueKind::kLong);
}

TEST_F(ConsoleTest, HelpTellsOfSteps) {
  EXPECT_EQ(Run(":help out\n:help .out()\n"), kExitOk);
  const std::string out = "out(labels: string...)\n  the vertices behind\n  g.V(1).out()\n";
  EXPECT_EQ(out_.str(), out + out);
  EXPECT_EQ(Run(":help match\n"), kExitOk);
  EXPECT_NE(out_.str().find("binds variables; it is not there yet\n"), std::string::npos);
  out_.str("");
  EXPECT_EQ(Run(":help steps\n"), kExitOk);
  EXPECT_EQ(out_.str(), "out                      the vertices behind\n");
  EXPECT_EQ(Run(":help outt\n"), kExitFailed);
  EXPECT_NE(err_.str().find("no step 'outt'; did you mean out?"), std::string::npos) << err_.str();
}

TEST_F(ConsoleTest, FormatChangesTheOutput) {
  EXPECT_EQ(Run(":format jsonl\ng.V()\n:format\n"), kExitOk);
  EXPECT_EQ(out_.str(), "1\n\"two\"\n\"two\"\njsonl\n");
  EXPECT_EQ(Run(":format xml\n"), kExitFailed);
  EXPECT_EQ(Run(":format jsnl\n"), kExitFailed);
  EXPECT_NE(err_.str().find("did you mean jsonl?"), std::string::npos) << err_.str();
}

TEST_F(ConsoleTest, WithoutAnArgumentSettingsAreTold) {
  EXPECT_EQ(Run(":use\n:use money\n:use\n:timeout\n:timeout 2s\n:timeout\n"), kExitOk);
  EXPECT_EQ(out_.str(), "g\nmoney\nnone\n2000ms\n");
  EXPECT_EQ(Run(":timeout 2s\n:timeout off\ng.V()\n"), kExitOk);
  ASSERT_EQ(client_.requests.size(), 1u);
  EXPECT_EQ(client_.requests[0].timeout_ms, 0u);
}

TEST_F(ConsoleTest, ErrorsNameTheLimitAndItsSetting) {
  client_.fail_code = StatusCode::kDeadlineExceeded;
  EXPECT_EQ(Run("g.fail()"), kExitTimeout);
  EXPECT_NE(err_.str().find("\n  limit: 30000 ms\n  setting: query-timeout\n"), std::string::npos)
      << err_.str();
}

TEST_F(ConsoleTest, ResultsThatCantBeWrittenAreAFailure) {
  out_.setstate(std::ios::badbit);
  EXPECT_EQ(Run("g.V()\n"), kExitFailed);
  EXPECT_NE(err_.str().find("can't be written"), std::string::npos) << err_.str();
}

TEST_F(ConsoleTest, ExplainAndProfileTakeTheLastQuery) {
  EXPECT_EQ(Run("g.V()\n:explain\n:profile g.E()\n"), kExitOk);
  ASSERT_EQ(client_.requests.size(), 3u);
  EXPECT_EQ(client_.requests[1].query, "g.V()");
  EXPECT_EQ(client_.requests[1].mode, v1::EXPLAIN);
  EXPECT_EQ(client_.requests[2].query, "g.E()");
  EXPECT_EQ(client_.requests[2].mode, v1::PROFILE);
  EXPECT_EQ(out_.str(), "==>1\n==>two\n==>two\nthe plan\nthe plan\n");
  EXPECT_EQ(Run(":explain\n"), kExitFailed);
}

TEST_F(ConsoleTest, SchemaIsATable) {
  EXPECT_EQ(Run(":schema\n"), kExitOk);
  EXPECT_EQ(out_.str(),
            "kind   | label  | count | properties\n"
            "-------+--------+-------+-------------\n"
            "vertex | person |     4 | name: String\n");
}

TEST_F(ConsoleTest, IndexesAreATable) {
  EXPECT_EQ(Run(":indexes\n"), kExitOk);
  EXPECT_EQ(out_.str(),
            "label  | keys      | state       | vertices | distinct | bytes\n"
            "-------+-----------+-------------+----------+----------+------\n"
            "person | name, age | being built |        4 | unknown  |     0\n");
}

TEST_F(ConsoleTest, WrongCommandsAreErrorsWithTheNearestName) {
  EXPECT_EQ(Run(":shema\n"), kExitFailed);
  EXPECT_NE(err_.str().find(":schema"), std::string::npos) << err_.str();
  EXPECT_EQ(Run(":use nope\n"), kExitFailed);
  EXPECT_EQ(Run(":param x=marko\n"), kExitFailed);
  EXPECT_EQ(Run(":cancel q1\n"), kExitFailed);
}

TEST_F(ConsoleTest, QuitEndsTheScript) {
  EXPECT_EQ(Run(":quit\ng.V()\n"), kExitOk);
  EXPECT_EQ(Run(":q\ng.V()\n"), kExitOk);
  EXPECT_TRUE(client_.requests.empty());
}

TEST_F(ConsoleTest, HelpNamesEveryCommand) {
  EXPECT_EQ(Run(":help\n"), kExitOk);
  for (const std::string& word : Console::CommandWords()) {
    EXPECT_NE(out_.str().find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace koios::client
