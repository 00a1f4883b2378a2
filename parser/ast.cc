#include "parser/ast.h"

namespace koios::parser {

Argument::Argument() = default;
Argument::Argument(Argument&&) noexcept = default;
Argument& Argument::operator=(Argument&&) noexcept = default;
Argument::~Argument() = default;

Argument Clone(const Argument& argument) {
  Argument copy;
  copy.kind = argument.kind;
  copy.span = argument.span;
  copy.literal = argument.literal;
  copy.qualifier = argument.qualifier;
  copy.name = argument.name;
  copy.items.reserve(argument.items.size());
  for (const Argument& item : argument.items) copy.items.push_back(Clone(item));
  if (argument.traversal != nullptr) {
    copy.traversal = std::make_unique<Traversal>(Clone(*argument.traversal));
  }
  return copy;
}

Call Clone(const Call& call) {
  Call copy;
  copy.name = call.name;
  copy.span = call.span;
  copy.arguments.reserve(call.arguments.size());
  for (const Argument& argument : call.arguments) copy.arguments.push_back(Clone(argument));
  return copy;
}

Traversal Clone(const Traversal& traversal) {
  Traversal copy;
  copy.anonymous = traversal.anonymous;
  copy.source = traversal.source;
  copy.span = traversal.span;
  copy.calls.reserve(traversal.calls.size());
  for (const Call& call : traversal.calls) copy.calls.push_back(Clone(call));
  return copy;
}

std::string_view KindName(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::kLiteral:
      return "constant";
    case Argument::Kind::kParameter:
      return "parameter";
    case Argument::Kind::kEnum:
      return "enum word";
    case Argument::Kind::kPredicate:
      return "predicate";
    case Argument::Kind::kTraversal:
      return "traversal";
    case Argument::Kind::kList:
      return "list";
    case Argument::Kind::kSet:
      return "set";
    case Argument::Kind::kMap:
      return "map";
    case Argument::Kind::kStrategy:
      return "strategy";
    case Argument::Kind::kFunction:
      return "function";
  }
  return "";
}

}  // namespace koios::parser
