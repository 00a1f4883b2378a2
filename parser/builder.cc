#include "parser/builder.h"

#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "Gremlin.h"
#include "core/text/name_distance.h"
#include "core/text/text.h"
#include "core/value_compare.h"
#include "parser/fold.h"
#include "parser/literal.h"
#include "parser/literal_range.h"
#include "parser/words.h"

namespace koios::parser {
namespace {

using Grammar = koios::antlr::Gremlin;
using Links = std::vector<Grammar::LinkContext*>;
using Entries = std::vector<Grammar::EntryContext*>;

// gt(1).or(lt(0)).and(neq(9)) nests to the left without a bracket. The first such node of a chain
// is free, so that depth at most doubles; this many more are allowed in the whole text.
constexpr int kMaxCombinations = 128;

// What a nested chain is when a message needs an example.
constexpr std::string_view kLambdaHint =
    "write it as steps, such as map(values('name')) or filter(has('age', gt(30)))";

std::string DidYouMean(const std::string& prefix, std::string_view name,
                       const std::vector<std::string_view>& candidates) {
  const std::optional<std::string> nearest = NearestName(name, candidates);
  return nearest.has_value() ? "did you mean " + prefix + *nearest + "?" : "";
}

ErrorDetail Place(SourceSpan span) {
  ErrorDetail detail;
  detail.span = span;
  return detail;
}

// A literal of what its parts make, if that is not too deep.
StatusOr<Argument> Folded(StatusOr<Value> value, SourceSpan span) {
  if (!value.ok()) return WithDetail(value.status(), Place(span));
  return Literal(*std::move(value), span);
}

class Builder {
 public:
  Builder(std::string_view text, const std::vector<Lexeme>& tokens, const Limits& limits)
      : text_(text), tokens_(tokens), range_room_{limits.max_list, limits.max_text_bytes} {}

  StatusOr<Query> Build(Grammar::QueryContext* query);

 private:
  Status TakeTerminal(Query* query);
  Status CheckTerminalArguments(const Call& call, Query* query) const;

  StatusOr<Traversal> BuildRoot(Grammar::ChainContext* chain);
  Status AppendCalls(const Links& links, size_t from, Traversal* traversal);
  StatusOr<Argument> BuildNested(Grammar::ChainContext* chain, size_t from, std::string source);
  StatusOr<std::vector<Argument>> BuildArguments(const Grammar::LinkContext* link);

  StatusOr<Argument> BuildValue(Grammar::ValueContext* value);
  StatusOr<Argument> BuildLiteral(Grammar::ValueContext* value);
  StatusOr<Argument> BuildNumber(const Lexeme& token) const;
  StatusOr<Argument> BuildString(const Lexeme& token) const;
  StatusOr<Argument> BuildList(Grammar::ListContext* list);
  StatusOr<Argument> BuildSet(Grammar::SetContext* set);
  StatusOr<Argument> BuildMap(const Entries& entries);
  StatusOr<Argument> BuildKey(Grammar::EntryContext* entry);

  StatusOr<Argument> BuildChain(Grammar::ChainContext* chain);
  StatusOr<Argument> BuildQualified(Grammar::ChainContext* chain);
  StatusOr<Argument> BuildCalled(Grammar::ChainContext* chain);
  StatusOr<Argument> BuildWord(const Grammar::LinkContext* link);
  StatusOr<Argument> BuildEnum(const Links& links, size_t type_at);
  StatusOr<Argument> BuildCardinality(const Grammar::LinkContext* link);
  StatusOr<Argument> BuildStrategy(const Links& links);
  StatusOr<Argument> BuildFunction(const Links& links);
  StatusOr<Argument> BuildPredicates(const Links& links, size_t from);
  StatusOr<Argument> BuildPredicate(const Grammar::LinkContext* link);
  Status Combine(std::string_view name, std::vector<Argument> operands, bool first, Argument* left);
  bool IsPredicate(const Grammar::ValueContext* value) const;

