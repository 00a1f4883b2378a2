// Random graphs, written and read back, against the model; and what columns of several values look
// like, which no store writes yet.
#include "storage/snapshot/snapshot_builder.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "core/value_codec.h"
#include "storage/codec/element_id.h"
#include "storage/codec/records.h"
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
  std::vector<LabelId> labels_with_properties = {12};
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
  options.labels_with_properties = one.labels_with_properties;
  const Snapshots snapshots = BuildAll(model, options);
  ASSERT_EQ(snapshots.size(), model.num_partitions);
  ModelComparison comparison(model, snapshots);
  const Status status = comparison.Run();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(comparison.difference(), "");
  const bool has_in_ids = comparison.ListsWithIds(SectionIndex::kIn) > 0;
  EXPECT_EQ(has_in_ids, !one.labels_with_properties.empty() && one.shape.vertices > 0);
}

TEST(SnapshotBuilderTest, RandomGraphs) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Case one{seed, {}};
    one.shape.num_partitions = seed % 3 == 0 ? 1 : 4;
    one.shape.label_by_label = seed % 2 == 0;
    one.shape.gone = seed % 4 < 2 ? 0 : 0.05;
    if (seed % 6 == 1) one.labels_with_properties = {};
    if (seed % 6 == 2) one.labels_with_properties = {11, 12, 13, 14};
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

// Out-edges with what they have, as a load brings them, make the same file as edges and their ends.
TEST(SnapshotBuilderTest, OutEdgesThatComeWhole) {
  const std::string vertex_id = IdBytes(Value::Long(7)), edge_id = IdBytes(Value::Long(9));
  const std::string since = EncodeValue(Value::Int(2026));
  const LabelId person = 1, knows = 2;
  const KeyId key = 3;
  const auto build = [&](bool whole) {
    TempFolder folder;
    SnapshotBuildOptions options;
    options.folder = folder.path();
    SnapshotBuilder builder(options);
    const std::pair<KeyId, std::string_view> properties[] = {{key, since}};
    const VertexRef one = VertexRef::Make(0, 1), two = VertexRef::Make(0, 2);
    std::string payload;
    PutBytes(edge_id, &payload);
    AppendProperty(key, Value::Int(2026), &payload);
    EXPECT_TRUE(whole || builder.AddEdge({{5, one, two, knows}, edge_id, properties}).ok());
    EXPECT_TRUE(builder.AddVertex({1, {&person, 1}, vertex_id, {}}).ok());
    if (whole) {
      EXPECT_TRUE(builder.AddOutEdge(knows, two, 4, std::string(1, '\0')).ok());
      EXPECT_TRUE(builder.AddOutEdge(knows, two, 5, payload).ok());
    } else {
      EXPECT_TRUE(builder.AddEnd(Direction::kOut, knows, two, 4).ok());
      EXPECT_TRUE(builder.AddEnd(Direction::kOut, knows, two, 5).ok());
    }
    EXPECT_TRUE(builder.AddVertex({2, {&person, 1}, edge_id, {}}).ok());
    EXPECT_TRUE(builder.AddEnd(Direction::kIn, knows, one, 4).ok());
    EXPECT_TRUE(builder.AddEnd(Direction::kIn, knows, one, 5).ok());
    EXPECT_EQ(builder.AddOutEdge(knows, one, 6, "").code(), StatusCode::kDataLoss) << "wrong order";
    return builder.Finish().value().file;
  };
  EXPECT_EQ(build(true), build(false));
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
  shape.edges = 600;
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
  EXPECT_FALSE(has(SectionKind::kListOffsets, 14));
  EXPECT_TRUE(has(SectionKind::kListOffsets, 11));
  EXPECT_FALSE(has(SectionKind::kPresence, 11));
}

constexpr uint64_t kFormRows = 40;
constexpr KeyId kFormKeys = 11;

