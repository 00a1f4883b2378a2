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
#include "storage/delta/delta.h"
#include "storage/delta/delta_record.h"
#include "storage/disk/disk_room.h"
#include "storage/disk/files.h"
#include "storage/disk/high_water_mark.h"
#include "storage/meta_state.h"
#include "storage/numbers.h"
#include "storage/rocks/database.h"
#include "storage/rocks/disk/store_disk.h"
#include "storage/rocks/graph_store.h"
#include "storage/rocks/memory/store_memory.h"
#include "storage/rocks/rocks_view.h"
#include "storage/view/snapshot_set.h"

namespace koios::storage {

class BackgroundFold;  // snapshots/background_fold.h

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

// What queries read beside the truth: what the graph was when its log of commits began, and what
// was committed since. Without a base only the truth is read.
struct Readable {
  std::shared_ptr<const SnapshotSet> base;
  std::shared_ptr<Delta> delta;  // with a base, not null
};

// Snapshots that are to be named.
struct Naming {
  uint64_t version = 0;  // of the graph that they tell
  NamedSnapshots snapshots;
  Readable readable;     // they, and the log behind them
  uint64_t applied = 0;  // so much of it
};

// A caller of Commit who waits.
struct PendingCommit {
  CommitRecord* record = nullptr;  // its keys go when it is committed
  Status refused;                  // by what it was made of
  const CommitWatch* watch = nullptr;
  CommitTurn* turn = nullptr;  // null: nobody's
  // Instead of a record: names snapshots; lets go of the delta, so that the truth is read;
  // does some work.
  Naming* naming = nullptr;
  bool forgets = false;
  const TurnWork* work = nullptr;
  bool met_load = false;  // refused because a load is appended
  StatusOr<CommitResult> result = Status(StatusCode::kUnknown, "undecided");
  bool done = false;
  CondVar wake;
};

struct GraphStore::State {
  State(std::string p, const StoreOptions& o) : path(std::move(p)), options(o) {
    if (options.memory == nullptr) options.memory = MakeStoreMemory(options);
    if (options.disk == nullptr) options.disk = std::make_shared<const StoreDisk>();
  }

  std::string path;
  StoreOptions options;
  std::shared_ptr<FileLock> holder;

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
  uint64_t log_bytes = 0;               // of the log, since it began
  std::shared_ptr<HighWaterMark> mark;  // null: the database is open for reading only
  bool waits_for_room = false;          // so it is, because the disk was full

  mutable Mutex view_mutex;
  std::shared_ptr<Database> database KOIOS_GUARDED_BY(view_mutex);
  std::shared_ptr<const RocksView> view KOIOS_GUARDED_BY(view_mutex);
  NamedSnapshots snapshots KOIOS_GUARDED_BY(view_mutex);
  Readable readable KOIOS_GUARDED_BY(view_mutex);

  // Null: snapshots are built only when somebody asks for it. The store ends it before all else.
  std::shared_ptr<BackgroundFold> folds;

  // What queries read: from snapshots and the delta, as far as they are there and whole.
  std::shared_ptr<const GraphView> QueryView() const;
  Readable CurrentReadable() const {
    MutexLock lock(&view_mutex);
    return readable;
  }
  DeltaBudget& deltas() const { return *options.memory->deltas; }
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
  void Publish(MetaState next_meta, Readable next_readable);
  // Of the graph that `loaded` is of, from its snapshots and its log.
  Readable OpenReadable(const MetaState& loaded);
  // The caller leads until EndGroup.
  std::vector<PendingCommit*> BeginGroup() KOIOS_REQUIRES(queue_mutex);
  void EndGroup(const std::vector<PendingCommit*>& group) KOIOS_REQUIRES(queue_mutex);
  // Waits its turn, and perhaps leads; the answer is in `self`.
  void RunInTurn(PendingCommit* self);
  // Commits as many of `group` as fit one write, at least one; returns how many.
  size_t RunGroup(std::span<PendingCommit* const> group);
  StatusOr<CommitResult> RunWork(const TurnWork& work);
  Status Name(Naming* naming);
  Status Forget();
  // Adds the record of the commits up to next_meta->version() to the log, or begins a new one.
  void Log(const DeltaRecord& record, MetaState* next_meta, rocksdb::WriteBatch* effects);
  // Applies what was logged, and publishes it.
  void PublishCommits(MetaState next_meta, const DeltaRecord& record);
  // Until the delta has room, or nobody makes any.
  Status WaitForRoom(const CommitWatch& watch);
  // ... and the rest of Commit. `refused`: what ends it unless a conflict does.
  StatusOr<CommitResult> CommitOne(CommitRecord record, Status refused, const CommitWatch& watch,
                                   CommitTurn* turn);
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
