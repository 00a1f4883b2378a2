// How paths grow and what is asked of them, absent paths and labels included.
#include "engine/expr/path_functions.h"

#include "core/path/path.h"
#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

using Labels = std::vector<std::vector<std::string>>;

Value PathOf(ValueList objects, Labels labels) {
  return Made(Value::Of(PathData{std::move(objects), std::move(labels)}));
}

// marko (a) - lop (b, c) - marko (a)
Value Example() {
  return PathOf({Value::String("marko"), Value::String("lop"), Value::String("marko")},
                {{"a"}, {"b", "c"}, {"a"}});
}

// function(slot 0, slot 1 when `second`, constants...) in a batch of one row.
class Call {
 public:
  explicit Call(const std::string& function) : function_(function) { batch_.slots.resize(2); }
  Call& Slot(size_t slot, const Value& value) {
    batch_.slots[slot].Append(value);
    return Arg(slot);
  }
  Call& AbsentSlot(size_t slot) { return Arg(slot); }
  Call& Constant(const Value& value) {
    args_.push_back(static_cast<uint32_t>(expr_.nodes_size()));
    expr_.add_nodes()->set_constant(EncodeValue(value));
    return *this;
  }

  // nullopt: absent.
  StatusOr<std::optional<Value>> Run() {
    plan::Expr::Call* call = expr_.add_nodes()->mutable_call();
    call->set_function(function_);
    for (uint32_t arg : args_) call->add_args(arg);
    batch_.rows = 1;
    ASSIGN_OR_RETURN(const Expression bound, Expression::Bind(expr_, 2));
    std::vector<Operand> scratch;
    const Operand* result = nullptr;
    RETURN_IF_ERROR(bound.Evaluate(batch_, {&graph_, nullptr, nullptr}, &scratch, &result));
    if (!result->Present(0)) return std::optional<Value>();
    return std::optional<Value>(result->Get(0));
  }
  std::optional<Value> Get() {
    const StatusOr<std::optional<Value>> result = Run();
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : std::nullopt;
  }

 private:
  Call& Arg(size_t slot) {
    args_.push_back(static_cast<uint32_t>(expr_.nodes_size()));
    expr_.add_nodes()->set_slot(static_cast<uint32_t>(slot));
    return *this;
  }

  std::string function_;
  plan::Expr expr_;
  std::vector<uint32_t> args_;
  Batch batch_;
  storage::MemoryGraph graph_;
};

TEST(PathFunctionsTest, AppendBeginsAndExtends) {
  const Value a = Value::String("a");
  const std::optional<Value> begun =
      Call("path_append").AbsentSlot(0).Slot(1, Value::Int(1)).Constant(a).Get();
  ASSERT_TRUE(begun.has_value());
  EXPECT_TRUE(Equivalent(*begun, PathOf({Value::Int(1)}, {{"a"}})));
  EXPECT_EQ(Flattened(*begun).labels, (Labels{{"a"}}));
  const Value longer = *Call("path_append").Slot(0, *begun).Slot(1, Value::Null()).Get();
  EXPECT_EQ(Flattened(longer).labels, (Labels{{"a"}}));
  EXPECT_TRUE(longer.AsPath().object().is_null());
  EXPECT_EQ(longer.AsPath().parent(), &begun->AsPath());
  EXPECT_EQ(begun->AsPath().length(), 1u);  // the shorter one stays as it is
  EXPECT_GT(longer.ByteSize(), begun->ByteSize());
}

TEST(PathFunctionsTest, APathTakesNoMoreThanItsObjects) {
  Value path = *Call("path_of").Slot(0, Value::Int(0)).Get();
  const size_t alone = path.ByteSize();
  for (int i = 1; i < 100; ++i) {
    path = *Call("path_append").Slot(0, path).Slot(1, Value::Int(i)).Get();
  }
  EXPECT_EQ(path.ByteSize(), alone + 99 * sizeof(PathNode));
}

