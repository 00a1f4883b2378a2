#include "parser/words.h"

#include <algorithm>

namespace koios::parser {
namespace {

constexpr EnumWord kEnumWords[] = {
    {"T", "id", "id", true},
    {"T", "label", "label", true},
    {"T", "key", "key", true},
    {"T", "value", "value", true},
    {"Order", "asc", "asc", true},
    {"Order", "desc", "desc", true},
    {"Order", "shuffle", "shuffle", true},
    {"Scope", "local", "local", true},
    {"Scope", "global", "global", true},
    {"Pop", "first", "first", true},
    {"Pop", "last", "last", true},
    {"Pop", "all", "all", true},
    {"Pop", "mixed", "mixed", true},
    {"Direction", "OUT", "OUT", true},
    {"Direction", "IN", "IN", true},
    {"Direction", "BOTH", "BOTH", true},
    {"Direction", "from", "OUT", true},
    {"Direction", "to", "IN", true},
    {"Operator", "sum", "sum", true},
    {"Operator", "sumLong", "sumLong", true},
    {"Operator", "minus", "minus", true},
    {"Operator", "mult", "mult", true},
    {"Operator", "div", "div", true},
    {"Operator", "min", "min", true},
    {"Operator", "max", "max", true},
    {"Operator", "assign", "assign", true},
    {"Operator", "and", "and", true},
    {"Operator", "or", "or", true},
    {"Operator", "addAll", "addAll", true},
    {"Column", "keys", "keys", true},
    {"Column", "values", "values", true},
    {"Cardinality", "single", "single", true},
    {"Cardinality", "set", "set", true},
    {"Cardinality", "list", "list", true},
    {"Merge", "onCreate", "onCreate", true},
    {"Merge", "onMatch", "onMatch", true},
    {"Merge", "outV", "outV", true},
    {"Merge", "inV", "inV", true},
    {"Pick", "any", "any", true},
    {"Pick", "none", "none", true},
    {"Pick", "unproductive", "unproductive", true},
    {"DT", "second", "second", true},
    {"DT", "minute", "minute", true},
    {"DT", "hour", "hour", true},
    {"DT", "day", "day", true},
    {"Barrier", "normSack", "normSack", true},
    {"GType", "BIGDECIMAL", "BIGDECIMAL", true},
    {"GType", "BIGINT", "BIGINT", true},
    {"GType", "BINARY", "BINARY", true},
    {"GType", "BOOLEAN", "BOOLEAN", true},
    {"GType", "BYTE", "BYTE", true},
    {"GType", "CHAR", "CHAR", true},
    {"GType", "DATETIME", "DATETIME", true},
    {"GType", "DOUBLE", "DOUBLE", true},
    {"GType", "DURATION", "DURATION", true},
    {"GType", "EDGE", "EDGE", true},
    {"GType", "FLOAT", "FLOAT", true},
    {"GType", "GRAPH", "GRAPH", true},
    {"GType", "INT", "INT", true},
    {"GType", "LIST", "LIST", true},
    {"GType", "LONG", "LONG", true},
    {"GType", "MAP", "MAP", true},
    {"GType", "NULL", "NULL", true},
    {"GType", "NUMBER", "NUMBER", true},
    {"GType", "PATH", "PATH", true},
    {"GType", "PROPERTY", "PROPERTY", true},
    {"GType", "SET", "SET", true},
    {"GType", "SHORT", "SHORT", true},
    {"GType", "STRING", "STRING", true},
    {"GType", "TREE", "TREE", true},
    {"GType", "UUID", "UUID", true},
    {"GType", "VERTEX", "VERTEX", true},
    {"GType", "VPROPERTY", "VPROPERTY", true},
    {"WithOptions", "tokens", "tokens", false},
    {"WithOptions", "none", "none", false},
    {"WithOptions", "ids", "ids", false},
    {"WithOptions", "labels", "labels", false},
    {"WithOptions", "keys", "keys", false},
    {"WithOptions", "values", "values", false},
    {"WithOptions", "all", "all", false},
    {"WithOptions", "indexer", "indexer", false},
    {"WithOptions", "list", "list", false},
    {"WithOptions", "map", "map", false},
    {"IO", "reader", "reader", false},
    {"IO", "writer", "writer", false},
    {"IO", "gryo", "gryo", false},
    {"IO", "graphson", "graphson", false},
    {"IO", "graphml", "graphml", false},
    {"ConnectedComponent", "component", "component", false},
    {"ConnectedComponent", "edges", "edges", false},
    {"ConnectedComponent", "propertyName", "propertyName", false},
    {"PageRank", "edges", "edges", false},
    {"PageRank", "times", "times", false},
    {"PageRank", "propertyName", "propertyName", false},
    {"PeerPressure", "edges", "edges", false},
    {"PeerPressure", "times", "times", false},
    {"PeerPressure", "propertyName", "propertyName", false},
    {"ShortestPath", "target", "target", false},
    {"ShortestPath", "edges", "edges", false},
    {"ShortestPath", "distance", "distance", false},
    {"ShortestPath", "maxDistance", "maxDistance", false},
    {"ShortestPath", "includeEdges", "includeEdges", false},
};

constexpr PredicateWord kPredicates[] = {
    {"P", "eq", 1},
    {"P", "neq", 1},
    {"P", "lt", 1},
    {"P", "lte", 1},
    {"P", "gt", 1},
    {"P", "gte", 1},
    {"P", "inside", 2},
    {"P", "outside", 2},
    {"P", "between", 2},
    {"P", "within", kAnyArity},
    {"P", "without", kAnyArity},
    {"P", "typeOf", 1},
    {"P", "not", 1},
    {"TextP", "startingWith", 1},
    {"TextP", "notStartingWith", 1},
    {"TextP", "endingWith", 1},
    {"TextP", "notEndingWith", 1},
    {"TextP", "containing", 1},
    {"TextP", "notContaining", 1},
    {"TextP", "regex", 1},
    {"TextP", "notRegex", 1},
};

constexpr std::string_view kLiteralFunctions[] = {"datetime", "DateTime", "UUID",           "uuid",
                                                  "Duration", "Vertex",   "ReferenceVertex"};

constexpr std::string_view kForeignWords[] = {
    "Lambda", "it",          "java",    "javax",   "groovy",    "org",   "com",     "System",
    "Math",   "String",      "Integer", "Long",    "Double",    "Float", "Boolean", "Character",
    "Object", "Thread",      "Runtime", "Class",   "Arrays",    "Lists", "List",    "Map",
    "Set",    "Collections", "UUIDs",   "Instant", "LocalDate", "Date",  "Files",   "this",
};

struct TerminalWord {
  std::string_view name;
  Terminal terminal;
};
constexpr TerminalWord kTerminals[] = {
    {"next", Terminal::kNext},       {"toList", Terminal::kToList},
    {"toSet", Terminal::kToSet},     {"toBulkSet", Terminal::kToBulkSet},
    {"iterate", Terminal::kIterate}, {"hasNext", Terminal::kHasNext},
    {"tryNext", Terminal::kTryNext}, {"explain", Terminal::kExplain},
    {"profile", Terminal::kProfile},
};

template <typename Range>
bool Contains(const Range& range, std::string_view word) {
  return std::find(std::begin(range), std::end(range), word) != std::end(range);
}

}  // namespace

const EnumWord* FindEnumWord(std::string_view type, std::string_view word) {
  for (const EnumWord& row : kEnumWords) {
    if (row.word == word && (type.empty() ? row.bare : row.type == type)) return &row;
  }
  return nullptr;
}

bool IsEnumType(std::string_view type) {
  return std::any_of(std::begin(kEnumWords), std::end(kEnumWords),
                     [type](const EnumWord& row) { return row.type == type; });
}

std::vector<std::string_view> EnumTypes() {
  std::vector<std::string_view> types;
  for (const EnumWord& row : kEnumWords) {
    if (!Contains(types, row.type)) types.push_back(row.type);
  }
  return types;
}

std::vector<std::string_view> EnumWordsOf(std::string_view type) {
  std::vector<std::string_view> words;
  for (const EnumWord& row : kEnumWords) {
    if (type.empty() ? row.bare : row.type == type) words.push_back(row.word);
  }
  return words;
}

const PredicateWord* FindPredicate(std::string_view name) {
  for (const PredicateWord& row : kPredicates) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string_view> PredicateNames(std::string_view type) {
  std::vector<std::string_view> names;
  for (const PredicateWord& row : kPredicates) {
    if (type.empty() || row.type == type) names.push_back(row.name);
  }
  return names;
}

bool IsLiteralFunction(std::string_view name) { return Contains(kLiteralFunctions, name); }

bool IsStrategyName(std::string_view name) {
  return !name.empty() && name.front() >= 'A' && name.front() <= 'Z' && name.ends_with("Strategy");
}

bool IsForeignWord(std::string_view name) { return Contains(kForeignWords, name); }

std::optional<Terminal> FindTerminal(std::string_view name) {
  for (const TerminalWord& row : kTerminals) {
    if (row.name == name) return row.terminal;
  }
  return std::nullopt;
}

std::string_view TerminalName(Terminal terminal) {
  for (const TerminalWord& row : kTerminals) {
    if (row.terminal == terminal) return row.name;
  }
  return "";
}

}  // namespace koios::parser
