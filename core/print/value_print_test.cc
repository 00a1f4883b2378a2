#include "core/print/value_print.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/big_number.h"
#include "core/testing/make_value.h"
#include "core/testing/random_value.h"
#include "core/text/text.h"

namespace koios {
namespace {

Value Text(const char* text) { return Value::String(text); }

std::string Json(const Value& v) {
  std::string out;
  PrintJson(v, &out);
  return out;
}

ElementData Vertex(int64_t id) {
  ElementData e;
  e.id = Value::Long(id);
  e.label = "person";
  return e;
}

ElementData Knows() {
  ElementData e;
  e.type = ElementData::Type::kEdge;
  e.id = Value::Long(7);
  e.label = "knows";
  e.out_id = Value::Long(1);
  e.in_id = Value::Long(2);
  e.out_label = e.in_label = "person";
  return e;
}

Value Property(ElementData::Type type, const char* key, Value value) {
  ElementData e;
  e.type = type;
  e.id = Value::Long(0);
  e.label = key;
  e.value = std::move(value);
  return Made(Value::Of(std::move(e)));
}

TEST(PrintValueTest, Scalars) {
  EXPECT_EQ(PrintValue(Value::Null()), "null");
  EXPECT_EQ(PrintValue(Value::Bool(true)), "true");
  EXPECT_EQ(PrintValue(Value::Byte(-1)), "-1");
  EXPECT_EQ(PrintValue(Value::Double(0.5)), "0.5");
  EXPECT_EQ(PrintValue(Value::Float(1e10f)), "1.0E10");
  EXPECT_EQ(PrintValue(Value::Of(*BigNumber::ParseDecimal("1.50"))), "1.50");
  EXPECT_EQ(PrintValue(Text("marko")), "marko");
  EXPECT_EQ(PrintValue(Value::Char(U'é')), "é");
  EXPECT_EQ(PrintValue(Value::Binary("\x01\xFF")), "0x01ff");
  EXPECT_EQ(PrintValue(Value::Of(Token::kId)), "id");
  EXPECT_EQ(PrintValue(Value::Of(Direction::kOut)), "OUT");
  EXPECT_EQ(PrintValue(Value::Of(DateTime{0, 0, 0})), "1970-01-01T00:00Z");
  EXPECT_EQ(PrintValue(Value::Of(Duration{1, 0})), "PT1S");
}

TEST(PrintValueTest, ElementsAndReferences) {
  using Type = ElementData::Type;
  EXPECT_EQ(PrintValue(Made(Value::Of(Vertex(1)))), "v[1]");
  EXPECT_EQ(PrintValue(Made(Value::Of(Knows()))), "e[7][1-knows->2]");
  EXPECT_EQ(PrintValue(Property(Type::kVertexProperty, "name", Text("marko"))), "vp[name->marko]");
  EXPECT_EQ(PrintValue(Property(Type::kProperty, "weight", Value::Double(0.5))), "p[weight->0.5]");
  EXPECT_EQ(PrintValue(Property(Type::kProperty, "k", Text("12345678901234567890"))),
            "p[k->12345678901234567890]");
  EXPECT_EQ(PrintValue(Property(Type::kProperty, "k", Text("123456789012345678901"))),
            "p[k->12345678901234567...]");
  const std::string accents = "ééééééééééééééééééééé";
  EXPECT_EQ(PrintValue(Property(Type::kProperty, "k", Value::String(accents))),
            "p[k->ééééééééééééééééé...]");
  EXPECT_EQ(PrintValue(Value::Of(VertexRef{12})), "v[#12]");
  EXPECT_EQ(PrintValue(Value::Of(EdgeRef{7, {}, {}, 1})), "e[#7]");
  EXPECT_EQ(PrintValue(Made(Value::Of(VertexPropertyData{{1}, "age", Value::Int(29)}))),
            "vp[age->29]");
}

TEST(PrintValueTest, Collections) {
  EXPECT_EQ(PrintValue(ListOf({})), "[]");
  EXPECT_EQ(PrintValue(ListOf({Text("a"), Value::Null()})), "[a,null]");
  EXPECT_EQ(PrintValue(SetOf({Value::Int(1)})), "[1]");
  EXPECT_EQ(PrintValue(MapOf({})), "[:]");
  EXPECT_EQ(PrintValue(MapOf({{Text("name"), ListOf({Text("marko")})},
                              {Text("age"), ListOf({Value::Int(29)})}})),
            "[name:[marko],age:[29]]");
  EXPECT_EQ(PrintValue(Made(Value::Of(
                PathData{{Made(Value::Of(Vertex(1))), Made(Value::Of(Vertex(3)))}, {{}, {}}}))),
            "[v[1],v[3]]");
}

TEST(PrintValueTest, OutputIsBoundedAndCutAtACodePoint) {
  EXPECT_EQ(PrintValue(Text("1234567890"), {.max_bytes = 10}), "1234567890");
  EXPECT_EQ(PrintValue(Text("12345678901"), {.max_bytes = 10}), "1234567...");
  EXPECT_EQ(PrintValue(Text("ééééé"), {.max_bytes = 8}), "éé...");
  EXPECT_EQ(PrintValue(Text("abc"), {.max_bytes = 2}), "..");
  EXPECT_EQ(PrintValue(ListOf(ValueList(1000, Value::Int(1))), {.max_bytes = 9}), "[1,1,1...");
  // A value that would print as 2^60 numbers: the work is bounded, too.
  Value doubled = Value::Int(1);
  for (int i = 0; i < 60; ++i) doubled = ListOf({doubled, doubled});
  EXPECT_EQ(PrintValue(doubled, {.max_bytes = 100}).size(), 100u);
}

TEST(PrintJsonTest, Scalars) {
  EXPECT_EQ(Json(Value::Null()), "null");
  EXPECT_EQ(Json(Value::Long(-5)), "-5");
  EXPECT_EQ(Json(Value::Double(1e10)), "1.0E10");
  EXPECT_EQ(Json(Value::Double(std::numeric_limits<double>::quiet_NaN())), "\"NaN\"");
  EXPECT_EQ(Json(Text("a\"b\\\n\x01")), "\"a\\\"b\\\\\\n\\u0001\"");
  EXPECT_EQ(Json(Text("\xFFx")), "\"\uFFFDx\"");
  EXPECT_EQ(Json(Value::Binary("abc")), "\"YWJj\"");
  EXPECT_EQ(Json(Value::Of(Token::kLabel)), "\"label\"");
}

TEST(PrintJsonTest, StructuresAndElements) {
  EXPECT_EQ(Json(MapOf({{Text("a"), Value::Int(1)}, {Text("b"), ListOf({})}})),
            "{\"a\":1,\"b\":[]}");
  EXPECT_EQ(Json(MapOf({{Value::Int(1), Text("x")}})), "[[1,\"x\"]]");
  EXPECT_EQ(Json(MapOf({})), "{}");
  EXPECT_EQ(Json(MapOf({{Value::Of(Token::kId), Value::Int(1)}, {Text("a"), Text("x")}})),
            "{\"id\":1,\"a\":\"x\"}");
  EXPECT_EQ(Json(MapOf({{Value::Of(Token::kId), Value::Int(1)}, {Text("id"), Text("x")}})),
            "[[\"id\",1],[\"id\",\"x\"]]");
  EXPECT_EQ(Json(Made(Value::Of(Vertex(1)))), "{\"id\":1,\"label\":\"person\"}");
  EXPECT_EQ(Json(Made(Value::Of(Knows()))),
            "{\"id\":7,\"label\":\"knows\",\"out\":1,\"outLabel\":\"person\",\"in\":2,"
            "\"inLabel\":\"person\"}");
  ElementData full = Vertex(1);
  full.properties = {{Text("name"), Text("marko")}};
  EXPECT_EQ(Json(Made(Value::Of(full))),
            "{\"id\":1,\"label\":\"person\",\"properties\":{\"name\":\"marko\"}}");
  EXPECT_EQ(Json(Property(ElementData::Type::kVertexProperty, "age", Value::Int(29))),
            "{\"id\":0,\"label\":\"age\",\"value\":29}");
  EXPECT_EQ(Json(Property(ElementData::Type::kProperty, "w", Value::Int(1))),
            "{\"key\":\"w\",\"value\":1}");
  EXPECT_EQ(Json(Made(Value::Of(PathData{{Value::Int(1)}, {{"a", "b"}}}))),
            "{\"objects\":[1],\"labels\":[[\"a\",\"b\"]]}");
}

TEST(PrintTest, RandomValuesPrintAsValidText) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    const Value v = testing::RandomValues(seed).Next();
    EXPECT_TRUE(IsValidUtf8(PrintValue(v)));
    EXPECT_LE(PrintValue(v, {.max_bytes = seed % 50}).size(), seed % 50);
    EXPECT_TRUE(IsValidUtf8(Json(v)));
  }
}

}  // namespace
}  // namespace koios
