// Maps of mergeV(), mergeE() and their options that depend on the traverser: stored under a name
// when it comes. An element is looked up by its id when the map has one, an edge else by where the
// map says that it begins or ends; what remains is compared with every element.
#pragma once

#include <string>

#include "planner/steps/builder.h"

namespace koios::planner {

// Rows for which the condition does not hold are an error.
void EmitMust(ExpressionPtr condition, std::string message, Builder* builder);

// Stores the child's first result, a map, and returns its name; a traverser without one is an
// error. `reader`: who wants it, for messages.
std::string EmitStoredMap(Chain child, const std::string& reader, Builder* builder);

// Rows with a map that can't be of such an element are an error.
void EmitMapCheck(plan::ElementKind element, const std::string& map, Builder* builder);

// The vertices that have all that the map says.
void EmitVerticesOf(const std::string& map, Builder* builder);

// A vertex that has what both maps say. `more`: of onCreate; empty: there is none.
void EmitVertexAddition(const std::string& map, const std::string& more, Builder* builder);

// Where an edge begins and ends: vertices that are stored, or nothing.
struct StoredEnds {
  ExpressionPtr out, in;
};
// Stores the vertices that the map names.
StoredEnds EmitStoredEnds(const std::string& map, Builder* builder);
// The edges that have all that the map says.
void EmitEdgesOf(const std::string& map, const StoredEnds& ends, Builder* builder);
// An edge that has what both maps say. `ends`: those that an option of the step has given; where
// there is none, and the map names none, it is an error.
void EmitEdgeAddition(const std::string& map, const std::string& more, StoredEnds ends,
                      Builder* builder);

// The current element has what the map says, from now on. `tokens`: keys that are no text may be in
// it and are left out.
void EmitSetsOf(const std::string& map, bool tokens, Builder* builder);

}  // namespace koios::planner
