#include "import/load/importer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "import/load/bad_rows.h"
#include "import/load/edge_stage.h"
#include "import/load/graph_stage.h"
#include "import/load/load_context.h"
#include "import/load/progress.h"
#include "import/load/source_table.h"
#include "import/load/vertex_stage.h"

namespace koios::import {
namespace {

constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 40;
// A record of the longest row fits.
constexpr size_t kLeastMergeBytes = size_t{512} << 10;

std::vector<std::string> PathsOf(const Sources& sources) {
  std::vector<std::string> paths;
  for (const SourceTable& table : sources.nodes) paths.push_back(table.path);
  for (const SourceTable& table : sources.edges) paths.push_back(table.path);
  return paths;
}

// An edge file of which hardly anything was loaded has a wrong id column or space.
void WarnOfEmptyFiles(const LoadContext& context, ImportSummary* summary) {
  const size_t num_nodes = context.sources->nodes.size();
  for (size_t i = 0; i < context.sources->edges.size(); ++i) {
    const uint64_t rows = context.rows_by_file[num_nodes + i];
    const uint64_t skipped = context.bad_rows->by_file()[num_nodes + i];
    if (skipped * 10 <= rows * 9) continue;
    summary->warnings.push_back(
        std::to_string(skipped) + " of the " + std::to_string(rows) + " rows of " +
        context.sources->edges[i].path +
        " were skipped. Do its columns of ends hold the ids of the vertices, in the same id space "
        "and of the same --id-type? --report FILE tells each row.");
  }
}

}  // namespace

Status CheckOptions(const ImportOptions& options) {
  if (options.memory_bytes < kMinMemoryBytes || options.memory_bytes > kMaxMemoryBytes) {
    return InvalidArgument("--memory is between 8M and 1T.");
  }
  if (options.bad_tolerance < -1) {
    return InvalidArgument("--bad-tolerance is a number of rows, or -1 for any number.");
  }
  if (options.nodes.empty() && options.edges.empty()) {
    return InvalidArgument("There is nothing to import; name files with --nodes and --edges.");
  }
  return CheckCsvFlags(options);
}

namespace {

// A bin is worth its files from this many bytes of input on.
constexpr uint64_t kBytesPerBin = uint64_t{4} << 20;
constexpr size_t kMaxBins = 64;
// What compressed input is taken for.
constexpr uint64_t kCompression = 4;

size_t NumBins(const Sources& sources) {
  uint64_t bytes = 0;
  for (const std::vector<SourceTable>* tables : {&sources.nodes, &sources.edges}) {
    for (const SourceTable& table : *tables) {
      std::error_code error;
      const uint64_t size = std::filesystem::file_size(table.path, error);
      const bool packed = table.path.ends_with(".gz") || table.path.ends_with(".zst");
      if (!error) bytes += packed ? kCompression * size : size;
    }
  }
  return std::min<size_t>(1 + bytes / kBytesPerBin, kMaxBins);
}

IdSpaces SpacesOf(const Sources& sources) {
  std::set<std::string> names;
  for (const std::vector<SourceTable>* tables : {&sources.nodes, &sources.edges}) {
    for (const SourceTable& table : *tables) {
      for (const ColumnPlan& column : table.plan.columns) {
        if (!column.space.empty()) names.insert(column.space);
      }
    }
  }
  return IdSpaces(std::vector<std::string>(names.begin(), names.end()));
}

// Before any row is read, so that their numbers do not depend on who reads first.
Status InternLabelsOfTables(LoadContext* context) {
  for (const std::vector<SourceTable>* tables :
       {&context->sources->nodes, &context->sources->edges}) {
    for (const SourceTable& table : *tables) {
      if (table.plan.label.empty()) continue;
      RETURN_IF_ERROR(context->labels->Find(table.plan.label, [] { return true; }).status());
    }
  }
  return OkStatus();
}

// Stage after stage, to a finished load.
StatusOr<storage::BulkSummary> Load(LoadContext* context, ImportSummary* summary) {
  RETURN_IF_ERROR(InternLabelsOfTables(context));
  ASSIGN_OR_RETURN(LoadedVertices vertices, LoadVertices(context));
  ASSIGN_OR_RETURN(LoadedEdges edges, LoadEdges(context, &vertices));
  ASSIGN_OR_RETURN(const WrittenGraph written,
                   WriteGraph(context, std::move(vertices), std::move(edges)));
  if (!written.snapshot_failed.ok()) {
    summary->warnings.push_back(
        "The graph is loaded, but without a snapshot reading it is slow (koios admin snapshot "
        "makes one): " +
        MessageOf(written.snapshot_failed));
  }
  context->progress->StartStage("finish", 0);
  return context->writer->Finish();
}

}  // namespace

StatusOr<ImportSummary> RunImport(const ImportOptions& options, storage::BulkWriter* writer,
                                  const storage::GraphView* existing) {
  RETURN_IF_ERROR(CheckOptions(options));
  Progress progress(options.progress, stderr, SteadyClock::Get());
  ASSIGN_OR_RETURN(Sources sources, PlanSources(options));
  BadRowOptions bad_options{options.bad_tolerance, options.skip_missing_endpoints, options.report};
  ASSIGN_OR_RETURN(auto bad_rows, BadRows::Create(bad_options, PathsOf(sources)));
  LabelCache labels(writer);
  LoadContext context;
  context.options = &options;
  context.sources = &sources;
  context.writer = writer;
  context.existing = existing;
  context.labels = &labels;
  context.bad_rows = bad_rows.get();
  context.progress = &progress;
  context.rows_by_file.resize(sources.nodes.size() + sources.edges.size());
  SortRoom room(options.temp_dir, context.Eighths(4), context.Eighths(6),
                std::max<size_t>(context.Eighths(1) / context.num_threads(), kLeastMergeBytes));
  const IdSpaces spaces = SpacesOf(sources);
  context.room = &room;
  context.target = {Bins(writer->num_partitions(), NumBins(sources)), &spaces, nullptr};
  ImportSummary summary;
  auto loaded = Load(&context, &summary);
  progress.Finish(loaded.ok());
  const Status reported = bad_rows->Finish();
  RETURN_IF_ERROR(loaded.status());
  RETURN_IF_ERROR(reported);
  summary.vertices = std::move(loaded->vertices);
  summary.edges = std::move(loaded->edges);
  for (uint64_t rows : context.rows_by_file) summary.rows_read += rows;
  summary.skipped = bad_rows->by_code();
  summary.spilled_bytes = context.spilled_bytes;
  summary.appended = existing != nullptr;
  summary.snapshot_files = loaded->snapshot_files;
  summary.snapshot_bytes = loaded->snapshot_bytes;
  summary.seconds = progress.ElapsedSeconds();
  WarnOfEmptyFiles(context, &summary);
  return summary;
}

}  // namespace koios::import
