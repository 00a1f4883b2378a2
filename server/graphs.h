// Graphs: what the server needs of a data folder: the graphs there are, and a view of each. Behind
// an interface so that sessions are tested over graphs in memory. Any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "storage/check.h"
#include "storage/graph_view.h"
#include "storage/index_build.h"
#include "storage/rocks/graph_store.h"
#include "storage/snapshot_build.h"
#include "storage/transaction/transaction.h"

namespace koios::server {

// The graph of the source word `g` when the request names none.
inline constexpr std::string_view kDefaultGraph = "g";

class Graphs {
 public:
  virtual ~Graphs() = default;
  virtual std::vector<std::string> Names() const = 0;  // in order
  // The newest view. NOT_FOUND when there is no such graph.
  virtual StatusOr<std::shared_ptr<const storage::GraphView>> View(std::string_view name) const = 0;
  // For a request that changes the graph: it reads and writes the transaction, then commits it.
  virtual StatusOr<std::shared_ptr<storage::Transaction>> Begin(std::string_view name) const = 0;
  // As GraphStore::Commit.
  virtual StatusOr<storage::CommitResult> Commit(std::string_view name,
                                                 storage::CommitRecord record,
                                                 const storage::CommitWatch& watch,
                                                 storage::CommitTurn* turn) const = 0;
  virtual StatusOr<uint64_t> DiskBytes(std::string_view name) const = 0;
  // Changes that were folded, and are in memory for views of before, are more than they may be. How
  // often some went, so far. The first version that keeps none; 0 where that is not known now. Wait
  // for nobody.
  virtual bool OldViewsKeepTooMuch() const { return false; }
  virtual uint64_t NumReleases() const { return 0; }
  virtual uint64_t FoldedVersion(std::string_view) const { return 0; }
  virtual StatusOr<storage::CheckReport> Check(std::string_view name,
                                               const storage::CheckWatch& watch) const = 0;
  // As storage/index_build.h.
  virtual StatusOr<storage::IndexReport> CreateIndex(std::string_view name,
                                                     const storage::IndexSpec& spec,
                                                     const storage::IndexWatch& watch) const = 0;
  virtual Status DropIndex(std::string_view name, const storage::IndexSpec& spec) const = 0;
  virtual StatusOr<uint64_t> IndexBytes(std::string_view name, IndexId index) const = 0;
  // As storage::BuildSnapshots.
  virtual StatusOr<storage::SnapshotReport> BuildSnapshots(
      std::string_view name, const storage::SnapshotWatch& watch) const = 0;
};

// The graph that a traversal reads: `source` is its first word, `requested` the request's graph
// (empty: the default). The word `g` is the requested graph, any other word the graph of that name.
std::string GraphOfSource(std::string_view source, std::string_view requested);

// "There is no graph 'x'; the graphs are: a, b."
Status NoSuchGraph(std::string_view name, const std::vector<std::string>& names);

}  // namespace koios::server