// By key, values that fit one form.
Value ValueOfForm(KeyId key, int64_t row) {
  const DateTime when{row * 100 - 2000, static_cast<int32_t>(row) * 1'000'000, 7200};
  switch (key) {
    case 1:
      return Value::Bool(row % 3 == 0);
    case 2:
      return Value::Int(static_cast<int32_t>(row) - 7);
    case 3:
      return Value::Double(row * 0.5);
    case 4:
      return Value::String("s" + std::to_string(row % 5));
    case 5:
      return Value::String("s" + std::to_string(row));
    case 6:
      return Value::Of(when);
    case 7:
      return Value::Of(DateTime{when.seconds, row == 5 ? 1 : 0, 0});
    case 8:
      return ListOf({Value::Int(1), Value::Int(static_cast<int32_t>(row % 2))});
    case 9:
      return row == 30 ? Value::Int(1) : Value::Long(row);
    case 10:
      return row == 30 ? Value::Null() : Value::Long(row);
    default:
      return Value::Of(Duration{row, 0});
  }
}

std::shared_ptr<const PartitionSnapshot> BuildForms(const std::string& folder) {
  SnapshotBuildOptions options;
  options.folder = folder;
  SnapshotBuilder builder(options);
  const LabelId labels[] = {1};
  for (int64_t row = 0; row < static_cast<int64_t>(kFormRows); ++row) {
    std::vector<std::string> values;
    for (KeyId key = 1; key <= kFormKeys; ++key)
      values.push_back(EncodeValue(ValueOfForm(key, row)));
    std::vector<PropertyInput> properties;
    for (KeyId key = 1; key <= kFormKeys; ++key) {
      properties.push_back({key, values[key - 1], Cardinality::kSingle, {}});
    }
    const std::string id = IdBytes(Value::Long(row));
    CHECK(builder.AddVertex({static_cast<uint64_t>(row) + 1, labels, id, properties}).ok());
  }
  return PartitionSnapshot::Open(folder, 0, builder.Finish().value().file).value();
}

