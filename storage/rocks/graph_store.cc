// What a graph's folder holds: opening.h.
// Commits queue up; the first one in the queue leads: it decides and writes a group of them with
// one synced write, publishes the view, and wakes the others.
#include "storage/rocks/graph_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/log.h"
#include "storage/commit_limits.h"
#include "storage/rocks/commit_builder.h"
#include "storage/rocks/index/index_turns.h"
#include "storage/rocks/opening.h"
#include "storage/rocks/snapshots/background_fold.h"
#include "storage/rocks/snapshots/commit_log.h"
#include "storage/rocks/snapshots/named_snapshots.h"
#include "storage/rocks/store_state.h"
#include "storage/store_errors.h"
#include "storage/transaction/commit_keys.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

constexpr size_t kMaxGroupCommits = 256;
constexpr size_t kMaxGroupBytes = size_t{64} << 20;
// Of a log whose delta is not in memory, as no snapshot is below it: longer ones begin anew.
constexpr uint64_t kMaxLogBytes = uint64_t{256} << 20;
constexpr int64_t kRoomWaitNs = 5'000'000;

Growth GrowthOf(const CommitRecord& batch) {
  const auto sets = [](const auto& change) { return change.value.has_value(); };
  const bool grows =
      !batch.vertices.empty() || !batch.edges.empty() ||
      std::any_of(batch.vertex_properties.begin(), batch.vertex_properties.end(), sets) ||
      std::any_of(batch.edge_properties.begin(), batch.edge_properties.end(), sets);
  return grows ? Growth::kGrows : Growth::kShrinks;
}

}  // namespace

StatusOr<MetaState> ReadMeta(std::unique_ptr<rocksdb::Iterator> records) {
  MetaState meta;
  for (records->SeekToFirst(); records->Valid(); records->Next()) {
    if (AsView(records->key()).starts_with(kLogPrefix)) break;
    RETURN_IF_ERROR(meta.Load(AsView(records->key()), AsView(records->value())));
  }
  RETURN_IF_ERROR(FromRocks(records->status(), "Reading the graph"));
  RETURN_IF_ERROR(meta.FinishLoad());
  return meta;
}

Status GraphStore::State::LoadMeta() {
  const std::shared_ptr<Database> from = CurrentDatabase();
  ASSIGN_OR_RETURN(MetaState loaded,
                   ReadMeta(std::unique_ptr<rocksdb::Iterator>(from->db()->NewIterator(
                       rocksdb::ReadOptions(), from->family(Family::kMeta)))));
  window = ConflictWindow(loaded.version(), options.conflict_window_keys);
  if (!loaded.log_start()) {
    // What is named is of the graph as it is, or of no use.
    const NamedSnapshots& named = loaded.snapshots();
    const bool current = std::all_of(named.begin(), named.end(), [&](const auto& one) {
      return one.second.version == loaded.version();
    });
    if (current) {
      loaded.SetLogStart(loaded.version());
    } else {
      loaded.RestartLog(loaded.version());
    }
  }
  Readable opened = OpenReadable(loaded);
  log_bytes = opened.delta == nullptr ? 0 : opened.delta->record_bytes();
  Publish(std::move(loaded), std::move(opened));
  return OkStatus();
}

Readable GraphStore::State::OpenReadable(const MetaState& loaded) {
  Readable opened;
  opened.base = OpenNamedSnapshots(snapshot_folder(), loaded);
  if (opened.base == nullptr) return {};
  opened.delta = std::make_shared<Delta>(loaded.num_partitions(), options.memory->deltas);
  const Status replayed =
      ReplayLog(*CurrentDatabase(), *loaded.log_start(), loaded.version(), opened.delta.get());
  if (replayed.ok()) return opened;
  KLOG_WARNING("{} Reading is slow until there are new snapshots.", MessageOf(replayed));
  return {};
}

