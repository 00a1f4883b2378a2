// What is made of long lists takes many calls, and is what one call would make.
#include "engine/expr/collection_functions.h"

#include <string>
#include <vector>

#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "engine/batch/key_bound.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

constexpr int64_t kMany = 40'000;

Value ListOfNumbers(int64_t begin, int64_t end) {
  ValueList members;
  for (int64_t i = begin; i < end; ++i) members.push_back(Value::Long(i));
  return ListOf(std::move(members));
}

// function(slots..., constants...)
Expression CallOf(const char* function, const std::vector<uint32_t>& slots,
                  const ValueList& constants) {
  plan::Expr expr;
  for (const uint32_t slot : slots) expr.add_nodes()->set_slot(slot);
  for (const Value& constant : constants) expr.add_nodes()->set_constant(EncodeValue(constant));
  const int num_args = expr.nodes_size();
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function(function);
  for (int i = 0; i < num_args; ++i) call->add_args(static_cast<uint32_t>(i));
  return Expression::Bind(expr, 2).value();
}

Batch RowsOf(const std::vector<ValueList>& slots) {
  Batch batch;
  batch.slots.resize(2);
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    for (const Value& value : slots[slot]) batch.slots[slot].Append(value);
  }
  batch.rows = slots[0].size();
  return batch;
}

// Of one row, and how many calls that took.
struct OfOneRow {
  Value value;
  Status status;
  int calls = 0;
};
OfOneRow Evaluated(const char* function, const Value& a, const Value& b,
                   const ValueList& constants) {
  const bool two = !b.is_null();
  const Expression bound =
      CallOf(function, two ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{0}, constants);
  const Batch batch = RowsOf({{a}, {b}});
  storage::MemoryGraph graph;
  EvalSources sources;
  sources.view = &graph;
  Evaluation evaluation;
  bound.Begin(&evaluation);
  OfOneRow made;
  for (const Operand* result = nullptr; result == nullptr;) {
    ++made.calls;
    made.status = bound.Proceed(batch, sources, &evaluation, &result);
    if (!made.status.ok()) return made;
    if (result != nullptr) made.value = result->Get(0);
  }
  return made;
}

TEST(CollectionFunctionsTest, OneLongTextOrMapTakesManyCalls) {
  std::string text, words;
  ValueMap entries;
  for (int64_t i = 0; i < kMany; ++i) {
    text += "a";
    words += "b,";
    entries.emplace_back(Value::String("k" + std::to_string(i)), Value::Int(7));
  }
  const auto split = [](const std::string& of, const Value& at) {
    return Evaluated("split", Value::String(of), {}, {Value::Bool(false), at});
  };
  for (const OfOneRow& parts : {split(text, Value::String("")), split(words, Value::String(","))}) {
    ASSERT_TRUE(parts.status.ok()) << parts.status;
    EXPECT_GE(parts.calls, 4);
    EXPECT_GE(static_cast<int64_t>(parts.value.AsList().size()), kMany);
  }
  const Value map = *Value::Map(std::move(entries));
  const OfOneRow printed =
      Evaluated("asString", map, {}, {Value::Bool(false), Value::String("map")});
  ASSERT_TRUE(printed.status.ok()) << printed.status;
  EXPECT_GE(printed.calls, 4);
  const std::string& all = printed.value.AsString();
  EXPECT_EQ(all.substr(0, 12), "{k0=7, k1=7,");
  EXPECT_EQ(all.substr(all.size() - 3), "=7}");
  const auto last = "k" + std::to_string(kMany - 1);
  const OfOneRow found = Evaluated("by_key", map, {}, {Value::String(last)});
  EXPECT_GE(found.calls, 2);
  EXPECT_EQ(found.value.AsInteger(), 7);
  EXPECT_TRUE(Evaluated("by_key", map, {}, {Value::String("other")}).value.is_null());
}

