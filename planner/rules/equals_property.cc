#include "planner/rules/equals_property.h"

namespace koios::planner {

bool EqualsProperty(const Expression& test, ExpressionPtr* key, ExpressionPtr* value,
                    ValueList* any_of) {
  if (test.kind != Expression::Kind::kCall || test.args.size() != 2) return false;
  const Expression& left = *test.args[0];
  if (left.kind != Expression::Kind::kCall || left.name != "property" ||
      !IsCurrent(*left.args[0]) || ReadsCurrent(*test.args[1]) ||
      left.args[1]->kind != Expression::Kind::kConstant) {
    return false;
  }
  *key = left.args[1];
  if (test.name == "eq") {
    *value = test.args[1];
    return true;
  }
  const bool list = test.name == "within" && test.args[1]->kind == Expression::Kind::kConstant &&
                    test.args[1]->constant.is_collection();
  if (!list) return false;
  *any_of = test.args[1]->constant.AsList();
  return true;
}

}  // namespace koios::planner
