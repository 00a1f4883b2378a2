// A call's arguments with parameters substituted: constants are values, T tokens inside collections
// are token values, nested traversals stay syntax until they are built.
// In a map of mergeE() and its options Merge.outV is the value Direction.OUT, Merge.inV is IN.
// Rule: a parameter becomes a typed constant here and is never text again.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "parser/ast.h"
#include "planner/plan_value.h"

namespace koios::planner {

struct Bound {
  enum class Kind : uint8_t { kValue, kEnum, kPredicate, kTraversal };
  Kind kind = Kind::kValue;
  SourceSpan span;
  PlanValue value;
  std::string qualifier;  // kEnum: "Order"; kPredicate: "P" or "TextP"
  std::string name;       // kEnum: "desc"; kPredicate: "gt"
  std::vector<Bound> items;
  const parser::Traversal* traversal = nullptr;  // borrowed from the query

  bool IsString() const { return kind == Kind::kValue && value.kind() == ValueKind::kString; }
  bool IsInteger() const;  // one of up to 64 bits
  bool IsTraversal() const { return kind == Kind::kTraversal; }
  bool IsPredicate() const { return kind == Kind::kPredicate; }
  bool IsEnum(std::string_view wanted) const { return kind == Kind::kEnum && qualifier == wanted; }
};

// `step` is for messages. Unknown parameter: INVALID_ARGUMENT.
StatusOr<Bound> Bind(const parser::Argument& argument, const Parameters& parameters,
                     std::string_view step);

// T.id and its like, Direction.OUT and its like, where a value is wanted: the value. nullopt: no
// such word.
std::optional<Value> ValueOfWord(const Bound& bound);

// "an integer", "a traversal", "P", "Order": for messages.
std::string DescribeBound(const Bound& bound);

// The step as written, e.g. has('name', P.gt(3)); at most about 80 bytes.
std::string CallText(const parser::Call& call);

}  // namespace koios::planner
