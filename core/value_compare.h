// The four relations of TinkerPop 3.8 (gremlin-semantics); they differ and must not be merged:
//   Equals      P.eq: numbers by value across types (1 == 1.0), NaN != NaN.
//   Compare     P.lt and friends: nullopt when the types can't be compared.
//   TotalOrder  order(): a total order over all types, NULL < BOOLEAN < NUMBER < DATETIME < STRING
//   <
//               UUID < VERTEX < EDGE < VERTEXPROPERTY < PROPERTY < PATH < SET < LIST < MAP <
//               others.
//   Equivalent  dedup(), group() keys: numbers differ by type (2 and 2.0), NaN equals NaN.
// All are pure, any thread, and bounded by kMaxValueDepth.
#pragma once

#include <compare>
#include <optional>

#include "core/value.h"

namespace koios {

bool Equals(const Value& a, const Value& b);
std::optional<std::partial_ordering> Compare(const Value& a, const Value& b);
std::strong_ordering TotalOrder(const Value& a, const Value& b);
bool Equivalent(const Value& a, const Value& b);
// Reals of one kind are Equivalent when these are equal: there is one NaN, and as in Java's
// Double.equals 0.0 is not -0.0.
uint64_t EquivalenceBits(double v);
// Agrees with Equivalent; stable across processes (XXH3-64 over the codec's canonical bytes).
uint64_t EquivalenceHash(const Value& v);

struct ValueEquivalent {
  bool operator()(const Value& a, const Value& b) const { return Equivalent(a, b); }
};
struct ValueHash {
  size_t operator()(const Value& v) const { return EquivalenceHash(v); }
};

// A set value with Equivalent duplicates dropped, first one kept.
StatusOr<Value> MakeSet(ValueList values);

}  // namespace koios
