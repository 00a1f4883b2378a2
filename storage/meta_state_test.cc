#include "storage/meta_state.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "storage/codec/index_entry.h"
#include "storage/codec/keys.h"

namespace koios::storage {
namespace {

using Facts = std::map<std::string, std::string>;

Facts TakeFacts(MetaState* meta) {
  Facts facts;
  std::string previous;
  meta->TakeChanges([&](std::string_view key, std::string_view value) {
    EXPECT_LT(previous, key);
    previous = key;
    facts[previous] = value;
  });
  return facts;
}

MetaState LoadFacts(const Facts& facts) {
  MetaState meta;
  for (const auto& [key, value] : facts) EXPECT_TRUE(meta.Load(key, value).ok());
  EXPECT_TRUE(meta.FinishLoad().ok());
  return meta;
}

TEST(MetaState, IsWhatItsChangesSay) {
  MetaState meta(4);
  Facts facts = TakeFacts(&meta);
  const LabelId person = meta.InternLabel("person", 10).value();
  const KeyId name = meta.InternKey("name", 10).value();
  meta.NoteProperty(person, name, ValueKind::kString);
  meta.AddVertices(person, 5);
  meta.AddEdges(person, 1);
  meta.SetNextLocals(3, kFirstVertexLocal + 1, kFirstEdgeLocal + 1);
  meta.NoteVertexId(41);
  meta.SetVersion(9);
  facts.merge(TakeFacts(&meta));
  // 'V' was written twice: the later one counts.
  MetaState newer = meta;
  newer.SetVersion(9);
  facts[EncodeMetaKey({MetaKind::kVersion})] = TakeFacts(&newer).begin()->second;

  MetaState back = LoadFacts(facts);
  EXPECT_EQ(back.version(), 9u);
  EXPECT_EQ(back.num_partitions(), 4u);
  EXPECT_EQ(back.schema().labels.Find("person"), person);
  EXPECT_EQ(back.schema().property_kinds.at({person, name}), ValueKind::kString);
  EXPECT_EQ(back.schema().vertex_counts.Count(person), 5u);
  EXPECT_EQ(back.next_vertex_local(3), kFirstVertexLocal + 1);
  EXPECT_EQ(back.next_edge_local(3), kFirstEdgeLocal + 1);
  EXPECT_EQ(back.next_edge_local(0), kFirstEdgeLocal);
  EXPECT_EQ(back.next_vertex_id(), 42);
  EXPECT_TRUE(TakeFacts(&meta).empty());
}

TEST(MetaState, AnIndexHasItsNumberForItself) {
  MetaState meta(1);
  const LabelId label = meta.InternLabel("person", 10).value();
  const KeyId name = meta.InternKey("name", 10).value(), age = meta.InternKey("age", 10).value();
  const IndexId first = meta.AddVertexIndex({label, {name, age}, false, 0}).value();
  const IndexId second = meta.AddVertexIndex({label, {age}, false, 0}).value();
  meta.SetVertexIndex(first, {label, {name, age}, true, 77});
  meta.DropVertexIndex(second);
  MetaState back = LoadFacts(TakeFacts(&meta));
  EXPECT_EQ(back.schema().vertex_indexes, (VertexIndexes{{first, {label, {name, age}, true, 77}}}));
  EXPECT_GT(back.AddVertexIndex({label, {age}, true, 0}).value(), second);
  TakeFacts(&back);
  while (back.schema().vertex_indexes.size() < kMaxIndexes) {
    ASSERT_TRUE(back.AddVertexIndex({label, {age}, true, 0}).ok());
  }
  EXPECT_EQ(back.AddVertexIndex({label, {age}, true, 0}).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(MetaState, ACountOfNoneIsNoCount) {
  MetaState meta(1);
  const LabelId label = meta.InternLabel("x", 10).value();
  meta.AddVertices(label, 2);
  Facts facts = TakeFacts(&meta);
  meta.AddVertices(label, -2);
  EXPECT_TRUE(meta.schema().vertex_counts.empty());
  for (const auto& [key, value] : TakeFacts(&meta)) facts[key] = value;
  EXPECT_TRUE(LoadFacts(facts).schema().vertex_counts.empty());
}

TEST(MetaState, KindsAreOneOrMixed) {
  MetaState meta(1);
  meta.NoteProperty(1, 1, ValueKind::kInt);
  meta.NoteProperty(1, 1, ValueKind::kInt);
  EXPECT_EQ(meta.schema().property_kinds.at({1, 1}), ValueKind::kInt);
  meta.NoteProperty(1, 1, ValueKind::kLong);
  EXPECT_EQ(meta.schema().property_kinds.at({1, 1}), ValueKind::kNull);
  meta.NoteProperty(1, 1, ValueKind::kInt);
  EXPECT_EQ(meta.schema().property_kinds.at({1, 1}), ValueKind::kNull);
}

TEST(MetaState, NamesHaveBounds) {
  MetaState meta(1);
  EXPECT_EQ(meta.InternLabel("", 10).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(meta.InternLabel(std::string(kMaxNameBytes + 1, 'x'), 10).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(meta.InternLabel("a", 1).ok());
  EXPECT_TRUE(meta.InternLabel("a", 1).ok());
  const Status full = meta.InternLabel("b", 1).status();
  EXPECT_EQ(full.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(full)->setting, "storage.max_names");
}

TEST(MetaState, GivenIdsDoNotDriveTheCounterToItsEnd) {
  MetaState meta(1);
  meta.NoteVertexId(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(meta.next_vertex_id(), 0);
}

TEST(MetaState, RefusesANewerFormatAndDamage) {
  MetaState meta;
  EXPECT_EQ(
      meta.Load(EncodeMetaKey({MetaKind::kFormat}), EncodeMetaPair(kFormatVersion + 1, 4)).code(),
      StatusCode::kFailedPrecondition);
  EXPECT_EQ(meta.Load(EncodeMetaKey({MetaKind::kLabelName, 2}), "second without first").code(),
            StatusCode::kDataLoss);
  EXPECT_EQ(meta.Load(EncodeMetaKey({MetaKind::kNextLocals, 0}), EncodeMetaPair(1, 1)).code(),
            StatusCode::kDataLoss);
  EXPECT_EQ(meta.FinishLoad().code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace koios::storage
