// Numbers of one kind as numbers of another: what asNumber() does, as the reference implementation
// converts them. Pure, any thread.
#pragma once

#include "core/status.h"
#include "core/value.h"

namespace koios {

// Fractions are cut off where integers are wanted; a Float becomes the Double that prints as it
// does. INVALID_ARGUMENT where the kind does not hold the number: integers don't hold NaN and the
// infinities, nor do BigInteger and BigDecimal. REQUIRES: a number, and a kind of numbers.
StatusOr<Value> CastNumber(const Value& number, ValueKind kind);

}  // namespace koios