// The form that each kind of values gets, its facts, and what stands there in place.
TEST(SnapshotBuilderTest, FormsOfColumns) {
  TempFolder folder;
  const auto snapshot = BuildForms(folder.path());
  struct Expected {
    ColumnForm form;
    ValueKind kind;
    int width;  // -1: not fixed
    uint64_t distinct;
  };
  using enum ColumnForm;
  const std::map<KeyId, Expected> expected = {
      {kNoName, {kFixed, ValueKind::kLong, 8, 40}},  {1, {kFixed, ValueKind::kBool, 0, 2}},
      {2, {kFixed, ValueKind::kInt, 4, 40}},         {3, {kFixed, ValueKind::kDouble, 8, 40}},
      {4, {kDictionary, ValueKind::kString, -1, 5}}, {5, {kHeap, ValueKind::kString, -1, 40}},
      {6, {kFixed, ValueKind::kDateTime, 8, 40}},    {7, {kFixed, ValueKind::kDateTime, 16, 40}},
      {8, {kFixed, ValueKind::kInt, 4, 2}},          {9, {kEncoded, ValueKind::kNull, -1, 40}},
      {10, {kEncoded, ValueKind::kNull, -1, 40}},    {11, {kEncoded, ValueKind::kDuration, -1, 40}},
  };
  for (const auto& [key, one] : expected) {
    SCOPED_TRACE("key " + std::to_string(key));
    const SnapshotColumn* const column = snapshot->FindVertexColumn(0, key);
    ASSERT_NE(column, nullptr);
    EXPECT_EQ(column->form(), one.form);
    EXPECT_EQ(column->value_kind(), one.kind);
    if (one.width >= 0) {
      EXPECT_EQ(column->fixed_width(), one.width);
    }
    EXPECT_NEAR(static_cast<double>(column->facts().distinct), static_cast<double>(one.distinct),
                2);
    EXPECT_EQ(column->facts().rows_present, kFormRows);
    EXPECT_EQ(column->holds_lists(), key == 8);
    EXPECT_EQ(snapshot->sections().contains(column->name().Of(SectionKind::kValidity)), false);
  }
  const auto facts = [&](KeyId key) { return snapshot->FindVertexColumn(0, key)->facts(); };
  EXPECT_EQ(static_cast<int64_t>(facts(2).least_bits), -7);
  EXPECT_EQ(static_cast<int64_t>(facts(2).largest_bits), 32);
  EXPECT_EQ(std::bit_cast<double>(facts(3).largest_bits), 19.5);
  EXPECT_EQ(static_cast<int64_t>(facts(6).least_bits), -2'000'000);
  EXPECT_EQ(facts(6).offset_seconds, 7200);
  const SnapshotColumn& words = *snapshot->FindVertexColumn(0, 4);
  ASSERT_EQ(words.num_strings(), 5);
  for (uint64_t code = 0; code < 5; ++code) {
    std::string_view text;
    ASSERT_TRUE(words.StringOf(code, &text).ok());
    EXPECT_EQ(text, "s" + std::to_string(code));
  }
  std::string_view none;
  EXPECT_EQ(words.StringOf(5, &none).code(), StatusCode::kDataLoss);
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

TEST(SnapshotBuilderTest, ColumnsHaveABound) {
  TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  options.most_columns = 3;
  const LabelId labels[] = {1};
  const std::string id = IdBytes(Value::Long(1));
  SnapshotBuilder builder(options);
  ASSERT_TRUE(builder.AddVertex({1, labels, id, {}}).ok());  // its ids are one
  ASSERT_TRUE(builder.AddEnd(Direction::kOut, 3, VertexRef::Make(0, 1), 8).ok());
  ASSERT_TRUE(builder.AddEnd(Direction::kOut, 4, VertexRef::Make(0, 1), 9).ok());
  ASSERT_TRUE(builder.AddEnd(Direction::kIn, 3, VertexRef::Make(0, 1), 8).ok());
  const Status status = builder.AddEnd(Direction::kIn, 4, VertexRef::Make(0, 1), 9);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->limit, "columns of a snapshot 3");
}

// Vertices that are gone cost rows while they are few, and keep the runs whole.
TEST(SnapshotBuilderTest, RunsGoOverFewThatAreGone) {
  TempFolder folder;
  SnapshotBuildOptions options;
  options.folder = folder.path();
  const LabelId labels[] = {1};
  for (const uint64_t step : {20, 3}) {
    SnapshotBuilder builder(options);
    std::vector<uint64_t> locals;
    for (uint64_t local = 1; local <= 400; ++local) {
      if (local % step != 0) locals.push_back(local);
    }
    for (const uint64_t local : locals) {
      const std::string id = IdBytes(Value::Long(static_cast<int64_t>(local)));
      ASSERT_TRUE(builder.AddVertex({local, labels, id, {}}).ok());
    }
    const auto snapshot =
        PartitionSnapshot::Open(folder.path(), 0, builder.Finish().value().file).value();
    const auto has = [&](SectionKind kind) {
      return snapshot->sections().contains({kind, SectionIndex::kPartition, 0, 0, 0});
    };
    EXPECT_EQ(has(SectionKind::kLabelRuns), step == 20);
    EXPECT_EQ(has(SectionKind::kAlive), step == 20);
    std::vector<uint64_t> found;
    for (uint64_t next = 0; next < snapshot->header().end_local;) {
      ASSERT_TRUE(snapshot->ScanVertices(kNoSet, &next, 100, &found).ok());
    }
    EXPECT_EQ(found, locals);
    const uint64_t gone = step * 5;
    VertexPlace place;
    ASSERT_TRUE(snapshot->Locate({&gone, 1}, &place).ok());
    EXPECT_EQ(place.set, kNoSet);
    ++options.number;
  }
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
