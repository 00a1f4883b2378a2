// koios_commits DIR: what a commit costs beside the number of names that its graph has. Each adds
// one vertex of a label that is there, or of a label and with a key that are new. Processor time of
// all threads, the sync left out by it; the yardstick is the same with ten names.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
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

// Microseconds of a commit, the best of three rounds. `new_names`: with the first name that is
// free; null: without.
StatusOr<double> CommitCost(storage::GraphStore* store, int* new_names) {
  std::vector<double> rounds;
  for (int round = 0; round < 3; ++round) {
    const double begin = ProcessorSeconds();
    for (int i = 0; i < kCommits; ++i) {
      const std::string name = new_names == nullptr ? "1" : std::to_string((*new_names)++);
      const auto transaction = store->Begin();
      RETURN_IF_ERROR(
          transaction->AddVertex("label" + name, std::nullopt, {{"key" + name, Value::Long(i)}})
              .status());
      ASSIGN_OR_RETURN(storage::CommitRecord record, transaction->TakeCommit(nullptr));
      RETURN_IF_ERROR(store->Commit(std::move(record)).status());
    }
    rounds.push_back((ProcessorSeconds() - begin) / kCommits * 1e6);
  }
  return *std::min_element(rounds.begin(), rounds.end());
}

StatusOr<std::unique_ptr<storage::GraphStore>> StoreWithNames(const std::string& folder,
                                                              int names) {
  storage::StoreOptions options;
  options.create = true;
  ASSIGN_OR_RETURN(auto store, storage::GraphStore::Open(folder, options));
  storage::WriteBatch batch;
  for (int i = 0; i < names; ++i) {
    const std::string name = std::to_string(i);
    batch.vertices.push_back({std::nullopt, "label" + name, {{"key" + name, Value::Long(i)}}});
  }
  RETURN_IF_ERROR(store->Commit(batch).status());
  return store;
}

Status PrintTable(const std::string& folder) {
  std::printf("| names | us per commit | to ten names | with new names | to ten names |\n");
  std::printf("| ---: | ---: | ---: | ---: | ---: |\n");
  double known_of_ten = 0, new_of_ten = 0;
  for (int names : {10, 100, 1000, 10'000, 50'000}) {
    ASSIGN_OR_RETURN(const auto store, StoreWithNames(folder + "/" + std::to_string(names), names));
    const int had = names;
    ASSIGN_OR_RETURN(const double of_known, CommitCost(store.get(), nullptr));
    ASSIGN_OR_RETURN(const double of_new, CommitCost(store.get(), &names));
    if (known_of_ten == 0) known_of_ten = of_known, new_of_ten = of_new;
    std::printf("| %d | %.1f | %.2f | %.1f | %.2f |\n", had, of_known, of_known / known_of_ten,
                of_new, of_new / new_of_ten);
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
