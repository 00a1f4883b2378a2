// koios_bench DIR [--scale N] [--rows N] [--filter TEXT | --point-reads] [google-benchmark's
// flags]: makes an rmat graph below DIR (or takes the one that is there), imports it, checks that
// every query answers as the walk over the CSR does, takes the processor time of both, and prints
// the table of RESULTS.md; with --point-reads only what clients see of those.
#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/point_reads.h"
#include "bench/workload.h"
#include "benchmark/benchmark.h"
#include "import/generate/generate.h"
#include "import/graph_import.h"
#include "storage/data_folder.h"

namespace koios::bench {
namespace {

struct Flags {
  std::string dir;
  uint64_t scale = 18;
  uint64_t rows = 20'000'000;
  std::string filter;        // only the cases whose name has this in it
  bool point_reads = false;  // and nothing else
};

// Keeps the time of each benchmark.
class Times : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      ms_[run.run_name.function_name] = run.GetAdjustedCPUTime();
      std::fprintf(stderr, "%-40s %10.2f ms\n", run.run_name.function_name.c_str(),
                   run.GetAdjustedCPUTime());
    }
  }
  double Of(const std::string& name) const { return ms_.at(name); }

 private:
  std::map<std::string, double> ms_;
};

// Prints the import's line of the table, when there was one.
Status Load(storage::DataFolder* folder, const Flags& flags) {
  if (folder->HasGraph("g")) return OkStatus();
  import::GenerateOptions generate;
  generate.kind = "rmat";
  generate.scale = flags.scale;
  generate.edge_factor = 16;
  generate.out = flags.dir + "/csv";
  ASSIGN_OR_RETURN(const import::GeneratedGraph generated, import::Generate(generate));
  import::ImportOptions options;
  options.nodes = generated.nodes;
  options.edges = generated.edges;
  ASSIGN_OR_RETURN(
      const import::ImportSummary summary,
      import::ImportGraph(folder, "g", import::WhenGraphExists::kRefuse, std::move(options)));
  const double rows = static_cast<double>(summary.rows_read);
  std::printf("- load: %.0f rows in %.1f s, %.0f rows/s\n", rows, summary.seconds,
              rows / summary.seconds);
  return OkStatus();
}

Status Run(const Flags& flags) {
  storage::DataFolderOptions options;
  options.create = true;
  ASSIGN_OR_RETURN(auto folder, storage::DataFolder::Open(flags.dir + "/data", options));
  RETURN_IF_ERROR(Load(folder.get(), flags));
  ASSIGN_OR_RETURN(auto store, folder->OpenGraph("g"));
  const auto view = store->View();
  if (flags.point_reads) {
    const uint64_t num_vertices = view->schema().vertex_counts.begin()->second;
    store.reset();
    return PointReads(std::move(folder), num_vertices);
  }
  ASSIGN_OR_RETURN(const Csr csr, Csr::Build(*view));
  engine::EngineOptions engine_options;
  const auto engine = engine::Engine::Create(engine_options);
  ASSIGN_OR_RETURN(std::vector<Case> cases, MakeCases(csr, *view, {.rows = flags.rows}));
  std::erase_if(cases,
                [&](const Case& one) { return one.name.find(flags.filter) == std::string::npos; });

  std::map<std::string, Answer> answers;
  for (const Case& one : cases) {
    ASSIGN_OR_RETURN(const plan::Plan plan, PlanText(one.query, *view));
    answers[one.name] = one.walk(csr);
    ASSIGN_OR_RETURN(const Answer answer, RunPlan(engine.get(), view, plan));
    if (!(answer == answers[one.name])) {
      return Internal(one.name + ": the engine answers other than the walk.");
    }
    benchmark::RegisterBenchmark(("csr/" + one.name).c_str(),
                                 [&one, &csr](benchmark::State& s) {
                                   for (auto _ : s) benchmark::DoNotOptimize(one.walk(csr));
                                 })
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime();
    benchmark::RegisterBenchmark(("koios/" + one.name).c_str(),
                                 [&engine, &view, plan](benchmark::State& s) {
                                   for (auto _ : s) CHECK(RunPlan(engine.get(), view, plan).ok());
                                 })
        ->Unit(benchmark::kMillisecond)
        ->MeasureProcessCPUTime();
  }
  Times times;
  benchmark::RunSpecifiedBenchmarks(&times);

  const double edges = static_cast<double>(csr.num_edges());
  std::printf("- graph: rmat, %u vertices, %.0f edges\n", csr.num_vertices(), edges);
  std::printf("- bytes per edge: CSR %.1f (out only), disk %.1f\n",
              static_cast<double>(csr.ByteSize()) / edges,
              static_cast<double>(store->DiskBytes()) / edges);
  store.reset();
  RETURN_IF_ERROR(PointReads(std::move(folder), csr.num_vertices()));
  std::printf("\n| case | query | rows | CSR ms | Koios ms | ratio |\n");
  std::printf("| --- | --- | ---: | ---: | ---: | ---: |\n");
  for (const Case& one : cases) {
    const double walk = times.Of("csr/" + one.name);
    const double query = times.Of("koios/" + one.name);
    std::printf("| %s | `%s` | %llu | %.1f | %.1f | %.2f |\n", one.name.c_str(), one.shown.c_str(),
                static_cast<unsigned long long>(answers[one.name].rows), walk, query, query / walk);
  }
  return OkStatus();
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--scale" && i + 1 < argc) {
      flags.scale = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--rows" && i + 1 < argc) {
      flags.rows = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--filter" && i + 1 < argc) {
      flags.filter = argv[++i];
    } else if (word == "--point-reads") {
      flags.point_reads = true;
    } else {
      flags.dir = word;
    }
  }
  if (flags.dir.empty()) {
    std::fprintf(stderr,
                 "koios_bench DIR [--scale N] [--rows N] [--filter TEXT | --point-reads]\n");
    return 2;
  }
  const Status status = Run(flags);
  if (!status.ok()) std::fprintf(stderr, "%s\n", MessageOf(status).c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) { return koios::bench::Main(argc, argv); }
