// A partition is read in three passes of one RocksDB snapshot: its edges, for those that have
// properties or given ids; then its vertices and the ends of edges side by side, which are in the
// order of the file already.
#include "storage/snapshot_build.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "storage/codec/records.h"
#include "storage/disk/disk_room.h"
#include "storage/rocks/opening.h"
#include "storage/rocks/snapshots/commit_log.h"
#include "storage/rocks/snapshots/fold.h"
#include "storage/rocks/snapshots/named_snapshots.h"
#include "storage/rocks/store_state.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

constexpr uint64_t kEntriesPerWatch = 1024;

// Walks what a partition has in one family.
class PartitionScan {
 public:
  PartitionScan(const Snapshot& snapshot, Family family, uint32_t partition)
      : upper_bytes_(PrefixEnd(PartitionKey(partition))), upper_(upper_bytes_) {
    rocksdb::ReadOptions options = snapshot.ReadOptions();
    options.fill_cache = false;
    options.readahead_size = size_t{2} << 20;
    options.iterate_upper_bound = &upper_;
    records_ = snapshot.NewIterator(family, options);
    records_->Seek(PartitionKey(partition));
  }
  bool Valid() const { return records_->Valid(); }
  void Next() { records_->Next(); }
  std::string_view key() const { return AsView(records_->key()); }
  std::string_view value() const { return AsView(records_->value()); }
  Status status() const { return FromRocks(records_->status(), "Reading the graph"); }

 private:
  const std::string upper_bytes_;
  const rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> records_;
};

class TruthReader {
 public:
  TruthReader(const RocksView& view, const SnapshotWatch& watch) : view_(view), watch_(watch) {
    progress_.num_partitions = view.num_partitions();
  }

  StatusOr<BuiltSnapshot> Build(const SnapshotBuildOptions& options) {
    progress_.partition = options.partition;
    SnapshotBuilder builder(options);
    RETURN_IF_ERROR(ReadEdges(options.partition, &builder));
    RETURN_IF_ERROR(ReadVertices(options.partition, &builder));
    return builder.Finish();
  }

 private:
  Status Watch() {
    if (!watch_ || progress_.entries++ % kEntriesPerWatch != 0) return OkStatus();
    return watch_(progress_);
  }

  Status ReadEdges(uint32_t partition, SnapshotBuilder* builder) {
    PartitionScan edges(view_.snapshot(), Family::kEdges, partition);
    std::vector<std::pair<KeyId, std::string_view>> properties;
    for (; edges.Valid(); edges.Next()) {
      RETURN_IF_ERROR(Watch());
      ASSIGN_OR_RETURN(const uint64_t id, DecodeEdgeKey(edges.key()));
      EdgeRecord record;
      RETURN_IF_ERROR(ParseEdgeRecord(id, edges.value(), &record));
      if (record.id_bytes.empty() && record.properties.empty()) continue;
      properties.clear();
      PropertyReader reader(record.properties);
      while (reader.Next()) properties.emplace_back(reader.key(), reader.value_bytes());
      RETURN_IF_ERROR(reader.status());
      RETURN_IF_ERROR(builder->AddEdge({record.edge, record.id_bytes, properties}));
    }
    return edges.status();
  }

  Status ReadVertices(uint32_t partition, SnapshotBuilder* builder) {
    PartitionScan vertices(view_.snapshot(), Family::kVertices, partition);
    PartitionScan ends(view_.snapshot(), Family::kEdgeEnds, partition);
    std::vector<PropertyInput> properties;
    for (; vertices.Valid(); vertices.Next()) {
      RETURN_IF_ERROR(Watch());
      ASSIGN_OR_RETURN(const VertexRef vertex, DecodeVertexKey(vertices.key()));
      VertexRecord record;
      RETURN_IF_ERROR(ParseVertexRecord(vertices.value(), &record));
      properties.clear();
      PropertyReader reader(record.properties);
      while (reader.Next()) {
        properties.push_back({reader.key(), reader.value_bytes(), Cardinality::kSingle, {}});
      }
      RETURN_IF_ERROR(reader.status());
      RETURN_IF_ERROR(
          builder->AddVertex({vertex.local(), {&record.label, 1}, record.id_bytes, properties}));
      RETURN_IF_ERROR(ReadEnds(vertex, &ends, builder));
    }
    RETURN_IF_ERROR(vertices.status());
    RETURN_IF_ERROR(ends.status());
    if (ends.Valid()) return DataLoss("An edge of the graph leads to no vertex.");
    return OkStatus();
  }

  Status ReadEnds(VertexRef vertex, PartitionScan* ends, SnapshotBuilder* builder) {
    EdgeEnd end;
    for (; ends->Valid(); ends->Next()) {
      RETURN_IF_ERROR(DecodeEdgeEndKey(ends->key(), &end));
      if (end.vertex > vertex) break;
      if (end.vertex < vertex) return DataLoss("An edge of the graph leads to no vertex.");
      RETURN_IF_ERROR(Watch());
      RETURN_IF_ERROR(builder->AddEnd(end.direction, end.label, end.neighbour, end.edge_id));
    }
    return ends->status();
  }

  const RocksView& view_;
  const SnapshotWatch& watch_;
  SnapshotProgress progress_;
};

// One build of a graph's snapshots at a time.
class BuildTurn {
 public:
  static StatusOr<std::unique_ptr<BuildTurn>> Take(StoreState* state) {
    MutexLock lock(&state->queue_mutex);
    if (state->building_snapshots) {
      return FailedPrecondition("Snapshots of the graph are being built already.");
    }
    state->building_snapshots = true;
    return std::unique_ptr<BuildTurn>(new BuildTurn(state));
  }
  ~BuildTurn() {
    MutexLock lock(&state_->queue_mutex);
    state_->building_snapshots = false;
  }

