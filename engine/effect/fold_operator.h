// Gremlin's operators: sum, minus, mult, div, min, max, assign, and, or, addAll, sumLong, as
// fold(seed, operator), sacks and side-effects put values together. Pure, any thread.
#pragma once

#include <string>

#include "core/value.h"
#include "engine/account/charge_ahead.h"

namespace koios::engine {

// INVALID_ARGUMENT for operands that the operator does not know.
using FoldOperator = StatusOr<Value> (*)(const Value& folded, const Value& next);

// As fold() and aggregate() take them, but addAll, which adds each value as one member (folded.h).
// nullptr: there is no such operator.
FoldOperator FindFoldOperator(const std::string& name);
// As sack() takes them: addAll adds the members of a collection.
FoldOperator FindSackOperator(const std::string& name);

// Folds `next` into *folded so often as one step can, at most `times`, and returns how often: all
// of them where that needs no loop or changes nothing any more, else once.
StatusOr<int64_t> FoldSome(FoldOperator fold, const Value& next, int64_t times, Value* folded);

// As this, and charged: both while it is folded, `charged` bytes of *folded before, and all after.
StatusOr<int64_t> FoldSomeCharged(FoldOperator fold, const Value& next, int64_t times,
                                  int64_t charged, Value* folded, ChargeAhead* charge);

}  // namespace koios::engine
