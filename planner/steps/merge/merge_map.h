// Maps of mergeV(), mergeE() and their options, as they are written: what an element must have to
// be found, what one that is added has, what is set of one that was found. In them T.id and T.label
// are keys, of edges also Direction.OUT and Direction.IN: an id or a vertex, or Merge.outV and
// Merge.inV (here the values Direction.OUT and Direction.IN), which an option resolves.
// Rule: what TinkerPop refuses in a map is refused when it is planned, in TinkerPop's words.
#pragma once

#include <string>

#include "planner/steps/builder.h"

namespace koios::planner {

enum class MergeUse : uint8_t {
  kFind,  // and what an element that is added has: onCreate
  kSet,   // onMatch
};

// nullptr: the map has no such key.
const Value* FindKey(const ValueMap& map, const Value& key);

// `step`: mergeV or mergeE. `span`: of the map, for messages.
Status CheckMergeMap(const ValueMap& map, MergeUse use, std::string_view step,
                     const SourceSpan& span);

// What an element that is added has: `create` and `search`. INVALID_ARGUMENT where they differ.
StatusOr<ValueMap> JoinMergeMaps(const ValueMap& search, const ValueMap& create,
                                 const SourceSpan& span);

// A map or null; whether a Direction stands in it for a Merge was told when it was bound.
ValueMap MergeMapOf(const Value& value);

// The map that the child gives whoever enters it; nullopt: it depends, or has effects. `at_seed`:
// only the traverser that a traversal starts with enters it, which is no map.
std::optional<ValueMap> ConstantMapOf(const Chain& child, bool at_seed);

}  // namespace koios::planner
