// Files of a load are written into the graph's folder ingest/ and moved into RocksDB by one
// IngestExternalFiles, which is atomic over all families; among the files is one of the meta family
// with the counts, the names, the next numbers and the new version. A load that ends before leaves
// only files in ingest/, which are removed when the graph is opened.
#include "storage/bulk_writer.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "storage/codec/element_id.h"
#include "storage/rocks/bulk_stream.h"
#include "storage/rocks/opening.h"
#include "storage/rocks/store_state.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

Status UsedTwice(int64_t id) {
  return AlreadyExists("The edge id " + std::to_string(id) +
                       " was given to one edge and assigned to another; give ids to all edges " +
                       "or to none.");
}

class RocksBulkWriter final : public BulkWriter {
 public:
  RocksBulkWriter(std::unique_ptr<GraphStore> owned, GraphStore* store)
      : owned_(std::move(owned)), store_(store) {}
  ~RocksBulkWriter() override;

  Status Begin();

  uint32_t num_partitions() const override { return num_partitions_; }
  StatusOr<LabelId> InternLabel(std::string_view name) override;
  StatusOr<KeyId> InternKey(std::string_view name) override;
  bool IndexVertices(LabelId label, KeyId key) override;
  VertexIndexes vertex_indexes() const override;
  VertexRef AssignVertex(const Value& id) override;
  uint64_t AssignVertices(uint32_t partition, uint64_t count) override;
  void NoteVertexId(int64_t id) override;
  Value AssignVertexId() override;
  uint64_t AssignEdge(VertexRef out, bool has_id) override;
  StatusOr<std::unique_ptr<BulkStream>> OpenStream(Family family) override;
  StatusOr<std::unique_ptr<SnapshotBuilder>> OpenSnapshot(uint32_t partition,
                                                          size_t budget_bytes) override;
  void AddSnapshot(uint32_t partition, const BuiltSnapshot& built) override;
  StatusOr<BulkSummary> Finish() override;

 private:
  StoreAccess::State& state() { return StoreAccess::Of(store_); }
  std::string NewFile();
  bool IsAssigned(uint64_t edge_number) const;
  void StreamClosed(LoadFacts* facts);
  Status CheckWhole() const;
  Status CheckRanges();
  Status CheckGivenIds();
  Status WriteMetaFile(MetaState* next_meta);
  Status Ingest();
  BulkSummary Summary(const MetaState& meta) const;

  std::unique_ptr<GraphStore> owned_;
  GraphStore* store_;
  std::string ingest_path_;
  bool began_ = false;
  bool finished_ = false;
  uint32_t num_partitions_ = 0;

  mutable Mutex mutex_;
  MetaState meta_ KOIOS_GUARDED_BY(mutex_);    // the names
  LoadFacts closed_ KOIOS_GUARDED_BY(mutex_);  // by streams
  size_t open_streams_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool broken_ KOIOS_GUARDED_BY(mutex_) = false;  // a stream ended without Close
  uint64_t next_file_ KOIOS_GUARDED_BY(mutex_) = 1;
  NamedSnapshots snapshots_ KOIOS_GUARDED_BY(mutex_);
  LoadFacts facts_;  // Finish's

  // Threads count in partitions that are neighbours: each number has a line of the cache.
  struct alignas(64) NextNumber {
    std::atomic<uint64_t> next{0};
  };
  std::vector<NextNumber> next_vertex_, next_edge_;  // by partition
  std::atomic<int64_t> next_vertex_id_{0};
  std::atomic<bool> assigned_edge_ids_{false};
};

Status RocksBulkWriter::Begin() {
  StoreAccess::State& to = state();
  if (to.options.read_only) {
    return OpenForReadingOnly();
  }
  {
    MutexLock lock(&to.queue_mutex);
    if (to.loading) return FailedPrecondition("A load is being appended to the graph already.");
    to.loading = true;
    began_ = true;
    while (to.leading || !to.queue.empty()) to.idle.Wait(&to.queue_mutex);
  }
  if (to.waits_for_room) RETURN_IF_ERROR(OpenGraphFilesForWriting(&to));
  ingest_path_ = to.path + "/" + kIngestFolder;
  RETURN_IF_ERROR(RemovePath(ingest_path_));
  RETURN_IF_ERROR(MakeFolder(ingest_path_));
  num_partitions_ = to.meta.num_partitions();
  next_vertex_ = std::vector<NextNumber>(num_partitions_);
  next_edge_ = std::vector<NextNumber>(num_partitions_);
  for (uint32_t p = 0; p < num_partitions_; ++p) {
    next_vertex_[p].next = to.meta.next_vertex_local(p);
    next_edge_[p].next = to.meta.next_edge_local(p);
  }
  next_vertex_id_ = to.meta.next_vertex_id();
  MutexLock lock(&mutex_);
  meta_ = to.meta;
  return OkStatus();
}

