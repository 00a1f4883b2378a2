// The words of the language that are not steps, as data: enum words, predicates, literal functions,
// terminal methods. A new enum word or predicate is one row in words.cc and nothing else.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "parser/ast.h"

namespace koios::parser {

struct EnumWord {
  std::string_view type;       // "Order"
  std::string_view word;       // as written: "desc", "from"
  std::string_view canonical;  // "desc", "OUT"
  bool bare;                   // may stand without its type
};

// The word of that type; nullptr when there is none. An empty type finds words that may be bare.
const EnumWord* FindEnumWord(std::string_view type, std::string_view word);
bool IsEnumType(std::string_view type);
// All types, and the words of one type, or those that may be bare when it is empty; for messages
// and completion.
std::vector<std::string_view> EnumTypes();
std::vector<std::string_view> EnumWordsOf(std::string_view type);

inline constexpr int kAnyArity = -1;

struct PredicateWord {
  std::string_view type;  // "P" or "TextP"
  std::string_view name;
  int arity;  // number of arguments, or kAnyArity
};

const PredicateWord* FindPredicate(std::string_view name);
// Of "P", of "TextP", or of both when it is empty.
std::vector<std::string_view> PredicateNames(std::string_view type = "");

// datetime, UUID, Duration, Vertex: calls that make a value rather than a traversal.
bool IsLiteralFunction(std::string_view name);
// "ReadOnlyStrategy": an upper case letter first and Strategy last.
bool IsStrategyName(std::string_view name);
// A word that starts Groovy or Java rather than Gremlin: "Lambda", "java", "it", "System", ...
bool IsForeignWord(std::string_view name);
std::optional<Terminal> FindTerminal(std::string_view name);
std::string_view TerminalName(Terminal terminal);

}  // namespace koios::parser
