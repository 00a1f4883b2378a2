// Which property a filter compares with what: what an index or a guard can be asked.
#pragma once

#include "planner/expression.h"

namespace koios::planner {

// The property and the value of eq(property(_, key), value), *any_of empty; or the constants of
// within(property(_, key), [values]), *value null. The key is a constant, the value does not read
// the current element. False: something else.
bool EqualsProperty(const Expression& test, ExpressionPtr* key, ExpressionPtr* value,
                    ValueList* any_of);

}  // namespace koios::planner
