// Values that nest, for tests: what the factories of Value refuse ends the test program. Included
// by tests only.
#pragma once

#include <utility>

#include "core/value.h"
#include "core/value_compare.h"

namespace koios {

inline Value Made(StatusOr<Value> value) {
  CHECK(value.ok());
  return *std::move(value);
}
inline Value ListOf(ValueList members) { return Made(Value::List(std::move(members))); }
// REQUIRES: distinct.
inline Value SetOf(ValueList members) { return Made(Value::Set(std::move(members))); }
inline Value MapOf(ValueMap entries) { return Made(Value::Map(std::move(entries))); }
inline Value PathOf(PathData path) { return Made(Value::Of(std::move(path))); }

// Zero inside that many lists.
inline Value Nested(int depth) {
  Value value = Value::Int(0);
  for (int i = 0; i < depth; ++i) value = ListOf({std::move(value)});
  return value;
}

}  // namespace koios
