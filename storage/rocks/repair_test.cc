#include "storage/repair.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage/codec/element_id.h"
#include "storage/data_folder.h"
#include "storage/rocks/store_state.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

namespace fs = std::filesystem;

class RepairTest : public testing::Test {
 protected:
  static DataFolderOptions Options(bool create) {
    DataFolderOptions options;
    options.create = create;
    options.store = TestOptions();
    return options;
  }
  // Vertices 0 to 4, a commit each, with an edge from each to the one before.
  void SetUp() override {
    auto folder = DataFolder::Open(path_, Options(true)).value();
    const auto store = folder->CreateGraph("g").value();
    CHECK(folder->CreateGraph("other").ok());
    for (int64_t i = 0; i < 5; ++i) {
      WriteBatch batch = AddVertexBatch(store->View()->version(), Value::Long(i));
      if (i > 0) {
        const VertexRef before = *FindVertex(*store->View(), Value::Long(i - 1));
        batch.edges.push_back({Value::Long(i), "to", Added(0), Existing(before), {}});
      }
      CHECK(store->Commit(batch).ok());
    }
  }
  // The graph's only file in db/ that ends so.
  std::string Find(const std::string& ending) {
    for (const auto& entry : fs::directory_iterator(graph_ + "/data-1/db")) {
      if (entry.path().string().ends_with(ending)) return entry.path();
    }
    return "";
  }
  StatusOr<std::shared_ptr<GraphStore>> Open(const std::string& name = "g") {
    folder_ = nullptr;
    ASSIGN_OR_RETURN(folder_, DataFolder::Open(path_, Options(false)));
    return folder_->OpenGraph(name);
  }
  std::string OpenProblem() { return MessageOf(Open().status()); }
  StatusOr<RepairReport> Run() {
    folder_ = nullptr;
    return Repair(path_, "g", Options(false).store);
  }
  // What a repair did, all of it; the graph is usable then.
  std::string Repaired(uint64_t vertices_left) {
    const auto report = Run();
    if (!report.ok()) return "failed: " + MessageOf(report.status());
    std::string done;
    for (const std::string& line : report->done) done += line + "\n";
    EXPECT_EQ(report->check.vertices, vertices_left);
    const auto store = Open().value();
    EXPECT_EQ(CountVertices(*store->View()), vertices_left);
    const uint64_t version = store->View()->version();
    WriteBatch drop;
    drop.dropped_vertices = store->Commit(AddVertexBatch(version, std::nullopt))->vertices;
    drop.read_version = version + 1;
    EXPECT_EQ(store->Commit(drop)->version, version + 2);
    EXPECT_TRUE(Check(*store)->ok());
    return done;
  }

  TempFolder temp_;
  const std::string path_ = temp_ / "data", graph_ = temp_ / "data/graphs/g";
  std::unique_ptr<DataFolder> folder_;
};

