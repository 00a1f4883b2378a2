// Random graphs, written and read back, against the model; and what columns of several values look
// like, which no store writes yet.
#include "storage/snapshot/snapshot_builder.h"

#include <gtest/gtest.h>

#include "storage/snapshot/testing/model_comparison.h"
#include "storage/temp_folder.h"

namespace koios::storage {
namespace {

struct Case {
  uint64_t seed;
  ModelShape shape;
  size_t budget_bytes = size_t{1} << 20;
  uint64_t most_narrow = 0xFFFFFFFF;
  uint64_t most_narrow_local = ~uint64_t{0};
};

void RunCase(const Case& one) {
  SCOPED_TRACE("seed " + std::to_string(one.seed));
  TempFolder folder;
  const SnapshotModel model = MakeModel(one.seed, one.shape);
  SnapshotBuildOptions options;
  options.folder = folder.path();
  options.budget_bytes = one.budget_bytes;
  options.most_narrow = one.most_narrow;
  options.most_narrow_local = one.most_narrow_local;
  const Snapshots snapshots = BuildAll(model, options);
  ASSERT_EQ(snapshots.size(), model.num_partitions);
  ModelComparison comparison(model, snapshots);
  const Status status = comparison.Run();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(comparison.difference(), "");
}

TEST(SnapshotBuilderTest, RandomGraphs) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Case one{seed, {}};
    one.shape.num_partitions = seed % 3 == 0 ? 1 : 4;
    one.shape.label_by_label = seed % 2 == 0;
    one.shape.gone = seed % 4 < 2 ? 0 : 0.05;
    RunCase(one);
  }
}

TEST(SnapshotBuilderTest, MoreThanTheBudget) {
  for (uint64_t seed = 21; seed <= 24; ++seed) {
    Case one{seed, {}};
    one.shape.vertices = 200;
    one.shape.edges = 800;
    one.budget_bytes = 4096;
    RunCase(one);
  }
}

TEST(SnapshotBuilderTest, NumbersPastTheLimitAreWide) {
  for (uint64_t seed = 31; seed <= 36; ++seed) {
    Case one{seed, {}};
    one.most_narrow = seed % 2 == 0 ? 20 : 1024;
    one.most_narrow_local = 8;
    RunCase(one);
  }
}

TEST(SnapshotBuilderTest, AnEmptyPartition) {
  Case one{41, {}};
  one.shape.vertices = 0;
  RunCase(one);
  one.shape.vertices = 1;
  RunCase(one);
}

TEST(SnapshotBuilderTest, LoadedLabelByLabelNeedsNoArrays) {
  TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  for (const bool by_label : {true, false}) {
    ModelShape shape;
    shape.num_partitions = 1;
    shape.label_by_label = by_label;
    shape.gone = 0;
    const Snapshots snapshots = BuildAll(MakeModel(1, shape), options);
    ASSERT_EQ(snapshots.size(), 1);
    const auto has = [&](SectionKind kind) {
      return snapshots[0]->sections().contains({kind, SectionIndex::kPartition, 0, 0, 0});
    };
    EXPECT_EQ(has(SectionKind::kLabelRuns), by_label);
    EXPECT_EQ(has(SectionKind::kSetOfLocal), !by_label);
    EXPECT_FALSE(has(SectionKind::kAlive));
    ++options.number;
  }
}

TEST(SnapshotBuilderTest, FormsOfAdjacency) {
  TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  ModelShape shape;
  shape.num_partitions = 1;
  shape.label_by_label = true;
  shape.gone = 0;
  shape.vertices = 400;
  const Snapshots snapshots = BuildAll(MakeModel(5, shape), options);
  ASSERT_EQ(snapshots.size(), 1);
  const auto has = [&](SectionKind kind, LabelId label) {
    return snapshots[0]->sections().contains({kind, SectionIndex::kOut, 0, label, 0});
  };
  // One edge each: neighbours alone.
  EXPECT_TRUE(has(SectionKind::kNeighbours, 13));
  EXPECT_FALSE(has(SectionKind::kListOffsets, 13));
  EXPECT_FALSE(has(SectionKind::kPresence, 13));
  // Few have any, none has two.
  EXPECT_TRUE(has(SectionKind::kPresence, 14));
  EXPECT_TRUE(has(SectionKind::kRanks, 14));
  EXPECT_FALSE(has(SectionKind::kListOffsets, 14));
  EXPECT_TRUE(has(SectionKind::kListOffsets, 11));
  EXPECT_FALSE(has(SectionKind::kPresence, 11));
}