void GraphStore::State::Publish(MetaState next_meta, Readable next_readable) {
  meta = std::move(next_meta);
  if (numbers == nullptr) numbers = std::make_shared<Numbers>(meta.num_partitions());
  numbers->SkipTo(meta);
  auto next_view =
      std::make_shared<const RocksView>(CurrentDatabase(), meta.version(), meta.num_partitions(),
                                        std::make_shared<const Schema>(meta.schema()));
  {
    // The old ones go when the lock is free.
    MutexLock lock(&view_mutex);
    view.swap(next_view);
    std::swap(readable, next_readable);
    snapshots = meta.snapshots();
  }
  if (folds != nullptr) folds->Look();
}

std::shared_ptr<const GraphView> GraphStore::State::QueryView() const {
  std::shared_ptr<const RocksView> truth;
  Readable from;
  {
    MutexLock lock(&view_mutex);
    truth = view;
    from = readable;
  }
  if (from.base == nullptr) return truth;
  if (!from.base->Damage().ok()) {
    if (folds != nullptr) folds->Look();
    return truth;
  }
  if (from.delta->empty()) from.delta = nullptr;
  return std::make_shared<const SnapshotView>(std::move(from.base), std::move(from.delta),
                                              std::move(truth));
}

Status GraphStore::State::WriteEffects(Growth growth, rocksdb::WriteBatch* effects, bool sync) {
  RETURN_IF_ERROR(CheckRoom(path, growth, effects->GetDataSize(), options.disk_reserve_bytes));
  const std::shared_ptr<Database> to = CurrentDatabase();
  if (!last_write.ok()) RETURN_IF_ERROR(to->ResumeWrites(last_write));
  rocksdb::WriteOptions write_options;
  write_options.sync = sync;
  last_write = FromRocks(to->db()->Write(write_options, effects), "Writing the graph");
  return last_write;
}

void GraphStore::State::MarkVersion(uint64_t version) {
  // The commit is on disk, whatever becomes of the mark; the next one writes it again.
  const Status marked = mark->SetVersion(version);
  if (!marked.ok()) KLOG_WARNING("{}", MessageOf(marked));
}

void GraphStore::State::AnswerAll(std::span<PendingCommit* const> group, const Status& status) {
  for (PendingCommit* commit : group) commit->result = status;
}

void GraphStore::State::Log(const DeltaRecord& record, MetaState* next_meta,
                            rocksdb::WriteBatch* effects) {
  const size_t limit = deltas().limit_bytes(), used = deltas().used_bytes();
  const bool read = CurrentReadable().base != nullptr;
  uint64_t touched_pages = 0;
  for (uint32_t p = 0; p < next_meta->num_partitions(); ++p) {
    touched_pages += next_meta->next_vertex_local(p) / TouchedBits::kLocalsPerPage + 1;
  }
  // What is as large as that is read from the truth until it is in a snapshot; so is everything
  // when nobody makes room.
  const size_t room = std::max(limit / 2, limit - std::min(limit, used));
  const bool fits =
      record.MostDeltaBytes(touched_pages) <= room && (folds != nullptr || used < limit);
  if (read ? fits : log_bytes + record.bytes().size() <= kMaxLogBytes) {
    PutLogRecord(*CurrentDatabase(), next_meta->version(), record.bytes(), effects);
    return;
  }
  TrimLog(*CurrentDatabase(), next_meta->version(), effects);
  next_meta->RestartLog(next_meta->version());
}

void GraphStore::State::PublishCommits(MetaState next_meta, const DeltaRecord& record) {
  Readable next = CurrentReadable();
  log_bytes += record.bytes().size();
  if (next_meta.log_start() == next_meta.version()) {
    next = {};
    log_bytes = 0;
  }
  // Folds fail, and nobody makes room: the truth is read until one has succeeded.
  if (next.base != nullptr && folds != nullptr && !folds->CanFold() &&
      deltas().used_bytes() >= deltas().limit_bytes()) {
    next = {};
  }
  if (next.base != nullptr) {
    const Status applied = next.delta->Apply(next_meta.version(), record.bytes());
    if (!applied.ok()) {
      KLOG_ERROR("{}", MessageOf(applied));
      next = {};
    }
  }
  Publish(std::move(next_meta), std::move(next));
}

