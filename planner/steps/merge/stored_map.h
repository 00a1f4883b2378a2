// Maps of mergeV() and its options that depend on the traverser: stored under a name when it comes.
// What is looked up by such a map is compared with every vertex.
#pragma once

#include <string>

#include "planner/steps/builder.h"

namespace koios::planner {

// Rows for which the condition does not hold are an error.
void EmitMust(ExpressionPtr condition, std::string message, Builder* builder);

// Stores the child's first result, a map, and returns its name; a traverser without one is an
// error. `reader`: who wants it, for messages.
std::string EmitStoredMap(Chain child, const std::string& reader, Builder* builder);

// Rows with a map that can't be of a vertex are an error.
void EmitVertexMapCheck(const std::string& map, Builder* builder);

// The vertices that have all that the map says.
void EmitVerticesOf(const std::string& map, Builder* builder);

// A vertex that has what both maps say. `more`: of onCreate; empty: there is none.
void EmitVertexAddition(const std::string& map, const std::string& more, Builder* builder);

// The current element has what the map says, from now on. `tokens`: T.id and T.label may be in it
// and are left out.
void EmitSetsOf(const std::string& map, bool tokens, Builder* builder);

}  // namespace koios::planner
