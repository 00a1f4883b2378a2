// Functions whose rules are easily missed: ids given as text, members put back into what they were
// taken from.
#include "engine/expr/expression.h"

#include "core/value_codec.h"
#include "core/value_compare.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

Value Text(const char* text) { return Value::String(text); }

// function(slot 0, constant) of each value; null where the result is absent.
ValueList Apply(const char* function, const ValueList& values, const Value& constant,
                const storage::GraphView& view) {
  plan::Expr expr;
  expr.add_nodes()->set_slot(0);
  expr.add_nodes()->set_constant(EncodeValue(constant));
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function(function);
  call->add_args(0);
  call->add_args(1);
  const StatusOr<Expression> bound = Expression::Bind(expr, 1);
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

TEST(HasIdTest, TextFindsTheIntegerUnlessThatTextIsAnId) {
  storage::MemoryGraph graph;
  const Value one = Value::Of(*graph.AddVertex(Value::Long(1), "v"));
  const Value two = Value::Of(*graph.AddVertex(Value::Long(2), "v"));
  const Value text_two = Value::Of(*graph.AddVertex(Text("2"), "v"));
  const ValueList all = {one, two, text_two, Value::Int(1)};
  const auto has = [&](const Value& wanted) {
    std::string marks;
    for (const Value& result : Apply("has_id", all, Value::List({wanted}), graph)) {
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
      Value::List({Value::Int(1), Value::Int(2), Value::Int(3), Value::Int(4), Value::Int(5)});
  const Value map = Value::Map({{Text("a"), Value::Int(1)}, {Text("b"), Value::Int(2)}});
  const ValueList picked = Apply("list_sample", {five, map, Value::Int(7)}, Value::Long(2), graph);
  EXPECT_EQ(picked[0].AsList().size(), 2u);
  EXPECT_TRUE(Equivalent(picked[1], map));
  EXPECT_TRUE(Equivalent(picked[2], Value::Int(7)));
  EXPECT_EQ(Apply("list_sample", {map}, Value::Long(1), graph)[0].AsMap().size(), 1u);
}

TEST(ListFunctionsTest, LikePutsMembersBack) {
  const storage::MemoryGraph graph;
  const Value entry_a = Value::Map({{Text("a"), Value::Int(1)}});
  const Value entry_b = Value::Map({{Text("b"), Value::Int(2)}});
  const Value folded = Value::List({entry_b, entry_a});
  const Value map = Value::Map({{Text("a"), Value::Int(1)}, {Text("b"), Value::Int(2)}});
  const Value back = Apply("like", {folded}, map, graph)[0];
  ASSERT_EQ(back.kind(), ValueKind::kMap);
  EXPECT_EQ(back.AsMap()[0].first.AsString(), "b");
  EXPECT_TRUE(Equivalent(Apply("like", {folded}, Value::List({}), graph)[0], folded));
  const Value five = Value::Int(5);
  EXPECT_TRUE(Equivalent(Apply("like", {Value::List({five})}, five, graph)[0], five));
}

}  // namespace
}  // namespace koios::engine
