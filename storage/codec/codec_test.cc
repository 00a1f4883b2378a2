// Round trips, order and damage of everything the codec writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/testing/make_value.h"
#include "core/value_compare.h"
#include "storage/codec/element_id.h"
#include "storage/codec/keys.h"
#include "storage/codec/meta_codec.h"
#include "storage/codec/records.h"
#include "storage/codec/value_place.h"

namespace koios::storage {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(ElementId, EveryIntegerWidthIsTheSameId) {
  for (const Value& id : {Value::Byte(7), Value::Short(7), Value::Int(7), Value::Long(7)}) {
    EXPECT_TRUE(Equivalent(NormaliseId(id).value(), Value::Long(7)));
    EXPECT_EQ(PartitionOfId(id, 16), PartitionOfId(Value::Long(7), 16));
  }
  EXPECT_NE(IdBytes(Value::Long(7)), IdBytes(Value::String("7")));
  EXPECT_FALSE(TryNormaliseId(Value::Double(7.0)).has_value());
  EXPECT_EQ(NormaliseId(Value::Null()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(NormaliseId(Value::String(std::string(kMaxIdBytes + 1, 'x'))).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_TRUE(NormaliseId(Value::String(std::string(kMaxIdBytes, 'x'))).ok());
}

TEST(ElementId, PartitionsNeverChange) {
  // On disk: these numbers may not differ from build to build.
  EXPECT_EQ(PartitionOfId(Value::Long(1), 4096), 1342u);
  EXPECT_EQ(PartitionOfId(Value::Long(-7), 4096), 2891u);
  EXPECT_EQ(PartitionOfId(Value::String("marko"), 4096), 3491u);
  EXPECT_EQ(PartitionOfId(Value::String(""), 4096), 4095u);
  std::vector<int> hits(16);
  for (int64_t id = 0; id < 16000; ++id) ++hits[PartitionOfId(Value::Long(id), 16)];
  for (const int hit : hits) EXPECT_NEAR(hit, 1000, 200);
}

TEST(ElementId, CanonicalDecimals) {
  for (const int64_t number : {kMin, int64_t{-1}, int64_t{0}, int64_t{42}, kMax}) {
    EXPECT_EQ(CanonicalDecimal(std::to_string(number)), number);
  }
  for (const char* text : {"", "-", "-0", "01", "+1", "1 ", "1.0", "9223372036854775808",
                           "99999999999999999999", "x", "0x1"}) {
    EXPECT_EQ(CanonicalDecimal(text), std::nullopt) << text;
  }
}

TEST(ElementId, BytesRoundTripAndOrder) {
  std::vector<Value> ids;
  for (const int64_t number : {kMin, int64_t{-2}, int64_t{-1}, int64_t{0}, int64_t{1}, kMax}) {
    ids.push_back(Value::Long(number));
  }
  for (const char* text : {"", "a", "aa", "b"}) ids.push_back(Value::String(text));
  std::string previous;
  for (const Value& id : ids) {
    const std::string bytes = IdBytes(id);
    EXPECT_LT(previous, bytes);
    EXPECT_TRUE(Equivalent(DecodeIdBytes(bytes).value(), id));
    previous = bytes;
  }
  for (const std::string& bytes : {std::string(), std::string("\x01zzz"), std::string("\x03")}) {
    EXPECT_EQ(DecodeIdBytes(bytes).status().code(), StatusCode::kDataLoss);
  }
}

TEST(Keys, RoundTrip) {
  const VertexRef vertex = VertexRef::Make(4095, kLocalMask);
  EXPECT_EQ(DecodeVertexKey(VertexKey(vertex)).value(), vertex);
  VertexRef labelled;
  LabelId label = kNoName;
  ASSERT_TRUE(DecodeVertexLabelKey(VertexLabelKey(vertex, 77), &labelled, &label).ok());
  EXPECT_EQ(labelled, vertex);
  EXPECT_EQ(label, 77u);
  const EdgeRef edge{VertexRef::Make(3, 9).bits, VertexRef::Make(3, 1), VertexRef::Make(5, 2), 8};
  for (const EdgeEnd& end : {OutEnd(edge), InEnd(edge)}) {
    const std::string key = EdgeEndKey(end);
    EXPECT_EQ(key.size(), kEdgeEndKeySize);
    EdgeEnd back;
    ASSERT_TRUE(DecodeEdgeEndKey(key, &back).ok());
    EXPECT_EQ(back, end);
    EXPECT_EQ(back.edge().out, edge.out);
    EXPECT_EQ(back.edge().in, edge.in);
    EXPECT_EQ(back.edge().label, edge.label);
  }
  EXPECT_EQ(DecodeEdgeKey(EdgeKey(edge.id)).value(), edge.id);
}

TEST(Keys, EdgeEndsOrderByVertexDirectionLabelNeighbourEdge) {
  auto end = [](uint64_t vertex, Direction direction, LabelId label, uint64_t neighbour,
                uint64_t edge) {
    return EdgeEndKey({VertexRef{vertex}, direction, label, VertexRef{neighbour}, edge});
  };
  const std::vector<std::string> ascending = {
      end(1, Direction::kOut, 1, 1, 9),
      end(1, Direction::kOut, 1, 2, 1),
      end(1, Direction::kOut, 300, 1, 1),
      end(1, Direction::kIn, 1, 1, 1),
      end(1, Direction::kIn, 1, 256, 1),
      end(2, Direction::kOut, 1, 1, 1),
      end(VertexRef::Make(1, 0).bits, Direction::kOut, 1, 1, 1)};
  EXPECT_TRUE(std::is_sorted(ascending.begin(), ascending.end()));
  EXPECT_TRUE(ascending[0].starts_with(VertexKey(VertexRef{1})));
}

TEST(Keys, DamageIsFound) {
  EXPECT_EQ(DecodeVertexKey("short").status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(DecodeEdgeKey("far too long").status().code(), StatusCode::kDataLoss);
  EdgeEnd end;
  EXPECT_EQ(DecodeEdgeEndKey("", &end).code(), StatusCode::kDataLoss);
  std::string key = EdgeEndKey({VertexRef{1}, Direction::kOut, 1, VertexRef{2}, 3});
  key[8] = 7;
  EXPECT_EQ(DecodeEdgeEndKey(key, &end).code(), StatusCode::kDataLoss);
  VertexRef vertex;
  LabelId label = kNoName;
  EXPECT_EQ(DecodeVertexLabelKey(std::string(12, '\0'), &vertex, &label).code(),
            StatusCode::kDataLoss);
}

TEST(Keys, PrefixEnds) {
  EXPECT_EQ(PrefixEnd("ab"), "ac");
  EXPECT_EQ(PrefixEnd(std::string("a\xff\xff")), "b");
  EXPECT_EQ(PrefixEnd(std::string("\xff")), "");
}

TEST(Records, RoundTrip) {
  KeyedProperties properties = {{300, Value::String("x")},
                                {2, Value::Long(1)},
                                {300, Value::Null()},
                                {7, ListOf({Value::Int(1), Value::Null()})},
                                {2, Value::Double(2.5)}};
  SortProperties(&properties);
  ASSERT_EQ(properties.size(), 3u);
  EXPECT_TRUE(Equivalent(properties[0].second, Value::Double(2.5)));  // the last one stays

  const std::string bytes = EncodeVertexRecord(9, Value::String("id"), properties);
  VertexRecord vertex;
  ASSERT_TRUE(ParseVertexRecord(bytes, &vertex).ok());
  EXPECT_EQ(vertex.label, 9u);
  EXPECT_TRUE(Equivalent(DecodeIdBytes(vertex.id_bytes).value(), Value::String("id")));
  const KeyedProperties back = DecodeProperties(vertex.properties).value();
  ASSERT_EQ(back.size(), properties.size());
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].first, properties[i].first);
    EXPECT_TRUE(Equivalent(back[i].second, properties[i].second));
  }

  const EdgeRef edge{VertexRef::Make(3, 9).bits, VertexRef::Make(3, 1), VertexRef::Make(5, 2), 8};
  for (const std::optional<Value>& id : {std::optional<Value>(), {Value::Long(4)}}) {
    EdgeRecord record;
    const std::string edge_bytes = EncodeEdgeRecord(edge, id, properties);
    ASSERT_TRUE(ParseEdgeRecord(edge.id, edge_bytes, &record).ok());
    EXPECT_EQ(record.edge.out, edge.out);
    EXPECT_EQ(record.edge.in, edge.in);
    EXPECT_EQ(record.edge.label, edge.label);
    const Value expected = id ? *id : Value::Long(static_cast<int64_t>(edge.id));
    EXPECT_TRUE(Equivalent(EdgeIdOf(record).value(), expected));
    EXPECT_EQ(DecodeProperties(record.properties).value().size(), 3u);
  }
}

// Whatever is cut off or altered, parsing ends in order and reads no byte beyond.
TEST(Records, DamageIsFoundOrHarmless) {
  const KeyedProperties properties = {{1, Value::String("abc")}, {2, Value::Long(1)}};
  const EdgeRef edge{VertexRef::Make(3, 9).bits, VertexRef::Make(3, 1), VertexRef::Make(5, 2), 8};
  const std::string vertex_bytes = EncodeVertexRecord(9, Value::Long(5), properties);
  const std::string edge_bytes = EncodeEdgeRecord(edge, Value::Long(4), properties);
  auto parse = [&](const std::string& bytes, bool is_vertex) -> Status {
    VertexRecord vertex;
    EdgeRecord record;
    RETURN_IF_ERROR(is_vertex ? ParseVertexRecord(bytes, &vertex)
                              : ParseEdgeRecord(edge.id, bytes, &record));
    return DecodeProperties(is_vertex ? vertex.properties : record.properties).status();
  };
  for (const bool is_vertex : {true, false}) {
    const std::string& whole = is_vertex ? vertex_bytes : edge_bytes;
    ASSERT_TRUE(parse(whole, is_vertex).ok());
    int found = 0;
    for (size_t size = 0; size < whole.size(); ++size) {
      const Status status = parse(whole.substr(0, size), is_vertex);
      found += status.code() == StatusCode::kDataLoss ? 1 : 0;
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kDataLoss);
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = whole;
        flipped[size] = static_cast<char>(flipped[size] ^ (1 << bit));
        const StatusCode code = parse(flipped, is_vertex).code();
        EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDataLoss ||
                    code == StatusCode::kResourceExhausted);
      }
    }
    EXPECT_GE(found, static_cast<int>(whole.size()) - 3);  // cuts between properties are whole
  }
}

