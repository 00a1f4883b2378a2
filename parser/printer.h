// The canonical text of a syntax tree: one line, double quotes, enums with their type, predicates
// with P. or TextP., spaces only after commas and colons. Parsing it gives the same tree.
#pragma once

#include <string>

#include "core/value.h"
#include "parser/ast.h"

namespace koios::parser {

std::string ToText(const Traversal& traversal);
std::string ToText(const Call& call);
std::string ToText(const Argument& argument);
// A constant as a literal of the language. Elements print as Vertex(id, label); what has no literal
// (paths, edges) prints its kind.
std::string ToText(const Value& value);

// At most `max_bytes` of ToText, cut at a code point and ended with "..." when longer.
std::string ToShortText(const Call& call, size_t max_bytes);

}  // namespace koios::parser