Status GraphStore::State::Name(Naming* naming) {
  if (waits_for_room) RETURN_IF_ERROR(OpenGraphFilesForWriting(this));
  if (naming->version < *meta.log_start()) {
    return Aborted("The graph was loaded or repaired while its snapshots were built.");
  }
  const std::shared_ptr<Database> to = CurrentDatabase();
  Delta* const delta = naming->readable.delta.get();
  RETURN_IF_ERROR(ReplayLog(*to, naming->applied, meta.version(), delta));
  MetaState next_meta = meta;
  for (const auto& [p, snapshot] : naming->snapshots) next_meta.SetSnapshot(p, snapshot);
  next_meta.SetLogStart(naming->version);
  rocksdb::WriteBatch effects;
  TrimLog(*to, naming->version, &effects);
  next_meta.TakeChanges([&](std::string_view key, std::string_view value) {
    effects.Put(to->family(Family::kMeta), AsSlice(key), AsSlice(value)).PermitUncheckedError();
  });
  RETURN_IF_ERROR(WriteEffects(Growth::kShrinks, &effects));
  log_bytes = delta->record_bytes();
  Publish(std::move(next_meta), naming->readable);
  return OkStatus();
}

Status GraphStore::State::Forget() {
  Publish(meta, {});
  return OkStatus();
}