TEST_F(RepairTest, OfWhatIsWholeDoesNothing) {
  EXPECT_EQ(Repaired(5), "");
  folder_ = nullptr;
  EXPECT_EQ(Repair(path_, "none", {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Repair(temp_ / "nowhere", "g", {}).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(PathExists(temp_ / "nowhere"));
  const auto used = DataFolder::Open(path_, Options(false)).value();
  EXPECT_EQ(Repair(path_, "g", {}).status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(RepairTest, OfALostLogKeepsWhatIsInTablesAndSaysWhatIsLost) {
  ASSERT_TRUE(fs::remove(Find(".log")));
  EXPECT_NE(OpenProblem().find(".log is gone."), std::string::npos) << OpenProblem();
  EXPECT_NE(OpenProblem().find("admin check --repair"), std::string::npos);
  const auto report = Run();
  // Not even that there are partitions was in a table.
  EXPECT_EQ(report.status().code(), StatusCode::kDataLoss);
  EXPECT_NE(MessageOf(report.status()).find("backup"), std::string::npos);
  EXPECT_TRUE(Open("other").ok());
}

TEST_F(RepairTest, OfACutLogKeepsTheCommitsBeforeTheCut) {
  const std::string log = Find(".log");
  fs::resize_file(log, fs::file_size(log) - 1);
  EXPECT_NE(OpenProblem().find("was cut short"), std::string::npos) << OpenProblem();
  const std::string done = Repaired(4);
  EXPECT_NE(done.find("the last 1 are lost"), std::string::npos) << done;
  EXPECT_EQ(done.find("--repair"), std::string::npos) << done;
  EXPECT_EQ(done.find("mended"), std::string::npos) << done;
}

TEST_F(RepairTest, OfAChangedLogKeepsTheCommitsBeforeTheChange) {
  const std::string log = Find(".log");
  std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(fs::file_size(log)) - 40);
  file.put('\x7f');
  file.close();
  EXPECT_NE(OpenProblem().find("was changed"), std::string::npos) << OpenProblem();
  EXPECT_NE(Repaired(4).find("lost"), std::string::npos);
}

TEST_F(RepairTest, OfTheSmallFilesMakesThemAnew) {
  fs::remove(path_ + "/FORMAT");
  EXPECT_EQ(DataFolder::Open(path_, Options(true)).status().code(), StatusCode::kDataLoss);
  EXPECT_NE(Repaired(5).find("FORMAT"), std::string::npos);
  for (const char* name : {"CURRENT", "data-1/FORMAT", "data-1/MARK"}) {
    for (const bool remove : {true, false}) {
      folder_ = nullptr;
      const std::string file = graph_ + "/" + name;
      CHECK(remove ? fs::remove(file) : WriteFileDurably(file, "rubbish").ok());
      EXPECT_EQ(Open().status().code(), StatusCode::kDataLoss) << name;
      EXPECT_TRUE(Open("other").ok()) << name;
      EXPECT_EQ(Repaired(5).find("lost"), std::string::npos) << name;
    }
  }
}

TEST_F(RepairTest, OfAManifestOrATableIsRefused) {
  ASSERT_TRUE(Open().value()->Compact().ok());
  folder_ = nullptr;
  for (const char* ending : {".sst", "CURRENT"}) {
    TempFolder copy;
    const std::string kept = copy / "g";
    fs::copy(graph_, kept, fs::copy_options::recursive);
    ASSERT_TRUE(fs::remove(Find(ending)));
    EXPECT_EQ(Open().status().code(), StatusCode::kDataLoss);
    const Status status = Run().status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(MessageOf(status).find("backup"), std::string::npos) << MessageOf(status);
    fs::remove_all(graph_);
    fs::copy(kept, graph_, fs::copy_options::recursive);
    EXPECT_TRUE(Open().ok());
  }
}

// Past the commit path: what follows from vertices and edges is made anew, edges without a vertex
// go.
TEST_F(RepairTest, OfRecordsMakesTheGraphAgreeWithItself) {
  auto store = Open().value();
  const VertexRef vertex = *FindVertex(*store->View(), Value::Long(3));
  const EdgeRef edge = *FindEdge(*store->View(), Value::Long(1));
  StoreState& state = StoreAccess::Of(store.get());
  {
    Database& database = *state.CurrentDatabase();
    const auto remove = [&](Family family, const std::string& key) {
      CHECK(database.db()->Delete({}, database.family(family), key).ok());
    };
    remove(Family::kVertices, VertexKey(vertex));  // with two edges
    remove(Family::kVertexLabels, VertexLabelKey(edge.out, 1));
    remove(Family::kEdgeEnds, EdgeEndKey(InEnd(edge)));
    remove(Family::kEdgeIds, EdgeIdKey(IdBytes(Value::Long(1)), 4));
  }
  store = nullptr;
  const std::string done = Repaired(4);
  EXPECT_NE(done.find("mended"), std::string::npos) << done;
  store = Open().value();
  EXPECT_EQ(store->View()->schema().edge_counts.begin()->second, 2u);
  EXPECT_EQ(FindEdge(*store->View(), Value::Long(1)), edge);
  EXPECT_EQ(FindEdge(*store->View(), Value::Long(3)), std::nullopt);
}

}  // namespace
}  // namespace koios::storage
