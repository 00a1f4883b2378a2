#include "storage/rocks/index/index_turns.h"

#include <xxhash.h>

#include <set>
#include <utility>

#include "core/log.h"
#include "storage/codec/index_entry.h"
#include "storage/commit_limits.h"
#include "storage/rocks/multi_get.h"

namespace koios::storage {
namespace {

// A commit that comes meanwhile waits for so many.
constexpr size_t kVerticesPerTurn = 512;
constexpr int64_t kLookAgainNs = 20'000'000;

std::string NameOfIndex(const Schema& schema, const VertexIndex& index) {
  std::vector<std::string> keys;
  for (const KeyId key : index.keys) keys.push_back(schema.keys.Name(key));
  return IndexName(schema.labels.Name(index.label), keys);
}

Status CheckSpec(const IndexSpec& spec) {
  RETURN_IF_ERROR(CheckName(spec.label, "label"));
  if (spec.keys.empty()) return InvalidArgument("An index needs at least one property key.");
  for (const std::string& key : spec.keys) RETURN_IF_ERROR(CheckName(key, "property key"));
  if (std::set<std::string>(spec.keys.begin(), spec.keys.end()).size() < spec.keys.size()) {
    return InvalidArgument("The keys of an index differ; " + IndexName(spec.label, spec.keys) +
                           " has one twice.");
  }
  if (spec.keys.size() <= kMaxIndexKeys) return OkStatus();
  ErrorDetail detail;
  detail.reason = "TOO_MANY_KEYS";
  detail.limit = "keys of an index " + std::to_string(kMaxIndexKeys);
  detail.used = std::to_string(spec.keys.size());
  return ResourceExhausted("An index has at most " + std::to_string(kMaxIndexKeys) + " keys.",
                           detail);
}

void DeleteEntries(const Database& database, uint32_t partition, uint32_t first, uint32_t behind,
                   rocksdb::WriteBatch* effects) {
  effects
      ->DeleteRange(database.family(Family::kVertexIndex), VertexIndexPrefix(partition, first),
                    VertexIndexPrefix(partition, behind))
      .PermitUncheckedError();
}

}  // namespace

Status TakeTurn(StoreState* state, const TurnWork& work, const std::function<Status()>& stop) {
  while (true) {
    if (stop) RETURN_IF_ERROR(stop());
    PendingCommit self;
    self.work = &work;
    state->RunInTurn(&self);
    if (!self.met_load) return self.result.status();
    MutexLock lock(&state->queue_mutex);
    if (state->loading) state->idle.WaitFor(&state->queue_mutex, kLookAgainNs);
  }
}

Status IndexBuild::Run() {
  const TurnWork some{Growth::kGrows,
                      [this](rocksdb::WriteBatch* effects) { return WriteSome(effects); }, nullptr};
  while (partition_ < state_->NewestView()->num_partitions()) {
    RETURN_IF_ERROR(TakeTurn(state_, some, [this] { return Watch(); }));
  }
  return Watch();
}

// In turn: the newest view is all that is written, so that no entry is of a value that is gone.
Status IndexBuild::WriteSome(rocksdb::WriteBatch* effects) {
  const VertexIndexes& indexes = state_->meta.schema().vertex_indexes;
  const auto index = indexes.find(index_);
  if (index == indexes.end()) return Aborted("The index was dropped while it was being built.");
  const VertexIndexes only = {*index};
  const std::shared_ptr<const RocksView> view = state_->NewestView();
  std::vector<VertexRef> vertices;
  // Partitions may have few vertices of the label each.
  while (partition_ < view->num_partitions() && vertices.size() < kVerticesPerTurn) {
    RETURN_IF_ERROR(view->ScanVertices(partition_, {&index->second.label, 1}, &cursor_,
                                       kVerticesPerTurn - vertices.size(), &vertices));
    if (!cursor_.done) continue;
    cursor_ = {};
    ++partition_;
  }
  rocksdb::ColumnFamilyHandle* const family =
      view->snapshot().database().family(Family::kVertexIndex);
  return ForEachFound(
      view->snapshot(), Family::kVertices, vertices.size(),
      [&](size_t row, std::string* key) {
        *key = VertexKey(vertices[row]);
        return true;
      },
      [&](size_t row, std::string_view bytes) -> Status {
        VertexRecord record;
        RETURN_IF_ERROR(ParseVertexRecord(bytes, &record));
        ASSIGN_OR_RETURN(const KeyedProperties properties,
                         IndexedProperties(only, record.label, record.properties));
        ++vertices_;
        const std::string places = PlacesOfEntry(index->second.keys, properties);
        if (places.empty()) return OkStatus();
        ++entries_;
        distinct_.Add(XXH3_64bits(places.data(), places.size()));
        return FromRocks(effects->Put(family, VertexIndexKey(vertices[row], index_, places), ""),
                         "Building an index");
      });
}

StatusOr<IndexId> DefineIndex(StoreState* state, const IndexSpec& spec,
                              const std::function<Status()>& stop) {
  RETURN_IF_ERROR(CheckSpec(spec));
  IndexId id = 0;
  TurnWork define;
  define.change = [&](MetaState* meta) -> Status {
    VertexIndex index;
    ASSIGN_OR_RETURN(index.label, meta->InternLabel(spec.label, state->options.max_names));
    for (const std::string& name : spec.keys) {
      ASSIGN_OR_RETURN(const KeyId key, meta->InternKey(name, state->options.max_names));
      index.keys.push_back(key);
    }
    if (const auto known = meta->schema().FindIndex(index.label, index.keys)) {
      const bool ready = meta->schema().vertex_indexes.at(*known).ready;
      return AlreadyExists("The index " + IndexName(spec.label, spec.keys) +
                           (ready ? " is there already." : " is being built already."));
    }
    ASSIGN_OR_RETURN(id, meta->AddVertexIndex(std::move(index)));
    return OkStatus();
  };
  RETURN_IF_ERROR(TakeTurn(state, define, stop));
  return id;
}

Status RemoveIndex(StoreState* state, IndexId index) {
  TurnWork remove;
  remove.growth = Growth::kShrinks;
  remove.write = [&](rocksdb::WriteBatch* effects) {
    const std::shared_ptr<Database> database = state->CurrentDatabase();
    for (uint32_t p = 0; p < state->meta.num_partitions(); ++p) {
      DeleteEntries(*database, p, index, index + 1, effects);
    }
    return OkStatus();
  };
  remove.change = [&](MetaState* meta) -> Status {
    if (!meta->schema().vertex_indexes.contains(index)) return NotFound("There is no such index.");
    meta->DropVertexIndex(index);
    return OkStatus();
  };
  return TakeTurn(state, remove, nullptr);
}

namespace {

// The indexes that a graph of an older format had by hashes, as they are now.
Status RebuildHashedIndexes(StoreState* state) {
  const auto hashed = state->meta.hashed_indexes();
  std::map<IndexId, uint64_t> built;  // with the number of different values
  for (const auto& [label, key] : hashed) {
    if (state->meta.schema().FindIndex(label, {&key, 1})) continue;
    const IndexSpec spec{state->meta.schema().labels.Name(label),
                         {state->meta.schema().keys.Name(key)}};
    KLOG_INFO("{}: the index {} is built anew", state->path, IndexName(spec.label, spec.keys));
    ASSIGN_OR_RETURN(const IndexId id, DefineIndex(state, spec, nullptr));
    const IndexWatch nobody;
    IndexBuild build(state, id, nobody);
    RETURN_IF_ERROR(build.Run());
    built[id] = build.distinct();
  }
  TurnWork finish;
  finish.write = [&](rocksdb::WriteBatch* effects) {
    const std::shared_ptr<Database> database = state->CurrentDatabase();
    for (const auto& [label, key] : hashed) {
      effects
          ->Delete(database->family(Family::kMeta),
                   EncodeMetaKey({MetaKind::kHashedIndex, label, key}))
          .PermitUncheckedError();
    }
    for (uint32_t p = 0; p < state->meta.num_partitions(); ++p) {
      DeleteEntries(*database, p, 0, kFirstIndexId, effects);
    }
    return OkStatus();
  };
  finish.change = [&](MetaState* meta) {
    for (const auto& [id, distinct] : built) {
      VertexIndex index = meta->schema().vertex_indexes.at(id);
      index.ready = true;
      index.distinct = distinct;
      meta->SetVertexIndex(id, std::move(index));
    }
    meta->ForgetHashedIndexes();
    return OkStatus();
  };
  return TakeTurn(state, finish, nullptr);
}

}  // namespace

void FinishIndexes(StoreState* state) {
  if (state->waits_for_room) return;
  const VertexIndexes indexes = state->meta.schema().vertex_indexes;
  for (const auto& [id, index] : indexes) {
    if (index.ready) continue;
    const Status removed = RemoveIndex(state, id);
    KLOG_WARNING("{}: the index {} was not built to its end: {}", state->path,
                 NameOfIndex(state->meta.schema(), index),
                 removed.ok() ? "it is removed" : MessageOf(removed));
  }
  if (state->meta.hashed_indexes().empty()) return;
  const Status rebuilt = RebuildHashedIndexes(state);
  if (!rebuilt.ok()) {
    KLOG_WARNING("{}: its indexes could not be built anew: {}", state->path, MessageOf(rebuilt));
  }
}

}  // namespace koios::storage
