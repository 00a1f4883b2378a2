// A graph's folder:
//   FORMAT   "koios graph N\n": the format's number; written last at creation
//   HOLDER   locked while the graph is open, names the process
//   db/      RocksDB: families as in codec/keys.h
//   ingest/  files of a load that is not finished; removed at open
// Commits queue up; the first one in the queue leads: it decides and writes a group of them with
// one synced write, publishes the view, and wakes the others.
#include "storage/rocks/graph_store.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/rocks/commit_builder.h"
#include "storage/rocks/store_memory.h"
#include "storage/rocks/store_state.h"

namespace koios::storage {
namespace {

constexpr std::string_view kFormatWords = "koios graph ";
constexpr size_t kMaxGroupCommits = 256;
constexpr size_t kMaxGroupBytes = size_t{64} << 20;

StatusOr<uint32_t> ReadFormat(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(path + "/" + kFormatFile));
  std::string_view text = content;
  uint32_t format = 0;
  if (text.starts_with(kFormatWords)) {
    text.remove_prefix(kFormatWords.size());
    std::from_chars(text.data(), text.data() + text.size(), format);
  }
  if (format == 0) return DataLoss("The file FORMAT in '" + path + "' is damaged.");
  if (format > kFormatVersion) {
    return FailedPrecondition("The graph in '" + path + "' was written by a newer Koios (format " +
                              std::to_string(format) + "; this one reads up to " +
                              std::to_string(kFormatVersion) + ").");
  }
  return format;
}

Status WriteFormat(const std::string& path) {
  return WriteFileDurably(path + "/" + kFormatFile,
                          std::string(kFormatWords) + std::to_string(kFormatVersion) + "\n");
}

Status WriteMeta(Database* database, MetaState* meta) {
  rocksdb::WriteBatch batch;
  meta->TakeChanges([&](std::string_view key, std::string_view value) {
    batch.Put(database->family(Family::kMeta), AsSlice(key), AsSlice(value)).PermitUncheckedError();
  });
  rocksdb::WriteOptions options;
  options.sync = true;
  return FromRocks(database->db()->Write(options, &batch), "Writing the graph");
}

StatusOr<std::shared_ptr<Database>> CreateDatabase(const std::string& path,
                                                   const StoreOptions& options) {
  if (options.num_partitions == 0 || options.num_partitions > kMaxPartitions) {
    return InvalidArgument("A graph has 1 to " + std::to_string(kMaxPartitions) +
                           " partitions, not " + std::to_string(options.num_partitions) + ".");
  }
  const std::string db_path = path + "/" + kDatabaseFolder;
  if (PathExists(db_path)) {
    return DataLoss("The folder '" + path + "' has a database but no FORMAT file; it was not " +
                    "created whole or is damaged.");
  }
  ASSIGN_OR_RETURN(std::shared_ptr<Database> database,
                   Database::Open(db_path, OpenMode::kCreate, options));
  MetaState meta(options.num_partitions);
  RETURN_IF_ERROR(WriteMeta(database.get(), &meta));
  RETURN_IF_ERROR(WriteFormat(path));
  return database;
}

Status CheckDisk(const std::string& path, uint64_t effects_bytes, uint64_t min_free_bytes) {
  ASSIGN_OR_RETURN(const uint64_t free_bytes, FreeBytes(path));
  if (free_bytes >= min_free_bytes && free_bytes - min_free_bytes >= 2 * effects_bytes) {
    return OkStatus();
  }
  ErrorDetail detail;
  detail.reason = "DISK_FULL";
  detail.limit = "storage.min_free_disk_bytes = " + std::to_string(min_free_bytes);
  detail.used = std::to_string(free_bytes) + " bytes are free";
  detail.setting = "storage.min_free_disk_bytes";
  return ResourceExhausted(
      "The disk of '" + path + "' is full; nothing can be written until " + "there is space again.",
      detail);
}

bool HasEffects(const WriteBatch& batch) {
  return !batch.vertices.empty() || !batch.edges.empty() || !batch.vertex_properties.empty() ||
         !batch.edge_properties.empty() || !batch.dropped_vertices.empty() ||
         !batch.dropped_edges.empty();
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
  ASSIGN_OR_RETURN(MetaState loaded,
                   ReadMeta(std::unique_ptr<rocksdb::Iterator>(database->db()->NewIterator(
                       rocksdb::ReadOptions(), database->family(Family::kMeta)))));
  window = ConflictWindow(loaded.version(), options.conflict_window_keys);
  Publish(std::move(loaded));
  return OkStatus();
}

void GraphStore::State::Publish(MetaState next_meta) {
  meta = std::move(next_meta);
  if (numbers == nullptr) numbers = std::make_shared<Numbers>(meta.num_partitions());
  numbers->SkipTo(meta);
  auto next_view =
      std::make_shared<const RocksView>(database, meta.version(), meta.num_partitions(),
                                        std::make_shared<const Schema>(meta.schema()), cache);
  MutexLock lock(&view_mutex);
  view.swap(next_view);
}

Status GraphStore::State::WriteEffects(rocksdb::WriteBatch* effects) {
  RETURN_IF_ERROR(CheckDisk(path, effects->GetDataSize(), options.min_free_disk_bytes));
  if (!last_write.ok()) RETURN_IF_ERROR(database->ResumeWrites(last_write));
  rocksdb::WriteOptions write_options;
  write_options.sync = true;
  last_write = FromRocks(database->db()->Write(write_options, effects), "Writing the graph");
  return last_write;
}

size_t GraphStore::State::RunGroup(std::span<PendingCommit* const> group) {
  MetaState next_meta = meta;
  rocksdb::WriteBatchWithIndex effects(rocksdb::BytewiseComparator(), 0, /*overwrite_key=*/true);
  CommitGroup shared{database.get(), &options, &window, lanes.get(), numbers.get(),
                     &next_meta,     &effects, {},      false};
  size_t taken = 0;
  while (taken < group.size()) {
    PendingCommit* commit = group[taken++];
    if (!HasEffects(*commit->batch)) {
      commit->result = CommitResult{next_meta.version(), {}, {}, {}, {}};
    } else {
      commit->result = CommitBuilder(&shared, *commit->batch, *commit->watch, commit->turn).Run();
    }
    if (shared.is_full || effects.GetWriteBatch()->GetDataSize() > kMaxGroupBytes) break;
  }
  if (next_meta.version() == meta.version()) return taken;

  next_meta.TakeChanges([&](std::string_view key, std::string_view value) {
    effects.Put(database->family(Family::kMeta), AsSlice(key), AsSlice(value))
        .PermitUncheckedError();
  });
  if (cache != nullptr) {
    std::sort(shared.touched.begin(), shared.touched.end());
    const auto last = std::unique(shared.touched.begin(), shared.touched.end());
    shared.touched.erase(last, shared.touched.end());
    for (const VertexRef vertex : shared.touched) cache->Touch(vertex, next_meta.version());
  }
  const Status written = WriteEffects(effects.GetWriteBatch());
  if (written.ok()) {
    Publish(std::move(next_meta));
    return taken;
  }
  for (PendingCommit* commit : group.first(taken)) {
    if (commit->result.ok()) commit->result = written;
  }
  // It knows of commits that never were.
  window = ConflictWindow(meta.version(), options.conflict_window_keys);
  return taken;
}

StatusOr<std::unique_ptr<GraphStore>> GraphStore::Open(const std::string& path,
                                                       const StoreOptions& options) {
  const bool exists = PathExists(path + "/" + kFormatFile);
  if (!exists && (!options.create || options.read_only)) {
    return NotFound("There is no graph in '" + path + "'.");
  }
  uint32_t format = kFormatVersion;
  if (exists) {
    ASSIGN_OR_RETURN(format, ReadFormat(path));
  }
  const bool is_older = format < kFormatVersion;
  if (is_older && options.read_only) {
    return FailedPrecondition("The graph in '" + path + "' was written by an older Koios (format " +
                              std::to_string(format) + "); open it once for writing.");
  }
  RETURN_IF_ERROR(MakeFolder(path));
  ASSIGN_OR_RETURN(std::shared_ptr<FileLock> lock,
                   FileLock::Acquire(path + "/" + kHolderFile, options.read_only,
                                     "The graph in '" + path + "'"));
  auto state = std::make_unique<State>(path, options);
  if (exists) {
    ASSIGN_OR_RETURN(
        state->database,
        Database::Open(path + "/" + kDatabaseFolder,
                       is_older ? OpenMode::kAddFamilies : OpenMode::kAsItIs, options));
    if (is_older) RETURN_IF_ERROR(WriteFormat(path));
  } else {
    ASSIGN_OR_RETURN(state->database, CreateDatabase(path, options));
  }
  state->database->Keep(std::move(lock));
  if (!options.read_only) RETURN_IF_ERROR(RemovePath(path + "/" + kIngestFolder));
  if (auto pool = AdjacencyOf(options); pool != nullptr) {
    state->cache = std::make_shared<AdjacencyCache>(std::move(pool));
  }
  RETURN_IF_ERROR(state->LoadMeta());
  return std::unique_ptr<GraphStore>(new GraphStore(std::move(state)));
}

GraphStore::GraphStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
GraphStore::~GraphStore() = default;

StatusOr<CommitResult> GraphStore::Commit(const WriteBatch& batch, const CommitWatch& watch,
                                          CommitTurn* turn) {
  State& state = *state_;
  if (state.options.read_only) {
    return FailedPrecondition("The graph in '" + state.path + "' is open for reading only.");
  }
  PendingCommit self;
  self.batch = &batch;
  self.watch = &watch;
  self.turn = turn;
  if (turn != nullptr) turn->lanes = state.lanes;
  std::vector<PendingCommit*> group;
  {
    MutexLock lock(&state.queue_mutex);
    if (state.loading) {
      return FailedPrecondition(
          "A load is being appended to the graph; nothing else can be written until it ends.");
    }
    state.queue.push_back(&self);
    while (!self.done && (state.leading || state.queue.front() != &self)) {
      self.wake.Wait(&state.queue_mutex);
    }
    if (self.done) return std::move(self.result);
    group = state.BeginGroup();
  }
  for (size_t next = 0; next < group.size();) {
    next += state.RunGroup(std::span(group).subspan(next));
  }
  MutexLock lock(&state.queue_mutex);
  state.EndGroup(group);
  return std::move(self.result);
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

std::shared_ptr<const GraphView> GraphStore::View() const { return state_->NewestView(); }

const std::string& GraphStore::path() const { return state_->path; }
uint32_t GraphStore::num_partitions() const { return View()->num_partitions(); }
uint64_t GraphStore::DiskBytes() const { return state_->database->DiskBytes(); }
uint64_t GraphStore::CachedAdjacencyBytes() const {
  return state_->cache == nullptr ? 0 : state_->cache->ByteSize();
}
Status GraphStore::Compact() { return state_->database->Compact(); }

void GraphStore::RemoveWhenClosed() {
  state_->database->Keep(std::shared_ptr<void>(nullptr, [path = state_->path](void*) {
    // The graph is dropped already; what is left over is removed when the data folder is opened.
    RemovePath(path).IgnoreError();
  }));
}

}  // namespace koios::storage
