// What a graph's folder holds: opening.h.
// Commits queue up; the first one in the queue leads: it decides and writes a group of them with
// one synced write, publishes the view, and wakes the others.
#include "storage/rocks/graph_store.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/log.h"
#include "storage/rocks/commit_builder.h"
#include "storage/rocks/index/index_turns.h"
#include "storage/rocks/memory/store_memory.h"
#include "storage/rocks/opening.h"
#include "storage/rocks/snapshots/named_snapshots.h"
#include "storage/rocks/store_state.h"
#include "storage/store_errors.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

constexpr size_t kMaxGroupCommits = 256;
constexpr size_t kMaxGroupBytes = size_t{64} << 20;

bool HasEffects(const WriteBatch& batch) {
  return !batch.vertices.empty() || !batch.edges.empty() || !batch.vertex_properties.empty() ||
         !batch.edge_properties.empty() || !batch.dropped_vertices.empty() ||
         !batch.dropped_edges.empty();
}

Growth GrowthOf(const WriteBatch& batch) {
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
  Publish(std::move(loaded));
  return OkStatus();
}

void GraphStore::State::Publish(MetaState next_meta) {
  meta = std::move(next_meta);
  if (numbers == nullptr) numbers = std::make_shared<Numbers>(meta.num_partitions());
  numbers->SkipTo(meta);
  auto next_view =
      std::make_shared<const RocksView>(CurrentDatabase(), meta.version(), meta.num_partitions(),
                                        std::make_shared<const Schema>(meta.schema()), cache);
  std::shared_ptr<const SnapshotSet> next_opened;
  {
    MutexLock lock(&view_mutex);
    const bool same = opened_snapshots != nullptr &&
                      opened_snapshots->version() == meta.version() &&
                      snapshots == meta.snapshots();
    if (same) next_opened = opened_snapshots;
  }
  if (next_opened == nullptr) next_opened = OpenNamedSnapshots(snapshot_folder(), meta);
  MutexLock lock(&view_mutex);
  view.swap(next_view);
  opened_snapshots.swap(next_opened);
  snapshots = meta.snapshots();
}

std::shared_ptr<const GraphView> GraphStore::State::QueryView() const {
  MutexLock lock(&view_mutex);
  if (opened_snapshots == nullptr || !opened_snapshots->Damage().ok()) return view;
  return std::make_shared<const SnapshotView>(opened_snapshots, view);
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

size_t GraphStore::State::RunGroup(std::span<PendingCommit* const> group) {
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
  CommitGroup shared{to.get(),   &options, &window, turns.get(), numbers.get(),
                     &next_meta, &effects, {},      false};
  size_t taken = 0;
  bool names = false;
  while (taken < group.size() && group[taken]->work == nullptr) {
    PendingCommit* commit = group[taken++];
    if (commit->snapshots != nullptr) {
      for (const auto& [p, snapshot] : *commit->snapshots) next_meta.SetSnapshot(p, snapshot);
      names = true;
    }
    if (!HasEffects(*commit->batch)) {
      commit->result = CommitResult{next_meta.version(), {}, {}, {}, {}};
      continue;
    }
    if (GrowthOf(*commit->batch) == Growth::kGrows) growth = Growth::kGrows;
    const Status room = low ? CheckRoom(path, growth, 0, options.disk_reserve_bytes) : OkStatus();
    commit->result =
        room.ok() ? CommitBuilder(&shared, *commit->batch, *commit->watch, commit->turn).Run()
                  : StatusOr<CommitResult>(WithoutPath(room, path));
    const bool full = shared.is_full || effects.GetWriteBatch()->GetDataSize() > kMaxGroupBytes;
    if (low || full) break;
  }
  if (next_meta.version() == meta.version() && !names) return taken;

  next_meta.TakeChanges([&](std::string_view key, std::string_view value) {
    effects.Put(to->family(Family::kMeta), AsSlice(key), AsSlice(value)).PermitUncheckedError();
  });
  if (cache != nullptr) {
    std::sort(shared.touched.begin(), shared.touched.end());
    const auto last = std::unique(shared.touched.begin(), shared.touched.end());
    shared.touched.erase(last, shared.touched.end());
    for (const VertexRef vertex : shared.touched) cache->Touch(vertex, next_meta.version());
  }
  const Status written = WriteEffects(growth, effects.GetWriteBatch());
  if (written.ok()) {
    MarkVersion(next_meta.version());
    Publish(std::move(next_meta));
    return taken;
  }
  for (PendingCommit* commit : group.first(taken)) {
    if (commit->result.ok()) commit->result = WithoutPath(written, path);
  }
  // It knows of commits that never were.
  window = ConflictWindow(meta.version(), options.conflict_window_keys);
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
    Publish(*std::move(next_meta));
  }
  return CommitResult{meta.version(), {}, {}, {}, {}};
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
  if (auto pool = AdjacencyOf(options); pool != nullptr) {
    state->cache = std::make_shared<AdjacencyCache>(std::move(pool));
  }
  const Status opened = exists ? OpenGraphFiles(state.get()) : CreateGraphFiles(state.get());
  RETURN_IF_ERROR(WithWayOut(opened));
  if (!options.read_only && !options.repair) FinishIndexes(state.get());
  return std::unique_ptr<GraphStore>(new GraphStore(std::move(state)));
}

GraphStore::GraphStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
GraphStore::~GraphStore() = default;

StatusOr<CommitResult> GraphStore::Commit(const WriteBatch& batch, const CommitWatch& watch,
                                          CommitTurn* turn) {
  State& state = *state_;
  if (state.options.read_only) {
    return OpenForReadingOnly();
  }
  PendingCommit self;
  self.batch = &batch;
  self.watch = &watch;
  self.turn = turn;
  if (turn != nullptr) turn->turns = state.turns;
  state.RunInTurn(&self);
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
  return std::make_unique<Transaction>(View(), state_->numbers, state_->options.max_value_bytes);
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
uint64_t GraphStore::CachedAdjacencyBytes() const {
  return state_->cache == nullptr ? 0 : state_->cache->ByteSize();
}
Status GraphStore::Compact() { return state_->CurrentDatabase()->Compact(); }

void GraphStore::RemoveWhenClosed() {
  state_->CurrentDatabase()->Keep(std::shared_ptr<void>(nullptr, [path = state_->path](void*) {
    // The graph is dropped already; what is left over is removed when the data folder is opened.
    RemovePath(path).IgnoreError();
  }));
}

}  // namespace koios::storage
