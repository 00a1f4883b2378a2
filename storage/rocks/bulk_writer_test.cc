#include "storage/bulk_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/value_compare.h"
#include "storage/check.h"
#include "storage/codec/element_id.h"
#include "storage/data_folder.h"
#include "storage/disk/files.h"
#include "storage/graph_view_contract.h"
#include "storage/rocks/testing/batch_loader.h"
#include "storage/store_test_support.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

// The contract holds for a graph that was loaded...
struct BulkBackend final : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    auto writer = BulkWriter::Create(folder / "g", TestOptions()).value();
    BatchLoader loader(writer.get());
    CHECK(loader.Load(batch).ok());
    writer = nullptr;
    store = GraphStore::Open(folder / "g", TestOptions()).value();
    CHECK(Check(*store)->ok());
    return {store->View(), loader.refs, loader.edges, loader.ids, loader.edge_ids};
  }
  TempFolder folder;
  std::unique_ptr<GraphStore> store;
};

// ... and for one that was loaded half, then appended to.
struct AppendBackend final : ContractBackend {
  BuiltGraph Build(const WriteBatch& batch) override {
    store = GraphStore::Open(folder / "g", TestOptions()).value();
    WriteBatch vertices;
    vertices.vertices = batch.vertices;
    const CommitResult first = store->Commit(vertices).value();
    auto writer = BulkWriter::Append(store.get()).value();
    BatchLoader loader(writer.get());
    loader.refs = first.vertices;
    loader.AddEdges(batch);
    CHECK(loader.Write().ok());
    CHECK(writer->Finish().ok());
    CHECK(Check(*store)->ok());
    return {store->View(), first.vertices, loader.edges, first.vertex_ids, loader.edge_ids};
  }
  TempFolder folder;
  std::unique_ptr<GraphStore> store;
};

const auto kBulkBackends = testing::Values(&MakeBackend<BulkBackend>, &MakeBackend<AppendBackend>);
INSTANTIATE_TEST_SUITE_P(Loaded, GraphViewContract, kBulkBackends);
INSTANTIATE_TEST_SUITE_P(Loaded, LookupContract, kBulkBackends);

class BulkWriterTest : public testing::Test {
 protected:
  std::unique_ptr<BulkWriter> Create() {
    return BulkWriter::Create(folder_ / "g", TestOptions()).value();
  }
  TempFolder folder_;
};

TEST_F(BulkWriterTest, SummarisesAndCountsUpVersions) {
  auto writer = Create();
  BatchLoader loader(writer.get());
  const BulkSummary summary = loader.Load(ContractBatch()).value();
  EXPECT_EQ(summary.version, 1u);
  EXPECT_EQ(summary.vertices.at("person"), 4u);
  EXPECT_EQ(summary.edges.at("knows"), 11u);
  EXPECT_EQ(writer->Finish().status().code(), StatusCode::kFailedPrecondition);
  writer = nullptr;
  auto store = GraphStore::Open(folder_ / "g", TestOptions()).value();
  EXPECT_EQ(store->View()->version(), 1u);
  // Commits go on where the load ended: with new numbers and ids.
  const CommitResult next = store->Commit(AddVertexBatch(1, std::nullopt)).value();
  EXPECT_EQ(next.version, 2u);
  EXPECT_TRUE(Equivalent(next.vertex_ids[0], Value::Long(19)));  // 17 and 18 are taken
  ASSERT_TRUE(store->Commit(AddEdgeBatch(2, loader.refs[0], next.vertices[0])).ok());
  EXPECT_TRUE(Check(*store)->ok());
  EXPECT_EQ(BulkWriter::Create(folder_ / "g", TestOptions()).status().code(),
            StatusCode::kAlreadyExists);
}

TEST_F(BulkWriterTest, NothingIsSeenOfALoadThatEndsBefore) {
  auto store = GraphStore::Open(folder_ / "g", TestOptions()).value();
  ASSERT_TRUE(store->Commit(AddVertexBatch(0, Value::Long(1000))).ok());
  {
    auto writer = BulkWriter::Append(store.get()).value();
    BatchLoader loader(writer.get());
    loader.AddVertices(ContractBatch());
    ASSERT_TRUE(loader.Write().ok());
    EXPECT_TRUE(PathExists(folder_ / "g/ingest"));
    EXPECT_EQ(store->View()->version(), 1u);
  }
  EXPECT_FALSE(PathExists(folder_ / "g/ingest"));
  EXPECT_EQ(CountVertices(*store->View()), 1u);
  EXPECT_TRUE(store->Commit(AddVertexBatch(1, Value::Long(1001))).ok());
  EXPECT_TRUE(Check(*store)->ok());
  // Files that a process left when it died go at open.
  store = nullptr;
  ASSERT_TRUE(MakeFolder(folder_ / "g/ingest").ok());
  ASSERT_TRUE(WriteFileDurably(folder_ / "g/ingest/1.sst", "half").ok());
  store = GraphStore::Open(folder_ / "g", TestOptions()).value();
  EXPECT_FALSE(PathExists(folder_ / "g/ingest"));
}