TEST(CollectionFunctionsTest, LongListsTakeManyCalls) {
  const ValueList no_traversal = {Value::Bool(false)};
  const Value a = ListOfNumbers(0, kMany), b = ListOfNumbers(kMany / 2, 2 * kMany);
  const struct {
    const char* function;
    int64_t size;
    int64_t first, last;
  } cases[] = {
      {"combine", kMany + kMany * 3 / 2, 0, 2 * kMany - 1},
      {"merge", 2 * kMany, 0, 2 * kMany - 1},
      {"intersect", kMany / 2, kMany / 2, kMany - 1},
      {"difference", kMany / 2, 0, kMany / 2 - 1},
      {"disjunct", kMany * 3 / 2, 0, 2 * kMany - 1},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.function);
    const OfOneRow made = Evaluated(each.function, a, b, no_traversal);
    ASSERT_TRUE(made.status.ok()) << made.status;
    EXPECT_GE(made.calls, 3);
    ASSERT_EQ(static_cast<int64_t>(made.value.AsList().size()), each.size);
    EXPECT_EQ(made.value.AsList().front().AsInteger(), each.first);
    EXPECT_EQ(made.value.AsList().back().AsInteger(), each.last);
  }
  const OfOneRow pairs =
      Evaluated("product", ListOfNumbers(0, 200), ListOfNumbers(0, 300), no_traversal);
  ASSERT_TRUE(pairs.status.ok()) << pairs.status;
  EXPECT_GE(pairs.calls, 3);
  ASSERT_EQ(pairs.value.AsList().size(), 60'000u);
  EXPECT_EQ(pairs.value.AsList()[301].AsList()[0].AsInteger(), 1);
  EXPECT_EQ(pairs.value.AsList()[301].AsList()[1].AsInteger(), 1);
}

TEST(CollectionFunctionsTest, LongMapsTextsAndMembersTakeManyCalls) {
  const auto map_of = [](int64_t begin, int64_t end, const char* value) {
    ValueMap entries;
    for (int64_t i = begin; i < end; ++i) {
      entries.emplace_back(Value::Long(i), Value::String(value));
    }
    return Value::Map(std::move(entries)).value();
  };
  const OfOneRow merged = Evaluated("merge", map_of(0, kMany, "a"),
                                    map_of(kMany - 1, kMany + 5, "b"), {Value::Bool(false)});
  ASSERT_TRUE(merged.status.ok()) << merged.status;
  EXPECT_GE(merged.calls, 3);
  ASSERT_EQ(static_cast<int64_t>(merged.value.AsMap().size()), kMany + 5);
  EXPECT_EQ(merged.value.AsMap()[kMany - 2].second.AsString(), "a");
  EXPECT_EQ(merged.value.AsMap()[kMany - 1].second.AsString(), "b");

  const OfOneRow text = Evaluated("conjoin", ListOfNumbers(0, kMany), {}, {Value::String(";")});
  ASSERT_TRUE(text.status.ok()) << text.status;
  EXPECT_GE(text.calls, 3);
  EXPECT_TRUE(text.value.AsString().ends_with(";39998;39999"));

  const Value flow = Value::String("map");
  const OfOneRow list =
      Evaluated("asString", ListOfNumbers(0, kMany), {}, {Value::Bool(false), flow});
  ASSERT_TRUE(list.status.ok()) << list.status;
  EXPECT_GE(list.calls, 3);
  EXPECT_TRUE(list.value.AsString().starts_with("[0, 1, 2, "));
  EXPECT_TRUE(list.value.AsString().ends_with(", 39998, 39999]"));
  const OfOneRow texts =
      Evaluated("asString", ListOfNumbers(0, kMany), {}, {Value::Bool(true), flow});
  EXPECT_GE(texts.calls, 3);
  EXPECT_EQ(texts.value.AsList()[17].AsString(), "17");
  EXPECT_EQ(Evaluated("text_part", ListOfNumbers(0, 2), {}, {}).value.AsString(), "[0, 1]");

  for (const int64_t looked_for : {kMany - 1, kMany}) {
    const OfOneRow found =
        Evaluated("member_of", Value::Long(looked_for), ListOfNumbers(0, kMany), {});
    ASSERT_TRUE(found.status.ok()) << found.status;
    EXPECT_GE(found.calls, 3);
    EXPECT_EQ(found.value.AsBool(), looked_for < kMany);
  }
  const OfOneRow least = Evaluated("list_min", ListOfNumbers(3, kMany), {}, {});
  EXPECT_GE(least.calls, 3);
  EXPECT_EQ(least.value.AsInteger(), 3);
  const OfOneRow indexed = Evaluated("index", ListOfNumbers(3, kMany), {}, {Value::Bool(false)});
  EXPECT_GE(indexed.calls, 3);
  EXPECT_EQ(indexed.value.AsList()[7].AsList()[0].AsInteger(), 10);
  EXPECT_EQ(indexed.value.AsList()[7].AsList()[1].AsInteger(), 7);
}

