// Folding of constants: what an argument is worth when every part of it is known from the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "parser/ast.h"

namespace koios::parser {

// A kLiteral argument.
Argument Literal(Value value, SourceSpan span);

// The constant an argument stands for inside a collection (a literal, a T, a Direction); nullopt
// when it has none.
std::optional<Value> ConstantOf(const Argument& argument);
// nullopt when one of them has none.
std::optional<ValueList> ConstantsOf(const std::vector<Argument>& items);

// A map of keys and values in turn; of equal keys the first place and the last value stay, as in
// Java.
StatusOr<Value> MapOf(ValueList keys_and_values);

// The name a literal function is known by in the AST: "datetime" for DateTime, "UUID" for uuid.
std::string_view CanonicalFunction(std::string_view name);
// The value of datetime, Duration or UUID of a constant string.
StatusOr<Value> CallLiteralFunction(std::string_view canonical_name, const std::string& text);

}  // namespace koios::parser
