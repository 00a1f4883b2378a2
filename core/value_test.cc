#include "core/value.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/big_number.h"
#include "core/path/path.h"
#include "core/testing/make_value.h"
#include "core/value_compare.h"

namespace koios {
namespace {

Value Nest(int levels) {
  Value v = Value::Int(1);
  for (int i = 0; i < levels; ++i) v = ListOf({v});
  return v;
}

TEST(ValueTest, ASharedTextCountsForWhoeverMadeIt) {
  const std::string text(100, 'x');
  EXPECT_EQ(Value::SharedString(text).ByteSize(), sizeof(Value));
  EXPECT_EQ(Value::SharedString(text).FlatBytes(), Value::String(text).FlatBytes());
  EXPECT_EQ(Value::SharedString(text).AsString(), text);
}

TEST(ValueTest, ScalarsKeepKindAndPayload) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value::Bool(true).AsBool());
  EXPECT_EQ(Value::Byte(-128).AsInteger(), -128);
  EXPECT_EQ(Value::Short(-32768).AsInteger(), -32768);
  EXPECT_EQ(Value::Int(INT32_MIN).AsInteger(), INT32_MIN);
  EXPECT_EQ(Value::Long(INT64_MIN).AsInteger(), INT64_MIN);
  EXPECT_EQ(Value::Float(0.1f).AsDouble(), static_cast<double>(0.1f));
  EXPECT_EQ(Value::Double(0.1).AsDouble(), 0.1);
  EXPECT_EQ(Value::Char(U'😀').AsChar(), U'😀');
  EXPECT_EQ(Value::String("marko").AsString(), "marko");
  EXPECT_EQ(Value::Binary(std::string("\0x", 2)).AsString().size(), 2u);
  EXPECT_EQ(Value::Of(Uuid{1, 2}).AsUuid(), (Uuid{1, 2}));
  EXPECT_EQ(Value::Of(DateTime{1, 2, 3}).AsDateTime(), (DateTime{1, 2, 3}));
  EXPECT_EQ(Value::Of(Duration{1, 2}).AsDuration(), (Duration{1, 2}));
  EXPECT_EQ(Value::Of(Token::kValue).AsToken(), Token::kValue);
  EXPECT_EQ(Value::Of(Direction::kBoth).AsDirection(), Direction::kBoth);
  EXPECT_EQ(Value::Of(VertexRef::Make(65'535, 7)).AsVertex().partition(), 65'535u);
  EXPECT_EQ(Value::Of(EdgeRef{4, {5}, {6}, 7}).AsEdge().label, 7u);
}

TEST(ValueTest, BigNumbersChooseTheirKind) {
  EXPECT_EQ(Value::Of(BigNumber{5, 0, false}).kind(), ValueKind::kBigInt);
  EXPECT_EQ(Value::Of(BigNumber{5, 0, true}).kind(), ValueKind::kBigDecimal);
  const Value scaled = Value::Of(BigNumber{5, 1, false});
  EXPECT_EQ(scaled.kind(), ValueKind::kBigDecimal);
  EXPECT_TRUE(scaled.AsBigNumber().decimal);
}

TEST(ValueTest, CopiesShareThePayload) {
  Value a = Value::String("a string that is longer than the small buffer");
  Value b = a;
  EXPECT_EQ(&a.AsString(), &b.AsString());
  a = Value::Int(1);
  EXPECT_EQ(b.AsString().substr(0, 8), "a string");
  Value& same = b;
  b = same;  // self-assignment, by copy and by move
  b = std::move(same);
  EXPECT_EQ(b.kind(), ValueKind::kString);
  Value c = std::move(b);
  EXPECT_TRUE(b.is_null());  // NOLINT: a moved-from value is null
  EXPECT_EQ(c.kind(), ValueKind::kString);
}

TEST(ValueTest, AssigningAPartOfAListToTheListIsSafe) {
  Value v = ListOf({ListOf({Value::String("inner")})});
  v = v.AsList()[0];
  v = v.AsList()[0];
  EXPECT_EQ(v.AsString(), "inner");
}

TEST(ValueTest, ObjectsBehindTheLastLabelNeedNone) {
  const ValueList objects = {Value::Int(1), Value::Int(2), Value::Int(3)};
  const Value labelled = Made(Value::Of(PathData{objects, {{"a"}, {}, {}}}));
  EXPECT_EQ(Flattened(labelled).labels, (std::vector<PathLabels>{{"a"}}));
  EXPECT_TRUE(Equivalent(labelled, Made(Value::Of(PathData{objects, {{"a"}}}))));
  EXPECT_TRUE(Flattened(Made(Value::Of(PathData{objects, {{}, {}, {}}}))).labels.empty());
}

TEST(ValueTest, DepthIsStored) {
  EXPECT_EQ(Value::Int(1).depth(), 0);
  EXPECT_EQ(Value::String("x").depth(), 0);
  EXPECT_EQ(ListOf({}).depth(), 1);
  EXPECT_EQ(MapOf({{Nest(2), Nest(4)}}).depth(), 5);
  EXPECT_EQ(Made(Value::Of(PathData{{Nest(1)}, {{"a"}}})).depth(), 2);
  EXPECT_EQ(Made(Value::Of(VertexPropertyData{{1}, "k", Nest(3)})).depth(), 4);
  ElementData e;
  e.properties = {{Value::String("k"), Nest(2)}};
  EXPECT_EQ(Made(Value::Of(e)).depth(), 3);
}

TEST(ValueTest, DepthIsBounded) {
  EXPECT_EQ(Nest(kMaxValueDepth).depth(), kMaxValueDepth);
  EXPECT_TRUE(CheckDepth(kMaxValueDepth).ok());
  const Status status = CheckDepth(kMaxValueDepth + 1);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(status)->limit, "200 levels");
}

// Each factory that nests, around the deepest value there is.
TEST(ValueTest, WhatNestsTooDeepIsRefused) {
  const Value deepest = Nest(kMaxValueDepth);
  ElementData with_id, with_value, with_property, with_end;
  with_id.id = deepest;
  with_value.value = deepest;
  with_end.in_id = deepest;
  with_property.properties = {{Value::String("k"), deepest}};
  const StatusOr<Value> made[] = {Value::List({deepest}),
                                  Value::Set({deepest}),
                                  Value::Map({{deepest, Value::Int(1)}}),
                                  Value::Map({{Value::Int(1), deepest}}),
                                  Value::Of(PathData{{deepest}, {}}),
                                  Value::Of(VertexPropertyData{{1}, "k", deepest}),
                                  Value::Of(PropertyData{{}, "k", deepest}),
                                  Value::Of(with_id),
                                  Value::Of(with_value),
                                  Value::Of(with_property),
                                  Value::Of(with_end),
                                  MakeSet({deepest})};
  for (const StatusOr<Value>& value : made) {
    EXPECT_EQ(value.status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(DetailOf(value.status())->limit, "200 levels");
  }
  EXPECT_TRUE(Value::List({Nest(kMaxValueDepth - 1)}).ok());
}

TEST(ValueTest, APathHasNoMoreLabelsThanObjects) {
  EXPECT_EQ(Value::Of(PathData{{}, {{"a"}}}).status().code(), StatusCode::kInternal);
}

TEST(ValueTest, ByteSizeCountsSharedPartsInFull) {
  EXPECT_EQ(Value::Int(1).ByteSize(), sizeof(Value));
  const Value text = Value::String(std::string(1000, 'x'));
  EXPECT_GT(text.ByteSize(), 1000u);
  const Value twice = ListOf({text, text});
  EXPECT_GT(twice.ByteSize(), 2 * text.ByteSize());
  Value doubled = twice;
  for (int i = 0; i < 100; ++i) doubled = ListOf({doubled, doubled});
  EXPECT_GE(doubled.ByteSize(), size_t{1} << 62);  // saturates instead of wrapping around
}

TEST(ValueTest, ReferenceCountsAreAtomic) {
  const Value shared = ListOf({Value::String("shared"), Value::Int(1)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([shared] {
      for (int i = 0; i < 10'000; ++i) {
        const std::vector<Value> copies(2, shared);
        ASSERT_EQ(copies.back().AsList().size(), 2u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.AsList()[0].AsString(), "shared");
}

TEST(ValueTest, NumbersAndCollections) {
  EXPECT_TRUE(Value::Of(BigNumber{1, 2, true}).is_number());
  EXPECT_TRUE(Value::Of(BigNumber{1, 0, false}).is_integer());
  EXPECT_FALSE(Value::Double(1).is_integer());
  EXPECT_FALSE(Value::String("1").is_number());
  EXPECT_TRUE(SetOf({}).is_collection());
  EXPECT_FALSE(MapOf({}).is_collection());
  EXPECT_EQ(KindName(ValueKind::kInt), "Integer");
  EXPECT_EQ(KindName(ValueKind::kUuid), "UUID");
}

}  // namespace
}  // namespace koios
