// What is known, before anything runs, of the values that flow: enough to place exchanges (only
// elements have owners) and to choose between readings of a step (select() of a map or a label).
// kAny is always right; a narrower type is a promise.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "planner/logical.h"

namespace koios::planner {

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

struct TypeEnv {
  struct Stored {
    ValueType type = ValueType::kAny;
    bool always = false;  // every row has it
    bool many = false;    // stored more than once: Pop.first differs from Pop.last
  };
  ValueType current = ValueType::kAny;
  std::map<std::string, Stored> names;
};

ValueType TypeOf(const Expression& expression, const TypeEnv& env);
// Whether every row is known to have it: false is always right.
bool IsAlwaysThere(const Expression& expression, const TypeEnv& env);
ValueType TypeOfValue(const Value& value);
ValueType JoinTypes(ValueType a, ValueType b);
TypeEnv JoinEnvs(const TypeEnv& a, const TypeEnv& b);

// What is known where an iteration of a loop begins, the first or a later one.
TypeEnv AtLoopStart(const TypeEnv& before, const Loop& loop);

// From before the op (or chain) to behind it.
void Advance(const Op& op, TypeEnv* env);
void Advance(const Chain& chain, TypeEnv* env);

// kAny or kMember.
bool IsUnknown(ValueType type);
// Whether a value of this type may be a vertex or an edge.
bool MayBeElement(ValueType type);

}  // namespace koios::planner
