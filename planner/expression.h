// Scalar expressions of the logical traversal: an immutable tree over the current value, named
// values (as() labels and the planner's own "~" names), constants and functions of the engine's
// table. Rule: whoever composes expressions stays under kMaxExpressionDepth and -Size (Fits), so
// that passes over them may recurse and are cheap.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"

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
    kCall,      // name: the function; args
  };
  Kind kind = Kind::kCurrent;
  Value constant;
  std::string name;
  std::vector<ExpressionPtr> args;
  uint32_t depth = 1;  // of the tree
  uint32_t size = 1;   // nodes of the tree, shared ones counted at each place; saturates
};

ExpressionPtr Constant(Value value);
ExpressionPtr Current();
ExpressionPtr Named(std::string name);
ExpressionPtr CallOf(std::string function, std::vector<ExpressionPtr> args);
// Shorthands.
ExpressionPtr PropertyOf(ExpressionPtr element, std::string key);
ExpressionPtr StringConstant(std::string text);

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

// Whether the function reads an element's stored data (property, label, id, degree, ...): its first
// argument must then be evaluated at that element's owner.
bool ReadsStoredData(std::string_view function);
bool IsComparison(std::string_view function);     // eq, lt, ...
bool IsOrdering(std::string_view function);       // lt, lte, gt, gte
bool IsTextPredicate(std::string_view function);  // startingWith, regex, ...
// Comparisons, text predicates and the like: absent when their first argument is absent.
bool IsPredicate(std::string_view function);

// Absent as soon as any value that it reads is: no and, or, not, present, map_of in it.
bool IsStrict(const Expression& expression);

// Gives the same wherever in the traversal it is evaluated: draws nothing at random, reads no
// side-effect, and is no error for rows that do not come to it.
bool IsPure(const Expression& expression);
// once("name"): of the first row of the query that comes there one traverser passes, of no other.
bool IsOnce(const Expression& expression);

// For explain and goldens: eq(property(_, "name"), "marko").
std::string ExpressionText(const Expression& expression);
// "text", 1, 2L, 1.5, [..], ...; long ones are cut.
std::string ConstantText(const Value& value);
std::string ConstantsText(const ValueList& values);  // as a list of them

}  // namespace koios::planner
