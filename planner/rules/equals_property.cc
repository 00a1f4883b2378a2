#include "planner/rules/equals_property.h"

namespace koios::planner {

bool EqualsProperty(const Expression& test, ExpressionPtr* key, ExpressionPtr* value,
                    ValueList* any_of) {
  const bool equals = IsCall(test, "eq");
  if (!equals && !IsCall(test, "within")) return false;
  const Expression& left = *test.args[0];
  if (!IsCall(left, "property") || !IsCurrent(*left.args[0]) || ReadsCurrent(*test.args[1]) ||
      left.args[1]->kind != Expression::Kind::kConstant) {
    return false;
  }
  *key = left.args[1];
  if (equals) {
    *value = test.args[1];
    return true;
  }
  const bool list =
      test.args[1]->kind == Expression::Kind::kConstant && test.args[1]->constant.is_collection();
  if (!list) return false;
  *any_of = test.args[1]->constant.AsList();
  return true;
}

}  // namespace koios::planner