  const Lexeme& At(const antlr4::Token* token) const { return tokens_[token->getTokenIndex()]; }
  std::string_view Name(const Grammar::LinkContext* link) const { return At(link->name).In(text_); }
  std::string Quoted(const Grammar::LinkContext* link) const;
  SourceSpan Span(const antlr4::ParserRuleContext* context) const;
  Argument Make(Argument::Kind kind, SourceSpan span, std::string_view name) const;

  Status Error(std::string_view reason, SourceSpan span, std::string message,
               std::string hint = "") const;
  Status ErrorAt(const Grammar::LinkContext* link, std::string_view reason, std::string message,
                 std::string hint = "") const {
    return Error(reason, At(link->name).span, std::move(message), std::move(hint));
  }
  Status NotACall(const Grammar::LinkContext* link) const;

  std::string_view text_;
  const std::vector<Lexeme>& tokens_;
  int combinations_ = 0;
  RangeRoom range_room_;
  std::vector<std::string> parameters_;
  std::unordered_set<std::string> known_parameters_;
};

Status Builder::Error(std::string_view reason, SourceSpan span, std::string message,
                      std::string hint) const {
  ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.span = span;
  detail.hint = std::move(hint);
  return InvalidArgument(message, detail);
}

std::string Builder::Quoted(const Grammar::LinkContext* link) const {
  constexpr size_t kLongest = 40;
  const std::string_view name = Name(link);
  if (name.size() <= kLongest) return "\"" + std::string(name) + "\"";
  return "\"" + std::string(TruncateUtf8(name, kLongest)) + "...\"";
}

SourceSpan Builder::Span(const antlr4::ParserRuleContext* context) const {
  const Lexeme& first = At(context->start);
  const Lexeme& last = At(context->stop);
  SourceSpan span = first.span;
  span.length = last.index + last.span.length - first.index;
  return span;
}

Argument Builder::Make(Argument::Kind kind, SourceSpan span, std::string_view name) const {
  Argument argument;
  argument.kind = kind;
  argument.span = span;
  argument.name = std::string(name);
  return argument;
}

Status Builder::NotACall(const Grammar::LinkContext* link) const {
  return ErrorAt(link, "SYNTAX", "Expected \"(\" after " + Quoted(link) + ".",
                 "a step is written with parentheses, as in out()");
}

StatusOr<Query> Builder::Build(Grammar::QueryContext* query) {
  Query result;
  ASSIGN_OR_RETURN(result.root, BuildRoot(query->body));
  RETURN_IF_ERROR(TakeTerminal(&result));
  result.parameters = std::move(parameters_);
  return result;
}

StatusOr<Traversal> Builder::BuildRoot(Grammar::ChainContext* chain) {
  const Links& links = chain->links;
  const Grammar::LinkContext* first = links.front();
  if (first->creation != nullptr || (first->call == nullptr && IsForeignWord(Name(first)))) {
    return ErrorAt(first, kClosure, Quoted(first) + " is Groovy or Java, not Gremlin.",
                   "a query starts with the traversal source, as in g.V()");
  }
  if (first->call != nullptr || Name(first) == "__") {
    return ErrorAt(first, "MISSING_SOURCE",
                   "A query starts with the traversal source, not with " + Quoted(first) + ".",
                   "start with g, as in g.V().out()");
  }
  if (links.size() == 1) {
    return ErrorAt(first, "MISSING_STEP", "Expected \".\" and a step after " + Quoted(first) + ".",
                   "for example g.V().limit(10)");
  }
  Traversal root;
  root.source = std::string(Name(first));
  root.span = Span(chain);
  RETURN_IF_ERROR(AppendCalls(links, 1, &root));
  return root;
}

Status Builder::AppendCalls(const Links& links, size_t from, Traversal* traversal) {
  traversal->calls.reserve(links.size() - from);
  for (size_t i = from; i < links.size(); ++i) {
    const Grammar::LinkContext* link = links[i];
    if (link->creation != nullptr || link->call == nullptr) return NotACall(link);
    Call call;
    call.name = std::string(Name(link));
    call.span = At(link->name).span;
    ASSIGN_OR_RETURN(call.arguments, BuildArguments(link));
    traversal->calls.push_back(std::move(call));
  }
  return OkStatus();
}

Status Builder::TakeTerminal(Query* query) {
  std::vector<Call>& calls = query->root.calls;
  const auto is_terminal = [](const Call& call) {
    const std::optional<Terminal> found = FindTerminal(call.name);
    // profile('key') is a step; profile() is one too, but for the caller it changes the result.
    return found.has_value() && (*found != Terminal::kProfile || call.arguments.empty());
  };
  for (size_t i = 0; i + 1 < calls.size(); ++i) {
    if (!is_terminal(calls[i])) continue;
    const bool before_last = i + 2 == calls.size();
    if (calls[i].name == "profile" && before_last && is_terminal(calls.back())) continue;
    return Error("TERMINAL_NOT_LAST", calls[i + 1].span,
                 "Nothing may follow " + calls[i].name + "(): it ends the query.",
                 "methods of results are Groovy or Java; use steps before " + calls[i].name + "()");
  }
  if (!is_terminal(calls.back())) return OkStatus();
  RETURN_IF_ERROR(CheckTerminalArguments(calls.back(), query));
  query->terminal = *FindTerminal(calls.back().name);
  query->terminal_span = calls.back().span;
  calls.pop_back();
  if (!calls.empty() && is_terminal(calls.back())) {  // profile() before it
    query->terminal = Terminal::kProfile;
    query->terminal_span = calls.back().span;
    query->has_count = false;
    query->count = 0;
    calls.pop_back();
  }
  return OkStatus();
}

Status Builder::CheckTerminalArguments(const Call& call, Query* query) const {
  if (call.arguments.empty()) return OkStatus();
  const Argument& argument = call.arguments.front();
  const size_t allowed = call.name == "next" ? 1 : 0;
  if (call.arguments.size() > allowed) {
    const std::string number = allowed == 0 ? "no argument." : "at most one argument.";
    return Error("ARGUMENTS", call.arguments[allowed].span, call.name + "() takes " + number);
  }
  const bool is_count =
      argument.kind == Argument::Kind::kLiteral && argument.literal.is_integer() &&
      argument.literal.kind() != ValueKind::kBigInt && argument.literal.AsInteger() >= 0;
  if (!is_count) {
    return Error("ARGUMENTS", argument.span, "next() takes a number of results.",
                 "for example next(10)");
  }
  query->has_count = true;
  query->count = argument.literal.AsInteger();
  return OkStatus();
}

StatusOr<Argument> Builder::BuildNested(Grammar::ChainContext* chain, size_t from,
                                        std::string source) {
  Argument argument = Make(Argument::Kind::kTraversal, Span(chain), "");
  argument.traversal = std::make_unique<Traversal>();
  argument.traversal->anonymous = true;
  argument.traversal->source = std::move(source);
  argument.traversal->span = argument.span;
  RETURN_IF_ERROR(AppendCalls(chain->links, from, argument.traversal.get()));
  return argument;
}

StatusOr<std::vector<Argument>> Builder::BuildArguments(const Grammar::LinkContext* link) {
  std::vector<Argument> arguments;
  arguments.reserve(link->call->entries.size());
  for (const Grammar::EntryContext* entry : link->call->entries) {
    if (entry->second != nullptr) {
      return Error("SYNTAX", Span(entry), "Only strategies and maps take \"name: value\".",
                   "write a map in brackets, as in [name: 'marko']");
    }
    ASSIGN_OR_RETURN(Argument argument, BuildValue(entry->first));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

StatusOr<Argument> Builder::BuildValue(Grammar::ValueContext* value) {
  if (value->number != nullptr || value->text != nullptr) return BuildLiteral(value);
  if (value->ordered != nullptr) return BuildList(value->ordered);
  if (value->distinct != nullptr) return BuildSet(value->distinct);
  return BuildChain(value->words);
}

// A number, a string, or a range of them.
StatusOr<Argument> Builder::BuildLiteral(Grammar::ValueContext* value) {
  const auto build = [&](const antlr4::Token* token) {
    return value->number != nullptr ? BuildNumber(At(token)) : BuildString(At(token));
  };
  const antlr4::Token* start = value->number != nullptr ? value->number : value->text;
  ASSIGN_OR_RETURN(Argument first, build(start));
  if (value->last == nullptr) return first;
  ASSIGN_OR_RETURN(const Argument last, build(value->last));
  return Folded(RangeOf(first.literal, last.literal, &range_room_), Span(value));
}

StatusOr<Argument> Builder::BuildNumber(const Lexeme& token) const {
  StatusOr<Value> value = ParseNumber(token.In(text_));
  if (!value.ok()) return WithDetail(value.status(), Place(token.span));
  return Literal(*std::move(value), token.span);
}

StatusOr<Argument> Builder::BuildString(const Lexeme& token) const {
  const std::string_view quoted = token.In(text_);
  size_t error_at = 0;
  StatusOr<Value> value = ParseString(quoted, &error_at);
  if (value.ok()) return Literal(*std::move(value), token.span);
  SourceSpan span{token.span.line, token.span.column, 2};
  for (char c : quoted.substr(0, error_at)) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;
    ++span.column;
    if (c != '\n') continue;
    ++span.line;
    span.column = 1;
  }
  return WithDetail(value.status(), Place(span));
}

StatusOr<Argument> Builder::BuildList(Grammar::ListContext* list) {
  const SourceSpan span = Span(list);
  if (list->colon != nullptr) return Literal(Value::EmptyMap(), span);
  size_t num_pairs = 0;
  for (const Grammar::EntryContext* entry : list->entries) {
    if (entry->second != nullptr) ++num_pairs;
  }
  if (num_pairs > 0) {
    if (num_pairs == list->entries.size()) {
      ASSIGN_OR_RETURN(Argument map, BuildMap(list->entries));
      map.span = span;
      return map;
    }
    for (const Grammar::EntryContext* entry : list->entries) {
      if (entry->second != nullptr) continue;
      return Error("BAD_MAP", Span(entry), "This entry of the map has no \": value\".",
                   "a map is [name: 'marko', age: 29], a list is ['marko', 29]");
    }
  }
  Argument result = Make(Argument::Kind::kList, span, "");
  result.items.reserve(list->entries.size());
  for (const Grammar::EntryContext* entry : list->entries) {
    ASSIGN_OR_RETURN(Argument item, BuildValue(entry->first));
    result.items.push_back(std::move(item));
  }
  std::optional<ValueList> constants = ConstantsOf(result.items);
  if (constants.has_value()) return Folded(Value::List(*std::move(constants)), span);
  return result;
}

StatusOr<Argument> Builder::BuildSet(Grammar::SetContext* set) {
  Argument result = Make(Argument::Kind::kSet, Span(set), "");
  result.items.reserve(set->entries.size());
  for (Grammar::ValueContext* value : set->entries) {
    ASSIGN_OR_RETURN(Argument item, BuildValue(value));
    result.items.push_back(std::move(item));
  }
  std::optional<ValueList> constants = ConstantsOf(result.items);
  if (constants.has_value()) return Folded(MakeSet(*std::move(constants)), result.span);
  return result;
}

StatusOr<Argument> Builder::BuildMap(const Entries& entries) {
  Argument result = Make(Argument::Kind::kMap, {}, "");
  result.items.reserve(2 * entries.size());
  for (Grammar::EntryContext* entry : entries) {
    ASSIGN_OR_RETURN(Argument key, BuildKey(entry));
    result.items.push_back(std::move(key));
    ASSIGN_OR_RETURN(Argument value, BuildValue(entry->second));
    result.items.push_back(std::move(value));
  }
  std::optional<ValueList> constants = ConstantsOf(result.items);
  if (constants.has_value()) return Folded(MapOf(*std::move(constants)), {});
  return result;
}

// A bare word is a string, a parenthesised one what it is elsewhere: label: and (label): differ.
StatusOr<Argument> Builder::BuildKey(Grammar::EntryContext* entry) {
  const Grammar::ChainContext* chain = entry->first->words;
  const bool bare_word = entry->wrapper == nullptr && chain != nullptr &&
                         chain->links.size() == 1 && chain->links[0]->call == nullptr &&
                         chain->links[0]->creation == nullptr;
  if (bare_word) {
    const Grammar::LinkContext* word = chain->links[0];
    return Literal(Value::String(std::string(Name(word))), At(word->name).span);
  }
  ASSIGN_OR_RETURN(Argument key, BuildValue(entry->first));
  if (ConstantOf(key).has_value() || key.kind == Argument::Kind::kParameter ||
      key.kind == Argument::Kind::kList || key.kind == Argument::Kind::kSet ||
      key.kind == Argument::Kind::kMap || key.kind == Argument::Kind::kFunction) {
    return key;
  }
  return Error("BAD_MAP", key.span,
               "A map's key can't be a " + std::string(KindName(key.kind)) + ".",
               "keys are words, strings, numbers, T.id, T.label, Direction.OUT, Direction.IN");
}

StatusOr<Argument> Builder::BuildChain(Grammar::ChainContext* chain) {
  const Links& links = chain->links;
  const Grammar::LinkContext* first = links.front();
  if (first->creation == nullptr) {
    if (first->call != nullptr) return BuildCalled(chain);
    return links.size() == 1 ? BuildWord(first) : BuildQualified(chain);
  }
  if (IsStrategyName(Name(first))) return BuildStrategy(links);
  if (IsLiteralFunction(Name(first)) && first->call != nullptr) return BuildFunction(links);
  return ErrorAt(
      first, kClosure,
      "\"new\" makes strategies only; " + Quoted(first) + " is Groovy or Java, not Gremlin.",
      "write literals directly: [1, 2], {1, 2}, [key: 'value'], datetime('2023-08-02')");
}

// A chain whose first word is not called: __.out(), P.gt(1), Order.desc, g.V().
StatusOr<Argument> Builder::BuildQualified(Grammar::ChainContext* chain) {
  const Links& links = chain->links;
  const Grammar::LinkContext* first = links.front();
  const std::string_view name = Name(first);
  if (name == "__") return BuildNested(chain, 1, "__");
  if (name == "P" || name == "TextP") return BuildPredicates(links, 1);
  if (name == "VertexProperty" && Name(links[1]) == "Cardinality") return BuildEnum(links, 1);
  if (IsEnumType(name)) return BuildEnum(links, 0);
  if (IsStrategyName(name)) {
    return ErrorAt(first, kClosure, "Building a strategy with methods is Java, not Gremlin.",
                   "write new " + std::string(name) + "(option: value)");
  }
  if (IsForeignWord(name)) {
    return ErrorAt(first, kClosure, Quoted(first) + " is Groovy or Java, not Gremlin.",
                   std::string(kLambdaHint));
  }
  if (links[1]->call != nullptr) {
    return ErrorAt(first, "NESTED_SOURCE",
                   "A nested traversal can't start from " + Quoted(first) + ".",
                   "start it with a step or with __, as in __.out()");
  }
  std::vector<std::string_view> candidates = EnumTypes();
  candidates.push_back("P");
  candidates.push_back("TextP");
  return ErrorAt(first, "UNKNOWN_WORD", "There is no type " + Quoted(first) + ".",
                 DidYouMean("", name, candidates));
}

// A chain whose first word is called: out().in(), gt(1), UUID(), single(1), ReadOnlyStrategy().
StatusOr<Argument> Builder::BuildCalled(Grammar::ChainContext* chain) {
  const Links& links = chain->links;
  const Grammar::LinkContext* first = links.front();
  const std::string_view name = Name(first);
  if (IsStrategyName(name)) return BuildStrategy(links);
  if (IsLiteralFunction(name)) return BuildFunction(links);
  const EnumWord* word = FindEnumWord("Cardinality", name);
  if (word != nullptr && links.size() == 1) return BuildCardinality(first);
  if (name == "not") {
    const Entries& entries = first->call->entries;
    if (!entries.empty() && IsPredicate(entries[0]->first)) return BuildPredicates(links, 0);
  } else if (FindPredicate(name) != nullptr) {
    return BuildPredicates(links, 0);
  }
  return BuildNested(chain, 0, "");
}

StatusOr<Argument> Builder::BuildWord(const Grammar::LinkContext* link) {
  const std::string_view name = Name(link);
  const SourceSpan span = At(link->name).span;
  if (name == "null") return Literal(Value::Null(), span);
  if (name == "true" || name == "false") return Literal(Value::Bool(name == "true"), span);
  if (name == "NaN") return Literal(Value::Double(std::numeric_limits<double>::quiet_NaN()), span);
  if (name == "Infinity") {
    return Literal(Value::Double(std::numeric_limits<double>::infinity()), span);
  }
  if (name == "__") {
    return ErrorAt(link, "MISSING_STEP", "Expected \".\" and a step after \"__\".",
                   "for example __.out()");
  }
  if (IsStrategyName(name)) return Make(Argument::Kind::kStrategy, span, name);
  const EnumWord* word = FindEnumWord("", name);
  if (word != nullptr) {
    Argument argument = Make(Argument::Kind::kEnum, span, word->canonical);
    argument.qualifier = std::string(word->type);
    return argument;
  }
  Argument argument = Make(Argument::Kind::kParameter, span, name);
  if (known_parameters_.insert(argument.name).second) parameters_.push_back(argument.name);
  return argument;
}

// Order.desc, Cardinality.single(43); the type is at `type_at`.
StatusOr<Argument> Builder::BuildEnum(const Links& links, size_t type_at) {
  const Grammar::LinkContext* type_link = links[type_at];
  if (type_link->call != nullptr || type_at + 1 >= links.size()) return NotACall(links.back());
  const Grammar::LinkContext* link = links[type_at + 1];
  const std::string_view type = Name(type_link);
  const EnumWord* word = FindEnumWord(type, Name(link));
  if (word == nullptr || link->creation != nullptr) {
    return ErrorAt(link, "UNKNOWN_WORD", std::string(type) + " has no word " + Quoted(link) + ".",
                   DidYouMean(std::string(type) + ".", Name(link), EnumWordsOf(type)));
  }
  if (type_at + 2 < links.size()) {
    return ErrorAt(links[type_at + 2], kClosure,
                   "Methods of " + std::string(type) + " are Groovy or Java, not Gremlin.");
  }
  SourceSpan span = At(links.front()->name).span;
  span.length = At(link->name).index + At(link->name).span.length - At(links.front()->name).index;
  if (link->call != nullptr) {
    if (type != "Cardinality") {
      return ErrorAt(
          link, "SYNTAX",
          std::string(type) + "." + std::string(word->word) + " is written without parentheses.");
    }
    ASSIGN_OR_RETURN(Argument argument, BuildCardinality(link));
    argument.span = span;
    return argument;
  }
  Argument argument = Make(Argument::Kind::kEnum, span, word->canonical);
  argument.qualifier = std::string(type);
  return argument;
}

// single(43): a value with its cardinality.
StatusOr<Argument> Builder::BuildCardinality(const Grammar::LinkContext* link) {
  Argument argument = Make(Argument::Kind::kEnum, At(link->name).span, Name(link));
  argument.qualifier = "Cardinality";
  ASSIGN_OR_RETURN(argument.items, BuildArguments(link));
  if (argument.items.size() != 1) {
    return ErrorAt(link, "ARGUMENTS", "Cardinality." + argument.name + "() takes one value.");
  }
  return argument;
}

StatusOr<Argument> Builder::BuildStrategy(const Links& links) {
  const Grammar::LinkContext* link = links.front();
  if (links.size() > 1) {
    return ErrorAt(links[1], kClosure, "Methods of strategies are Java, not Gremlin.",
                   "write new " + std::string(Name(link)) + "(option: value)");
  }
  Argument result = Make(Argument::Kind::kStrategy, At(link->name).span, Name(link));
  if (link->call == nullptr) return result;
  for (Grammar::EntryContext* entry : link->call->entries) {
    if (entry->second == nullptr) {
      return Error("SYNTAX", Span(entry), "A strategy takes its options as \"name: value\".",
                   "for example new SubgraphStrategy(vertices: hasLabel('person'))");
    }
    ASSIGN_OR_RETURN(Argument key, BuildKey(entry));
    if (key.kind != Argument::Kind::kLiteral || key.literal.kind() != ValueKind::kString) {
      return Error("SYNTAX", key.span, "The name of a strategy's option is a word.");
    }
    result.items.push_back(std::move(key));
    ASSIGN_OR_RETURN(Argument value, BuildValue(entry->second));
    result.items.push_back(std::move(value));
  }
  return result;
}

StatusOr<Argument> Builder::BuildFunction(const Links& links) {
  const Grammar::LinkContext* link = links.front();
  if (links.size() > 1) {
    return ErrorAt(links[1], kClosure, "Methods of values are Groovy or Java, not Gremlin.",
                   "use steps on the value, as in inject(datetime('2023-08-02')).dateAdd(day, 1)");
  }
  const std::string_view name = CanonicalFunction(Name(link));
  Argument result = Make(Argument::Kind::kFunction, At(link->name).span, name);
  ASSIGN_OR_RETURN(result.items, BuildArguments(link));
  const bool is_vertex = name == "Vertex";
  const size_t least = is_vertex ? 2 : name == "Duration" ? 1 : 0;
  const size_t most = is_vertex ? 2 : 1;
  if (result.items.size() < least || result.items.size() > most) {
    return ErrorAt(
        link, "ARGUMENTS",
        std::string(name) + "() takes " + (is_vertex ? "an id and a label." : "one string."));
  }
  for (size_t i = 0; i < result.items.size(); ++i) {
    const Argument& item = result.items[i];
    if (item.kind == Argument::Kind::kParameter) return result;
    const bool is_id = is_vertex && i == 0;
    if (item.kind != Argument::Kind::kLiteral ||
        (!is_id && item.literal.kind() != ValueKind::kString)) {
      return Error("ARGUMENTS", item.span,
                   std::string(name) + "() takes a string, not a " +
                       std::string(KindName(item.kind)) + " of another type.");
    }
  }
  if (result.items.empty()) return result;
  if (is_vertex) {
    ElementData vertex;
    vertex.id = result.items[0].literal;
    vertex.label = result.items[1].literal.AsString();
    return Folded(Value::Of(std::move(vertex)), result.span);
  }
  StatusOr<Value> value = CallLiteralFunction(name, result.items[0].literal.AsString());
  if (!value.ok()) return WithDetail(value.status(), Place(result.items[0].span));
  return Literal(*std::move(value), result.span);
}

// not(gt(1)) is a predicate, not(out()) a traversal.
bool Builder::IsPredicate(const Grammar::ValueContext* value) const {
  if (value->words == nullptr) return false;
  const Grammar::LinkContext* first = value->words->links.front();
  const std::string_view name = Name(first);
  if (first->call == nullptr) return name == "P" || name == "TextP";
  if (name != "not") return FindPredicate(name) != nullptr;
  const Entries& entries = first->call->entries;
  return !entries.empty() && IsPredicate(entries[0]->first);
}

// gt(1).and(lt(3)).negate(), from its first call on.
StatusOr<Argument> Builder::BuildPredicates(const Links& links, size_t from) {
  ASSIGN_OR_RETURN(Argument result, BuildPredicate(links[from]));
  for (size_t i = from + 1; i < links.size(); ++i) {
    const Grammar::LinkContext* link = links[i];
    const std::string_view name = Name(link);
    if (link->call == nullptr || (name != "and" && name != "or" && name != "negate")) {
      return ErrorAt(link, "UNKNOWN_PREDICATE", Quoted(link) + " can't follow a predicate.",
                     "predicates combine with .and(...), .or(...) and .negate()");
    }
    ASSIGN_OR_RETURN(std::vector<Argument> operands, BuildArguments(link));
    const size_t expected = name == "negate" ? 0 : 1;
    if (operands.size() != expected ||
        (expected == 1 && operands[0].kind != Argument::Kind::kPredicate)) {
      return ErrorAt(link, "ARGUMENTS",
                     std::string(name) + "() after a predicate takes " +
                         (expected == 0 ? "no argument." : "one predicate."));
    }
    const std::string_view combined = name == "negate" ? "not" : name;
    RETURN_IF_ERROR(Combine(combined, std::move(operands), i == from + 1, &result));
  }
  const Lexeme& first = At(links.front()->start);
  const Lexeme& last = At(links.back()->stop);
  result.span = first.span;
  result.span.length = last.index + last.span.length - first.index;
  return result;
}

// Same operators join one node and a double "not" vanishes, so only changes of operator nest.
Status Builder::Combine(std::string_view name, std::vector<Argument> operands, bool first,
                        Argument* left) {
  const bool same = left->name == name && left->qualifier == "P";
  if (same && name == "not") {
    Argument inner = std::move(left->items[0]);
    *left = std::move(inner);
    return OkStatus();
  }
  if (!same) {
    if (!first && ++combinations_ > kMaxCombinations) {
      ErrorDetail detail;
      detail.reason = "LIMIT";
      detail.span = left->span;
      detail.limit = "combined predicates " + std::to_string(kMaxCombinations);
      detail.used = std::to_string(combinations_);
      detail.hint = "use within(...), between(...) or several has() steps";
      return ResourceExhausted(
          "The query alternates .and(), .or() and .negate() of predicates "
          "too often.",
          detail);
    }
    Argument combined = Make(Argument::Kind::kPredicate, left->span, name);
    combined.qualifier = "P";
    combined.items.push_back(std::move(*left));
    *left = std::move(combined);
  }
  for (Argument& operand : operands) left->items.push_back(std::move(operand));
  return OkStatus();
}

StatusOr<Argument> Builder::BuildPredicate(const Grammar::LinkContext* link) {
  const PredicateWord* word = FindPredicate(Name(link));
  if (word == nullptr) {
    return ErrorAt(link, "UNKNOWN_PREDICATE", "There is no predicate " + Quoted(link) + ".",
                   DidYouMean("", Name(link), PredicateNames()));
  }
  if (link->call == nullptr) return NotACall(link);
  Argument result = Make(Argument::Kind::kPredicate, At(link->name).span, word->name);
  result.qualifier = std::string(word->type);
  ASSIGN_OR_RETURN(result.items, BuildArguments(link));
  if (word->arity != kAnyArity && static_cast<size_t>(word->arity) != result.items.size()) {
    return ErrorAt(link, "ARGUMENTS",
                   std::string(word->type) + "." + std::string(word->name) + "() takes " +
                       (word->arity == 1 ? "one argument" : "two arguments") + ", not " +
                       std::to_string(result.items.size()) + ".");
  }
  if (word->name == "not" && result.items[0].kind != Argument::Kind::kPredicate) {
    return ErrorAt(link, "ARGUMENTS", "P.not() takes a predicate.", "for example P.not(gt(30))");
  }
  return result;
}

}  // namespace

StatusOr<Query> BuildQuery(antlr4::ParserRuleContext* query, std::string_view text,
                           const std::vector<Lexeme>& tokens, const Limits& limits) {
  return Builder(text, tokens, limits).Build(static_cast<Grammar::QueryContext*>(query));
}

}  // namespace koios::parser
