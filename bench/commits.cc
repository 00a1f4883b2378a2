// koios_commits DIR: what a commit costs beside the number of names that its graph has. Each adds
// one vertex of a label that is there. Processor time of all threads, the sync left out by it; the
// yardstick is the same with ten names.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "storage/rocks/graph_store.h"

namespace koios::bench {
namespace {

constexpr int kCommits = 2000;

double ProcessorSeconds() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Microseconds of a commit.
StatusOr<double> CommitCost(const std::string& folder, int names) {
  storage::StoreOptions options;
  options.create = true;
  ASSIGN_OR_RETURN(const auto store, storage::GraphStore::Open(folder, options));
  storage::WriteBatch batch;
  for (int i = 0; i < names; ++i) {
    const std::string name = std::to_string(i);
    batch.vertices.push_back({std::nullopt, "label" + name, {{"key" + name, Value::Long(i)}}});
  }
  RETURN_IF_ERROR(store->Commit(batch).status());
  std::vector<double> rounds;
  for (int round = 0; round < 3; ++round) {
    const double begin = ProcessorSeconds();
    for (int i = 0; i < kCommits; ++i) {
      const auto transaction = store->Begin();
      RETURN_IF_ERROR(
          transaction->AddVertex("label1", std::nullopt, {{"key1", Value::Long(i)}}).status());
      RETURN_IF_ERROR(store->Commit(transaction->TakeBatch()).status());
    }
    rounds.push_back((ProcessorSeconds() - begin) / kCommits * 1e6);
  }
  return *std::min_element(rounds.begin(), rounds.end());
}

Status PrintTable(const std::string& folder) {
  std::printf("| names | us per commit | to ten names |\n| ---: | ---: | ---: |\n");
  double of_ten = 0;
  for (const int names : {10, 100, 1000, 10'000, 50'000}) {
    ASSIGN_OR_RETURN(const double cost, CommitCost(folder + "/" + std::to_string(names), names));
    if (of_ten == 0) of_ten = cost;
    std::printf("| %d | %.1f | %.2f |\n", names, cost, cost / of_ten);
  }
  return OkStatus();
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: koios_commits DIR, which is empty or not there\n");
    return 1;
  }
  const koios::Status status = koios::bench::PrintTable(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", koios::MessageOf(status).c_str());
  return status.ok() ? 0 : 1;
}