TEST(SnapshotBuilderTest, SeveralValuesPerKeyWithIdsAndProperties) {
  TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  SnapshotBuilder builder(options);
  const LabelId labels[] = {1};
  const std::string text[] = {EncodeValue(Value::String("a")), EncodeValue(Value::String("b")),
                              EncodeValue(Value::String("c"))};
  const std::string since = EncodeValue(Value::Int(2026));
  const std::pair<KeyId, std::string_view> meta[] = {{9, since}};
  const ItemInput items[] = {{text[1], 71, {}}, {text[2], 72, meta}};
  const PropertyInput one[] = {{5, text[0], Cardinality::kSingle, {}}};
  const PropertyInput two[] = {{5, {}, Cardinality::kList, items}};
  for (uint64_t local = 1; local <= 4; ++local) {
    std::span<const PropertyInput> properties;
    if (local == 1 || local == 4) properties = one;
    if (local == 3) properties = two;
    ASSERT_TRUE(
        builder.AddVertex({local, labels, IdBytes(Value::Long(int64_t(local))), properties}).ok());
  }
  const auto built = builder.Finish();
  ASSERT_TRUE(built.ok()) << built.status();
  const auto snapshot = PartitionSnapshot::Open(folder.path(), 0, built->file).value();
  const SnapshotColumn* const column = snapshot->FindVertexColumn(0, 5);
  ASSERT_NE(column, nullptr);
  EXPECT_TRUE(column->has_several());
  EXPECT_EQ(column->facts().cardinality, uint8_t(Cardinality::kList));
  EXPECT_EQ(column->facts().rows_present, 3);
  const uint64_t rows[] = {0, 1, 2, 3};
  std::vector<ItemSlice> slices;
  ASSERT_TRUE(column->Items(rows, &slices).ok());
  const uint64_t counts[] = {1, 0, 2, 1};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(slices[i].count, counts[i]);
  const uint64_t all[] = {0, 1, 2, 3};
  std::vector<Value> values;
  std::vector<uint64_t> ids;
  ASSERT_TRUE(column->ItemValues(all, &values).ok());
  ASSERT_TRUE(column->ItemIds(all, &ids).ok());
  EXPECT_EQ(
      values[0].AsString() + values[1].AsString() + values[2].AsString() + values[3].AsString(),
      "abca");
  EXPECT_EQ(ids, (std::vector<uint64_t>{0, 71, 72, 0}));
  const SnapshotColumn* const of_items = snapshot->FindItemColumn(0, 5, 9);
  ASSERT_NE(of_items, nullptr);
  std::vector<std::optional<Value>> since_of;
  ASSERT_TRUE(of_items->Values(all, &since_of).ok());
  EXPECT_FALSE(since_of[1]);
  ASSERT_TRUE(since_of[2]);
  EXPECT_EQ(since_of[2]->AsInteger(), 2026);
}

TEST(SnapshotBuilderTest, RefusesWhatIsNoGraph) {
  TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  const LabelId labels[] = {1};
  const std::string id = IdBytes(Value::Long(1));
  const VertexRef one = VertexRef::Make(0, 1), two = VertexRef::Make(0, 2);
  {
    SnapshotBuilder builder(options);
    ASSERT_TRUE(builder.AddVertex({2, labels, id, {}}).ok());
    EXPECT_EQ(builder.AddVertex({2, labels, id, {}}).code(), StatusCode::kDataLoss);
    ASSERT_TRUE(builder.AddEnd(Direction::kOut, 3, two, 8).ok());
    EXPECT_EQ(builder.AddEnd(Direction::kOut, 3, one, 9).code(), StatusCode::kDataLoss);
    EXPECT_EQ(builder.AddEnd(Direction::kOut, 4, VertexRef::Make(7, 1), 9).code(),
              StatusCode::kDataLoss);
  }
  SnapshotBuilder builder(options);
  const std::string value = EncodeValue(Value::Int(1));
  const std::pair<KeyId, std::string_view> properties[] = {{1, value}};
  ASSERT_TRUE(builder.AddEdge({{5, one, two, 3}, "", properties}).ok());
  ASSERT_TRUE(builder.AddVertex({1, labels, id, {}}).ok());
  EXPECT_EQ(builder.Finish().status().code(), StatusCode::kDataLoss);
}

TEST(SnapshotBuilderTest, TheSameGraphGivesTheSameFile) {
  TempFolder folder;
  const SnapshotModel model = MakeModel(3, {});
  SnapshotBuildOptions options;
  options.folder = folder.path();
  options.num_partitions = model.num_partitions;
  const auto first = BuildModel(model, options);
  options.budget_bytes = 4096;
  const auto second = BuildModel(model, options);
  ASSERT_TRUE(first.ok() && second.ok());
  // Dictionaries that don't fit the budget aside, nothing depends on it.
  options.budget_bytes = size_t{1} << 20;
  const auto third = BuildModel(model, options);
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(first->file, third->file);
  EXPECT_GT(second->spilled_bytes, 0);
}

}  // namespace
}  // namespace koios::storage
