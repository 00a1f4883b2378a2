// The syntax tree of one query: a chain of calls whose arguments are literals, parameters, enum
// words, predicates, strategies, collections and nested chains. It knows no step: names are checked
// by the planner's catalogue.
// Bounds: nesting is at most Limits::max_nesting (never above kMaxNesting), so passes over the tree
// and its destructor may recurse; every node carries its place in the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value.h"

namespace koios::parser {

struct Traversal;

struct Argument {
  enum class Kind : uint8_t {
    kLiteral,    // literal: any constant; lists, sets and maps of constants only are folded into it
    kParameter,  // name
    kEnum,       // qualifier, name: Order.desc and a bare desc are both ("Order", "desc");
                 // Cardinality.single(43) has its value in items[0]
    kPredicate,  // qualifier "P" or "TextP", name: "gt", "within", ...; items: its arguments.
                 // Combined: "and", "or" with two or more predicates in items, "not" with one
    kTraversal,  // traversal: a nested chain, with or without "__."
    kList,       // items: the members; at least one is not constant
    kSet,        // likewise
    kMap,        // items: key, value, key, value, ...; a bare word as key is a string literal
    kStrategy,   // name: the class; items: option name (string literal), value, ...
    kFunction,   // name: "UUID" or "datetime" without arguments: a fresh value for each run
  };

  Argument();
  Argument(Argument&&) noexcept;
  Argument& operator=(Argument&&) noexcept;
  ~Argument();

  Kind kind = Kind::kLiteral;
  SourceSpan span;  // from its first character; of a chain or collection, up to its end
  Value literal;
  std::string qualifier;
  std::string name;
  std::vector<Argument> items;
  std::unique_ptr<Traversal> traversal;
};

struct Call {
  std::string name;
  std::vector<Argument> arguments;
  SourceSpan span;  // of the name
};

struct Traversal {
  bool anonymous = false;
  // The word before the first dot: "g" or a graph's name at the root; "__" or "" when anonymous.
  std::string source;
  std::vector<Call> calls;  // not empty
  SourceSpan span;          // from its first character up to its end
};

// How the caller asked for the results. What follows a root chain, never a step.
enum class Terminal : uint8_t {
  kNone,  // plain text: all results, as kToList
  kNext,  // next(): the first result; next(n): the first `count`
  kToList,
  kToSet,
  kToBulkSet,
  kIterate,
  kHasNext,
  kTryNext,
  kExplain,
  kProfile,  // profile(); a method after it is dropped. profile("key") stays a call
};

struct Query {
  Traversal root;  // without the terminal method: g.explain() leaves no calls
  Terminal terminal = Terminal::kNone;
  bool has_count = false;  // next(n)
  int64_t count = 0;
  SourceSpan terminal_span;
  std::vector<std::string> parameters;  // distinct names in order of first use
};

// Deep copies: nodes are move-only so that a copy is always meant.
Argument Clone(const Argument& argument);
Call Clone(const Call& call);
Traversal Clone(const Traversal& traversal);

// "List", "parameter", "predicate", ...: the kind in a user's words, for messages.
std::string_view KindName(Argument::Kind kind);

}  // namespace koios::parser
