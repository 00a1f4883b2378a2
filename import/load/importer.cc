#include "import/load/importer.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "import/load/bad_rows.h"
#include "import/load/edge_stage.h"
#include "import/load/load_context.h"
#include "import/load/progress.h"
#include "import/load/source_table.h"
#include "import/load/vertex_stage.h"

namespace koios::import {
namespace {

constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 40;

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
  const auto load = [&]() -> StatusOr<storage::BulkSummary> {
    ASSIGN_OR_RETURN(VertexMap vertices, LoadVertices(&context));
    RETURN_IF_ERROR(LoadEdges(&context, vertices));
    progress.StartStage("finish", 0);
    return writer->Finish();
  };
  auto loaded = load();
  progress.Finish(loaded.ok());
  const Status reported = bad_rows->Finish();
  RETURN_IF_ERROR(loaded.status());
  RETURN_IF_ERROR(reported);
  ImportSummary summary;
  summary.vertices = std::move(loaded->vertices);
  summary.edges = std::move(loaded->edges);
  for (uint64_t rows : context.rows_by_file) summary.rows_read += rows;
  summary.skipped = bad_rows->by_code();
  summary.spilled_bytes = context.spilled_bytes;
  summary.seconds = progress.ElapsedSeconds();
  WarnOfEmptyFiles(context, &summary);
  return summary;
}

}  // namespace koios::import