RocksBulkWriter::~RocksBulkWriter() {
  if (!began_) return;
  if (store_ != nullptr) {
    // What can't be removed is removed when the graph is opened.
    RemovePath(ingest_path_).IgnoreError();
    MutexLock lock(&state().queue_mutex);
    state().loading = false;
  }
}

StatusOr<LabelId> RocksBulkWriter::InternLabel(std::string_view name) {
  MutexLock lock(&mutex_);
  return meta_.InternLabel(name, state().options.max_names);
}

StatusOr<KeyId> RocksBulkWriter::InternKey(std::string_view name) {
  MutexLock lock(&mutex_);
  return meta_.InternKey(name, state().options.max_names);
}

bool RocksBulkWriter::IndexVertices(LabelId label, KeyId key) {
  MutexLock lock(&mutex_);
  if (meta_.schema().FindIndex(label, {&key, 1})) return true;
  if (meta_.schema().vertex_counts.contains(label)) return false;
  return meta_.AddVertexIndex({label, {key}, /*ready=*/true, /*distinct=*/0}).ok();
}

VertexIndexes RocksBulkWriter::vertex_indexes() const {
  MutexLock lock(&mutex_);
  return meta_.schema().vertex_indexes;
}

VertexRef RocksBulkWriter::AssignVertex(const Value& id) {
  if (id.kind() == ValueKind::kLong) NoteVertexId(id.AsInteger());
  const uint32_t partition = PartitionOfId(id, num_partitions_);
  return VertexRef::Make(partition, AssignVertices(partition, 1));
}

uint64_t RocksBulkWriter::AssignVertices(uint32_t partition, uint64_t count) {
  return next_vertex_[partition].next.fetch_add(count);
}

void RocksBulkWriter::NoteVertexId(int64_t id) {
  if (id >= std::numeric_limits<int64_t>::max() / 2) return;
  int64_t next = next_vertex_id_.load();
  while (next <= id && !next_vertex_id_.compare_exchange_weak(next, id + 1)) {
  }
}

Value RocksBulkWriter::AssignVertexId() { return Value::Long(next_vertex_id_.fetch_add(1)); }

uint64_t RocksBulkWriter::AssignEdge(VertexRef out, bool has_id) {
  if (!has_id && !assigned_edge_ids_.load(std::memory_order_relaxed)) assigned_edge_ids_ = true;
  const uint32_t partition = out.partition();
  return VertexRef::Make(partition, next_edge_[partition].next.fetch_add(1)).bits;
}

StatusOr<std::unique_ptr<BulkStream>> RocksBulkWriter::OpenStream(Family family) {
  if (finished_) return FailedPrecondition("The load is finished.");
  if (family == Family::kMeta) return InvalidArgument("The meta family is written by Finish.");
  MutexLock lock(&mutex_);
  ++open_streams_;
  return std::unique_ptr<BulkStream>(new FileStream(
      *state().CurrentDatabase(), state().options.disk->files, family,
      meta_.schema().vertex_indexes, [this] { return NewFile(); },
      [this](uint64_t number) { return IsAssigned(number); },
      [this](LoadFacts* facts) { StreamClosed(facts); }));
}

std::string RocksBulkWriter::NewFile() {
  MutexLock lock(&mutex_);
  return ingest_path_ + "/" + std::to_string(next_file_++) + ".sst";
}

bool RocksBulkWriter::IsAssigned(uint64_t edge_number) const {
  const VertexRef parts{edge_number};
  return parts.partition() < num_partitions_ &&
         parts.local() >= StoreAccess::Of(*store_).meta.next_edge_local(parts.partition()) &&
         parts.local() < next_edge_[parts.partition()].next.load();
}

void RocksBulkWriter::StreamClosed(LoadFacts* facts) {
  MutexLock lock(&mutex_);
  --open_streams_;
  if (facts == nullptr) {
    broken_ = true;
  } else {
    closed_.Add(std::move(*facts));
  }
}

// Every vertex and edge must have come with all its records.
Status RocksBulkWriter::CheckWhole() const {
  auto records = [this](Family family) { return facts_.records[static_cast<size_t>(family)]; };
  if (records(Family::kVertices) == records(Family::kVertexLabels) &&
      records(Family::kVertices) == records(Family::kVertexIds) &&
      2 * records(Family::kEdges) == records(Family::kEdgeEnds) &&
      records(Family::kEdges) >= records(Family::kEdgeIds) &&
      records(Family::kVertexIndex) == facts_.indexed) {
    return OkStatus();
  }
  return FailedPrecondition("The load lacks records of some of its vertices or edges.");
}

