// Functions whose rules are easily missed: ids given as text, members put back into what they were
// taken from.
#include "engine/expr/expression.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "core/print/value_print.h"
#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

Value Text(const std::string& text) { return Value::String(text); }

// function(slot 0, arguments...), each argument a slot (nullopt) or a constant.
plan::Expr CallOn(const char* function, const std::vector<std::optional<Value>>& arguments) {
  plan::Expr expr;
  expr.add_nodes()->set_slot(0);
  for (const auto& argument : arguments) {
    if (argument.has_value()) {
      expr.add_nodes()->set_constant(EncodeValue(*argument));
    } else {
      expr.add_nodes()->set_slot(0);
    }
  }
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function(function);
  for (uint32_t i = 0; i <= arguments.size(); ++i) call->add_args(i);
  return expr;
}

// function(slot 0, constant) of each value; null where the result is absent.
ValueList Apply(const char* function, const ValueList& values, const Value& constant,
                const storage::GraphView& view) {
  const StatusOr<Expression> bound = Expression::Bind(CallOn(function, {constant}), 1);
  EXPECT_TRUE(bound.ok());
  Batch batch;
  batch.slots.resize(1);
  for (const Value& value : values) batch.slots[0].Append(value);
  batch.rows = values.size();
  Rng random(3);
  std::vector<Operand> operands;
  const Operand* result = nullptr;
  EXPECT_TRUE(bound->Evaluate(batch, {&view, nullptr, &random}, &operands, &result).ok());
  ValueList results;
  for (size_t row = 0; row < values.size(); ++row) {
    results.push_back(result->Present(row) ? result->Get(row) : Value());
  }
  return results;
}

// Where all but the end fits at every place, a search that begins anew at each never ends.
TEST(TextTest, ALongPartIsLookedForInLinearWork) {
  storage::MemoryGraph graph;
  const std::string nearly(4 << 20, 'a');
  const Value part = Text(nearly + "b");
  const ValueList texts = {Text(nearly + nearly), Text(nearly + nearly + "b"), Text("b"),
                           Value::Int(1)};
  const ValueList found = Apply("containing", texts, part, graph);
  const ValueList missed = Apply("notContaining", texts, part, graph);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(found[i].AsBool(), i == 1);
    EXPECT_EQ(missed[i].AsBool(), i == 0 || i == 2);
  }
  EXPECT_TRUE(Apply("containing", {Text("")}, Text(""), graph)[0].AsBool());
  EXPECT_TRUE(Apply("containing", {Text(std::string("a\0b", 3))}, Text("b"), graph)[0].AsBool());
}

// Columns of known kinds are compared by loops over their arrays: with the same results as value by
// value.
TEST(CompareTest, TypedColumnsCompareAsTheirValuesDo) {
  storage::MemoryGraph graph;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const auto v1 = *graph.AddVertex(Value::Long(1), "v");
  const auto v2 = *graph.AddVertex(Value::Long(2), "v");
  const auto edge = [](uint64_t id) { return Value::Of(EdgeRef{id, {}, {}, 0}); };
  constexpr int64_t kWide = (int64_t{1} << 53) + 1;  // no double has this value
  const std::vector<ValueList> columns = {
      {Value::Int(-1), Value::Int(0), Value::Int(7), Value::Int(7)},
      {Value::Long(-1), Value::Long(kWide), Value::Long(7), Value::Long(INT64_MIN)},
      {Value::Double(-1.0), Value::Double(nan), Value::Double(7.0), Value::Double(infinity)},
      {Value::Double(9007199254740992.0), Value::Double(9007199254740992.0), Value::Double(-0.0),
       Value::Double(nan)},
      {Text("a"), Text(""), Text("7"), Text("\xC3\xA9")},
      {Value::Bool(true), Value::Bool(false), Value::Bool(true), Value::Bool(false)},
      {Value::Of(v1), Value::Of(v2), Value::Of(v2), Value::Of(v1)},
      {edge(1), edge(2), edge(2), edge(3)},
      {Value::Float(7.0f), Value::Null(), Text("a"), Value::Byte(7)},
  };
  constexpr size_t kRows = 4;
  const auto apply = [&](const char* function, const Column& left, const Column& right, int kind) {
    plan::Expr expr;
    for (int side = 0; side < 2; ++side) {
      const Column& column = side == 0 ? left : right;
      if (kind == side) {
        expr.add_nodes()->set_constant(EncodeValue(column.Get(2)));
      } else {
        expr.add_nodes()->set_slot(static_cast<uint32_t>(side));
      }
    }
    plan::Expr::Call* call = expr.add_nodes()->mutable_call();
    call->set_function(function);
    call->add_args(0);
    call->add_args(1);
    const StatusOr<Expression> bound = Expression::Bind(expr, 2);
    EXPECT_TRUE(bound.ok());
    Batch batch;
    batch.slots = {left, right};
    batch.rows = kRows;
    std::vector<Operand> operands;
    const Operand* result = nullptr;
    EXPECT_TRUE(bound->Evaluate(batch, {&graph, nullptr, nullptr}, &operands, &result).ok());
    std::string bits;
    for (size_t row = 0; row < kRows; ++row) bits += result->Get(row).AsBool() ? '1' : '0';
    return bits;
  };
  const auto of = [](const ValueList& values, Column column) {
    for (const Value& value : values) column.Append(value);
    return column;
  };
  const Column general(Column::Kind::kValue);
  for (const char* function : {"eq", "neq", "lt", "lte", "gt", "gte"}) {
    for (const ValueList& left : columns) {
      for (const ValueList& right : columns) {
        for (int constant = -1; constant < 2; ++constant) {
          EXPECT_EQ(apply(function, of(left, Column()), of(right, Column()), constant),
                    apply(function, of(left, general), of(right, general), constant))
              << function << " " << PrintValue(left[2]) << " " << PrintValue(right[2]) << " "
              << constant;
        }
      }
    }
  }
}

