// Each row of core/plan/function_table.h has a kernel, which keeps what the row promises of absent
// arguments.
#include "core/plan/function_table.h"

#include <set>
#include <string>

#include "core/testing/make_value.h"
#include "core/value_codec.h"
#include "engine/effect/side_effects.h"
#include "engine/expr/expression.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine {
namespace {

TEST(FunctionTableTest, RowsAndKernelsAreTheSame) {
  std::set<std::string_view> kernels;
  for (const ScalarKernel* kernel : ScalarKernels()) {
    EXPECT_TRUE(kernels.insert(kernel->name).second) << kernel->name << " has two kernels";
    EXPECT_NE(plan::FindFunction(kernel->name), nullptr) << kernel->name << " has no row";
  }
  for (const plan::FunctionTraits& row : plan::kFunctions) {
    EXPECT_TRUE(kernels.contains(row.name)) << row.name << " has no kernel";
  }
  EXPECT_EQ(FindFunction("no_such_function").kernel, nullptr);
}

// Calls functions with arguments that they take: constants where the row wants them, else slots.
class PresenceTest : public ::testing::Test {
 protected:
  static constexpr size_t kRows = 3;

  PresenceTest()
      : vertex_(Value::Of(*graph_.AddVertex(Value::Long(1), "v", {{"INT", Value::Int(1)}}))) {
    EXPECT_TRUE(effects_.DeclareBag("INT").ok());
  }

  static Value ConstantFor(const plan::FunctionTraits& row, size_t argument) {
    const Value candidates[] = {Value::Null(),     Value::String("INT"), Value::Int(1),
                                Value::Bool(true), Value::Double(0.5),   ListOf({Value::Int(1)})};
    for (const Value& value : candidates) {
      if (!value.is_null() && plan::TakesArgument(row, argument, &value)) return value;
    }
    return Value::Null();
  }

  // What the arguments are that are no constants.
  struct Given {
    Value first;
    Value others;
  };

  // `without`: the argument that is absent in row 1; `none`: all are absent in all rows.
  StatusOr<std::string> Evaluate(const plan::FunctionTraits& row, const Given& given,
                                 size_t without, bool none = false) {
    plan::Expr expr;
    plan::Expr::Call call;
    call.set_function(std::string(row.name));
    Batch batch;
    batch.rows = kRows;
    batch.slots.resize(static_cast<size_t>(row.min_args));
    for (size_t i = 0; i < batch.slots.size(); ++i) {
      call.add_args(static_cast<uint32_t>(i));
      if (!plan::TakesArgument(row, i, nullptr)) {
        expr.add_nodes()->set_constant(EncodeValue(ConstantFor(row, i)));
        continue;
      }
      expr.add_nodes()->set_slot(static_cast<uint32_t>(i));
      if (none) continue;
      for (size_t at = 0; at < kRows; ++at) {
        if (at == 1 && i == without) {
          batch.slots[i].AppendAbsent();
        } else {
          batch.slots[i].Append(i == 0 ? given.first : given.others);
        }
      }
    }
    batch.runs.push_back({});
    batch.runs.back().count = kRows;
    *expr.add_nodes()->mutable_call() = call;
    ASSIGN_OR_RETURN(const Expression bound,
                     Expression::Bind(expr, static_cast<uint32_t>(batch.slots.size()) + 1));
    std::vector<Operand> operands;
    const Operand* result = nullptr;
    RETURN_IF_ERROR(bound.Evaluate(batch, {&graph_, &effects_, &random_}, &operands, &result));
    std::string present;
    for (size_t at = 0; at < kRows; ++at) present += result->Present(at) ? '1' : '0';
    return present;
  }

  // The first of some values of which the function makes something; null: of none of them.
  Given GivenFor(const plan::FunctionTraits& row) {
    const Value one = Value::Int(1), list = ListOf({one}), text = Value::String("a");
    const Value map = MapOf({{one, one}}), path = PathOf({{vertex_}, {{"INT"}}});
    const Value property = Made(Value::Of(PropertyData{EdgeRef(), "k", one}));
    const Value date = Value::Of(DateTime{});
    for (const Given& given : {Given{one, one}, Given{one, ListOf({})}, Given{vertex_, vertex_},
                               Given{list, list}, Given{map, one}, Given{path, path},
                               Given{property, property}, Given{text, text}, Given{date, date}}) {
      const StatusOr<std::string> present = Evaluate(row, given, SIZE_MAX);
      if (present.ok() && present->find('1') != std::string::npos) return given;
    }
    return {};
  }

  storage::MemoryGraph graph_;
  Value vertex_;
  SideEffects effects_;
  Rng random_{7};
};

TEST_F(PresenceTest, AStrictFunctionIsAbsentWhereAnArgumentIs) {
  for (const plan::FunctionTraits& row : plan::kFunctions) {
    if (!row.Has(plan::kStrict)) continue;
    SCOPED_TRACE(row.name);
    const Given given = GivenFor(row);
    ASSERT_FALSE(given.first.is_null()) << "no value that the test knows gives a result";
    bool free = false;
    for (size_t i = 0; i < static_cast<size_t>(row.min_args); ++i) {
      if (!plan::TakesArgument(row, i, nullptr)) continue;
      free = true;
      EXPECT_EQ(*Evaluate(row, given, i), "101") << "argument " << i;
    }
    if (free) {
      EXPECT_EQ(*Evaluate(row, given, SIZE_MAX, true), "000");
    }
  }
}

TEST_F(PresenceTest, WhatIsAlwaysThereIsThereWithoutArguments) {
  for (const plan::FunctionTraits& row : plan::kFunctions) {
    if (!row.Has(plan::kAlwaysThere)) continue;
    EXPECT_EQ(*Evaluate(row, {}, SIZE_MAX, true), "111") << row.name;
  }
}

TEST_F(PresenceTest, SomeAreThereWithOneOfTheirArguments) {
  for (const plan::FunctionTraits& row : plan::kFunctions) {
    SCOPED_TRACE(row.name);
    if (row.Has(plan::kThereWithFirst)) {
      EXPECT_EQ(*Evaluate(row, {vertex_, vertex_}, SIZE_MAX), "111");
    }
    if (row.Has(plan::kThereWithLast)) {
      EXPECT_EQ(*Evaluate(row, {vertex_, vertex_}, 0), "111");
    }
  }
}

}  // namespace
}  // namespace koios::engine