Status RocksBulkWriter::CheckRanges() {
  for (std::vector<IngestFile>& files : facts_.files) {
    std::sort(files.begin(), files.end(),
              [](const IngestFile& a, const IngestFile& b) { return a.first_key < b.first_key; });
    for (size_t i = 1; i < files.size(); ++i) {
      if (files[i - 1].last_key < files[i].first_key) continue;
      return FailedPrecondition("Two streams of one family of the load overlap.");
    }
  }
  return OkStatus();
}

// Ids that the load assigned to edges are not those given to others, in the load or before it.
Status RocksBulkWriter::CheckGivenIds() {
  if (!assigned_edge_ids_) return OkStatus();
  if (facts_.has_given_edge_number) return UsedTwice(facts_.given_edge_number);
  const StoreAccess::State& to = state();
  const std::shared_ptr<const RocksView> view = to.NewestView();
  std::string upper_bytes;
  rocksdb::Slice upper;
  rocksdb::ReadOptions options = view->snapshot().ReadOptions();
  options.iterate_upper_bound = &upper;
  std::unique_ptr<rocksdb::Iterator> given;
  // In each partition of the index: jump from one range of assigned numbers to the next.
  for (uint32_t p = 0; p < num_partitions_; ++p) {
    uint64_t from = to.meta.next_edge_local(0);
    upper_bytes = PrefixEnd(PartitionKey(p));
    upper = upper_bytes;
    if (given == nullptr) given = view->snapshot().NewIterator(Family::kEdgeIds, options);
    while (true) {
      const std::string key = PartitionKey(p) + IdBytes(Value::Long(static_cast<int64_t>(from)));
      given->Seek(key);
      if (!given->Valid()) break;
      uint32_t partition = 0;
      std::string_view id_bytes;
      RETURN_IF_ERROR(SplitIdKey(AsView(given->key()), &partition, &id_bytes));
      ASSIGN_OR_RETURN(const Value id, DecodeIdBytes(id_bytes));
      if (partition != p || id.kind() != ValueKind::kLong) break;
      const VertexRef number{static_cast<uint64_t>(id.AsInteger())};
      if (number.partition() >= num_partitions_) break;
      if (IsAssigned(number.bits)) return UsedTwice(id.AsInteger());
      const uint64_t first = to.meta.next_edge_local(number.partition());
      if (number.local() < first) {
        from = VertexRef::Make(number.partition(), first).bits;
        continue;
      }
      if (number.partition() + 1 >= num_partitions_) break;
      from =
          VertexRef::Make(number.partition() + 1, to.meta.next_edge_local(number.partition() + 1))
              .bits;
    }
    RETURN_IF_ERROR(FromRocks(given->status(), "Reading edge ids"));
  }
  return OkStatus();
}

Status RocksBulkWriter::WriteMetaFile(MetaState* next_meta) {
  for (const auto& [label, count] : facts_.vertices) {
    next_meta->AddVertices(label, static_cast<int64_t>(count));
  }
  for (const auto& [label, count] : facts_.edges) {
    next_meta->AddEdges(label, static_cast<int64_t>(count));
  }
  for (const auto& [name, kind] : facts_.kinds) {
    next_meta->NoteProperty(name.first, name.second, kind);
  }
  for (uint32_t p = 0; p < num_partitions_; ++p) {
    next_meta->SetNextLocals(p, next_vertex_[p].next.load(), next_edge_[p].next.load());
  }
  next_meta->NoteVertexId(next_vertex_id_.load() - 1);
  next_meta->SetVersion(next_meta->version() + 1);
  // The log begins anew: it knows nothing of the load, but for the snapshots that come with it.
  next_meta->RestartLog(next_meta->version());
  {
    MutexLock lock(&mutex_);
    if (!snapshots_.empty() && snapshots_.size() < num_partitions_) {
      snapshots_.clear();
      // Nobody names them, and what comes needs room.
      RETURN_IF_ERROR(RemovePath(state().snapshot_folder()));
    }
    for (const auto& [partition, snapshot] : snapshots_) {
      next_meta->SetSnapshot(partition, snapshot);
    }
  }

  rocksdb::SstFileWriter file(rocksdb::EnvOptions(),
                              state().CurrentDatabase()->FileOptions(Family::kMeta));
  const std::string path = NewFile();
  RETURN_IF_ERROR(FromRocks(file.Open(path), "Creating a file of the load"));
  rocksdb::Status written;
  next_meta->TakeChanges([&](std::string_view key, std::string_view value) {
    if (written.ok()) written = file.Put(AsSlice(key), AsSlice(value));
  });
  RETURN_IF_ERROR(FromRocks(written, "Writing a file of the load"));
  RETURN_IF_ERROR(FromRocks(file.Finish(), "Writing a file of the load"));
  facts_.files[static_cast<size_t>(Family::kMeta)].push_back({path, {}, {}});
  return OkStatus();
}