 private:
  explicit BuildTurn(StoreState* state) : state_(state) {}
  StoreState* const state_;
};

void AddTo(const BuiltSnapshot& built, SnapshotReport* report) {
  ++report->files;
  report->file_bytes += built.file.bytes;
  report->vertices += built.vertices;
  report->edges += built.out_edges;
  for (const auto& [part, bytes] : built.bytes_by_kind) report->bytes[part] += bytes;
}

// What there is when a fold begins.
struct FoldStart {
  std::shared_ptr<const RocksView> view;
  NamedSnapshots named;
  Readable readable;
  uint64_t version() const { return view->version(); }
};

FoldStart StartOf(const StoreState& state) {
  MutexLock lock(&state.view_mutex);
  return {state.view, state.snapshots, state.readable};
}

// Whether the snapshot of a partition says what it is at the start's version, too.
bool IsCurrent(const FoldStart& start, uint32_t partition) {
  const Readable& readable = start.readable;
  return readable.base != nullptr && start.named.contains(partition) &&
         readable.delta->Of(partition).empty() && readable.base->Of(partition).Damage().ok();
}

std::vector<LabelId> LabelsWithProperties(const Schema& schema) {
  std::vector<LabelId> labels;
  for (const auto& [name, kind] : schema.property_kinds) {
    const bool is_new = labels.empty() || labels.back() != name.first;
    if (is_new && schema.edge_counts.contains(name.first)) labels.push_back(name.first);
  }
  return labels;
}

// What is built is nobody's until it is named.
Status BuildFiles(const FoldStart& start, const SnapshotOptions& options,
                  const SnapshotWatch& watch, StoreState* state, SnapshotReport* report,
                  NamedSnapshots* built) {
  const std::string folder = state->snapshot_folder();
  RETURN_IF_ERROR(MakeFolder(folder));
  report->version = start.version();
  SnapshotBuildOptions build;
  build.folder = folder;
  build.version = start.version();
  build.num_partitions = start.view->num_partitions();
  build.budget_bytes = options.memory_bytes;
  build.labels_with_properties = LabelsWithProperties(start.view->schema());
  build.disk = state->options.disk->files;
  ASSIGN_OR_RETURN(build.number, NextSnapshotNumber(folder, start.named));
  const uint64_t partition_bytes =
      start.view->snapshot().database().DiskBytes() / build.num_partitions;
  TruthReader reader(*start.view, watch);
  for (build.partition = 0; build.partition < build.num_partitions; ++build.partition) {
    if (!options.all_partitions && IsCurrent(start, build.partition)) {
      (*built)[build.partition] = start.named.at(build.partition);
      continue;
    }
    RETURN_IF_ERROR(
        CheckRoom(state->path, Growth::kGrows, partition_bytes, state->options.disk_reserve_bytes));
    ASSIGN_OR_RETURN(const BuiltSnapshot one, reader.Build(build));
    AddTo(one, report);
    (*built)[build.partition] = {build.version, {one.file}};
  }
  return OkStatus();
}

Status LogBeganAnew() {
  return Aborted("The graph was loaded, or changed by a large commit, while snapshots were built.");
}

// Opens what was built, with the delta of what was committed meanwhile, and names it.
Status NameBuilt(const FoldStart& start, NamedSnapshots built, StoreState* state) {
  Naming naming;
  naming.version = start.version();
  ASSIGN_OR_RETURN(naming.readable.base, OpenSnapshotSet(state->snapshot_folder(), start.version(),
                                                         built, start.readable.base.get()));
  naming.readable.delta =
      std::make_shared<Delta>(start.view->num_partitions(), state->options.memory->deltas);
  naming.snapshots = std::move(built);
  naming.applied = start.version();
  // Nearly all of it now, while commits go on; the rest in turn with them.
  for (int pass = 0; pass < 2; ++pass) {
    const uint64_t newest = state->NewestView()->version();
    const Status replayed =
        ReplayLog(*state->CurrentDatabase(), naming.applied, newest, naming.readable.delta.get());
    if (replayed.code() == StatusCode::kDataLoss) return LogBeganAnew();
    RETURN_IF_ERROR(replayed);
    naming.applied = newest;
  }
  PendingCommit pending;
  pending.naming = &naming;
  state->RunInTurn(&pending);
  return pending.result.status();
}

}  // namespace

StatusOr<SnapshotReport> Fold(const SnapshotOptions& options, const SnapshotWatch& watch,
                              StoreState* state) {
  if (state->options.read_only) return OpenForReadingOnly();
  ASSIGN_OR_RETURN(const auto turn, BuildTurn::Take(state));
  const int64_t begin = SteadyClock::Get()->NowNanos();
  SnapshotReport report;
  NamedSnapshots built;
  const FoldStart start = StartOf(*state);
  const Status files = BuildFiles(start, options, watch, state, &report, &built);
  // When the naming fails nobody knows what a later start finds: then both stay until it.
  const Status named = files.ok() ? NameBuilt(start, std::move(built), state) : OkStatus();
  if (named.ok()) {
    // What can't be removed now goes when the graph is opened.
    RemoveUnnamedSnapshots(state->snapshot_folder(), state->Snapshots(), state->options.disk->files)
        .IgnoreError();
  }
  for (const Status& status : {files, named}) {
    if (!status.ok()) return WithWayOut(WithoutPath(status, state->path));
  }
  report.seconds = static_cast<double>(SteadyClock::Get()->NowNanos() - begin) / 1e9;
  return report;
}

StatusOr<SnapshotReport> BuildSnapshots(GraphStore* store, const SnapshotOptions& options,
                                        const SnapshotWatch& watch) {
  return Fold(options, watch, &StoreAccess::Of(store));
}

}  // namespace koios::storage
