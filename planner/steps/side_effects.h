// Reading and finishing side-effects, for the build functions of select(), where() and cap().
#pragma once

#include "planner/steps/builder.h"

namespace koios::planner {

// Whether the query has a side-effect of this name. It hides a label of the same name; what reads
// labels asks ValueOfLabel().
bool IsSideEffect(const std::string& name, const Builder& builder);
// What is gathered under the name when the row comes by. UNIMPLEMENTED for groups whose values are
// made only when they are complete.
StatusOr<ExpressionPtr> SideEffectValue(const std::string& name, const SourceSpan& span,
                                        std::string_view step, const Builder& builder);

// Current is the list that a group gathered: adds what makes the group's value of it.
void AppendGroupTail(const GroupTail& tail, Chain* chain);

}  // namespace koios::planner