// Lists and maps that are cut, ordered, turned around or taken apart: what is made is as large as
// what it is made of, and is put together and freed in many calls.
TEST(CollectionFunctionsTest, LongListsAreCutAndOrderedInManyCalls) {
  const Value list = ListOfNumbers(0, kMany);
  ValueMap entries;
  for (int64_t i = 0; i < kMany; ++i) {
    entries.emplace_back(Value::Long(i), Value::String("text " + std::to_string(kMany - i)));
  }
  const Value map = MapOf(entries);
  const ValueList middle = {Value::Long(1'000), Value::Long(kMany - 1'000)};
  const ValueList descending = {Value::String("keys"), Value::Bool(true)};
  const struct {
    const char* function;
    const Value& value;
    ValueList constants;
    int64_t size;
    int64_t first, last;  // numbers, or keys
  } cases[] = {
      {"list_range", list, middle, kMany - 2'000, 1'000, kMany - 1'001},
      {"list_range", map, middle, kMany - 2'000, 1'000, kMany - 1'001},
      {"list_tail", list, {Value::Long(30'000)}, 30'000, kMany - 30'000, kMany - 1},
      {"list_tail", map, {Value::Long(kMany + 1)}, kMany, 0, kMany - 1},
      {"list_order", list, descending, kMany, kMany - 1, 0},
      {"list_order", map, descending, kMany, kMany - 1, 0},
      {"list_dedup", list, {}, kMany, 0, kMany - 1},
      {"reverse", list, {}, kMany, kMany - 1, 0},
      {"map_keys", map, {}, kMany, 0, kMany - 1},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(std::string(each.function) + " " + std::string(KindName(each.value.kind())));
    const OfOneRow made = Evaluated(each.function, each.value, {}, each.constants);
    ASSERT_TRUE(made.status.ok()) << made.status;
    EXPECT_GE(made.calls, 3);
    const bool is_map = made.value.kind() == ValueKind::kMap;
    ASSERT_EQ(is_map, each.value.kind() == ValueKind::kMap && std::string(each.function)[0] == 'l');
    const auto number = [&](size_t i) {
      return is_map ? made.value.AsMap()[i].first : made.value.AsList()[i];
    };
    const size_t size = is_map ? made.value.AsMap().size() : made.value.AsList().size();
    ASSERT_EQ(static_cast<int64_t>(size), each.size);
    EXPECT_EQ(number(0).AsInteger(), each.first);
    EXPECT_EQ(number(size - 1).AsInteger(), each.last);
    // As if it had been made at once.
    const Value again = is_map ? MapOf(made.value.AsMap()) : ListOf(made.value.AsList());
    EXPECT_EQ(made.value.FlatBytes() / 100, again.FlatBytes() / 100);
    EXPECT_EQ(made.value.depth(), again.depth());
  }
  const OfOneRow texts =
      Evaluated("toUpper", Evaluated("map_values", map, {}, {}).value, {}, {Value::Bool(true)});
  EXPECT_GE(texts.calls, 3);
  EXPECT_EQ(texts.value.AsList()[3].AsString(), "TEXT 39997");
  // Each counts once, however many calls it takes: 52 of at most 64 MiB.
  const Value wide = Value::SharedString(std::string(6'000, 'a'));
  const OfOneRow most =
      Evaluated("toUpper", ListOf(ValueList(9'000, wide)), {}, {Value::Bool(true)});
  ASSERT_TRUE(most.status.ok()) << most.status;
  EXPECT_EQ(most.value.AsList().size(), 9'000u);
  const OfOneRow found = Evaluated("map_get", map, Value::Long(kMany - 1), {});
  EXPECT_GE(found.calls, 3);
  EXPECT_EQ(found.value.AsString(), "text 1");
}

// What a function has made when a call ends is charged, and given back with its result.
TEST(CollectionFunctionsTest, WhatIsMadeBetweenCallsIsCharged) {
  const Expression bound = CallOf("intersect", {0, 0}, {Value::Bool(false)});
  const Batch batch = RowsOf({{ListOfNumbers(0, 1'000'000)}});
  for (const int64_t limit : {int64_t{200} << 20, int64_t{20} << 20}) {
    MemoryAccount account("query", limit);
    EvalSources sources;
    sources.account = &account;
    Evaluation evaluation;
    bound.Begin(&evaluation);
    Status status;
    for (const Operand* result = nullptr; result == nullptr && status.ok();) {
      status = bound.Proceed(batch, sources, &evaluation, &result);
    }
    const bool is_enough = limit > int64_t{100} << 20;
    EXPECT_EQ(status.code(), is_enough ? StatusCode::kOk : StatusCode::kResourceExhausted);
    if (is_enough) {
      EXPECT_GE(account.peak(), int64_t{40} << 20);
    }
    bound.Begin(&evaluation);
    EXPECT_EQ(account.used(), 0);
  }
}

// While a batch makes the members of its collection, another one makes them too: what the first has
// made by then is not taken for members of its next collection.
TEST(CollectionFunctionsTest, TwoBatchesLookIntoTheSameCollection) {
  const Expression bound = CallOf("member_of", {0, 1}, {});
  const Value many = ListOfNumbers(0, kMany), few = ListOfNumbers(kMany, kMany + 3);
  const Batch first = RowsOf({{Value::Long(5), Value::Long(5)}, {many, few}});
  const Batch second = RowsOf({{Value::Long(6)}, {many}});
  Evaluation of_first, of_second;
  bound.Begin(&of_first);
  const Operand* result = nullptr;
  ASSERT_TRUE(bound.Proceed(first, {}, &of_first, &result).ok());
  ASSERT_EQ(result, nullptr);
  bound.Begin(&of_second);
  while (result == nullptr) ASSERT_TRUE(bound.Proceed(second, {}, &of_second, &result).ok());
  EXPECT_TRUE(result->Get(0).AsBool());
  result = nullptr;
  while (result == nullptr) ASSERT_TRUE(bound.Proceed(first, {}, &of_first, &result).ok());
  EXPECT_TRUE(result->Get(0).AsBool());
  EXPECT_FALSE(result->Get(1).AsBool());
}

// Few members that take long each: by the bytes that are looked at.
TEST(CollectionFunctionsTest, LargeMembersCountForMore) {
  const Value large = Value::SharedString(std::string(1 << 20, 'x'));
  const Value list = ListOf(ValueList(100, large));
  const OfOneRow made = Evaluated("intersect", list, list, {Value::Bool(false)});
  ASSERT_TRUE(made.status.ok()) << made.status;
  EXPECT_GE(made.calls, 50);
  EXPECT_EQ(made.value.AsList().size(), 1u);
}

// A search can't be stopped: a text has a bound that depends on the pattern, and a call ends with
// the row that was much.
TEST(CollectionFunctionsTest, SearchesHaveABound) {
  const Value text = Value::String(std::string(200'000, 'a'));
  const OfOneRow found = Evaluated("regex", text, {}, {Value::String("a+$")});
  ASSERT_TRUE(found.status.ok()) << found.status;
  EXPECT_TRUE(found.value.AsBool());
  const OfOneRow refused = Evaluated("regex", text, {}, {Value::String("[a-h]{0,900}z")});
  EXPECT_EQ(refused.status.code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(DetailOf(refused.status)->reason, "REGEX_TOO_LONG");

  const Expression bound = CallOf("regex", {0}, {Value::String("[a-h]{0,90}z")});
  ValueList texts;
  for (int i = 0; i < 20; ++i) {
    texts.push_back(Value::String(std::string(10'000, 'a') + (i % 2 == 0 ? "z" : "")));
  }
  const Batch batch = RowsOf({texts});
  Evaluation evaluation;
  bound.Begin(&evaluation);
  const Operand* result = nullptr;
  int calls = 0;
  for (; result == nullptr; ++calls) {
    ASSERT_TRUE(bound.Proceed(batch, {}, &evaluation, &result).ok());
  }
  EXPECT_GE(calls, 10);
  for (size_t i = 0; i < batch.rows; ++i) EXPECT_EQ(result->Get(i).AsBool(), i % 2 == 0);
}

// Two values are compared in one call.
TEST(CollectionFunctionsTest, WhatIsComparedHasABound) {
  const Value large = ListOf(ValueList(80, Value::SharedString(std::string(1 << 20, 'x'))));
  ASSERT_GT(large.FlatBytes(), kMaxKeyBytes);
  const OfOneRow refused = Evaluated("eq", large, large, {});
  EXPECT_EQ(refused.status.code(), StatusCode::kResourceExhausted);
  const OfOneRow other = Evaluated("eq", large, Value::Long(1), {});
  ASSERT_TRUE(other.status.ok()) << other.status;
  EXPECT_FALSE(other.value.AsBool());
}

// Of each a reference and the element, as detached() gives them.
Value DetachedOf(const ValueList& references) {
  ValueList pairs;
  for (const Value& reference : references) {
    ElementData element;
    const bool is_edge = reference.kind() == ValueKind::kEdge;
    if (is_edge) element.type = ElementData::Type::kEdge;
    const uint64_t number = is_edge ? reference.AsEdge().id : reference.AsVertex().bits;
    element.id = Value::Long(static_cast<int64_t>(number));
    element.label = is_edge ? "e" : "v";
    pairs.push_back(ListOf({reference, Made(Value::Of(std::move(element)))}));
  }
  return ListOf(std::move(pairs));
}

// What is in a large value, and the value with what was read of that.
TEST(CollectionFunctionsTest, ElementsInsideLargeValuesTakeManyCalls) {
  ValueList vertices;
  for (uint64_t i = 0; i < kMany; ++i) vertices.push_back(Value::Of(VertexRef::Make(1, i)));
  const Value edge = Value::Of(EdgeRef{7, VertexRef::Make(1, 3), VertexRef::Make(2, 4), 1});
  const Value map = MapOf({{Value::String("inside"), ListOf(vertices)},
                           {Value::String("twice"), ListOf({vertices[0], edge, edge})}});
  const Value all = ListOf({map, edge, vertices[1], Value::String(std::string(10'000, 'x'))});
  const OfOneRow found = Evaluated("elements_in", all, {}, {});
  ASSERT_TRUE(found.status.ok()) << found.status;
  EXPECT_GE(found.calls, 3);
  ASSERT_EQ(found.value.AsList().size(), kMany + 2u);  // the edge, and one of its ends

  const OfOneRow seen = Evaluated("as_seen", all, DetachedOf(found.value.AsList()), {});
  ASSERT_TRUE(seen.status.ok()) << seen.status;
  EXPECT_GE(seen.calls, 6);
  const ValueList& members = seen.value.AsList();
  ASSERT_EQ(members.size(), 4u);
  const ValueMap& entries = members[0].AsMap();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].first.AsString(), "inside");
  const ValueList& inside = entries[0].second.AsList();
  ASSERT_EQ(inside.size(), static_cast<size_t>(kMany));
  for (uint64_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(inside[i].AsElement().id.AsInteger(),
              static_cast<int64_t>(VertexRef::Make(1, i).bits));
  }
  EXPECT_TRUE(members[2].SharesWith(inside[1]));
  const ElementData& whole = members[1].AsElement();
  EXPECT_EQ(whole.out_id.AsInteger(), static_cast<int64_t>(VertexRef::Make(1, 3).bits));
  EXPECT_EQ(whole.in_id.AsInteger(), static_cast<int64_t>(VertexRef::Make(2, 4).bits));
  EXPECT_EQ(whole.in_label, "v");
  EXPECT_TRUE(entries[1].second.AsList()[2].SharesWith(members[1]));
  EXPECT_TRUE(members[3].SharesWith(all.AsList()[3]));
}

TEST(CollectionFunctionsTest, ElementsThatWereNotReadAreMissed) {
  const Value vertex = Value::Of(VertexRef::Make(1, 1)), other = Value::Of(VertexRef::Make(1, 2));
  const Value some = ListOf({Value::Long(1), Value::String("two")});
  const OfOneRow seen = Evaluated("as_seen", some, ListOf({}), {});
  ASSERT_TRUE(seen.status.ok()) << seen.status;
  EXPECT_TRUE(seen.value.SharesWith(some));
  EXPECT_TRUE(Evaluated("elements_in", some, {}, {}).value.AsList().empty());
  EXPECT_EQ(Evaluated("as_seen", other, DetachedOf({vertex}), {}).status.code(),
            StatusCode::kInternal);
  EXPECT_EQ(Evaluated("as_seen", other, Value::Long(1), {}).status.code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace koios::engine