TEST(Records, ElementsHaveAllTheirKeys) {
  std::vector<FamilyRecord> records;
  const Value id = Value::String("v");
  const VertexRef vertex = VertexRef::Make(PartitionOfId(id, 8), 3);
  const KeyedProperties properties = {{4, Value::Int(1)}, {5, Value::Int(2)}};
  const VertexIndexes indexes = {
      {kFirstIndexId, {2, {5}}}, {kFirstIndexId + 1, {3, {4}}}, {kFirstIndexId + 2, {2, {6, 5}}}};
  EncodeVertex(vertex, 2, id, properties, indexes, 8, &records);
  ASSERT_EQ(records.size(), 4u);
  std::string place;
  AppendPlace(Value::Double(2.0), &place);
  EXPECT_EQ(records[3].key, VertexIndexKey(vertex, kFirstIndexId, place));
  records.pop_back();
  for (const FamilyRecord& record : records) {
    EXPECT_TRUE(record.key.starts_with(PartitionKey(vertex.partition())));
  }
  EXPECT_EQ(records[2].value, VertexKey(vertex));
  records.clear();
  const EdgeRef edge{VertexRef::Make(1, 1).bits, vertex, vertex, 5};
  EncodeEdge(edge, std::nullopt, {}, 8, &records);
  EXPECT_EQ(records.size(), 3u);
  EncodeEdge(edge, id, {}, 8, &records);
  EXPECT_EQ(records.size(), 7u);
  EXPECT_EQ(records[6].value, EdgeKey(edge.id));
}