// One node for each row, whatever its path; charged, and refused before it is made.
TEST(PathFunctionsTest, RowsShareAndAreCharged) {
  constexpr size_t kRows = 100;
  const auto account =
      std::make_shared<MemoryAccount>("test", static_cast<int64_t>(2 * kRows * sizeof(PathNode)));
  const PathLedger::Owner ledger = PathLedger::Charging(account);
  plan::Expr expr;
  expr.add_nodes()->set_slot(1);
  expr.add_nodes()->set_slot(0);
  expr.add_nodes()->set_constant(EncodeValue(Value::String("a")));
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function("path_append");
  for (const uint32_t arg : {0u, 1u, 2u}) call->add_args(arg);
  const StatusOr<Expression> bound = Expression::Bind(expr, 2);
  ASSERT_TRUE(bound.ok());
  const storage::MemoryGraph graph;
  const Value trunk = PathOf({Value::Int(1)}, {});
  Batch batch;
  batch.slots.resize(2);
  batch.rows = kRows;
  for (size_t row = 0; row < kRows; ++row) {
    batch.slots[0].AppendLong(static_cast<int64_t>(row));
  }
  Status status;
  for (int round = 0; status.ok(); ++round) {
    ASSERT_LT(round, 3);
    EXPECT_EQ(account->used(), static_cast<int64_t>(round * kRows * sizeof(PathNode)));
    std::vector<Operand> scratch;
    const Operand* result = nullptr;
    status = bound->Evaluate(batch, {&graph, nullptr, nullptr, ledger.get()}, &scratch, &result);
    if (!status.ok()) continue;
    const auto& paths = result->column->values();
    for (size_t row = 0; row < kRows; ++row) {
      const PathNode& path = paths[row].AsPath();
      EXPECT_EQ(path.label_list(), paths[0].AsPath().label_list());
      const PathNode* parent = round == 0 ? nullptr : &batch.slots[1].values()[row].AsPath();
      EXPECT_EQ(path.parent(), parent);
    }
    batch.slots[1] = *result->column;
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(account->used(), static_cast<int64_t>(2 * kRows * sizeof(PathNode)));
}

TEST(PathFunctionsTest, LabelsOfAnObjectAreDistinct) {
  const Value labelled = *Call("path_label")
                              .Slot(0, Example())
                              .Constant(Value::String("z"))
                              .Constant(Value::String("a"))
                              .Get();
  EXPECT_EQ(Flattened(labelled).labels, (Labels{{"a"}, {"b", "c"}, {"a", "z"}}));
}

TEST(PathFunctionsTest, APathInAPathStaysWithinTheDepthOfValues) {
  Value path = PathOf({Value::Int(1)}, {{}});
  while (path.depth() < kMaxValueDepth) path = PathOf({path}, {{}});
  const StatusOr<std::optional<Value>> deeper = Call("path_of").Slot(0, path).Run();
  EXPECT_EQ(deeper.status().code(), absl::StatusCode::kResourceExhausted);
}

StatusOr<std::optional<Value>> Range(const Value& from, const Value& to) {
  return Call("path_range").Slot(0, Example()).Constant(from).Constant(to).Run();
}

TEST(PathFunctionsTest, RangeTakesTheLastOfEachLabel) {
  const Value a = Value::String("a"), b = Value::String("b"), none = Value::Null();
  EXPECT_EQ((**Range(none, none)).AsPath().length(), 3u);
  EXPECT_EQ(Flattened(**Range(b, none)).labels, (Labels{{"b", "c"}, {"a"}}));
  EXPECT_EQ(Flattened(**Range(none, b)).labels, (Labels{{"a"}, {"b", "c"}}));
  EXPECT_EQ((**Range(a, none)).AsPath().length(), 1u);
  const Status wrong_order = Range(a, b).status();
  EXPECT_EQ(wrong_order.code(), absl::StatusCode::kInvalidArgument);
  const Status unknown = Range(Value::String("x"), none).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(MessageOf(unknown).find("\"x\""), std::string::npos);
  EXPECT_EQ(Range(none, Value::String("x")).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(PathFunctionsTest, SimpleComparesAsDedupDoes) {
  EXPECT_FALSE(Call("is_simple").Slot(0, Example()).Get()->AsBool());
  const Value mixed = PathOf({Value::Int(1), Value::Long(1), Value::Double(1)}, {{}, {}, {}});
  EXPECT_TRUE(Call("is_simple").Slot(0, mixed).Get()->AsBool());
  EXPECT_FALSE(Call("is_simple").AbsentSlot(0).Get().has_value());
}

// However the path was looked at before: what is known of its beginning is kept.
TEST(PathFunctionsTest, SimpleIsTheSameStepByStep) {
  Rng rng(9);
  for (int round = 0; round < 300; ++round) {
    Value path;
    ValueList objects;
    const uint64_t distinct = 1 + rng.Uniform(200);
    const double asked = rng.Double();
    for (uint64_t i = 1 + rng.Uniform(60); i > 0; --i) {
      const VertexRef vertex{rng.Uniform(distinct)};
      objects.push_back(rng.Chance(0.9) ? Value::Of(vertex) : Value::Null());
      PathMaker maker(nullptr);
      path = Made(maker.Append(path, objects.back(), nullptr));
      if (i > 1 && !rng.Chance(asked)) continue;
      bool simple = true;
      for (size_t a = 0; a < objects.size(); ++a) {
        for (size_t b = 0; b < a; ++b) simple = simple && !Equivalent(objects[a], objects[b]);
      }
      ASSERT_EQ(Call("is_simple").Slot(0, path).Get()->AsBool(), simple) << "round " << round;
    }
  }
}

std::optional<Value> Select(const char* label, const char* pop) {
  return Call("path_select")
      .Slot(0, Example())
      .Constant(Value::String(label))
      .Constant(Value::String(pop))
      .Get();
}

TEST(PathFunctionsTest, SelectPops) {
  EXPECT_EQ(Select("a", "first")->AsString(), "marko");
  EXPECT_EQ(Select("b", "last")->AsString(), "lop");
  EXPECT_EQ(Select("a", "all")->AsList().size(), 2u);
  EXPECT_EQ(Select("b", "all")->AsList().size(), 1u);
  EXPECT_EQ(Select("a", "mixed")->AsList().size(), 2u);
  EXPECT_EQ(Select("b", "mixed")->AsString(), "lop");
  for (const char* pop : {"first", "last", "all", "mixed"}) {
    EXPECT_FALSE(Select("x", pop).has_value()) << pop;
  }
}

TEST(PathFunctionsTest, ByNeedsAValueForEachObject) {
  ValueMap values = {{Value::Long(2), Value::Int(30)},
                     {Value::Long(0), Value::Int(10)},
                     {Value::Long(1), Value::Int(20)}};
  const Value seen = *Call("path_by").Slot(0, Example()).Slot(1, MapOf(values)).Get();
  EXPECT_TRUE(Equivalent(
      seen, PathOf({Value::Int(10), Value::Int(20), Value::Int(30)}, Flattened(Example()).labels)));
  values.pop_back();
  EXPECT_FALSE(Call("path_by").Slot(0, Example()).Slot(1, MapOf(values)).Get().has_value());
  EXPECT_FALSE(Call("path_by").Slot(0, Example()).AbsentSlot(1).Get().has_value());
}

TEST(PathFunctionsTest, EntriesAreNumbered) {
  const Value entries = *Call("path_entries").Slot(0, Example()).Get();
  ASSERT_EQ(entries.AsMap().size(), 3u);
  EXPECT_EQ(entries.AsMap()[1].first.AsInteger(), 1);
  EXPECT_EQ(entries.AsMap()[1].second.AsString(), "lop");
}

TEST(PathFunctionsTest, Turns) {
  const Value turn = *Call("turn").Slot(0, Value::Long(5)).Constant(Value::Long(3)).Get();
  EXPECT_EQ(turn.AsInteger(), 2);
}

}  // namespace
}  // namespace koios::engine
