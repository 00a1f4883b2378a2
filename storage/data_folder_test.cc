#include "storage/data_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

class DataFolderTest : public testing::Test {
 protected:
  DataFolderOptions Options(bool create) const {
    DataFolderOptions options;
    options.create = create;
    options.store = TestOptions();
    return options;
  }
  std::unique_ptr<DataFolder> Open() { return DataFolder::Open(path_, Options(true)).value(); }
  // A graph of one vertex, built aside.
  std::string Stage(DataFolder* folder, const std::string& name, int64_t id) {
    std::string staged = folder->StageGraph(name).value();
    auto store = GraphStore::Open(staged, TestOptions()).value();
    CHECK(store->Commit(AddVertexBatch(0, Value::Long(id))).ok());
    return staged;
  }
  bool Has(DataFolder* folder, const std::string& name, int64_t id) {
    return FindVertex(*folder->OpenGraph(name).value()->View(), Value::Long(id)).has_value();
  }

  TempFolder temp_;
  std::string path_ = temp_ / "data";
};

TEST_F(DataFolderTest, IsCreatedWhenAskedTo) {
  EXPECT_EQ(DataFolder::Open(path_, Options(false)).status().code(), StatusCode::kNotFound);
  Open();
  EXPECT_TRUE(DataFolder::Open(path_, Options(false)).ok());
  // What is somebody else's stays so.
  ASSERT_TRUE(MakeFolder(temp_ / "home").ok());
  ASSERT_TRUE(WriteFileDurably(temp_ / "home/letter", "dear").ok());
  EXPECT_EQ(DataFolder::Open(temp_ / "home", Options(true)).status().code(),
            StatusCode::kFailedPrecondition);
}