// Collections among the members are asked by hash, too: else each row would walk all of them.
TEST(WithinTest, ManyCollectionsAreNotWalked) {
  storage::MemoryGraph graph;
  ValueList members;
  for (int i = 0; i < 50'000; ++i) members.push_back(ListOf({Value::Int(i), Value::Long(1)}));
  ValueList asked;
  for (int i = 0; i < 1000; ++i) {
    asked.push_back(ListOf({Value::Double(i * 100), Value::Int(i % 2)}));
  }
  asked.push_back(SetOf({Value::Int(100), Value::Int(1)}));
  members.push_back(SetOf({Value::Long(1), Value::Long(100)}));
  asked.push_back(MapOf({{Text("a"), Value::Int(1)}, {Text("b"), Value::Int(2)}}));
  members.push_back(MapOf({{Text("b"), Value::Double(2.0)}, {Text("a"), Value::Long(1)}}));
  const ValueList found = Apply("within", asked, ListOf(members), graph);
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(found[i].AsBool(), i % 2 == 1 && i < 500) << i;
  EXPECT_TRUE(found[1000].AsBool());
  EXPECT_TRUE(found[1001].AsBool());
}

// Long lists are asked by hash: that must not change an answer.
TEST(WithinTest, ALongListAnswersAsAShortOne) {
  storage::MemoryGraph graph;
  const Value nan = Value::Double(std::numeric_limits<double>::quiet_NaN());
  const ValueList asked = {Value::Int(1),           Value::Long(1),         Value::Double(1.0),
                           Value::Double(2.5),      Value::Float(2.5f),     Text("1"),
                           Value::Bool(true),       Value::Null(),          nan,
                           ListOf({Value::Int(1)}), SetOf({Value::Int(1)}), Text("x")};
  ValueList others;
  for (int i = 0; i < 100; ++i) others.push_back(Text("other" + std::to_string(i)));
  for (const Value& member : asked) {
    ValueList all = others;
    all.push_back(member);
    for (const char* function : {"within", "without"}) {
      const auto by_walk = Apply(function, asked, ListOf({member}), graph);
      const auto by_hash = Apply(function, asked, ListOf(all), graph);
      ASSERT_EQ(by_walk.size(), by_hash.size());
      for (size_t i = 0; i < asked.size(); ++i) {
        EXPECT_TRUE(Equivalent(by_walk[i], by_hash[i])) << function << " " << i;
      }
    }
  }
}

// A collection of vertices is walked for the first that are asked for, then asked by hash; another
// one takes its turn in between.
TEST(MemberOfTest, WalkedAndHashedAnswerTheSame) {
  storage::MemoryGraph graph;
  ValueList members, others;
  for (uint64_t i = 0; i < 100; ++i) members.push_back(Value::Of(VertexRef::Make(1, 3 * i)));
  for (uint64_t i = 0; i < 100; ++i) others.push_back(Value::Of(VertexRef::Make(1, 3 * i + 1)));
  others.push_back(Value::Long(7));
  members.push_back(Text("word"));
  ValueList asked;
  for (uint64_t i = 0; i < 60; ++i) asked.push_back(Value::Of(VertexRef::Make(i % 2, i)));
  asked.push_back(Value::Double(7.0));
  asked.push_back(Text("word"));
  for (const ValueList& list : {members, others}) {
    const auto expected = Apply("within", asked, ListOf(list), graph);
    const auto found = Apply("member_of", asked, ListOf(list), graph);
    for (size_t i = 0; i < asked.size(); ++i) {
      EXPECT_EQ(found[i].AsBool(), expected[i].AsBool()) << i;
    }
  }
  // Few of each, in turn.
  ValueList lists = {ListOf(members), ListOf(others)};
  plan::Expr expr;
  expr.add_nodes()->set_slot(0);
  expr.add_nodes()->set_slot(1);
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function("member_of");
  call->add_args(0);
  call->add_args(1);
  const StatusOr<Expression> bound = Expression::Bind(expr, 2);
  ASSERT_TRUE(bound.ok());
  Batch batch;
  batch.slots.resize(2);
  for (size_t i = 0; i < asked.size(); ++i) {
    batch.slots[0].Append(asked[i]);
    batch.slots[1].Append(lists[i / 20 % 2]);
  }
  batch.rows = asked.size();
  std::vector<Operand> operands;
  const Operand* result = nullptr;
  ASSERT_TRUE(bound->Evaluate(batch, {&graph, nullptr, nullptr}, &operands, &result).ok());
  for (size_t i = 0; i < asked.size(); ++i) {
    const ValueList& list = lists[i / 20 % 2].AsList();
    const bool expected = std::any_of(
        list.begin(), list.end(), [&](const Value& member) { return Equals(asked[i], member); });
    EXPECT_EQ(result->Get(i).AsBool(), expected) << i;
  }
}

TEST(HasIdTest, TextFindsTheIntegerUnlessThatTextIsAnId) {
  storage::MemoryGraph graph;
  const Value one = Value::Of(*graph.AddVertex(Value::Long(1), "v"));
  const Value two = Value::Of(*graph.AddVertex(Value::Long(2), "v"));
  const Value text_two = Value::Of(*graph.AddVertex(Text("2"), "v"));
  const ValueList all = {one, two, text_two, Value::Int(1)};
  const auto has = [&](const Value& wanted) {
    std::string marks;
    for (const Value& result : Apply("has_id", all, ListOf({wanted}), graph)) {
      marks += result.is_null() ? '-' : result.AsBool() ? '1' : '0';
    }
    return marks;
  };
  EXPECT_EQ(has(Text("1")), "100-");
  EXPECT_EQ(has(Text("2")), "001-");  // there is such a text
  EXPECT_EQ(has(Value::Int(2)), "010-");
  EXPECT_EQ(has(Text("01")), "000-");  // not canonical
  EXPECT_EQ(has(Value::Null()), "000-");
}

TEST(ListFunctionsTest, SampleKeepsTheKindAndWhatIsSmallEnough) {
  const storage::MemoryGraph graph;
  const Value five =
      ListOf({Value::Int(1), Value::Int(2), Value::Int(3), Value::Int(4), Value::Int(5)});
  const Value map = MapOf({{Text("a"), Value::Int(1)}, {Text("b"), Value::Int(2)}});
  const ValueList picked = Apply("list_sample", {five, map, Value::Int(7)}, Value::Long(2), graph);
  EXPECT_EQ(picked[0].AsList().size(), 2u);
  EXPECT_TRUE(Equivalent(picked[1], map));
  EXPECT_TRUE(Equivalent(picked[2], Value::Int(7)));
  EXPECT_EQ(Apply("list_sample", {map}, Value::Long(1), graph)[0].AsMap().size(), 1u);
}

TEST(ListFunctionsTest, LikePutsMembersBack) {
  const storage::MemoryGraph graph;
  const Value entry_a = MapOf({{Text("a"), Value::Int(1)}});
  const Value entry_b = MapOf({{Text("b"), Value::Int(2)}});
  const Value folded = ListOf({entry_b, entry_a});
  const Value map = MapOf({{Text("a"), Value::Int(1)}, {Text("b"), Value::Int(2)}});
  const Value back = Apply("like", {folded}, map, graph)[0];
  ASSERT_EQ(back.kind(), ValueKind::kMap);
  EXPECT_EQ(back.AsMap()[0].first.AsString(), "b");
  EXPECT_TRUE(Equivalent(Apply("like", {folded}, ListOf({}), graph)[0], folded));
  const Value five = Value::Int(5);
  EXPECT_TRUE(Equivalent(Apply("like", {ListOf({five})}, five, graph)[0], five));
}

StatusCode BindCode(const char* function, const std::vector<std::optional<Value>>& arguments) {
  return Expression::Bind(CallOn(function, arguments), 1).status().code();
}

// A pattern is compiled when its call is bound: a wrong one is an error before any row comes.
// On the way to a result there are two texts at a time, however many functions there are.
TEST(ExpressionTest, WhatIsMadeOnTheWayIsChargedAndDroppedWithItsLastReader) {
  constexpr size_t kText = 16 << 20;
  plan::Expr expr;
  expr.add_nodes()->set_constant(EncodeValue(Value::Bool(false)));
  expr.add_nodes()->set_slot(0);
  for (uint32_t i = 1; i < 10; ++i) {
    plan::Expr::Call* call = expr.add_nodes()->mutable_call();
    call->set_function("toUpper");
    call->add_args(i);
    call->add_args(0);
  }
  const StatusOr<Expression> bound = Expression::Bind(expr, 1);
  ASSERT_TRUE(bound.ok());
  Batch batch;
  batch.slots.resize(1);
  batch.slots[0].Append(Text(std::string(kText, 'a')));
  batch.rows = 1;
  for (const int64_t limit : {int64_t{3 * kText}, int64_t{kText} / 4}) {
    MemoryAccount account("query", limit);
    EvalSources sources;
    sources.account = &account;
    std::vector<Operand> operands;
    const Operand* result = nullptr;
    const Status status = bound->Evaluate(batch, sources, &operands, &result);
    EXPECT_EQ(account.used(), 0);
    if (limit < int64_t{kText}) {
      EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
      continue;
    }
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(result->Get(0).AsString(), std::string(kText, 'A'));
    EXPECT_GE(account.peak(), int64_t{kText} * 3 / 2);
  }
}

TEST(ExpressionTest, PatternsAreCompiledOnce) {
  EXPECT_EQ(BindCode("regex", {Value::String("^a(b|c)")}), StatusCode::kOk);
  EXPECT_EQ(BindCode("regex", {Value::String("a(")}), StatusCode::kInvalidArgument);
  EXPECT_EQ(BindCode("notRegex", {Value::String("[")}), StatusCode::kInvalidArgument);
  EXPECT_EQ(BindCode("regex", {Value::Int(1)}), StatusCode::kInvalidArgument);
}

TEST(ExpressionTest, PatternsOfManyLettersAreValid) {
  EXPECT_EQ(BindCode("regex", {Value::String("^\\p{L}{2,50}$")}), StatusCode::kOk);
  EXPECT_EQ(BindCode("regex", {Value::String("^[\\p{L} ]{1,30}$")}), StatusCode::kOk);
}

// As often as an operator is made again.
TEST(ExpressionTest, WhatIsPreparedIsChargedAsLongAsItIsThere) {
  ValueList many;
  for (int i = 0; i < 1000; ++i) many.push_back(Value::String("text " + std::to_string(i)));
  for (const auto& [function, constant] :
       {std::pair("regex", Value::String("^a")), std::pair("within", ListOf(many))}) {
    const plan::Expr expr = CallOn(function, {constant});
    MemoryAccount account("query", 1 << 20), small("query", 10'000);
    for (int time = 0; time < 100; ++time) {
      const StatusOr<Expression> bound = Expression::Bind(expr, 1, &account);
      ASSERT_TRUE(bound.ok()) << bound.status();
      EXPECT_GT(account.used(), 10'000) << function;
    }
    EXPECT_EQ(account.used(), 0);
    EXPECT_EQ(Expression::Bind(expr, 1, &small).status().code(), StatusCode::kResourceExhausted);
    EXPECT_EQ(small.used(), 0);
  }
}

TEST(ExpressionTest, ArgumentsThatMustBeConstantAreCheckedWhenBound) {
  EXPECT_EQ(BindCode("property", {Value::String("age")}), StatusCode::kOk);
  EXPECT_EQ(BindCode("property", {std::nullopt}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("property", {Value::Int(1)}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("regex", {std::nullopt}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("label_in", {Value::String("a"), Value::String("b")}), StatusCode::kOk);
  EXPECT_EQ(BindCode("label_in", {Value::String("a"), std::nullopt}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("has_id", {ListOf({Value::Int(1)})}), StatusCode::kOk);
  EXPECT_EQ(BindCode("has_id", {Value::Int(1)}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("list_range", {Value::Long(0), Value::Int(2)}), StatusCode::kOk);
  EXPECT_EQ(BindCode("list_range", {Value::Long(0), Value::Double(2)}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("path_range", {Value::Null(), Value::String("a")}), StatusCode::kOk);
  EXPECT_EQ(BindCode("degree", {Value::Int(0), Value::Null()}), StatusCode::kInternal);
  EXPECT_EQ(BindCode("eq", {std::nullopt}), StatusCode::kOk);
}

class CountingGraph : public storage::MemoryGraph {
 public:
  Status ReadVertexProperties(std::span<const VertexRef> vertices, std::span<const KeyId> keys,
                              storage::ReadBudget* budget,
                              storage::PropertyRows* out) const override {
    ++reads;
    return MemoryGraph::ReadVertexProperties(vertices, keys, budget, out);
  }
  mutable int reads = 0;
};

// map_of(a: property 'a', b: property 'b', again: property 'a', none: property 'none') of slot 0.
TEST(PropertyTest, SeveralOfOneSlotAreReadAtOnce) {
  CountingGraph graph;
  const auto v1 = *graph.AddVertex(Value::Long(1), "v", {{"a", Value::Int(1)}, {"b", Text("x")}});
  const auto v2 = *graph.AddVertex(Value::Long(2), "v", {{"b", Text("y")}});
  const auto edge = *graph.AddEdge(v1, v2, "e", {{"a", Value::Int(7)}});
  plan::Expr expr;
  plan::Expr::Call map;
  map.set_function("map_of");
  for (const auto& [name, key] : std::vector<std::pair<std::string, std::string>>{
           {"a", "a"}, {"b", "b"}, {"again", "a"}, {"none", "none"}}) {
    const int begin = expr.nodes_size();
    expr.add_nodes()->set_constant(EncodeValue(Text(name)));
    expr.add_nodes()->set_slot(0);
    expr.add_nodes()->set_constant(EncodeValue(Text(key)));
    plan::Expr::Call* call = expr.add_nodes()->mutable_call();
    call->set_function("property");
    call->add_args(static_cast<uint32_t>(begin + 1));
    call->add_args(static_cast<uint32_t>(begin + 2));
    map.add_args(static_cast<uint32_t>(begin));
    map.add_args(static_cast<uint32_t>(begin + 3));
  }
  *expr.add_nodes()->mutable_call() = map;
  const StatusOr<Expression> bound = Expression::Bind(expr, 1);
  ASSERT_TRUE(bound.ok()) << bound.status();
  const std::string of_v1 = "[a:1,b:x,again:1]", of_v2 = "[b:y]", of_edge = "[a:7,again:7]";
  const struct {
    ValueList values;
    std::vector<std::string> printed;
    int reads;
  } cases[] = {
      {{Value::Of(v1), Value::Of(v2), Value::Of(v1)}, {of_v1, of_v2, of_v1}, 1},
      {{Value::Of(edge), Value::Of(edge)}, {of_edge, of_edge}, 0},
      {{Value::Of(v2), Value::Of(edge), Value::Int(3)}, {of_v2, of_edge, "[:]"}, 3},
  };
  for (const auto& one : cases) {
    Batch batch;
    batch.slots.resize(1);
    for (const Value& value : one.values) batch.slots[0].Append(value);
    batch.rows = one.values.size();
    std::vector<Operand> operands;
    const Operand* result = nullptr;
    graph.reads = 0;
    ASSERT_TRUE(bound->Evaluate(batch, {&graph, nullptr, nullptr}, &operands, &result).ok());
    for (size_t row = 0; row < batch.rows; ++row) {
      EXPECT_EQ(PrintValue(result->Get(row)), one.printed[row]);
    }
    EXPECT_EQ(graph.reads, one.reads);
  }
}

}  // namespace
}  // namespace koios::engine
