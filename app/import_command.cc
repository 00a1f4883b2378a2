// koios import: loads CSV files into a graph of a data folder that nobody serves.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "app/admin_snapshot.h"
#include "app/command.h"
#include "app/connection.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/console/query_session.h"
#include "import/graph_import.h"
#include "import/load/importer.h"
#include "server/guard/machine.h"

namespace koios::app {
namespace {

constexpr int kExitSkippedRows = 6;

struct ImportFlags {
  std::string data;
  std::string graph = "g";
  std::string dialect = "auto";
  std::string progress = "auto";
  std::string delimiter, quote, array_delimiter, id_type;
  uint32_t partitions = 0;
  bool append = false;
  bool replace = false;
  bool no_snapshot = false;
  import::ImportOptions options;
};

// Nothing as a value is not the default.
std::optional<std::string> IfGiven(CLI::App* command, const char* flag, const std::string& text) {
  return command->count(flag) > 0 ? std::optional<std::string>(text) : std::nullopt;
}

StatusOr<import::ImportOptions> ToImportOptions(CLI::App* command, const ImportFlags& flags) {
  if (flags.data.empty()) return InvalidArgument("import needs --data DIR.");
  if (flags.append && flags.replace) {
    return InvalidArgument("--append and --replace exclude each other.");
  }
  RETURN_IF_ERROR(storage::CheckGraphName(flags.graph));
  import::ImportOptions options = flags.options;
  options.snapshot = !flags.no_snapshot;
  if (command->count("--memory") == 0) {
    const uint64_t machine = server::MachineMemoryBytes();
    options.memory_bytes = std::max(machine / 4, std::min(options.memory_bytes, machine / 2));
  }
  options.delimiter = IfGiven(command, "--delimiter", flags.delimiter);
  options.quote = IfGiven(command, "--quote", flags.quote);
  options.array_delimiter = IfGiven(command, "--array-delimiter", flags.array_delimiter);
  options.id_type = IfGiven(command, "--id-type", flags.id_type);
  options.dialect = flags.dialect == "neptune" ? import::Dialect::kNeptune
                    : flags.dialect == "neo4j" ? import::Dialect::kNeo4j
                                               : import::Dialect::kAuto;
  options.progress = flags.progress == "json"   ? import::ProgressMode::kJson
                     : flags.progress == "none" ? import::ProgressMode::kNone
                                                : import::ProgressMode::kAuto;
  RETURN_IF_ERROR(import::CheckOptions(options));
  return options;
}

int FailWithHint(const Status& status) {
  const int code = Fail(status);
  if (auto detail = DetailOf(status); detail && !detail->hint.empty()) {
    std::cerr << "hint: " << detail->hint << "\n";
  }
  return code;
}

// The graph is loaded, whatever becomes of its snapshot.
void BuildSnapshot(storage::DataFolder* folder, const ImportFlags& flags,
                   const import::ImportOptions& options) {
  storage::SnapshotOptions snapshot;
  snapshot.memory_bytes = options.memory_bytes;
  const bool tell = options.progress == import::ProgressMode::kAuto && isatty(STDERR_FILENO) != 0;
  const auto report = BuildSnapshotsOf(folder, flags.graph, snapshot, tell);
  if (!report.ok()) {
    std::cerr << "The graph is loaded, but without a snapshot reading it is slow: "
              << MessageOf(report.status()) << "\nhint: make one with `koios admin snapshot`.\n";
    return;
  }
  char line[100];
  std::snprintf(line, sizeof(line), "snapshot: %.1f MB in %.1f s\n",
                static_cast<double>(report->file_bytes) / 1e6, report->seconds);
  std::cout << line;
}

int RunImport(CLI::App* command, ImportFlags* flags) {
  if (Status applied = ApplySettings(command, ""); !applied.ok()) return FailUsage(applied);
  const StatusOr<import::ImportOptions> options = ToImportOptions(command, *flags);
  if (!options.ok()) return FailUsage(options.status());
  storage::DataFolderOptions folder_options;
  folder_options.create = true;
  if (flags->partitions > 0) folder_options.store.num_partitions = flags->partitions;
  auto folder = storage::DataFolder::Open(flags->data, folder_options);
  if (!folder.ok()) return FailWithHint(folder.status());
  const auto when = flags->append    ? import::WhenGraphExists::kAppend
                    : flags->replace ? import::WhenGraphExists::kReplace
                                     : import::WhenGraphExists::kRefuse;
  auto summary = import::ImportGraph(folder->get(), flags->graph, when, *options);
  if (!summary.ok()) return FailWithHint(summary.status());
  std::cout << import::FormatSummary(*summary);
  if (!flags->no_snapshot && summary->appended) BuildSnapshot(folder->get(), *flags, *options);
  return summary->num_skipped() > 0 ? kExitSkippedRows : int{client::kExitOk};
}

void AddCsvFlags(CLI::App* command, ImportFlags* flags) {
  import::ImportOptions* options = &flags->options;
  command->add_option(
      "--nodes", options->nodes,
      "Files of vertices, [Label=]FILE; a pattern, or with --mapping a folder. Label "
      "is of rows that have none; several labels are one, such as A::B");
  command->add_option("--edges", options->edges, "Files of edges, [LABEL=]FILE, likewise");
  command->add_option("--mapping", options->mapping,
                      "YAML file that says what columns mean (import/README.md)");
  command->add_option("--delimiter", flags->delimiter, "Between fields: one character or tab (,)");
  command->add_option("--quote", flags->quote, "Around fields: one character or none (\")");
  command->add_option("--array-delimiter", flags->array_delimiter,
                      "Between items of a list, labels of a vertex (;)");
  command->add_option("--dialect", flags->dialect, "Of the headers: neptune, neo4j or auto")
      ->check(CLI::IsMember({"neptune", "neo4j", "auto"}));
  command->add_option("--id-type", flags->id_type,
                      "auto (decimal integers are integers), int or string");
}

}  // namespace

RunCommand AddImportCommand(CLI::App* command) {
  auto flags = std::make_shared<ImportFlags>();
  import::ImportOptions* options = &flags->options;
  command->add_option("--data", flags->data, "The data folder; made when missing");
  command->add_option("--graph", flags->graph, "The graph (default: g)");
  AddCsvFlags(command, flags.get());
  command->add_option("--threads", options->threads, "For parsing (default: one per core)")
      ->check(CLI::Range(0, 256));
  command
      ->add_option(
          "--memory", options->memory_bytes,
          "For parsing and sorting, such as 512M or 4G (a quarter of what the machine or its "
          "control group has, but half where that is less than 1G); the rest is on disk")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--bad-tolerance", options->bad_tolerance,
                      "Rows that may be skipped before the import is given up (0; -1: any number)");
  command->add_flag("--skip-missing-endpoints", options->skip_missing_endpoints,
                    "Leave out edges whose ends do not exist; they don't count as bad");
  command->add_option("--report", options->report, "Where skipped rows are told, as JSON lines");
  command->add_flag("--append", flags->append, "Add to the graph if it exists");
  command->add_flag("--replace", flags->replace, "Put the new graph in the place of an old one");
  command->add_flag("--no-snapshot", flags->no_snapshot,
                    "Leave out the snapshot that makes reading fast (koios admin snapshot)");
  command->add_option("--partitions", flags->partitions, "Of a new graph, fixed for good (16)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--progress", flags->progress, "auto, json (a line per second) or none")
      ->check(CLI::IsMember({"auto", "json", "none"}));
  command->footer(
      "The graph is as it was until all is loaded. Exit code 6: loaded, but rows were skipped.\n"
      "Examples:\n"
      "  koios import --data mydata --nodes people.csv --edges knows.csv\n"
      "  koios import --data mydata --graph shop --nodes Item=items*.csv.gz \\\n"
      "      --edges BOUGHT=sales.csv --bad-tolerance 100 --report bad.jsonl\n"
      "  koios import --data snb --mapping ldbc-snb.yaml --nodes SNB_DIR --edges SNB_DIR");
  return [command, flags] { return RunImport(command, flags.get()); };
}

}  // namespace koios::app
