// The inside of a GraphStore, for the store itself, BulkWriter and Check.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "storage/conflict/conflict_turns.h"
#include "storage/conflict/conflict_window.h"
#include "storage/disk/disk_room.h"
#include "storage/disk/files.h"
#include "storage/disk/high_water_mark.h"
#include "storage/meta_state.h"
#include "storage/numbers.h"
#include "storage/rocks/database.h"
#include "storage/rocks/graph_store.h"
#include "storage/rocks/memory/adjacency_cache.h"
#include "storage/rocks/rocks_view.h"
#include "storage/view/snapshot_set.h"

namespace koios::storage {

// In a graph's folder.
inline constexpr char kFormatFile[] = "FORMAT";
inline constexpr char kHolderFile[] = "HOLDER";
inline constexpr char kDatabaseFolder[] = "db";
inline constexpr char kIngestFolder[] = "ingest";
inline constexpr char kSnapshotFolder[] = "snapshots";
inline constexpr char kMarkFile[] = "MARK";
inline constexpr char kNewMarkFile[] = "MARK.repaired";  // while a repair runs

// A change that is no commit: the leader makes it alone, on what is written, and the version stays.
// It is synced when it changes facts; until then nobody relies on it.
struct TurnWork {
  Growth growth = Growth::kGrows;
  std::function<Status(rocksdb::WriteBatch* effects)> write;  // null: nothing
  std::function<Status(MetaState* meta)> change;              // null: no facts
};

// A caller of Commit who waits.
struct PendingCommit {
  const WriteBatch* batch = nullptr;
  const CommitWatch* watch = nullptr;
  CommitTurn* turn = nullptr;                 // null: nobody's
  const NamedSnapshots* snapshots = nullptr;  // to be named, and nothing else
  const TurnWork* work = nullptr;             // instead of a batch
  bool met_load = false;                      // refused because a load is appended
  StatusOr<CommitResult> result = Status(StatusCode::kUnknown, "undecided");
  bool done = false;
  CondVar wake;
};

struct GraphStore::State {
  State(std::string p, const StoreOptions& o) : path(std::move(p)), options(o) {}

  std::string path;
  StoreOptions options;
  std::shared_ptr<FileLock> holder;
  std::shared_ptr<AdjacencyCache> cache;  // null: none

  Mutex queue_mutex;
  CondVar idle;  // no leader
  std::deque<PendingCommit*> queue KOIOS_GUARDED_BY(queue_mutex);
  bool leading KOIOS_GUARDED_BY(queue_mutex) = false;  // somebody leads a group
  bool loading KOIOS_GUARDED_BY(queue_mutex) = false;  // a BulkWriter appends
  bool building_snapshots KOIOS_GUARDED_BY(queue_mutex) = false;

  std::shared_ptr<Numbers> numbers;
  const std::shared_ptr<ConflictTurns> turns = std::make_shared<ConflictTurns>();

  // The leader's, or the BulkWriter's.
  MetaState meta;
  ConflictWindow window{0, 0};
  Status last_write;
  std::shared_ptr<HighWaterMark> mark;  // null: the database is open for reading only
  bool waits_for_room = false;          // so it is, because the disk was full

  mutable Mutex view_mutex;
  std::shared_ptr<Database> database KOIOS_GUARDED_BY(view_mutex);
  std::shared_ptr<const RocksView> view KOIOS_GUARDED_BY(view_mutex);
  NamedSnapshots snapshots KOIOS_GUARDED_BY(view_mutex);
  // Of the newest version; null: none are.
  std::shared_ptr<const SnapshotSet> opened_snapshots KOIOS_GUARDED_BY(view_mutex);

  // What queries read: from snapshots, as far as they are there and whole.
  std::shared_ptr<const GraphView> QueryView() const;
  std::shared_ptr<const RocksView> NewestView() const {
    MutexLock lock(&view_mutex);
    return view;
  }
  std::shared_ptr<Database> CurrentDatabase() const {
    MutexLock lock(&view_mutex);
    return database;
  }
  void SetDatabase(std::shared_ptr<Database> next) {
    MutexLock lock(&view_mutex);
    database.swap(next);
  }
  NamedSnapshots Snapshots() const {
    MutexLock lock(&view_mutex);
    return snapshots;
  }
  std::string snapshot_folder() const { return path + "/" + kSnapshotFolder; }
  Status LoadMeta();
  // Makes the state of `next_meta`, whose facts are stored, what everybody sees.
  void Publish(MetaState next_meta);
  // The caller leads until EndGroup.
  std::vector<PendingCommit*> BeginGroup() KOIOS_REQUIRES(queue_mutex);
  void EndGroup(const std::vector<PendingCommit*>& group) KOIOS_REQUIRES(queue_mutex);
  // Waits its turn, and perhaps leads; the answer is in `self`.
  void RunInTurn(PendingCommit* self);
  // Commits as many of `group` as fit one write, at least one; returns how many.
  size_t RunGroup(std::span<PendingCommit* const> group);
  StatusOr<CommitResult> RunWork(const TurnWork& work);
  // `sync`: they are on disk, with all that was written before.
  Status WriteEffects(Growth growth, rocksdb::WriteBatch* effects, bool sync = true);
  // The graph's facts are those of `version`, which is on disk: tells the mark.
  void MarkVersion(uint64_t version);
  // Gives everybody who waits in `group` this answer.
  static void AnswerAll(std::span<PendingCommit* const> group, const Status& status);
};

// What the meta records say; DATA_LOSS, FAILED_PRECONDITION for a newer format.
StatusOr<MetaState> ReadMeta(std::unique_ptr<rocksdb::Iterator> records);

class StoreAccess {
 public:
  using State = GraphStore::State;
  static State& Of(GraphStore* store) { return *store->state_; }
  static const State& Of(const GraphStore& store) { return *store.state_; }
};

using StoreState = StoreAccess::State;

}  // namespace koios::storage
