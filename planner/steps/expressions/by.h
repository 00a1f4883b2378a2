// by() modulators as values: of the current value, or of a stored one.
// Rule: a by() that gives nothing makes its expression absent; what that means (drop the row, leave
// the key out) is said by `absent` and by the operation that reads it.
#pragma once

#include "planner/steps/builder.h"

namespace koios::planner {

// The i-th by() of the step, going round when there are fewer; nullptr when there is none.
const Modulator* ByAt(const StepCall& step, size_t i);

// Emits what is needed and returns the value of `by` (nullptr: the identity) for `input`.
// A traversal is evaluated in a scope whose first result is stored under a fresh name.
StatusOr<ExpressionPtr> BuildBy(const Modulator* by, const ExpressionPtr& input,
                                plan::Project::Absent absent, const StepCall& step,
                                Builder* builder);
// The same for one argument of by().
StatusOr<ExpressionPtr> BuildByArgument(const Bound& argument, const ExpressionPtr& input,
                                        plan::Project::Absent absent, const StepCall& step,
                                        Builder* builder);

// The map with each value as the step's by() sees it, without those of which it gives nothing; with
// several by() the keys are numbers from 0, whose turn is theirs. A child looks at the values,
// which may be owned by many, and groups what they give.
StatusOr<ExpressionPtr> BuildBysOfEntries(const ExpressionPtr& map, const StepCall& step,
                                          Builder* builder);

// The value as it is compared: elements by their ids.
ExpressionPtr WithId(const ExpressionPtr& value, const Builder& builder);

// INVALID_ARGUMENT when the step has more than `most`.
Status CheckByCount(const StepCall& step, size_t most);

// What id(), label(), key(), value() read.
ExpressionPtr TokenOf(std::string_view token, const ExpressionPtr& input);
// The same where `input` must be something that has it; as `reader` says it in messages.
ExpressionPtr TokenValue(std::string_view token, const ExpressionPtr& input,
                         const std::string& reader, Builder* builder);
// Emits what makes it an error when `input` is none of `kinds` (letters: the engine's function
// require), unless its type says that it is.
void Require(const ExpressionPtr& input, std::string_view kinds, const std::string& reader,
             Builder* builder);
inline constexpr std::string_view kElements = "vep";
inline constexpr std::string_view kElementsAndProperties = "vepq";
// Column.keys or Column.values, of a map, an entry or a path.
ExpressionPtr ColumnValue(std::string_view column, const ExpressionPtr& input,
                          const std::string& reader, Builder* builder);

}  // namespace koios::planner
