// What a label stands for, in select(), where(), dedup() and the like: the entry of the current
// map, before the side-effect, before the stored value of that name.
#pragma once

#include "planner/steps/builder.h"

namespace koios::planner {

// The current map's entry of that name, before `stored`.
ExpressionPtr EntryOr(const std::string& label, ExpressionPtr stored, const Builder& builder);

// UNIMPLEMENTED for groups whose values are made only when they are complete.
StatusOr<ExpressionPtr> ValueOfLabel(const std::string& label, const SourceSpan& span,
                                     std::string_view step, const Builder& builder);
// The same where a row must have it. INVALID_ARGUMENT when none can; emits what makes it an error
// of a row that has none, where that may be.
StatusOr<ExpressionPtr> RequiredLabel(const std::string& label, const SourceSpan& span,
                                      std::string_view step, Builder* builder);

}  // namespace koios::planner
