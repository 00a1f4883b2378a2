// Values to and from koios.v1.Value, the form clients see. Pure, any thread.
// Rule: an internal reference never leaves: elements are ElementData by now.
#pragma once

#include "core/value.h"

namespace koios::v1 {
class Value;
}  // namespace koios::v1

namespace koios {

// What nests deeper is neither stored, nor taken as a parameter, nor sent as a result: readers of
// protobuf stop at 100 nested messages, and a map takes three for each level.
inline constexpr int kMaxSentDepth = 30;
// RESOURCE_EXHAUSTED for a value that nests deeper.
Status CheckSentDepth(const Value& value);

// REQUIRES: no internal reference (kVertex, kEdge, kVertexProperty, kProperty) in `value`.
// Ill-formed UTF-8 becomes U+FFFD.
void ToProto(const Value& value, v1::Value* out);

// INVALID_ARGUMENT for what is unset, out of range or no number; RESOURCE_EXHAUSTED for nesting
// beyond kMaxValueDepth. (Protobuf's parser itself stops at 100 nested messages, two for a list.)
StatusOr<Value> FromProto(const v1::Value& value);

}  // namespace koios