Status RocksBulkWriter::Ingest() {
  std::vector<rocksdb::IngestExternalFileArg> args;
  for (size_t i = 0; i < kNumFamilies; ++i) {
    if (facts_.files[i].empty()) continue;
    rocksdb::IngestExternalFileArg arg;
    arg.column_family = state().CurrentDatabase()->family(static_cast<Family>(i));
    for (const IngestFile& file : facts_.files[i]) arg.external_files.push_back(file.path);
    arg.options.move_files = true;
    arg.options.write_global_seqno = false;
    args.push_back(std::move(arg));
  }
  return FromRocks(state().CurrentDatabase()->db()->IngestExternalFiles(args),
                   "Ingesting the load");
}

StatusOr<std::unique_ptr<SnapshotBuilder>> RocksBulkWriter::OpenSnapshot(uint32_t partition,
                                                                         size_t budget_bytes) {
  if (owned_ == nullptr) {
    return FailedPrecondition("A snapshot is written beside the load of a new graph only.");
  }
  SnapshotBuildOptions options;
  options.folder = state().snapshot_folder();
  options.version = state().meta.version() + 1;
  options.partition = partition;
  options.num_partitions = num_partitions_;
  options.budget_bytes = budget_bytes;
  options.disk = state().options.disk->files;
  {
    MutexLock lock(&mutex_);
    options.labels_with_properties.assign(closed_.edges_with_properties.begin(),
                                          closed_.edges_with_properties.end());
  }
  // The files of the load come first: where both do not fit there is no snapshot.
  RETURN_IF_ERROR(
      CheckRoom(state().path, Growth::kGrows, budget_bytes, state().options.disk_reserve_bytes));
  RETURN_IF_ERROR(MakeFolder(options.folder));
  return std::make_unique<SnapshotBuilder>(options);
}

void RocksBulkWriter::AddSnapshot(uint32_t partition, const BuiltSnapshot& built) {
  MutexLock lock(&mutex_);
  snapshots_[partition] = {state().meta.version() + 1, {built.file}};
}

StatusOr<BulkSummary> RocksBulkWriter::Finish() {
  if (finished_) return FailedPrecondition("The load is finished already.");
  MetaState next_meta;
  {
    MutexLock lock(&mutex_);
    if (open_streams_ > 0 || broken_) {
      return FailedPrecondition("A stream of the load was not closed.");
    }
    next_meta = meta_;
    facts_ = std::move(closed_);
  }
  RETURN_IF_ERROR(CheckWhole());
  RETURN_IF_ERROR(CheckRanges());
  RETURN_IF_ERROR(CheckGivenIds());
  RETURN_IF_ERROR(WriteMetaFile(&next_meta));
  StoreAccess::State& to = state();
  RETURN_IF_ERROR(Ingest());
  to.MarkVersion(next_meta.version());
  finished_ = true;
  to.window = ConflictWindow(next_meta.version(), to.options.conflict_window_keys);
  BulkSummary summary = Summary(next_meta);
  to.log_bytes = 0;
  Readable readable = to.OpenReadable(next_meta);
  to.Publish(std::move(next_meta), std::move(readable));
  RETURN_IF_ERROR(RemovePath(ingest_path_));
  if (owned_ != nullptr) {
    owned_ = nullptr;
    store_ = nullptr;
  }
  return summary;
}

BulkSummary RocksBulkWriter::Summary(const MetaState& meta) const {
  BulkSummary summary;
  summary.version = meta.version();
  const NameTable& labels = meta.schema().labels;
  for (const auto& [label, count] : facts_.vertices) summary.vertices[labels.Name(label)] = count;
  for (const auto& [label, count] : facts_.edges) summary.edges[labels.Name(label)] = count;
  MutexLock lock(&mutex_);
  for (const auto& [partition, snapshot] : snapshots_) {
    ++summary.snapshot_files;
    summary.snapshot_bytes += snapshot.files.front().bytes;
  }
  return summary;
}

}  // namespace

StatusOr<std::unique_ptr<BulkWriter>> BulkWriter::Create(const std::string& path,
                                                         const StoreOptions& options) {
  if (PathExists(path + "/" + kFormatFile)) {
    return AlreadyExists("There is already a graph in '" + path + "'.");
  }
  StoreOptions create = options;
  create.create = true;
  create.read_only = false;
  ASSIGN_OR_RETURN(std::unique_ptr<GraphStore> store, GraphStore::Open(path, create));
  GraphStore* const to = store.get();
  auto writer = std::make_unique<RocksBulkWriter>(std::move(store), to);
  RETURN_IF_ERROR(writer->Begin());
  return writer;
}

StatusOr<std::unique_ptr<BulkWriter>> BulkWriter::Append(GraphStore* store) {
  auto writer = std::make_unique<RocksBulkWriter>(nullptr, store);
  RETURN_IF_ERROR(writer->Begin());
  return writer;
}

}  // namespace koios::storage
