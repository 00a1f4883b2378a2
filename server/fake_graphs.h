// Graphs in memory for tests of sessions: commits keep nothing, and conflict, fail or wait as the
// test says.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "server/graphs.h"
#include "storage/memory_graph.h"

namespace koios::server {

class MemoryGraphs : public Graphs {
 public:
  static constexpr uint64_t kCommittedVersion = 77;

  MemoryGraphs() {
    auto graph = std::make_shared<storage::MemoryGraph>(4);
    graph->IndexVertices("person", {"name", "age"});
    CHECK(graph->AddVertex(Value::Long(1), "person", {{"name", Value::String("marko")}}).ok());
    graphs_["g"] = graph;
    graphs_["money"] = std::make_shared<storage::MemoryGraph>(4);
  }
  std::vector<std::string> Names() const override {
    std::vector<std::string> names;
    for (const auto& [name, graph] : graphs_) names.push_back(name);
    return names;
  }
  StatusOr<std::shared_ptr<const storage::GraphView>> View(std::string_view name) const override {
    const auto it = graphs_.find(name);
    if (it == graphs_.end()) return NoSuchGraph(name, Names());
    return it->second;
  }
  StatusOr<std::shared_ptr<storage::Transaction>> Begin(std::string_view name) const override {
    ++begun;
    ASSIGN_OR_RETURN(auto view, View(name));
    return std::make_shared<storage::Transaction>(view, std::make_shared<storage::Numbers>(4));
  }
  StatusOr<storage::CommitResult> Commit(std::string_view, storage::CommitRecord record,
                                         const storage::CommitWatch& watch,
                                         storage::CommitTurn* turn) const override {
    {
      MutexLock lock(&mutex_);
      ++commits_begun_;
      requests_.emplace_back(record.request, record.attempt);
      changed_.NotifyAll();
      while (held_) changed_.Wait(&mutex_);
    }
    if (commits_watch) RETURN_IF_ERROR(watch());
    if (conflicts > 0) {
      --conflicts;
      turn->turns = turns;
      turn->conflicts = conflict_keys;
      return Aborted("a conflict");
    }
    if (commits_fail) return Internal("the disk is full");
    storage::CommitResult result;
    result.version = kCommittedVersion;
    return result;
  }
  StatusOr<uint64_t> DiskBytes(std::string_view) const override { return 42; }
  StatusOr<storage::CheckReport> Check(std::string_view name,
                                       const storage::CheckWatch& watch) const override {
    RETURN_IF_ERROR(View(name).status());
    for (uint64_t entries = 0; endless_check; ++entries) RETURN_IF_ERROR(watch(entries));
    storage::CheckReport report;
    report.problems_found = 3;
    report.problems = {"a", "b"};
    return report;
  }
  StatusOr<storage::SnapshotReport> BuildSnapshots(
      std::string_view name, const storage::SnapshotWatch& watch) const override {
    ASSIGN_OR_RETURN(const auto view, View(name));
    storage::SnapshotProgress progress;
    progress.num_partitions = view->num_partitions();
    for (; endless_snapshots; ++progress.entries) RETURN_IF_ERROR(watch(progress));
    storage::SnapshotReport report;
    report.version = 7;
    report.files = progress.num_partitions;
    return report;
  }

  StatusOr<storage::IndexReport> CreateIndex(std::string_view name, const storage::IndexSpec& spec,
                                             const storage::IndexWatch& watch) const override {
    RETURN_IF_ERROR(View(name).status());
    for (uint64_t vertices = 0; endless_check; ++vertices) RETURN_IF_ERROR(watch(vertices));
    if (spec.keys.empty()) return InvalidArgument("no keys");
    return storage::IndexReport{7, 5, 0.5};
  }
  Status DropIndex(std::string_view name, const storage::IndexSpec& spec) const override {
    RETURN_IF_ERROR(View(name).status());
    return spec.label == "person" ? OkStatus() : NotFound("There is no index.");
  }
  StatusOr<uint64_t> IndexBytes(std::string_view, IndexId) const override { return 99; }

  // Commits wait from now on, or no longer.
  void Hold(bool held) {
    MutexLock lock(&mutex_);
    held_ = held;
    changed_.NotifyAll();
  }
  void WaitForCommits(int count) {
    MutexLock lock(&mutex_);
    while (commits_begun_ < count) changed_.Wait(&mutex_);
  }

  std::atomic<bool> endless_check{false}, endless_snapshots{false};
  std::atomic<bool> commits_fail{false};
  std::atomic<bool> commits_watch{false};  // they ask their watch behind the wait
  // Who asked for commits, and for the how many-eth time.
  std::vector<std::pair<storage::RequestId, uint32_t>> requests() const {
    MutexLock lock(&mutex_);
    return requests_;
  }
  // What a commit that conflicts is told.
  const std::shared_ptr<storage::ConflictTurns> turns = std::make_shared<storage::ConflictTurns>();
  std::vector<storage::ClaimedKey> conflict_keys;
  mutable std::atomic<int> begun{0};
  mutable std::atomic<int> conflicts{0};  // commits that conflict before one does not

 private:
  std::map<std::string, std::shared_ptr<const storage::GraphView>, std::less<>> graphs_;
  mutable Mutex mutex_;
  mutable CondVar changed_;
  bool held_ KOIOS_GUARDED_BY(mutex_) = false;
  mutable int commits_begun_ KOIOS_GUARDED_BY(mutex_) = 0;
  mutable std::vector<std::pair<storage::RequestId, uint32_t>> requests_ KOIOS_GUARDED_BY(mutex_);
};

}  // namespace koios::server
