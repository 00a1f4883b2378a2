// The benchmark's queries on a small graph answer as its walks do, before and after the adjacency
// is warm: so that the benchmark does not rot.
#include "bench/workload.h"

#include "gtest/gtest.h"
#include "import/generate/generate.h"
#include "import/graph_import.h"
#include "storage/temp_folder.h"

namespace koios::bench {
namespace {

TEST(WorkloadTest, QueriesAnswerAsTheWalks) {
  storage::TempFolder temp;
  import::GenerateOptions generate;
  generate.kind = "rmat";
  generate.scale = 10;
  generate.out = temp.path() + "/csv";
  const auto generated = import::Generate(generate);
  ASSERT_TRUE(generated.ok()) << generated.status();
  storage::DataFolderOptions options;
  options.create = true;
  auto folder = storage::DataFolder::Open(temp.path() + "/data", options);
  ASSERT_TRUE(folder.ok()) << folder.status();
  import::ImportOptions files;
  files.nodes = generated->nodes;
  files.edges = generated->edges;
  const auto summary =
      import::ImportGraph(folder->get(), "g", import::WhenGraphExists::kRefuse, files);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto store = (*folder)->OpenGraph("g");
  ASSERT_TRUE(store.ok()) << store.status();
  const auto view = (*store)->View();

  const auto csr = Csr::Build(*view);
  ASSERT_TRUE(csr.ok()) << csr.status();
  EXPECT_EQ(csr->num_vertices(), 1024u);
  EXPECT_EQ(csr->num_edges(), generated->num_edges);
  const auto cases = MakeCases(*csr, *view, {.rows = 20'000});
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const uint32_t workers : {1u, 3u}) {
    engine::EngineOptions engine_options;
    engine_options.num_workers = workers;
    const auto engine = engine::Engine::Create(engine_options);
    for (const Case& one : *cases) {
      const auto plan = PlanText(one.query, *view);
      ASSERT_TRUE(plan.ok()) << one.name << ": " << plan.status();
      const Answer walked = one.walk(*csr);
      EXPECT_GT(walked.rows, 0u) << one.name;
      const auto answer = RunPlan(engine.get(), view, *plan);
      ASSERT_TRUE(answer.ok()) << one.name << ": " << answer.status();
      EXPECT_EQ(answer->rows, walked.rows) << one.name << ", workers " << workers;
      EXPECT_EQ(answer->checksum, walked.checksum) << one.name << ", workers " << workers;
    }
  }
}

}  // namespace
}  // namespace koios::bench
