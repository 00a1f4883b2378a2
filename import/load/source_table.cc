#include "import/load/source_table.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/text/text.h"
#include "import/csv/byte_source.h"
#include "import/csv/chunk_reader.h"
#include "import/csv/row_parser.h"
#include "import/header/header.h"
#include "import/header/mapping.h"
#include "import/io_error.h"

namespace koios::import {
namespace {

constexpr size_t kMaxFiles = 100'000;
constexpr size_t kMaxHeaderBytes = size_t{1} << 20;
constexpr size_t kMinRowBytes = size_t{64} << 10;

StatusOr<char> OneCharacter(const std::string& text, std::string_view flag) {
  if (text == "\\t" || text == "tab" || text == "TAB") return '\t';
  if (text.size() == 1 && text != "\n" && text != "\r" &&
      static_cast<unsigned char>(text[0]) < 0x80) {
    return text[0];
  }
  return InvalidArgument("--" + std::string(flag) + " is one ASCII character (or tab), not '" +
                         text + "'.");
}

Status SetCsvOptions(const ImportOptions& options, const Mapping& mapping, Sources* sources) {
  CsvOptions* csv = &sources->csv;
  const auto chosen = [](const std::optional<std::string>& flag,
                         const std::optional<std::string>& mapped) { return flag ? flag : mapped; };
  if (auto text = chosen(options.delimiter, mapping.delimiter)) {
    ASSIGN_OR_RETURN(csv->delimiter, OneCharacter(*text, "delimiter"));
  }
  if (auto text = chosen(options.array_delimiter, mapping.array_delimiter)) {
    ASSIGN_OR_RETURN(csv->array_delimiter, OneCharacter(*text, "array-delimiter"));
  }
  if (auto text = chosen(options.quote, mapping.quote)) {
    if (*text == "none") {
      csv->quote = std::nullopt;
    } else {
      ASSIGN_OR_RETURN(csv->quote, OneCharacter(*text, "quote"));
    }
  }
  if (auto text = chosen(options.id_type, mapping.id_type)) {
    if (*text == "int" || *text == "integer") {
      sources->id_type = IdType::kInt;
    } else if (*text == "string") {
      sources->id_type = IdType::kString;
    } else if (*text != "auto") {
      return InvalidArgument("--id-type is auto, int or string, not '" + *text + "'.");
    }
  }
  csv->max_row_bytes =
      std::clamp<uint64_t>(options.memory_bytes / 64, kMinRowBytes, CsvOptions{}.max_row_bytes);
  csv->max_field_bytes = std::min(csv->max_field_bytes, csv->max_row_bytes);
  return OkStatus();
}

Status CheckQuote(const CsvOptions& csv) {
  if (csv.quote != csv.delimiter) return OkStatus();
  return InvalidArgument("--quote and --delimiter are the same character.");
}

// The first row of a file as text.
StatusOr<std::vector<std::string>> FirstRow(const std::string& path, const CsvOptions& csv,
                                            uint64_t max_window) {
  CsvOptions bounded = csv;
  bounded.max_row_bytes = std::min(csv.max_row_bytes, kMaxHeaderBytes);
  ASSIGN_OR_RETURN(auto source, OpenByteSource(path, max_window));
  constexpr size_t kPiece = 4096;
  ChunkReader reader(std::move(source), bounded, kPiece);
  Chunk chunk;
  ASSIGN_OR_RETURN(bool any, reader.NextRow(&chunk));
  if (!any) return InvalidArgument("The file is empty; a header is expected.");
  if (!IsValidUtf8(chunk.bytes)) return InvalidArgument("The first row is no UTF-8.");
  RowParser parser(chunk, bounded, kMaxColumns);
  Row row;
  if (!parser.Next(&row)) return InvalidArgument("The first line is blank; a header is expected.");
  if (row.error != RowError::kNone) {
    return InvalidArgument(
        "The first row can't be read: it is too long, has too many columns or "
        "an unfinished quote. Are --delimiter and --quote right?");
  }
  std::vector<std::string> fields;
  for (const Field& field : row.fields) fields.emplace_back(field.text);
  return fields;
}

// "Label=path", where the label is no part of a path.
std::pair<std::string, std::string> SplitLabel(const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || argument.substr(0, equals).find('/') != std::string::npos) {
    return {"", argument};
  }
  std::string label = argument.substr(0, equals);
  // neo4j-admin's A:B; a vertex has one label, so they are joined as Neptune does.
  for (size_t at = 0; (at = label.find(':', at)) != std::string::npos; at += 2) {
    if (label.compare(at, 2, "::") != 0) label.replace(at, 1, "::");
  }
  return {label, argument.substr(equals + 1)};
}

StatusOr<std::vector<std::string>> ExpandPattern(const std::string& pattern) {
  std::error_code error;
  if (std::filesystem::exists(pattern, error)) return std::vector<std::string>{pattern};
  glob_t found{};
  const int code = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths;
  if (code == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (paths.empty()) return NotFound("No file matches '" + pattern + "'.");
  return paths;
}

// The files below a folder that the mapping knows, by name.
StatusOr<std::vector<std::string>> ExpandFolder(const std::string& folder, const Mapping& mapping,
                                                TableKind kind) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(folder, error), end;
  for (; !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    const std::string path = at->path().string();
    if (mapping.Find(kind, path) != nullptr) paths.push_back(path);
    if (paths.size() > kMaxFiles) return InvalidArgument("'" + folder + "' has too many files.");
  }
  if (error) return IoError("list", folder, error.value());
  if (paths.empty()) {
    return NotFound("No file below '" + folder + "' matches an entry of the mapping file.");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Planner {
 public:
  Planner(const ImportOptions& options, const Mapping& mapping, Sources* sources)
      : options_(options), mapping_(mapping), sources_(sources) {}

  Status AddArgument(const std::string& argument, TableKind kind) {
    const auto [label, rest] = SplitLabel(argument);
    std::error_code error;
    if (rest.find(',') != std::string::npos && !std::filesystem::exists(rest, error)) {
      return AddGroup(rest, label, kind);
    }
    std::vector<std::string> paths;
    if (std::filesystem::is_directory(rest, error)) {
      if (options_.mapping.empty()) {
        return InvalidArgument("'" + rest + "' is a folder; without --mapping name its files.");
      }
      ASSIGN_OR_RETURN(paths, ExpandFolder(rest, mapping_, kind));
    } else {
      ASSIGN_OR_RETURN(paths, ExpandPattern(rest));
    }
    for (const std::string& path : paths) RETURN_IF_ERROR(AddFile(path, label, kind));
    return OkStatus();
  }

 private:
  std::vector<SourceTable>* TablesOf(TableKind kind) {
    return kind == TableKind::kNodes ? &sources_->nodes : &sources_->edges;
  }

  // "header.csv,part1.csv,part2.csv": the first row of the first file is the header of all.
  Status AddGroup(const std::string& list, const std::string& label, TableKind kind) {
    std::optional<size_t> first;
    size_t begin = 0;
    while (begin <= list.size()) {
      const size_t comma = std::min(list.find(',', begin), list.size());
      ASSIGN_OR_RETURN(auto paths, ExpandPattern(list.substr(begin, comma - begin)));
      for (const std::string& path : paths) {
        if (first.has_value()) {
          TablePlan plan = (*TablesOf(kind))[*first].plan;
          TablesOf(kind)->push_back({path, std::move(plan), false});
          continue;
        }
        RETURN_IF_ERROR(AddFile(path, label, kind));
        first = TablesOf(kind)->size() - 1;
      }
      begin = comma + 1;
    }
    return OkStatus();
  }

  Status AddFile(const std::string& path, const std::string& label, TableKind kind) {
    auto table = PlanFile(path, label, kind);
    if (!table.ok()) {
      std::string message = MessageOf(table.status());
      if (message.find(path) == std::string::npos) message = path + ": " + message;
      return MakeStatus(table.status().code(), message);
    }
    TablesOf(kind)->push_back(*std::move(table));
    return OkStatus();
  }

  StatusOr<SourceTable> PlanFile(const std::string& path, const std::string& label,
                                 TableKind kind) {
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
      return InvalidArgument("This is no regular file; files are read twice, so save it first.");
    }
    ASSIGN_OR_RETURN(auto fields,
                     FirstRow(path, sources_->csv, MaxWindowBytes(options_.memory_bytes)));
    SourceTable table;
    table.path = path;
    if (const MappedTable* mapped = mapping_.Find(kind, path)) {
      ASSIGN_OR_RETURN(table.plan, PlanMappedTable(*mapped, fields, label));
      table.skip_first_row = mapped->has_header;
      return table;
    }
    ASSIGN_OR_RETURN(table.plan, ParseHeader(fields, options_.dialect, kind, label));
    return table;
  }

  const ImportOptions& options_;
  const Mapping& mapping_;
  Sources* sources_;
};

}  // namespace

uint64_t MaxWindowBytes(uint64_t memory_bytes) {
  constexpr uint64_t kLeast = uint64_t{8} << 20;  // what zstd -19 asks for
  return std::max(memory_bytes / 8, kLeast);
}

Status CheckCsvFlags(const ImportOptions& options) {
  Sources sources;
  RETURN_IF_ERROR(SetCsvOptions(options, Mapping(), &sources));
  return options.mapping.empty() ? CheckQuote(sources.csv) : OkStatus();
}

StatusOr<Sources> PlanSources(const ImportOptions& options) {
  Mapping mapping;
  if (!options.mapping.empty()) {
    ASSIGN_OR_RETURN(mapping, ReadMapping(options.mapping));
  }
  Sources sources;
  RETURN_IF_ERROR(SetCsvOptions(options, mapping, &sources));
  RETURN_IF_ERROR(CheckQuote(sources.csv));
  Planner planner(options, mapping, &sources);
  for (const std::string& argument : options.nodes) {
    RETURN_IF_ERROR(planner.AddArgument(argument, TableKind::kNodes));
  }
  for (const std::string& argument : options.edges) {
    RETURN_IF_ERROR(planner.AddArgument(argument, TableKind::kEdges));
  }
  if (sources.nodes.empty() && sources.edges.empty()) {
    return InvalidArgument("There is nothing to import: no file was found.");
  }
  if (sources.nodes.size() + sources.edges.size() > kMaxFiles) {
    return InvalidArgument("There are more than " + std::to_string(kMaxFiles) + " files.");
  }
  return sources;
}

}  // namespace koios::import
