// What is known of a value before anything runs: the planner places exchanges by it (only elements
// have owners) and chooses between readings of a step (select() of a map or a label).
// kAny is always right; a narrower type is a promise.
#pragma once

#include <cstdint>

namespace koios::plan {

enum class ValueType : uint8_t {
  kAny,
  kVertex,
  kEdge,
  kProperty,
  kScalar,  // no element, property, collection or map
  kList,
  kBag,  // a list that aggregate() gathered: for typeOf() a set, as TinkerPop's BulkSet is one
  kMap,
  kEntry,   // a map's entry, from unfold()
  kMember,  // from unfold() of what may be a map: as kAny, and a map of one entry may be an entry
};

}  // namespace koios::plan
