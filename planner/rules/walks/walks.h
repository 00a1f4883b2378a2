// Parts of a traversal that are walks: hops, filters of the vertices between them, and what the
// ends must be. Rule: what is a walk reads nothing but the graph and, at its end, one stored
// vertex; so it may be walked from either side, and as often as it takes.
#pragma once

#include <optional>

#include "planner/logical.h"

namespace koios::planner {

// Longer ones are no walks: bounds the work of rules, and what is kept for each hop.
inline constexpr size_t kMostHops = 16;

struct ParsedWalk {
  std::vector<Hop> hops;
  std::vector<ExpressionPtr> end_filters;
  std::optional<WalkEnds> ends;  // known already: of a Reach at its end
};

// The operations [begin, end) of the chain, which lead from the current vertex; nullopt: they are
// something else, too.
std::optional<ParsedWalk> WalkOf(const Chain& chain, size_t begin, size_t end);

// One hop, and what the vertex behind it must be.
std::optional<Hop> HopOf(const Expand& expand);

// The ends that pass all of the filters, when it can be said which few these are: a stored vertex,
// ids, what an index gives, the vertices of a few labels. `all`: see SourceOfAll().
std::optional<WalkEnds> EndsOf(const std::vector<ExpressionPtr>& filters, const Source& all);

// A vertex's filter that is the same wherever it is asked.
bool IsVertexFilter(const Expression& test);
// null: none.
ExpressionPtr AllOf(const std::vector<ExpressionPtr>& tests);

}  // namespace koios::planner