TEST(MetaCodec, RoundTripsAndFindsDamage) {
  const std::vector<MetaKey> keys = {
      {MetaKind::kFormat, 0, 0},       {MetaKind::kVersion, 0, 0},
      {MetaKind::kLabelName, 5, 0},    {MetaKind::kKeyName, 6, 0},
      {MetaKind::kPropertyKind, 5, 6}, {MetaKind::kVertexCount, 5, 0},
      {MetaKind::kEdgeCount, 5, 0},    {MetaKind::kNextLocals, 4095, 0},
      {MetaKind::kNextVertexId, 0, 0}};
  for (const MetaKey& key : keys) {
    const std::string bytes = EncodeMetaKey(key);
    const MetaKey back = DecodeMetaKey(bytes).value();
    EXPECT_EQ(back.kind, key.kind);
    EXPECT_EQ(back.first, key.first);
    EXPECT_EQ(back.second, key.second);
    EXPECT_EQ(DecodeMetaKey(bytes + "x").status().code(), StatusCode::kDataLoss);
    EXPECT_GE(bytes, EncodeMetaKey({MetaKind::kFormat, 0, 0}));
  }
  EXPECT_EQ(DecodeMetaKey("").status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(DecodeMetaKey("?").status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(DecodeMetaSigned(EncodeMetaSigned(-5)).value(), -5);
  EXPECT_EQ(DecodeMetaNumber("").status().code(), StatusCode::kDataLoss);
  uint64_t first = 0, second = 0;
  ASSERT_TRUE(DecodeMetaPair(EncodeMetaPair(3, 1ull << 60), &first, &second).ok());
  EXPECT_EQ(second, 1ull << 60);
}

// What records are to have one day is told from damage.
TEST(Records, OfNewerVersionsAreRefusedAsSuch) {
  const std::string one = EncodeVertexRecord(7, Value::Long(1), {});
  ASSERT_EQ(one[0], 7);
  const std::string two = std::string("\0\2\7\x9", 4) + one.substr(1);  // labels 7 and 9
  VertexRecord record;
  EXPECT_EQ(ParseVertexRecord(two, &record).code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(RecordLabel(two).status().code(), StatusCode::kFailedPrecondition);
  EdgeRecord edge;
  EXPECT_EQ(ParseEdgeRecord(1, two, &edge).code(), StatusCode::kDataLoss);

  std::string several;
  AppendProperty(3, Value::Int(1), &several);
  const std::string single = several;
  several += std::string("\4\3\x40\2\0", 5);  // key 4, 3 bytes: a list of none
  EXPECT_TRUE(DecodeProperties(single).ok());
  const auto refused = DecodeProperties(several);
  EXPECT_EQ(refused.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(MessageOf(refused.status()).find("several values of a property"), std::string::npos);

  for (const char kind : {'c', 'P'}) {
    EXPECT_EQ(DecodeMetaKey({&kind, 1}).status().code(), StatusCode::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace koios::storage
