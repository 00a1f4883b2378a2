// What is known, before anything runs, of the values that flow: their types
// (core/plan/value_type.h), and which stored ones every row has.
#pragma once

#include <map>
#include <string>

#include "core/plan/value_type.h"
#include "planner/logical.h"

namespace koios::planner {

using plan::ValueType;

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
ValueType TypeOfKind(ValueKind kind);
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
