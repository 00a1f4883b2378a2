// Scalar expressions of the logical traversal: an immutable tree over the current value, named
// values (as() labels and the planner's own "~" names), constants and functions of the table
// core/plan/function_table.h. Rule: whoever composes expressions stays under kMaxExpressionDepth
// and -Size (Fits), so that passes over them may recurse and are cheap.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/function_table.h"
#include "core/value.h"
#include "planner/plan_value.h"

namespace koios::planner {

inline constexpr uint32_t kMaxExpressionDepth = 400;
inline constexpr uint32_t kMaxExpressionSize = 4096;

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

struct Expression {
  enum class Kind : uint8_t {
    kConstant,  // constant
    kCurrent,   // the traverser's current value
    kNamed,     // name: a value stored before; absent when it was not
    kCall,      // function, args
  };
  Kind kind = Kind::kCurrent;
  PlanValue constant;
  std::string name;
  const plan::FunctionTraits* function = nullptr;
  std::vector<ExpressionPtr> args;
  uint32_t depth = 1;  // of the tree
  uint32_t size = 1;   // nodes of the tree, shared ones counted at each place; saturates
};

ExpressionPtr Constant(PlanValue value);
ExpressionPtr Current();
ExpressionPtr Named(std::string name);
ExpressionPtr CallOf(plan::FunctionRef function, std::vector<ExpressionPtr> args);
// Shorthands.
ExpressionPtr PropertyOf(ExpressionPtr element, std::string key);
ExpressionPtr StringConstant(std::string text);
// Whether the current element has one of the labels.
ExpressionPtr HasLabel(const std::vector<std::string>& labels);

bool Fits(const Expression& expression);
bool SameExpression(const Expression& a, const Expression& b);
bool IsCurrent(const Expression& expression);
bool IsTrue(const Expression& expression);

// A copy with every current value (or every value named `name`) replaced.
ExpressionPtr ReplaceCurrent(const ExpressionPtr& expression, const ExpressionPtr& by);
ExpressionPtr ReplaceNamed(const ExpressionPtr& expression, std::string_view name,
                           const ExpressionPtr& by);
// With every leaf replaced by what `leaf` gives for it.
ExpressionPtr ReplaceLeaves(const ExpressionPtr& expression,
                            const std::function<ExpressionPtr(const ExpressionPtr&)>& leaf);
bool ReadsCurrent(const Expression& expression);
void CollectNames(const Expression& expression, std::set<std::string>* names);

bool IsCall(const Expression& expression, plan::FunctionRef function);
// A call of a function that has one of the traits.
bool IsCallWith(const Expression& expression, uint32_t traits);
// The expression or a part of it is one.
bool HasCallWith(const Expression& expression, uint32_t traits);
// The property that a call with kReadsProperty reads; null: its name is computed.
const Value* PropertyRead(const Expression& call);

// Absent as soon as any value that it reads is: all its functions are strict.
bool IsStrict(const Expression& expression);
// Gives the same wherever in the traversal it is evaluated: draws nothing at random, reads no
// side-effect, and is no error for rows that do not come to it.
bool IsPure(const Expression& expression);

// For explain and goldens: eq(property(_, "name"), "marko").
std::string ExpressionText(const Expression& expression);
// "text", 1, 2L, 1.5, [..], ...; long ones are cut.
std::string ConstantText(const Value& value);
std::string ConstantsText(const ValueList& values);  // as a list of them
std::string ConstantsText(const PlanValues& values);

}  // namespace koios::planner