TEST_F(BulkWriterTest, AppendIsAloneAndOldViewsStay) {
  auto store = GraphStore::Open(folder_ / "g", TestOptions()).value();
  const CommitResult base =
      store->Commit(AddVertexBatch(0, Value::Long(1), {{"name", Value::String("x")}})).value();
  ASSERT_TRUE(store->Commit(AddEdgeBatch(1, base.vertices[0], base.vertices[0])).ok());
  const auto before = store->View();
  EXPECT_EQ(Neighbours(*before, base.vertices[0], Direction::kOut).size(), 1u);
  auto writer = BulkWriter::Append(store.get()).value();
  EXPECT_EQ(BulkWriter::Append(store.get()).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(store->Commit(AddVertexBatch(2, Value::Long(2))).status().code(),
            StatusCode::kFailedPrecondition);
  BatchLoader loader(writer.get());
  WriteBatch batch = AddEdgeBatch(0, base.vertices[0], base.vertices[0]);
  batch.vertices.push_back({Value::Long(3), "person", {{"name", Value::Long(1)}}});
  batch.edges.push_back({std::nullopt, "likes", Existing(base.vertices[0]), Added(0), {}});
  EXPECT_EQ(loader.Load(batch)->version, 3u);
  writer = nullptr;
  EXPECT_EQ(Neighbours(*before, base.vertices[0], Direction::kOut).size(), 1u);
  EXPECT_EQ(CountVertices(*before), 1u);
  const auto after = store->View();
  EXPECT_EQ(Neighbours(*after, base.vertices[0], Direction::kOut).size(), 3u);
  EXPECT_EQ(after->schema().vertex_counts.begin()->second, 2u);
  const auto kind = after->schema().property_kinds.begin()->second;
  EXPECT_EQ(kind, ValueKind::kNull);
  EXPECT_TRUE(Check(*store)->ok());
  // Who read before the load can't be decided any more.
  EXPECT_EQ(store->Commit(AddVertexBatch(2, Value::Long(2))).status().code(), StatusCode::kAborted);
  EXPECT_TRUE(store->Commit(AddVertexBatch(3, Value::Long(2))).ok());
}

TEST_F(BulkWriterTest, RefusesIdsThatComeTwice) {
  auto writer = Create();
  BatchLoader loader(writer.get());
  WriteBatch batch = AddVertexBatch(0, Value::Long(5));
  batch.vertices.push_back({Value::Int(5), "other", {}});
  const Status twice = loader.Load(batch).status();
  EXPECT_EQ(twice.code(), StatusCode::kAlreadyExists);
  EXPECT_NE(MessageOf(twice).find("vertex id 5"), std::string::npos);
  EXPECT_FALSE(writer->Finish().ok());
}

TEST_F(BulkWriterTest, RefusesAnAssignedEdgeIdThatIsGivenAsWell) {
  WriteBatch batch = AddVertexBatch(0, Value::Long(5));
  batch.edges.push_back({std::nullopt, "a", Added(0), Added(0), {}});
  uint64_t number = 0;
  {
    auto writer = BulkWriter::Create(folder_ / "first", TestOptions()).value();
    BatchLoader loader(writer.get());
    ASSERT_TRUE(loader.Load(batch).ok());
    number = loader.edges[0].id;
  }
  {
    auto writer = Create();
    BatchLoader loader(writer.get());
    WriteBatch both = batch;
    both.edges.push_back({Value::Long(static_cast<int64_t>(number)), "a", Added(0), Added(0), {}});
    EXPECT_EQ(loader.Load(both).status().code(), StatusCode::kAlreadyExists);
  }
  // The given one was there before.
  auto store = GraphStore::Open(folder_ / "third", TestOptions()).value();
  WriteBatch given = AddVertexBatch(0, Value::Long(5));
  given.vertices.push_back({Value::Long(6), "person", {}});
  given.edges.push_back(
      {Value::Long(static_cast<int64_t>(number) + 1), "a", Added(1), Added(1), {}});
  given.edges.push_back({Value::Long(17), "a", Added(1), Added(1), {}});
  const CommitResult base = store->Commit(given).value();
  auto writer = BulkWriter::Append(store.get()).value();
  BatchLoader loader(writer.get());
  WriteBatch more;
  for (int i = 0; i < 3; ++i) {
    more.edges.push_back(
        {std::nullopt, "a", Existing(base.vertices[0]), Existing(base.vertices[0]), {}});
  }
  EXPECT_EQ(loader.Load(more).status().code(), StatusCode::kAlreadyExists);
}

TEST_F(BulkWriterTest, RefusesWhatIsNotSortedOrNotWhole) {
  auto writer = Create();
  auto stream = writer->OpenStream(Family::kVertexLabels).value();
  ASSERT_TRUE(stream->Add("b", "").ok());
  EXPECT_EQ(stream->Add("a", "").code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(stream->Close().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer->Finish().status().code(), StatusCode::kFailedPrecondition);
  stream = nullptr;
  EXPECT_EQ(writer->Finish().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(writer->OpenStream(Family::kMeta).status().code(), StatusCode::kInvalidArgument);

  writer = BulkWriter::Create(folder_ / "other", TestOptions()).value();
  BatchLoader loader(writer.get());
  loader.AddVertices(ContractBatch());
  std::erase_if(loader.records,
                [](const FamilyRecord& record) { return record.family == Family::kVertexIds; });
  ASSERT_TRUE(loader.Write().ok());
  EXPECT_EQ(writer->Finish().status().code(), StatusCode::kFailedPrecondition);

  writer = BulkWriter::Create(folder_ / "third", TestOptions()).value();
  auto one = writer->OpenStream(Family::kVertices).value();
  EXPECT_EQ(one->Add(VertexKey(VertexRef{1}), "damaged").code(), StatusCode::kDataLoss);
}

TEST_F(BulkWriterTest, StreamsOfOneFamilyMayNotOverlap) {
  auto writer = Create();
  for (const auto& [first, last] : {std::pair("a", "m"), std::pair("k", "z")}) {
    auto stream = writer->OpenStream(Family::kVertexLabels).value();
    ASSERT_TRUE(stream->Add(first, "").ok());
    ASSERT_TRUE(stream->Add(last, "").ok());
    ASSERT_TRUE(stream->Close().ok());
  }
  EXPECT_EQ(writer->Finish().status().code(), StatusCode::kFailedPrecondition);
}

TEST_F(BulkWriterTest, AFreshLoadAppearsByPublishing) {
  DataFolderOptions options;
  options.create = true;
  options.store = TestOptions();
  auto folder = DataFolder::Open(folder_ / "data", options).value();
  const std::string staged = folder->StageGraph("g").value();
  auto writer = BulkWriter::Create(staged, options.store).value();
  BatchLoader loader(writer.get());
  ASSERT_TRUE(loader.Load(ContractBatch()).ok());
  EXPECT_FALSE(folder->HasGraph("g"));
  ASSERT_TRUE(folder->PublishGraph("g", staged, false).ok());
  EXPECT_EQ(CountVertices(*folder->OpenGraph("g").value()->View()), 8u);
}

// A load's own snapshots are named when there is one of each partition; else they are garbage.
TEST(BulkWriterSnapshotTest, CountWhenThereIsOneOfEachPartition) {
  for (const bool all : {true, false}) {
    TempFolder folder;
    auto writer = BulkWriter::Create(folder / "g", TestOptions()).value();
    const uint32_t num_partitions = writer->num_partitions();
    for (uint32_t p = all ? 0 : 1; p < num_partitions; ++p) {
      const auto builder = writer->OpenSnapshot(p, size_t{1} << 20).value();
      writer->AddSnapshot(p, builder->Finish().value());
    }
    EXPECT_EQ(writer->Finish().value().snapshot_files, all ? num_partitions : 0);
    writer = nullptr;
    const auto store = GraphStore::Open(folder / "g", TestOptions()).value();
    EXPECT_TRUE(Check(*store)->ok());
    // Where they don't count they are gone.
    const auto files = ListFolder(folder / "g/snapshots");
    EXPECT_EQ(files.ok() ? files->size() : 0, all ? num_partitions : 0);
    const auto append = BulkWriter::Append(store.get()).value();
    EXPECT_EQ(append->OpenSnapshot(0, size_t{1} << 20).status().code(),
              StatusCode::kFailedPrecondition);
  }
}

TEST(BulkWriterNumbersTest, OfSeveralVerticesAtOnce) {
  TempFolder folder;
  const auto writer = BulkWriter::Create(folder / "g", TestOptions()).value();
  const uint64_t first = writer->AssignVertices(1, 5);
  EXPECT_EQ(writer->AssignVertices(1, 2), first + 5);
  EXPECT_EQ(writer->AssignVertices(0, 1), first);
  writer->NoteVertexId(41);
  EXPECT_EQ(writer->AssignVertexId().AsInteger(), 42);
  writer->NoteVertexId(7);
  EXPECT_EQ(writer->AssignVertexId().AsInteger(), 43);
}

}  // namespace
}  // namespace koios::storage
