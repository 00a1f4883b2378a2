#include "storage/index_build.h"

#include <memory>
#include <utility>

#include "core/clock.h"
#include "core/log.h"
#include "storage/rocks/index/index_turns.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

Status MakeReady(StoreState* state, IndexId id, uint64_t distinct, const IndexWatch& watch) {
  TurnWork finish;
  finish.change = [&](MetaState* meta) -> Status {
    const auto found = meta->schema().vertex_indexes.find(id);
    if (found == meta->schema().vertex_indexes.end()) {
      return Aborted("The index was dropped while it was being built.");
    }
    VertexIndex index = found->second;
    index.ready = true;
    index.distinct = distinct;
    meta->SetVertexIndex(id, std::move(index));
    return OkStatus();
  };
  return TakeTurn(state, finish, [&] { return watch ? watch(0) : OkStatus(); });
}

}  // namespace

StatusOr<IndexReport> CreateIndex(GraphStore* store, const IndexSpec& spec,
                                  const IndexWatch& watch) {
  StoreState& state = StoreAccess::Of(store);
  if (state.options.read_only) return OpenForReadingOnly();
  const int64_t begin = SteadyClock::Get()->NowNanos();
  const auto stop = [&] { return watch ? watch(0) : OkStatus(); };
  ASSIGN_OR_RETURN(const IndexId id, DefineIndex(&state, spec, stop));
  IndexBuild build(&state, id, watch);
  Status done = build.Run();
  if (done.ok())
    done = MakeReady(&state, id, build.distinct(),
                     [&](uint64_t) { return watch ? watch(build.vertices()) : OkStatus(); });
  if (!done.ok()) {
    const Status removed = RemoveIndex(&state, id);
    if (!removed.ok() && removed.code() != StatusCode::kNotFound) {
      KLOG_WARNING("{}: an index that was not built to its end stays: {}", state.path,
                   MessageOf(removed));
    }
    return WithoutPath(done, state.path);
  }
  IndexReport report;
  report.vertices = build.vertices();
  report.entries = build.entries();
  report.seconds = static_cast<double>(SteadyClock::Get()->NowNanos() - begin) / 1e9;
  return report;
}

Status DropIndex(GraphStore* store, const IndexSpec& spec) {
  StoreState& state = StoreAccess::Of(store);
  if (state.options.read_only) return OpenForReadingOnly();
  const std::shared_ptr<const RocksView> view = state.NewestView();
  const Schema& schema = view->schema();
  std::vector<KeyId> keys;
  for (const std::string& key : spec.keys) keys.push_back(schema.keys.Find(key));
  const std::optional<IndexId> index = schema.FindIndex(schema.labels.Find(spec.label), keys);
  const Status dropped = index ? RemoveIndex(&state, *index) : NotFound("There is no such index.");
  if (dropped.code() != StatusCode::kNotFound) return WithoutPath(dropped, state.path);
  return NotFound("There is no index " + IndexName(spec.label, spec.keys) + ".");
}

uint64_t IndexBytes(const GraphStore& store, IndexId index) {
  const StoreState& state = StoreAccess::Of(store);
  const std::shared_ptr<Database> database = state.CurrentDatabase();
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  uint64_t total = 0;
  for (uint32_t p = 0; p < store.num_partitions(); ++p) {
    const std::string begin = VertexIndexPrefix(p, index), end = VertexIndexPrefix(p, index + 1);
    const rocksdb::Range range(begin, end);
    uint64_t bytes = 0;
    const rocksdb::Status asked = database->db()->GetApproximateSizes(
        options, database->family(Family::kVertexIndex), &range, 1, &bytes);
    if (asked.ok()) total += bytes;
  }
  return total;
}

}  // namespace koios::storage
