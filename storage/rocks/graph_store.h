// GraphStore: one graph on disk, whole: the truth in RocksDB, commits, and views of it.
// Thread-safe. Commits are atomic and synced before they are answered; concurrent ones share one
// synced write. Isolation is snapshot isolation without dangling edges or duplicate upserts
// (DESIGN 7): first committer wins, the other gets ABORTED and may re-run on a new view.
// A view outlives its store if it must; it keeps the database open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "core/value.h"
#include "storage/commit_record.h"
#include "storage/conflict/conflict_turns.h"
#include "storage/graph_view.h"
#include "storage/transaction/transaction.h"
#include "storage/write_batch.h"

namespace koios::storage {

struct StoreDisk;    // storage/rocks/disk/store_disk.h
struct StoreMemory;  // storage/rocks/memory/store_memory.h

// Where assertions are on.
#ifdef NDEBUG
inline constexpr bool kEncodesCommits = false;
#else
inline constexpr bool kEncodesCommits = true;
#endif

struct StoreOptions {
  bool create = false;           // when there is none
  bool read_only = false;        // commits fail with FAILED_PRECONDITION
  bool repair = false;           // opens what is left of a damaged graph, for Repair (repair.h)
  uint32_t num_partitions = 16;  // at creation; afterwards the graph's own number counts
  // Shared with other stores; null: one of the store's own, with these bytes.
  std::shared_ptr<StoreMemory> memory;
  // What the files are written through; null: the system's own. Tests put theirs in its place.
  std::shared_ptr<const StoreDisk> disk;
  size_t block_cache_bytes = size_t{256} << 20;  // with the write buffers
  size_t write_buffer_bytes = size_t{64} << 20;  // memtables of all families
  // What was committed since the snapshots, in memory. Commits wait for a fold when it is full.
  size_t delta_bytes = size_t{64} << 20;
  // Snapshots are made in the background, where there are none, when one is damaged, or when the
  // delta on top has become large. Without it commits that don't fit the delta make all be read
  // from the truth, until BuildSnapshots.
  bool folds_in_background = false;
  size_t fold_bytes = size_t{64} << 20;  // memory for that; beyond it data waits in a file
  int max_open_files = 256;
  // What stays free on the disk: commits that would take of it are refused (RESOURCE_EXHAUSTED), so
  // that there is room to write the tables of what was accepted. Those that only drop may take it
  // down to a quarter.
  uint64_t disk_reserve_bytes = uint64_t{64} << 20;
  // Limits of what a request can grow; past one: RESOURCE_EXHAUSTED.
  size_t max_commit_bytes = size_t{256} << 20;
  size_t max_value_bytes = kMaxValueBytes;
  uint32_t max_names = 100'000;  // labels, and property keys
  // Keys remembered to decide conflicts. A commit whose read version is older: ABORTED.
  size_t conflict_window_keys = 1024 * 1024;
  // Each commit goes through its record's bytes before it is decided: whatever is not in them is
  // lost, so that tests see that they have all.
  bool encodes_commits = kEncodesCommits;
};

std::shared_ptr<StoreMemory> MakeStoreMemory(const StoreOptions& options);

struct CommitResult {
  uint64_t version = 0;  // the first version that shows the commit
  // As CommitRecord::vertices and ::edges; an edge that is not stored is null.
  std::vector<VertexRef> vertices;
  std::vector<Value> vertex_ids;
  std::vector<EdgeRef> edges;
  std::vector<Value> edge_ids;
};

class GraphStore {
 public:
  // NOT_FOUND: no graph at `path` and not options.create. FAILED_PRECONDITION: open elsewhere, or
  // written by a newer Koios. DATA_LOSS: damaged, or older than its high-water mark; nothing of it
  // is changed. When the disk is too full to open for writing the graph can be read, and is opened
  // for writing by the first commit that finds room.
  static StatusOr<std::unique_ptr<GraphStore>> Open(const std::string& path,
                                                    const StoreOptions& options);
  ~GraphStore();
  GraphStore(const GraphStore&) = delete;
  GraphStore& operator=(const GraphStore&) = delete;

  // Applies the record whole or not at all. Blocks until it is durable and decided, by its keys
  // alone (conflict/commit_decision.h). A record that comes again is not applied again: it gets the
  // answer that its first one got, as long as the window of conflicts knows that. The window is
  // lost when the store is closed: ABORTED then doesn't say that the record was never committed.
  // ABORTED: conflict with a commit after record.read_version. INVALID_ARGUMENT: a bad id, label,
  // key or value. RESOURCE_EXHAUSTED: a limit, or the disk is full. FAILED_PRECONDITION: read only.
  // An edge added to a vertex that the same batch drops is not stored; nor is a property set on an
  // element that it drops. A batch without changes answers the current version.
  // `watch` is asked now and then until the batch is applied; an error ends the commit, and nothing
  // is changed. Any thread may be the one that asks.
  // `turn` is of a request that runs again when it was refused.
  // Waits for a fold when the delta is full; `watch` is asked meanwhile.
  StatusOr<CommitResult> Commit(CommitRecord record, const CommitWatch& watch = nullptr,
                                CommitTurn* turn = nullptr);
  // A request by itself, whose record is made here, of the newest version; without changes there is
  // none. ALREADY_EXISTS: an id is taken. NOT_FOUND: an element that it refers to does not exist.
  StatusOr<CommitResult> Commit(WriteBatch batch, const CommitWatch& watch = nullptr,
                                CommitTurn* turn = nullptr);

  // What a mutating request reads and writes: on the newest version, with nothing changed yet.
  std::unique_ptr<Transaction> Begin() const;

  // The newest version.
  std::shared_ptr<const GraphView> View() const;

  const std::string& path() const;
  uint32_t num_partitions() const;
  // Bytes of the graph's files, and of what was committed since its snapshots in memory.
  uint64_t DiskBytes() const;
  uint64_t DeltaBytes() const;
  // Of the snapshots that are read: a view of an older version keeps a delta that has been folded.
  // 0: there are none.
  uint64_t FoldedVersion() const;
  // Deletes the graph's folder once the store and its views are gone.
  void RemoveWhenClosed();
  // Writes memtables to files and compacts all families: for benchmarks and tests.
  Status Compact();

 private:
  friend class StoreAccess;  // rocks/store_access.h: for BulkWriter and Check
  struct State;
  explicit GraphStore(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace koios::storage
