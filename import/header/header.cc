#include "import/header/header.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace koios::import {
namespace {

// The last colon that no backslash escapes, before any "(space)" or "{options}" behind a colon;
// npos when there is none.
size_t TypeColon(std::string_view field) {
  size_t colon = std::string_view::npos;
  for (size_t i = 0; i < field.size(); ++i) {
    if (colon != std::string_view::npos && (field[i] == '(' || field[i] == '{')) break;
    if (field[i] == ':' && (i == 0 || field[i - 1] != '\\')) colon = i;
  }
  return colon;
}

std::string UnescapeColons(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size() && name[i + 1] == ':') continue;
    out.push_back(name[i]);
  }
  return out;
}

bool IsNeo4jWord(std::string_view field) {
  size_t colon = TypeColon(field);
  if (colon == std::string_view::npos) return false;
  std::string word(field.substr(colon + 1));
  word = word.substr(0, word.find_first_of("({"));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  constexpr std::array<std::string_view, 6> kWords = {"ID",       "LABEL",  "TYPE",
                                                      "START_ID", "END_ID", "IGNORE"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

StatusOr<Dialect> DetectDialect(const std::vector<std::string>& fields) {
  const bool neptune = std::any_of(fields.begin(), fields.end(),
                                   [](const std::string& f) { return f.starts_with('~'); });
  const bool neo4j = std::any_of(fields.begin(), fields.end(), IsNeo4jWord);
  if (neptune && neo4j) {
    return InvalidArgument("The header mixes Neptune's columns (~id) with neo4j-admin's (:ID).");
  }
  if (neptune) return Dialect::kNeptune;
  if (neo4j) return Dialect::kNeo4j;
  return InvalidArgument(
      "The header is neither Neptune's (~id, ~from, ~to) nor neo4j-admin's (:ID, :START_ID, "
      ":END_ID). Is the delimiter right? Otherwise describe the columns with --mapping.");
}

void TrimField(std::string* field) {
  constexpr const char* kBlanks = " \t";
  field->erase(field->find_last_not_of(kBlanks) + 1);
  field->erase(0, field->find_first_not_of(kBlanks));
}

// Neptune's "type(single)": the cardinality. Vertex properties are single in Koios.
std::string_view DropCardinality(std::string_view type) {
  for (std::string_view suffix : {"(single)", "(set)"}) {
    if (type.ends_with(suffix)) return type.substr(0, type.size() - suffix.size());
  }
  return type;
}

StatusOr<ColumnPlan> NeptuneColumn(const std::string& field, TableKind kind) {
  ColumnPlan column;
  if (field.starts_with('~')) {
    const std::string_view word = std::string_view(field).substr(1);
    if (word == "id") {
      column.role = ColumnRole::kId;
    } else if (word == "label") {
      column.role = ColumnRole::kLabel;
    } else if (word == "from" && kind == TableKind::kEdges) {
      column.role = ColumnRole::kStart;
    } else if (word == "to" && kind == TableKind::kEdges) {
      column.role = ColumnRole::kEnd;
    } else if (word == "from" || word == "to") {
      return InvalidArgument("A file with '" + field + "' holds edges; pass it to --edges.");
    } else {
      return InvalidArgument("Unknown column '" + field + "'; there are ~id, ~label, ~from, ~to.");
    }
    return column;
  }
  const size_t colon = TypeColon(field);
  column.name = UnescapeColons(std::string_view(field).substr(0, colon));
  if (colon != std::string_view::npos) {
    ASSIGN_OR_RETURN(column.type,
                     ParseColumnType(DropCardinality(std::string_view(field).substr(colon + 1))));
  }
  return column;
}

StatusOr<ColumnPlan> Neo4jColumn(const std::string& field, TableKind kind) {
  const size_t colon = TypeColon(field);
  if (colon == std::string_view::npos) {
    ColumnPlan column;
    column.name = field;
    return column;
  }
  if (TypeColon(std::string_view(field).substr(0, colon)) != std::string_view::npos) {
    return InvalidArgument(
        "'" + field +
        "' has two types. Is the delimiter right? A colon in a name is written '\\:'.");
  }
  return ParseColumnWord(std::string_view(field).substr(0, colon),
                         std::string_view(field).substr(colon + 1), kind);
}

}  // namespace

StatusOr<TablePlan> ParseHeader(std::vector<std::string> fields, Dialect dialect, TableKind kind,
                                std::string_view label) {
  for (std::string& field : fields) TrimField(&field);
  if (dialect == Dialect::kAuto) {
    ASSIGN_OR_RETURN(dialect, DetectDialect(fields));
  }
  TablePlan plan;
  plan.kind = kind;
  plan.label = label;
  for (size_t i = 0; i < fields.size(); ++i) {
    auto column = dialect == Dialect::kNeptune ? NeptuneColumn(fields[i], kind)
                                               : Neo4jColumn(fields[i], kind);
    if (!column.ok()) {
      return InvalidArgument("Column " + std::to_string(i + 1) + ": " + MessageOf(column.status()));
    }
    plan.columns.push_back(*std::move(column));
  }
  if (plan.label.empty() && kind == TableKind::kNodes) plan.label = "vertex";
  if (plan.label.empty() && dialect == Dialect::kNeptune) plan.label = "edge";
  if (dialect == Dialect::kNeptune && kind == TableKind::kNodes && !plan.Find(ColumnRole::kId)) {
    return InvalidArgument("A file of vertices needs a column ~id.");
  }
  RETURN_IF_ERROR(CheckPlan(plan));
  return plan;
}

}  // namespace koios::import
