#include "import/graph_import.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "import/load/importer.h"
#include "storage/bulk_writer.h"

namespace koios::import {
namespace {

// The new graph's store gets a small share: a load writes past its memtables and reads nothing.
storage::StoreOptions LoadOptions(const storage::DataFolder& folder, const ImportOptions& options) {
  storage::StoreOptions store = folder.options().store;
  store.block_cache_bytes = std::min<size_t>(store.block_cache_bytes, options.memory_bytes / 16);
  store.write_buffer_bytes = std::min<size_t>(store.write_buffer_bytes, options.memory_bytes / 16);
  store.memory = nullptr;  // these bytes are the load's own
  return store;
}

StatusOr<ImportSummary> LoadNewGraph(storage::DataFolder* folder, const std::string& staged,
                                     const ImportOptions& options) {
  ASSIGN_OR_RETURN(auto writer, storage::BulkWriter::Create(staged, LoadOptions(*folder, options)));
  return RunImport(options, writer.get(), nullptr);
}

StatusOr<ImportSummary> AppendToGraph(storage::DataFolder* folder, const std::string& graph,
                                      const ImportOptions& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<storage::GraphStore> store, folder->OpenGraph(graph));
  ASSIGN_OR_RETURN(auto writer, storage::BulkWriter::Append(store.get()));
  const std::shared_ptr<const storage::GraphView> view = store->View();
  return RunImport(options, writer.get(), view.get());
}

}  // namespace

StatusOr<ImportSummary> ImportGraph(storage::DataFolder* folder, const std::string& graph,
                                    WhenGraphExists when_exists, ImportOptions options) {
  RETURN_IF_ERROR(storage::CheckGraphName(graph));
  if (options.temp_dir.empty()) options.temp_dir = folder->path();
  const bool exists = folder->HasGraph(graph);
  if (exists && when_exists == WhenGraphExists::kRefuse) {
    return FailedPrecondition("The graph '" + graph +
                              "' exists; --append adds to it, --replace puts the new one in its "
                              "place.");
  }
  if (exists && when_exists == WhenGraphExists::kAppend) {
    return AppendToGraph(folder, graph, options);
  }
  ASSIGN_OR_RETURN(const std::string staged, folder->StageGraph(graph));
  auto summary = LoadNewGraph(folder, staged, options);
  Status status = summary.status();
  if (status.ok()) {
    status = folder->PublishGraph(graph, staged, when_exists == WhenGraphExists::kReplace);
  }
  if (!status.ok()) {
    // What can't be removed now is removed when the folder is opened next.
    folder->UnstageGraph(staged).IgnoreError();
    return status;
  }
  return summary;
}

std::string FormatSummary(const ImportSummary& summary) {
  std::string out;
  uint64_t totals[2] = {0, 0};
  const auto list = [&out](const char* what, const std::map<std::string, uint64_t>& counts,
                           uint64_t* total) {
    for (const auto& [label, count] : counts) *total += count;
    char line[64];
    std::snprintf(line, sizeof(line), "%12llu %s\n", static_cast<unsigned long long>(*total), what);
    out += line;
    for (const auto& [label, count] : counts) {
      if (count == 0) continue;
      std::snprintf(line, sizeof(line), "%12llu   ", static_cast<unsigned long long>(count));
      out += line + label + "\n";
    }
  };
  list("vertices", summary.vertices, &totals[0]);
  list("edges", summary.edges, &totals[1]);
  for (const auto& [code, rows] : summary.skipped) {
    out += "Skipped " + std::to_string(rows) + " rows: " + code + "\n";
  }
  char line[96];
  const double rate =
      summary.seconds > 0 ? static_cast<double>(summary.rows_read) / summary.seconds : 0;
  std::snprintf(line, sizeof(line), "%llu rows in %.1f s (%.0f rows/s)\n",
                static_cast<unsigned long long>(summary.rows_read), summary.seconds, rate);
  out += line;
  if (summary.spilled_bytes > 0) {
    std::snprintf(line, sizeof(line), "%.1f MB were sorted on disk; a larger --memory is faster\n",
                  static_cast<double>(summary.spilled_bytes) / 1e6);
    out += line;
  }
  if (summary.snapshot_files > 0) {
    std::snprintf(line, sizeof(line), "snapshot: %.1f MB\n",
                  static_cast<double>(summary.snapshot_bytes) / 1e6);
    out += line;
  }
  for (const std::string& warning : summary.warnings) out += "WARNING: " + warning + "\n";
  return out;
}

}  // namespace koios::import