size_t GraphStore::State::RunGroup(std::span<PendingCommit* const> group) {
  if (group[0]->naming != nullptr || group[0]->forgets) {
    const Status done = group[0]->naming != nullptr ? Name(group[0]->naming) : Forget();
    group[0]->result = done.ok() ? StatusOr<CommitResult>(CommitResult{}) : WithoutPath(done, path);
    return 1;
  }
  const Status writable = waits_for_room ? OpenGraphFilesForWriting(this) : OkStatus();
  if (!writable.ok()) {
    AnswerAll(group, WithoutPath(writable, path));
    return group.size();
  }
  if (group[0]->work != nullptr) {
    group[0]->result = RunWork(*group[0]->work);
    return 1;
  }
  // Close to the reserve each commit stands for itself: one that doesn't fit takes none along.
  const bool low =
      !CheckRoom(path, Growth::kGrows, kMaxGroupBytes, options.disk_reserve_bytes).ok();
  Growth growth = Growth::kShrinks;
  MetaState next_meta = meta;
  const std::shared_ptr<Database> to = CurrentDatabase();
  rocksdb::WriteBatchWithIndex effects(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  DeltaRecord record(meta.version());
  CommitGroup shared{to.get(),   &options, &window, turns.get(), numbers.get(),
                     &next_meta, &effects, &record, false};
  size_t taken = 0;
  while (taken < group.size() && group[taken]->naming == nullptr && !group[taken]->forgets &&
         group[taken]->work == nullptr) {
    PendingCommit* commit = group[taken++];
    if (!commit->record->HasChanges()) {
      commit->result = CommitResult{next_meta.version(), {}, {}, {}, {}};
      continue;
    }
    if (GrowthOf(*commit->record) == Growth::kGrows) growth = Growth::kGrows;
    // What was committed before needs no room to be answered again.
    const bool grows = low && !window.Find(commit->record->request);
    const Status room = grows ? CheckRoom(path, growth, 0, options.disk_reserve_bytes) : OkStatus();
    commit->result = room.ok() ? CommitBuilder(&shared, commit->record, commit->refused,
                                               *commit->watch, commit->turn)
                                     .Run()
                               : StatusOr<CommitResult>(WithoutPath(room, path));
    const bool full = shared.is_full || effects.GetWriteBatch()->GetDataSize() >
                                            std::min(kMaxGroupBytes, options.max_commit_bytes);
    if (low || full) break;
  }
  if (next_meta.version() == meta.version()) return taken;

  Log(record, &next_meta, effects.GetWriteBatch());
  next_meta.TakeChanges([&](std::string_view key, std::string_view value) {
    effects.Put(to->family(Family::kMeta), AsSlice(key), AsSlice(value)).PermitUncheckedError();
  });
  const Status written = WriteEffects(growth, effects.GetWriteBatch());
  if (written.ok()) {
    MarkVersion(next_meta.version());
    PublishCommits(std::move(next_meta), record);
    return taken;
  }
  for (PendingCommit* commit : group.first(taken)) {
    if (commit->result.ok()) commit->result = WithoutPath(written, path);
  }
  // It knows of commits that never were.
  window.GoBackTo(meta.version());
  return taken;
}

StatusOr<CommitResult> GraphStore::State::RunWork(const TurnWork& work) {
  rocksdb::WriteBatch effects;
  if (work.write) RETURN_IF_ERROR(work.write(&effects));
  std::optional<MetaState> next_meta;
  if (work.change) {
    next_meta = meta;
    RETURN_IF_ERROR(work.change(&*next_meta));
    const std::shared_ptr<Database> to = CurrentDatabase();
    next_meta->TakeChanges([&](std::string_view key, std::string_view value) {
      effects.Put(to->family(Family::kMeta), AsSlice(key), AsSlice(value)).PermitUncheckedError();
    });
  }
  if (effects.Count() > 0) {
    RETURN_IF_ERROR(WithoutPath(WriteEffects(work.growth, &effects, next_meta.has_value()), path));
  }
  if (next_meta) {
    MarkVersion(next_meta->version());
    Publish(*std::move(next_meta), CurrentReadable());
  }
  return CommitResult{meta.version(), {}, {}, {}, {}};
}

Status GraphStore::State::WaitForRoom(const CommitWatch& watch) {
  while (folds != nullptr && deltas().used_bytes() >= deltas().limit_bytes()) {
    if (watch) RETURN_IF_ERROR(watch());
    if (!deltas().AskForRoom()) break;
    deltas().WaitForChange(kRoomWaitNs);
  }
  return OkStatus();
}

StatusOr<std::unique_ptr<GraphStore>> GraphStore::Open(const std::string& path,
                                                       const StoreOptions& options) {
  const bool exists = PathExists(path + "/" + kFormatFile) ||
                      (options.repair && PathExists(path + "/" + kDatabaseFolder));
  if (!exists && (!options.create || options.read_only)) {
    if (PathExists(path)) return WithWayOut(DataLoss("The graph's file FORMAT is gone."));
    return NotFound("There is no graph in '" + path + "'.");
  }
  RETURN_IF_ERROR(MakeFolder(path));
  auto state = std::make_unique<State>(path, options);
  ASSIGN_OR_RETURN(state->holder, FileLock::Acquire(path + "/" + kHolderFile, options.read_only,
                                                    "The graph in '" + path + "'"));
  const Status opened = exists ? OpenGraphFiles(state.get()) : CreateGraphFiles(state.get());
  RETURN_IF_ERROR(WithWayOut(opened));
  if (!options.read_only && !options.repair) FinishIndexes(state.get());
  if (options.folds_in_background && !options.read_only) {
    state->folds = std::make_shared<BackgroundFold>(state.get());
    state->folds->Look();
  }
  return std::unique_ptr<GraphStore>(new GraphStore(std::move(state)));
}

GraphStore::GraphStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
GraphStore::~GraphStore() {
  if (state_->folds != nullptr) state_->folds->Stop();
}

StatusOr<CommitResult> GraphStore::Commit(CommitRecord record, const CommitWatch& watch,
                                          CommitTurn* turn) {
  return state_->CommitOne(std::move(record), OkStatus(), watch, turn);
}

// What is gone, or there, of the newest version may be so because of a conflict: the keys tell.
StatusOr<CommitResult> GraphStore::Commit(WriteBatch batch, const CommitWatch& watch,
                                          CommitTurn* turn) {
  State& state = *state_;
  if (state.options.read_only) return OpenForReadingOnly();
  const StoreOptions& limits = state.options;
  RETURN_IF_ERROR(CheckBatch(batch, limits.max_commit_bytes, limits.max_value_bytes));
  const std::shared_ptr<const GraphView> view = state.QueryView();
  RETURN_IF_ERROR(AssignNumbers(*view, state.numbers.get(), &batch));
  CommitRecord record;
  record.request = NewRequestId();
  Status made = MakeRecord(*view, limits.max_commit_bytes, watch, std::move(batch), &record);
  const bool decides = made.ok() || made.code() == StatusCode::kNotFound ||
                       made.code() == StatusCode::kAlreadyExists;
  if (!decides) return made;
  return state.CommitOne(std::move(record), std::move(made), watch, turn);
}

StatusOr<CommitResult> GraphStore::State::CommitOne(CommitRecord record, Status refused,
                                                    const CommitWatch& watch, CommitTurn* turn) {
  if (options.read_only) return OpenForReadingOnly();
  if (turn != nullptr) turn->turns = turns;
  RETURN_IF_ERROR(CheckRecord(record, NewestView()->num_partitions(), options.max_commit_bytes,
                              options.max_value_bytes));
  if (refused.ok()) RETURN_IF_ERROR(CheckDistinct(record));
  if (options.encodes_commits && refused.ok()) {
    ASSIGN_OR_RETURN(record, DecodeCommitRecord(EncodeCommitRecord(record)));
  }
  RETURN_IF_ERROR(WaitForRoom(watch));
  PendingCommit self;
  self.record = &record;
  self.refused = std::move(refused);
  self.watch = &watch;
  self.turn = turn;
  RunInTurn(&self);
  return std::move(self.result);
}

void GraphStore::State::RunInTurn(PendingCommit* self) {
  std::vector<PendingCommit*> group;
  {
    MutexLock lock(&queue_mutex);
    self->met_load = loading;
    if (loading) {
      self->result = FailedPrecondition(
          "A load is being appended to the graph; nothing else can be written until it ends.");
      return;
    }
    queue.push_back(self);
    while (!self->done && (leading || queue.front() != self)) {
      self->wake.Wait(&queue_mutex);
    }
    if (self->done) return;
    group = BeginGroup();
  }
  for (size_t next = 0; next < group.size();) {
    next += RunGroup(std::span(group).subspan(next));
  }
  MutexLock lock(&queue_mutex);
  EndGroup(group);
}

std::vector<PendingCommit*> GraphStore::State::BeginGroup() {
  leading = true;
  const auto end = queue.begin() + static_cast<ptrdiff_t>(std::min(queue.size(), kMaxGroupCommits));
  std::vector<PendingCommit*> group(queue.begin(), end);
  queue.erase(queue.begin(), end);
  return group;
}

void GraphStore::State::EndGroup(const std::vector<PendingCommit*>& group) {
  leading = false;
  for (PendingCommit* commit : group) {
    commit->done = true;
    commit->wake.NotifyOne();
  }
  if (!queue.empty()) queue.front()->wake.NotifyOne();
  idle.NotifyAll();
}

std::unique_ptr<Transaction> GraphStore::Begin() const {
  return std::make_unique<Transaction>(View(), state_->numbers, state_->options.max_value_bytes,
                                       state_->options.max_commit_bytes);
}

std::shared_ptr<const GraphView> GraphStore::View() const { return state_->QueryView(); }

const std::string& GraphStore::path() const { return state_->path; }
uint32_t GraphStore::num_partitions() const { return state_->NewestView()->num_partitions(); }
uint64_t GraphStore::DiskBytes() const {
  uint64_t bytes = state_->CurrentDatabase()->DiskBytes();
  for (const auto& [partition, snapshot] : state_->Snapshots()) {
    for (const SnapshotFileName& file : snapshot.files) bytes += file.bytes;
  }
  return bytes;
}
uint64_t GraphStore::DeltaBytes() const {
  const Readable readable = state_->CurrentReadable();
  return readable.delta == nullptr ? 0 : readable.delta->bytes();
}
uint64_t GraphStore::FoldedVersion() const {
  const Readable readable = state_->CurrentReadable();
  return readable.base == nullptr ? 0 : readable.base->version();
}
Status GraphStore::Compact() { return state_->CurrentDatabase()->Compact(); }

void GraphStore::RemoveWhenClosed() {
  state_->CurrentDatabase()->Keep(std::shared_ptr<void>(nullptr, [path = state_->path](void*) {
    // The graph is dropped already; what is left over is removed when the data folder is opened.
    RemovePath(path).IgnoreError();
  }));
}

}  // namespace koios::storage
