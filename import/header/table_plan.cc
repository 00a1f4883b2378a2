#include "import/header/table_plan.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "storage/commit_limits.h"

namespace koios::import {
namespace {

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

// "{id-type:long}" behind an id; other options of neo4j-admin concern its own storage.
StatusOr<std::optional<IdType>> ParseOptions(std::string_view options) {
  const std::string text = Upper(options);
  constexpr std::string_view kKey = "ID-TYPE:";
  size_t at = text.find(kKey);
  if (at == std::string::npos) return std::optional<IdType>();
  std::string word = text.substr(at + kKey.size());
  word = word.substr(0, word.find_first_of(",} "));
  if (word == "STRING") return std::optional<IdType>(IdType::kString);
  if (word == "INTEGER" || word == "INT" || word == "LONG" || word == "ACTUAL") {
    return std::optional<IdType>(IdType::kInt);
  }
  return InvalidArgument("Unknown id-type '" + word + "'; use string or long.");
}

}  // namespace

std::optional<size_t> TablePlan::Find(ColumnRole role) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == role) return i;
  }
  return std::nullopt;
}

Status CheckPlan(const TablePlan& plan) {
  std::set<std::string_view> names;
  size_t roles[6] = {};
  for (const ColumnPlan& column : plan.columns) {
    ++roles[static_cast<size_t>(column.role)];
    if (column.role == ColumnRole::kProperty && column.name.empty()) {
      return InvalidArgument("A property column has no name; name it or mark it to be ignored.");
    }
    const bool stored = column.role == ColumnRole::kProperty || column.role == ColumnRole::kId;
    if (stored && !column.name.empty()) {
      const Status named = storage::CheckName(column.name, "property key");
      if (!named.ok()) {
        return InvalidArgument(MessageOf(named) + " The column is '" + column.name.substr(0, 50) +
                               "'; a mapping file can rename it.");
      }
    }
    if (stored && !column.name.empty() && !names.insert(column.name).second) {
      return InvalidArgument("The property '" + column.name +
                             "' is in two columns; address them by position in a mapping file.");
    }
  }
  const auto count = [&](ColumnRole role) { return roles[static_cast<size_t>(role)]; };
  for (ColumnRole role :
       {ColumnRole::kId, ColumnRole::kLabel, ColumnRole::kStart, ColumnRole::kEnd}) {
    if (count(role) > 1)
      return InvalidArgument("A header has two columns for an id, end or label.");
  }
  if (plan.kind == TableKind::kEdges) {
    if (count(ColumnRole::kStart) == 0 || count(ColumnRole::kEnd) == 0) {
      return InvalidArgument(
          "An edge file needs a column for each end: ~from and ~to, or :START_ID "
          "and :END_ID. Is it a file of nodes?");
    }
    if (plan.label.empty() && count(ColumnRole::kLabel) == 0) {
      return InvalidArgument("The edges have no label: add a :TYPE column or write LABEL=file.");
    }
  } else if (count(ColumnRole::kStart) + count(ColumnRole::kEnd) > 0) {
    return InvalidArgument("A file of nodes has columns for ends of edges; pass it to --edges.");
  }
  return OkStatus();
}

StatusOr<ColumnPlan> ParseColumnWord(std::string_view name, std::string_view word, TableKind kind) {
  ColumnPlan column;
  column.name = name;
  std::string_view rest = word;
  std::string_view options;
  if (size_t brace = rest.find('{'); brace != std::string_view::npos) {
    options = rest.substr(brace);
    rest = rest.substr(0, brace);
  }
  size_t paren = rest.find('(');
  if (paren != std::string_view::npos) {
    if (!rest.ends_with(')')) {
      return InvalidArgument("The column '" + std::string(name) + ":" + std::string(word) +
                             "' has no closing parenthesis.");
    }
    column.space = rest.substr(paren + 1, rest.size() - paren - 2);
    rest = rest.substr(0, paren);
  }
  const std::string role = Upper(rest);
  if (role == "ID") {
    column.role = ColumnRole::kId;
  } else if (role == "START_ID") {
    column.role = ColumnRole::kStart;
  } else if (role == "END_ID") {
    column.role = ColumnRole::kEnd;
  } else if (role == "LABEL" || role == "TYPE") {
    column.role = ColumnRole::kLabel;
  } else if (role == "IGNORE") {
    column.role = ColumnRole::kIgnore;
  } else {
    if (paren != std::string_view::npos) {
      return InvalidArgument("Only ID, START_ID and END_ID have an id space, not '" +
                             std::string(word) + "'.");
    }
    ASSIGN_OR_RETURN(column.type, ParseColumnType(rest));
    return column;
  }
  if (role == "LABEL" && kind == TableKind::kEdges) {
    return InvalidArgument("An edge file has :TYPE, not :LABEL.");
  }
  ASSIGN_OR_RETURN(column.id_type, ParseOptions(options));
  return column;
}

}  // namespace koios::import
