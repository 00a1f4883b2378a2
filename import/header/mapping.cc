#include "import/header/mapping.h"

#include <fnmatch.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

#include "import/io_error.h"

namespace koios::import {
namespace {

constexpr size_t kMaxMappingBytes = size_t{1} << 20;
constexpr size_t kMaxTables = 10'000;

std::string Where(std::string_view name, const YAML::Node& node) {
  return std::string(name) + ":" + std::to_string(node.Mark().line + 1);
}

Status Bad(std::string_view name, const YAML::Node& node, const std::string& what) {
  return InvalidArgument(Where(name, node) + ": " + what);
}

StatusOr<std::string> Text(std::string_view name, const YAML::Node& node) {
  if (!node.IsScalar()) return Bad(name, node, "a text is expected here.");
  return node.Scalar();
}

Status ReadColumns(std::string_view name, const YAML::Node& node, MappedTable* table) {
  if (!node.IsMap()) return Bad(name, node, "'columns' is a map of column to meaning.");
  for (const auto& entry : node) {
    ASSIGN_OR_RETURN(std::string selector, Text(name, entry.first));
    ASSIGN_OR_RETURN(std::string meaning, Text(name, entry.second));
    if (table->columns.size() >= kMaxColumns) return Bad(name, node, "there are too many columns.");
    table->columns.emplace_back(std::move(selector), std::move(meaning));
  }
  return OkStatus();
}

Status ReadPatterns(std::string_view name, const YAML::Node& node, MappedTable* table) {
  if (node.IsSequence()) {
    for (const auto& item : node) {
      ASSIGN_OR_RETURN(std::string pattern, Text(name, item));
      table->patterns.push_back(std::move(pattern));
    }
    return OkStatus();
  }
  ASSIGN_OR_RETURN(std::string pattern, Text(name, node));
  table->patterns.push_back(std::move(pattern));
  return OkStatus();
}

StatusOr<MappedTable> ReadTable(std::string_view name, const YAML::Node& node, TableKind kind) {
  if (!node.IsMap()) return Bad(name, node, "an entry is a map with files, label, columns.");
  MappedTable table;
  table.kind = kind;
  for (const auto& entry : node) {
    ASSIGN_OR_RETURN(std::string key, Text(name, entry.first));
    const YAML::Node& value = entry.second;
    if (key == "files") {
      RETURN_IF_ERROR(ReadPatterns(name, value, &table));
    } else if (key == "label") {
      ASSIGN_OR_RETURN(table.label, Text(name, value));
    } else if (key == "columns") {
      RETURN_IF_ERROR(ReadColumns(name, value, &table));
    } else if (key == "header" || key == "others") {
      ASSIGN_OR_RETURN(std::string word, Text(name, value));
      const bool first = word == (key == "header" ? "true" : "string");
      const bool second = word == (key == "header" ? "false" : "ignore");
      if (!first && !second) {
        return Bad(
            name, value,
            key == "header" ? "'header' is true or false." : "'others' is string or ignore.");
      }
      (key == "header" ? table.has_header : table.ignore_others) = key == "header" ? first : second;
    } else {
      return Bad(name, entry.first,
                 "unknown word '" + key + "'; there are files, label, header, others, columns.");
    }
  }
  if (table.patterns.empty()) return Bad(name, node, "the entry has no 'files'.");
  return table;
}

Status ReadTables(std::string_view name, const YAML::Node& node, TableKind kind, Mapping* mapping) {
  if (!node.IsSequence()) return Bad(name, node, "a list of entries is expected here.");
  for (const auto& item : node) {
    if (mapping->tables.size() >= kMaxTables) return Bad(name, item, "there are too many entries.");
    ASSIGN_OR_RETURN(MappedTable table, ReadTable(name, item, kind));
    mapping->tables.push_back(std::move(table));
  }
  return OkStatus();
}

StatusOr<Mapping> ReadRoot(std::string_view name, const YAML::Node& root) {
  Mapping mapping;
  if (!root.IsMap())
    return InvalidArgument(std::string(name) + ": not a mapping file (see README).");
  for (const auto& entry : root) {
    ASSIGN_OR_RETURN(std::string key, Text(name, entry.first));
    if (key == "nodes") {
      RETURN_IF_ERROR(ReadTables(name, entry.second, TableKind::kNodes, &mapping));
    } else if (key == "edges") {
      RETURN_IF_ERROR(ReadTables(name, entry.second, TableKind::kEdges, &mapping));
    } else if (key == "delimiter") {
      ASSIGN_OR_RETURN(mapping.delimiter, Text(name, entry.second));
    } else if (key == "quote") {
      ASSIGN_OR_RETURN(mapping.quote, Text(name, entry.second));
    } else if (key == "array-delimiter") {
      ASSIGN_OR_RETURN(mapping.array_delimiter, Text(name, entry.second));
    } else if (key == "id-type") {
      ASSIGN_OR_RETURN(mapping.id_type, Text(name, entry.second));
    } else {
      return Bad(name, entry.first,
                 "unknown word '" + key +
                     "'; there are delimiter, quote, array-delimiter, id-type, nodes, edges.");
    }
  }
  return mapping;
}

std::string_view WithoutCompression(std::string_view path) {
  for (std::string_view suffix : {".gz", ".zst", ".zstd"}) {
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

// The last components of the path, as many as the pattern has.
std::string_view Tail(std::string_view path, size_t num_slashes) {
  size_t at = path.size();
  for (size_t i = 0; i <= num_slashes; ++i) {
    if (at == 0) return path;
    at = path.rfind('/', at - 1);
    if (at == std::string_view::npos) return path;
  }
  return path.substr(at + 1);
}

// "name:word" or "word". A word in parentheses may hold a colon, a name may not.
StatusOr<ColumnPlan> ReadMeaning(std::string_view header_name, std::string_view meaning,
                                 TableKind kind) {
  size_t colon = meaning.substr(0, meaning.find_first_of("({")).find(':');
  if (colon == std::string_view::npos) {
    ASSIGN_OR_RETURN(ColumnPlan column, ParseColumnWord(header_name, meaning, kind));
    // The header's name of an id is no wish to keep it as a property; "name:ID" is.
    if (column.role != ColumnRole::kProperty) column.name.clear();
    return column;
  }
  return ParseColumnWord(meaning.substr(0, colon), meaning.substr(colon + 1), kind);
}

StatusOr<size_t> SelectColumn(const std::string& selector, const MappedTable& table,
                              const std::vector<std::string>& fields) {
  size_t position = 0;
  auto [end, error] = std::from_chars(selector.data(), selector.data() + selector.size(), position);
  if (error == std::errc() && end == selector.data() + selector.size()) {
    if (position == 0 || position > fields.size()) {
      return InvalidArgument("The mapping names column " + selector + ", the file has " +
                             std::to_string(fields.size()) + ".");
    }
    return position - 1;
  }
  auto found = std::find(fields.begin(), fields.end(), selector);
  if (!table.has_header || found == fields.end()) {
    return InvalidArgument("The mapping names column '" + selector +
                           "', which the header has not.");
  }
  if (std::find(found + 1, fields.end(), selector) != fields.end()) {
    return InvalidArgument("Two columns are named '" + selector +
                           "'; the mapping must address them by position (from 1).");
  }
  return static_cast<size_t>(found - fields.begin());
}

}  // namespace

bool MappedTable::Matches(std::string_view path) const {
  const std::string_view bare = WithoutCompression(path);
  for (const std::string& pattern : patterns) {
    const size_t slashes = static_cast<size_t>(std::count(pattern.begin(), pattern.end(), '/'));
    const std::string tail(Tail(bare, slashes));
    const std::string glob(WithoutCompression(pattern));
    if (fnmatch(glob.c_str(), tail.c_str(), FNM_PATHNAME) == 0) return true;
  }
  return false;
}

const MappedTable* Mapping::Find(TableKind kind, std::string_view path) const {
  for (const MappedTable& table : tables) {
    if (table.kind == kind && table.Matches(path)) return &table;
  }
  return nullptr;
}

StatusOr<Mapping> ParseMapping(const std::string& text, std::string_view name) {
  if (text.size() > kMaxMappingBytes) {
    ErrorDetail detail;
    detail.limit = std::to_string(kMaxMappingBytes) + " bytes";
    detail.used = std::to_string(text.size()) + " bytes";
    return ResourceExhausted("The mapping file is too long.", detail);
  }
  try {
    return ReadRoot(name, YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return InvalidArgument(std::string(name) + ":" + std::to_string(error.mark.line + 1) + ": " +
                           error.msg + ".");
  }
}

StatusOr<Mapping> ReadMapping(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return IoError("open", path, errno == 0 ? ENOENT : errno);
  std::string text(kMaxMappingBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return ParseMapping(text, path);
}

StatusOr<TablePlan> PlanMappedTable(const MappedTable& table,
                                    const std::vector<std::string>& fields,
                                    std::string_view label) {
  TablePlan plan;
  plan.kind = table.kind;
  plan.label = label.empty() ? table.label : std::string(label);
  if (plan.label.empty() && table.kind == TableKind::kNodes) plan.label = "vertex";
  plan.columns.resize(fields.size());
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool ignored = table.ignore_others || !table.has_header;
    plan.columns[i].role = ignored ? ColumnRole::kIgnore : ColumnRole::kProperty;
    plan.columns[i].name = fields[i];
  }
  for (const auto& [selector, meaning] : table.columns) {
    ASSIGN_OR_RETURN(size_t index, SelectColumn(selector, table, fields));
    auto column = ReadMeaning(table.has_header ? fields[index] : "", meaning, table.kind);
    if (!column.ok()) {
      return InvalidArgument("Column '" + selector +
                             "' of the mapping: " + MessageOf(column.status()));
    }
    plan.columns[index] = *std::move(column);
  }
  RETURN_IF_ERROR(CheckPlan(plan));
  return plan;
}

}  // namespace koios::import
