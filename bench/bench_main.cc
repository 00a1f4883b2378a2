// koios_bench DIR [--scale N] [--rows N] [--filter TEXT] [google-benchmark's flags]: makes an rmat
// graph below DIR (or takes the one that is there), imports it, checks that every query answers as
// the walk over the CSR does, takes the processor time of both, and prints the table of RESULTS.md.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "bench/workload.h"
#include "benchmark/benchmark.h"
#include "client/client.h"
#include "core/random.h"
#include "import/generate/generate.h"
#include "import/graph_import.h"
#include "server/data_folder_graphs.h"
#include "server/server.h"
#include "storage/data_folder.h"

namespace koios::bench {
namespace {

constexpr int kPointReads = 5000;

struct Flags {
  std::string dir;
  uint64_t scale = 18;
  uint64_t rows = 20'000'000;
  std::string filter;  // only the cases whose name has this in it
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

// Time from asking to the last message, one request at a time, as a client sees it.
Status PointReads(std::unique_ptr<storage::DataFolder> folder, uint64_t num_vertices) {
  server::ServerOptions options;
  options.grpc_port = 0;
  options.engine.num_workers = 1;
  ASSIGN_OR_RETURN(const auto server,
                   server::Server::Start(
                       std::make_unique<server::DataFolderGraphs>(std::move(folder)), options));
  ASSIGN_OR_RETURN(const auto client, client::Client::Connect(server->address()));
  client::Request request;
  request.query = "g.V(x).label()";
  Rng rng(1);
  std::vector<double> times;
  for (int i = 0; i < kPointReads; ++i) {
    request.parameters["x"] = Value::Long(static_cast<int64_t>(rng.Uniform(num_vertices)));
    size_t rows = 0;
    const auto begin = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(const v1::Summary summary,
                     client->Run(request, [&rows](const client::Batch& batch) {
                       rows += batch.values.size();
                       return OkStatus();
                     }));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    if (rows != 1) return Internal("A point read did not find its vertex.");
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  std::printf("- point read over gRPC, g.V(x).label(): p50 %.0f us, p99 %.0f us\n",
              times[times.size() / 2], times[times.size() * 99 / 100]);
  return OkStatus();
}

Status Run(const Flags& flags) {
  storage::DataFolderOptions options;
  options.create = true;
  ASSIGN_OR_RETURN(auto folder, storage::DataFolder::Open(flags.dir + "/data", options));
  RETURN_IF_ERROR(Load(folder.get(), flags));
  ASSIGN_OR_RETURN(auto store, folder->OpenGraph("g"));
  const auto view = store->View();
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
    } else {
      flags.dir = word;
    }
  }
  if (flags.dir.empty()) {
    std::fprintf(stderr, "koios_bench DIR [--scale N] [--rows N] [--filter TEXT]\n");
    return 2;
  }
  const Status status = Run(flags);
  if (!status.ok()) std::fprintf(stderr, "%s\n", MessageOf(status).c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) { return koios::bench::Main(argc, argv); }