TEST_F(DataFolderTest, HasOneOwner) {
  auto folder = Open();
  const Status second = DataFolder::Open(path_, Options(false)).status();
  EXPECT_EQ(second.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(MessageOf(second).find("process " + std::to_string(getpid())), std::string::npos);
  folder = nullptr;
  DataFolderOptions read_only = Options(false);
  read_only.read_only = true;
  auto one = DataFolder::Open(path_, read_only).value();
  auto two = DataFolder::Open(path_, read_only).value();
  EXPECT_EQ(DataFolder::Open(path_, Options(false)).status().code(),
            StatusCode::kFailedPrecondition);
  EXPECT_EQ(one->CreateGraph("g").status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(DataFolderTest, RefusesANewerFormat) {
  Open();
  ASSERT_TRUE(WriteFileDurably(path_ + "/FORMAT", "koios data 2\n").ok());
  EXPECT_EQ(DataFolder::Open(path_, Options(true)).status().code(),
            StatusCode::kFailedPrecondition);
  ASSERT_TRUE(WriteFileDurably(path_ + "/FORMAT", "koios data 0\n").ok());
  EXPECT_EQ(DataFolder::Open(path_, Options(true)).status().code(), StatusCode::kDataLoss);
  ASSERT_TRUE(WriteFileDurably(path_ + "/FORMAT", "?").ok());
  EXPECT_EQ(DataFolder::Open(path_, Options(true)).status().code(), StatusCode::kDataLoss);
}

TEST_F(DataFolderTest, NamesOfGraphs) {
  for (const char* good : {"g", "_", "Graph_2", "a1"}) EXPECT_TRUE(CheckGraphName(good).ok());
  EXPECT_TRUE(CheckGraphName(std::string(kMaxGraphNameBytes, 'x')).ok());
  for (const std::string& bad :
       {std::string(), std::string("1a"), std::string("a-b"), std::string("../x"),
        std::string("a/b"), std::string("a b"), std::string(kMaxGraphNameBytes + 1, 'x'),
        std::string("\xc3\xa4")}) {
    EXPECT_EQ(CheckGraphName(bad).code(), StatusCode::kInvalidArgument) << bad;
  }
  auto folder = Open();
  EXPECT_EQ(folder->CreateGraph("../x").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(folder->OpenGraph("../x").status().code(), StatusCode::kNotFound);
}

TEST_F(DataFolderTest, GraphsAreCreatedOpenedListedDropped) {
  auto folder = Open();
  auto store = folder->CreateGraph("g").value();
  EXPECT_EQ(folder->CreateGraph("g").status().code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(folder->OpenGraph("g").value(), store);
  EXPECT_EQ(folder->OpenOrCreateGraph("g").value(), store);
  ASSERT_TRUE(folder->OpenOrCreateGraph("a").ok());
  EXPECT_EQ(folder->ListGraphs(), (std::vector<std::string>{"a", "g"}));
  ASSERT_TRUE(store->Commit(AddVertexBatch(0, Value::Long(1))).ok());
  store = nullptr;
  folder = nullptr;

  folder = Open();
  EXPECT_EQ(folder->ListGraphs(), (std::vector<std::string>{"a", "g"}));
  EXPECT_TRUE(Has(folder.get(), "g", 1));
  auto in_use = folder->OpenGraph("g").value()->View();
  ASSERT_TRUE(folder->DropGraph("g").ok());
  EXPECT_EQ(folder->DropGraph("g").code(), StatusCode::kNotFound);
  EXPECT_EQ(folder->OpenGraph("g").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(CountVertices(*in_use), 1u);
  // The name is free, whoever still reads the graph that was.
  EXPECT_FALSE(FindVertex(*folder->CreateGraph("g").value()->View(), Value::Long(1)).has_value());
  EXPECT_EQ(CountVertices(*in_use), 1u);
  in_use = nullptr;
  folder = nullptr;
  EXPECT_EQ(ListFolder(path_ + "/graphs/g").value().size(), 2u);  // CURRENT and one data folder
}

TEST_F(DataFolderTest, AStagedGraphAppearsWhenPublished) {
  auto folder = Open();
  const std::string staged = Stage(folder.get(), "g", 1);
  EXPECT_FALSE(folder->HasGraph("g"));
  ASSERT_TRUE(folder->PublishGraph("g", staged, false).ok());
  EXPECT_TRUE(Has(folder.get(), "g", 1));

  auto old_view = folder->OpenGraph("g").value()->View();
  const std::string next = Stage(folder.get(), "g", 2);
  EXPECT_EQ(folder->PublishGraph("g", next, false).code(), StatusCode::kAlreadyExists);
  ASSERT_TRUE(folder->PublishGraph("g", next, true).ok());
  EXPECT_TRUE(Has(folder.get(), "g", 2));
  EXPECT_FALSE(Has(folder.get(), "g", 1));
  EXPECT_TRUE(FindVertex(*old_view, Value::Long(1)).has_value());
  EXPECT_TRUE(PathExists(staged));
  old_view = nullptr;
  EXPECT_FALSE(PathExists(staged));

  EXPECT_EQ(folder->PublishGraph("g", path_ + "/graphs/g/data-99", true).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(folder->PublishGraph("other", next, true).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(folder->UnstageGraph(next).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(folder->UnstageGraph(temp_.path()).code(), StatusCode::kInvalidArgument);
  const std::string unwanted = Stage(folder.get(), "g", 3);
  EXPECT_TRUE(folder->UnstageGraph(unwanted).ok());
  EXPECT_FALSE(PathExists(unwanted));
}

TEST_F(DataFolderTest, LeftoversOfTheDeadAreRemoved) {
  auto folder = Open();
  ASSERT_TRUE(folder->PublishGraph("g", Stage(folder.get(), "g", 1), false).ok());
  const std::string replacement = Stage(folder.get(), "g", 2);
  const std::string other = Stage(folder.get(), "other", 3);
  folder = nullptr;  // died before it published

  DataFolderOptions read_only = Options(false);
  read_only.read_only = true;
  EXPECT_EQ(DataFolder::Open(path_, read_only).value()->ListGraphs(),
            std::vector<std::string>{"g"});
  EXPECT_TRUE(PathExists(replacement));  // a reader removes nothing

  folder = Open();
  EXPECT_EQ(folder->ListGraphs(), std::vector<std::string>{"g"});
  EXPECT_FALSE(PathExists(replacement));
  EXPECT_FALSE(PathExists(other));
  EXPECT_TRUE(Has(folder.get(), "g", 1));
}

// What its CURRENT doesn't name is not removed unless something says that it is left over.
TEST_F(DataFolderTest, AGraphWithoutAGoodCurrentIsDamagedAndKept) {
  for (const char* current : {"", "data-7\n", "data-1", "data-\n", "data-01\n"}) {
    RemovePath(path_).IgnoreError();
    auto folder = Open();
    ASSERT_TRUE(folder->PublishGraph("g", Stage(folder.get(), "g", 1), false).ok());
    ASSERT_TRUE(folder->CreateGraph("other").ok());
    folder = nullptr;
    const std::string file = path_ + "/graphs/g/CURRENT";
    ASSERT_TRUE(*current == '\0' ? RemovePath(file).ok() : WriteFileDurably(file, current).ok());
    for (int i = 0; i < 2; ++i) {
      folder = nullptr;
      folder = Open();
      EXPECT_EQ(folder->ListGraphs(), (std::vector<std::string>{"g", "other"}));
      EXPECT_TRUE(folder->HasGraph("g"));
      const Status damaged = folder->OpenGraph("g").status();
      EXPECT_EQ(damaged.code(), StatusCode::kDataLoss) << current;
      EXPECT_EQ(MessageOf(damaged).find(temp_.path()), std::string::npos) << MessageOf(damaged);
      EXPECT_EQ(folder->CreateGraph("g").status().code(), StatusCode::kAlreadyExists);
      EXPECT_TRUE(folder->OpenGraph("other").ok());
      EXPECT_TRUE(PathExists(path_ + "/graphs/g/data-1/FORMAT"));
    }
    // It can be replaced, or dropped.
    if (*current == '\0') {
      ASSERT_TRUE(folder->DropGraph("g").ok());
      EXPECT_FALSE(folder->HasGraph("g"));
    } else {
      ASSERT_TRUE(folder->PublishGraph("g", Stage(folder.get(), "g", 2), true).ok());
      EXPECT_TRUE(Has(folder.get(), "g", 2));
    }
    folder = nullptr;
    folder = Open();
    EXPECT_EQ(folder->HasGraph("g"), *current != '\0');
    EXPECT_FALSE(PathExists(path_ + "/graphs/g/data-1"));
  }
}

TEST_F(DataFolderTest, AGraphThatWasDroppedStaysSo) {
  auto folder = Open();
  auto store = folder->CreateGraph("g").value();
  ASSERT_TRUE(folder->DropGraph("g").ok());
  // Dies before the last user is done: the files are still there.
  TempFolder elsewhere;
  std::filesystem::copy(path_, elsewhere / "data", std::filesystem::copy_options::recursive);
  EXPECT_TRUE(PathExists(elsewhere / "data/graphs/g/data-1/FORMAT"));
  for (const bool read_only : {true, false}) {
    DataFolderOptions options = Options(false);
    options.read_only = read_only;
    EXPECT_FALSE(DataFolder::Open(elsewhere / "data", options).value()->HasGraph("g"));
  }
  EXPECT_FALSE(PathExists(elsewhere / "data/graphs/g"));
}

// Errors of a graph's opening name no path, the log does.
TEST_F(DataFolderTest, OpeningADamagedGraphFailsAndSaysNoPath) {
  Open()->CreateGraph("g").value();
  ASSERT_TRUE(RemovePath(path_ + "/graphs/g/data-1/db/CURRENT").ok());
  auto folder = Open();
  for (int i = 0; i < 2; ++i) {
    const Status damaged = folder->OpenGraph("g").status();
    EXPECT_EQ(damaged.code(), StatusCode::kDataLoss);
    EXPECT_EQ(MessageOf(damaged).find(temp_.path()), std::string::npos) << MessageOf(damaged);
    EXPECT_NE(MessageOf(damaged).find("CURRENT is gone"), std::string::npos) << MessageOf(damaged);
  }
}

}  // namespace
}  // namespace koios::storage
