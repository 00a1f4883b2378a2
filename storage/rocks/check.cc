#include "storage/check.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "storage/codec/element_id.h"
#include "storage/codec/index_entry.h"
#include "storage/codec/records.h"
#include "storage/rocks/mends.h"
#include "storage/rocks/store_state.h"
#include "storage/snapshot/snapshot_check.h"

namespace koios::storage {
namespace {

std::string Name(VertexRef vertex) {
  return "vertex " + std::to_string(vertex.partition()) + "/" + std::to_string(vertex.local());
}
std::string NameOfEdge(uint64_t id) {
  const VertexRef parts{id};
  return "edge " + std::to_string(parts.partition()) + "/" + std::to_string(parts.local());
}

// That end while one partition's snapshot is being opened, at most.
constexpr int kMostFolds = 10;

class Checker {
 public:
  // `mends`, unless null, gets what would make good the problems that can be.
  Checker(std::shared_ptr<const RocksView> view, const MetaState& meta, const StoreState& state,
          const CheckWatch& watch, Mends* mends)
      : view_(std::move(view)), meta_(meta), state_(state), watch_(watch), mends_(mends) {}

  StatusOr<CheckReport> Run() {
    report_.version = view_->version();
    RETURN_IF_ERROR(ForEach(Family::kVertices, &Checker::CheckVertex));
    RETURN_IF_ERROR(ForEach(Family::kVertexLabels, &Checker::CheckVertexLabel));
    RETURN_IF_ERROR(ForEach(Family::kVertexIds, &Checker::CheckVertexId));
    RETURN_IF_ERROR(ForEach(Family::kVertexIndex, &Checker::CheckVertexIndex));
    RETURN_IF_ERROR(ForEach(Family::kEdges, &Checker::CheckEdge));
    RETURN_IF_ERROR(ForEach(Family::kEdgeEnds, &Checker::CheckEdgeEnd));
    RETURN_IF_ERROR(ForEach(Family::kEdgeIds, &Checker::CheckEdgeId));
    CheckCounts("vertices", vertex_counts_, meta_.schema().vertex_counts,
                mends_ == nullptr ? nullptr : &mends_->vertices);
    CheckCounts("edges", edge_counts_, meta_.schema().edge_counts,
                mends_ == nullptr ? nullptr : &mends_->edges);
    for (const auto& [partition, snapshot] : meta_.snapshots()) {
      RETURN_IF_ERROR(CheckNamedSnapshot(partition, snapshot));
    }
    return std::move(report_);
  }

 private:
  // Damage of the entry itself comes back as DATA_LOSS and becomes a problem.
  using CheckEntry = Status (Checker::*)(std::string_view key, std::string_view value);

  Status ForEach(Family family, CheckEntry check) {
    rocksdb::ReadOptions options = view_->snapshot().ReadOptions();
    options.verify_checksums = true;
    options.fill_cache = false;
    options.readahead_size = size_t{2} << 20;
    auto entries = view_->snapshot().NewIterator(family, options);
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
      if (watch_ && entries_++ % kEntriesPerWatch == 0) RETURN_IF_ERROR(watch_(entries_ - 1));
      Status status = (this->*check)(AsView(entries->key()), AsView(entries->value()));
      if (status.code() == StatusCode::kDataLoss) {
        Unreadable(MessageOf(status));
      } else if (!status.ok()) {
        return status;
      }
    }
    Status status = FromRocks(entries->status(), "Checking the graph");
    if (status.code() != StatusCode::kDataLoss) return status;
    Unreadable("family '" + std::string(FamilyName(family)) + "': " + MessageOf(status));
    return OkStatus();
  }

  void Put(Family family, const std::string& key, const std::string& value) {
    Note({family, key, value});
  }
  void Delete(Family family, std::string_view key) {
    Note({family, std::string(key), std::nullopt});
  }
  void Note(Mend mend) {
    if (mends_ == nullptr || mends_->records.size() >= kMostMends) return;
    mends_->records.push_back(std::move(mend));
  }
  void RaiseNextLocals(VertexRef parts, bool is_vertex) {
    if (mends_ == nullptr || parts.partition() >= view_->num_partitions()) return;
    auto& [vertex, edge] = mends_->next_locals[parts.partition()];
    uint64_t& next = is_vertex ? vertex : edge;
    next = std::max(next, parts.local() + 1);
  }
  void Unreadable(std::string text) {
    if (mends_ != nullptr) mends_->unreadable = true;
    Problem(std::move(text));
  }

  void Problem(std::string text) {
    ++report_.problems_found;
    if (report_.problems.size() < kMaxProblems) report_.problems.push_back(std::move(text));
  }

  StatusOr<std::optional<std::string>> Get(Family family, const std::string& key) {
    const Database& database = view_->snapshot().database();
    std::string value;
    const rocksdb::Status status =
        database.db()->Get(view_->snapshot().ReadOptions(), database.family(family), key, &value);
    if (status.IsNotFound()) return std::nullopt;
    RETURN_IF_ERROR(FromRocks(status, "Checking the graph"));
    return value;
  }

  Status Expect(Family family, const std::string& key, const std::string& value,
                const std::string& what) {
    ASSIGN_OR_RETURN(const std::optional<std::string> found, Get(family, key));
    if (!found || *found != value) Put(family, key, value);
    if (!found) {
      Problem(what + " lacks its entry in '" + std::string(FamilyName(family)) + "'");
    } else if (*found != value) {
      Problem(what + " has a wrong entry in '" + std::string(FamilyName(family)) + "'");
    }
    return OkStatus();
  }

  bool KnownLabel(LabelId label) const {
    return label != kNoName && label <= meta_.schema().labels.size();
  }

  Status CheckProperties(std::string_view properties, const std::string& what) {
    PropertyReader reader(properties);
    while (reader.Next()) {
      RETURN_IF_ERROR(reader.value().status());
      if (reader.key() > meta_.schema().keys.size()) {
        Problem(what + " has a property whose key has no name");
      }
    }
    return reader.status();
  }

  Status CheckVertex(std::string_view key, std::string_view value) {
    VertexRecord record;
    ASSIGN_OR_RETURN(const VertexRef vertex, DecodeVertexKey(key));
    RETURN_IF_ERROR(ParseVertexRecord(value, &record));
    const std::string what = Name(vertex);
    ++report_.vertices;
    ++vertex_counts_[record.label];
    if (!KnownLabel(record.label)) Problem(what + " has a label without a name");
    if (vertex.partition() >= view_->num_partitions() ||
        PartitionOfIdBytes(record.id_bytes, view_->num_partitions()) != vertex.partition()) {
      Problem(what + " is not in the partition of its id");
    } else if (vertex.local() >= meta_.next_vertex_local(vertex.partition())) {
      RaiseNextLocals(vertex, /*is_vertex=*/true);
      Problem(what + " has a number that was not given out");
    }
    RETURN_IF_ERROR(DecodeIdBytes(record.id_bytes).status());
    RETURN_IF_ERROR(CheckProperties(record.properties, what));
    RETURN_IF_ERROR(ExpectIndexed(vertex, record, what));
    RETURN_IF_ERROR(Expect(Family::kVertexLabels, VertexLabelKey(vertex, record.label), "", what));
    return Expect(Family::kVertexIds, VertexIdKey(record.id_bytes, view_->num_partitions()),
                  VertexKey(vertex), what);
  }

  // A vertex has its entries in the indexes that are ready.
  Status ExpectIndexed(VertexRef vertex, const VertexRecord& record, const std::string& what) {
    const VertexIndexes& indexes = meta_.schema().vertex_indexes;
    ASSIGN_OR_RETURN(const KeyedProperties properties,
                     IndexedProperties(indexes, record.label, record.properties));
    std::vector<std::string> keys;
    AppendIndexKeys(indexes, vertex, record.label, properties, &keys);
    for (const std::string& key : keys) {
      IndexEntry entry;
      RETURN_IF_ERROR(DecodeVertexIndexKey(key, &entry));
      if (!indexes.at(entry.index).ready) continue;
      RETURN_IF_ERROR(Expect(Family::kVertexIndex, key, "", what));
    }
    return OkStatus();
  }

  // Each entry is one that its vertex has, in an index that there is.
  Status CheckVertexIndex(std::string_view key, std::string_view) {
    IndexEntry entry;
    RETURN_IF_ERROR(DecodeVertexIndexKey(key, &entry));
    const auto index = meta_.schema().vertex_indexes.find(entry.index);
    if (index == meta_.schema().vertex_indexes.end()) {
      if (entry.index < kFirstIndexId && !meta_.hashed_indexes().empty()) return OkStatus();
      Delete(Family::kVertexIndex, key);
      Problem("there is an entry for " + Name(entry.vertex) + " of an index that does not exist");
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const std::optional<std::string> bytes,
                     Get(Family::kVertices, VertexKey(entry.vertex)));
    VertexRecord record;
    if (bytes) RETURN_IF_ERROR(ParseVertexRecord(*bytes, &record));
    if (bytes && record.label == index->second.label) {
      ASSIGN_OR_RETURN(
          const KeyedProperties properties,
          IndexedProperties(meta_.schema().vertex_indexes, record.label, record.properties));
      if (PlacesOfEntry(index->second.keys, properties) == entry.places) return OkStatus();
    }
    Delete(Family::kVertexIndex, key);
    Problem("the index of properties has an entry for " + Name(entry.vertex) +
            (bytes ? " that contradicts it" : ", which does not exist"));
    return OkStatus();
  }

  Status CheckVertexLabel(std::string_view key, std::string_view) {
    VertexRef vertex;
    LabelId label = kNoName;
    RETURN_IF_ERROR(DecodeVertexLabelKey(key, &vertex, &label));
    ASSIGN_OR_RETURN(const std::optional<std::string> record,
                     Get(Family::kVertices, VertexKey(vertex)));
    if (!record) {
      Delete(Family::kVertexLabels, key);
      Problem("the index of labels names " + Name(vertex) + ", which does not exist");
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const LabelId actual, RecordLabel(*record));
    if (actual != label) {
      Delete(Family::kVertexLabels, key);
      Problem("the index of labels has a wrong label for " + Name(vertex));
    }
    return OkStatus();
  }

  Status CheckVertexId(std::string_view key, std::string_view value) {
    uint32_t partition = 0;
    std::string_view id_bytes;
    RETURN_IF_ERROR(SplitIdKey(key, &partition, &id_bytes));
    ASSIGN_OR_RETURN(const VertexRef vertex, DecodeVertexKey(value));
    ASSIGN_OR_RETURN(const std::optional<std::string> bytes,
                     Get(Family::kVertices, VertexKey(vertex)));
    VertexRecord record;
    if (!bytes) {
      Delete(Family::kVertexIds, key);
      Problem("the index of ids names " + Name(vertex) + ", which does not exist");
      return OkStatus();
    }
    RETURN_IF_ERROR(ParseVertexRecord(*bytes, &record));
    if (record.id_bytes != id_bytes) {
      Delete(Family::kVertexIds, key);
      Problem("the index of ids is wrong for " + Name(vertex));
    }
    return OkStatus();
  }

  Status CheckEdge(std::string_view key, std::string_view value) {
    EdgeRecord record;
    ASSIGN_OR_RETURN(const uint64_t id, DecodeEdgeKey(key));
    RETURN_IF_ERROR(ParseEdgeRecord(id, value, &record));
    const std::string what = NameOfEdge(id);
    const VertexRef parts{id};
    ++report_.edges;
    ++edge_counts_[record.edge.label];
    if (!KnownLabel(record.edge.label)) Problem(what + " has a label without a name");
    if (parts.partition() >= view_->num_partitions() ||
        parts.local() >= meta_.next_edge_local(parts.partition())) {
      RaiseNextLocals(parts, /*is_vertex=*/false);
      Problem(what + " has a number that was not given out");
    }
    RETURN_IF_ERROR(CheckProperties(record.properties, what));
    for (const VertexRef vertex : {record.edge.out, record.edge.in}) {
      ASSIGN_OR_RETURN(const auto end, Get(Family::kVertices, VertexKey(vertex)));
      if (!end) {
        Delete(Family::kEdges, key);
        Problem(what + " is at " + Name(vertex) + ", which does not exist");
      }
    }
    RETURN_IF_ERROR(Expect(Family::kEdgeEnds, EdgeEndKey(OutEnd(record.edge)), "", what));
    RETURN_IF_ERROR(Expect(Family::kEdgeEnds, EdgeEndKey(InEnd(record.edge)), "", what));
    if (record.id_bytes.empty()) return OkStatus();
    RETURN_IF_ERROR(DecodeIdBytes(record.id_bytes).status());
    return Expect(Family::kEdgeIds, EdgeIdKey(record.id_bytes, view_->num_partitions()),
                  EdgeKey(id), what);
  }

  Status CheckEdgeEnd(std::string_view key, std::string_view) {
    EdgeEnd end;
    EdgeRecord record;
    RETURN_IF_ERROR(DecodeEdgeEndKey(key, &end));
    ASSIGN_OR_RETURN(const std::optional<std::string> bytes,
                     Get(Family::kEdges, EdgeKey(end.edge_id)));
    const std::string what = "the end of " + NameOfEdge(end.edge_id) + " at " + Name(end.vertex);
    if (!bytes) {
      Delete(Family::kEdgeEnds, key);
      Problem(what + " belongs to no edge");
      return OkStatus();
    }
    RETURN_IF_ERROR(ParseEdgeRecord(end.edge_id, *bytes, &record));
    const EdgeEnd expected =
        end.direction == Direction::kOut ? OutEnd(record.edge) : InEnd(record.edge);
    if (end != expected) {
      Delete(Family::kEdgeEnds, key);
      Problem(what + " contradicts the edge");
    }
    return OkStatus();
  }

  Status CheckEdgeId(std::string_view key, std::string_view value) {
    uint32_t partition = 0;
    std::string_view id_bytes;
    RETURN_IF_ERROR(SplitIdKey(key, &partition, &id_bytes));
    ASSIGN_OR_RETURN(const uint64_t id, DecodeEdgeKey(value));
    ASSIGN_OR_RETURN(const std::optional<std::string> bytes, Get(Family::kEdges, EdgeKey(id)));
    EdgeRecord record;
    if (!bytes) {
      Delete(Family::kEdgeIds, key);
      Problem("the index of edge ids names " + NameOfEdge(id) + ", which does not exist");
      return OkStatus();
    }
    RETURN_IF_ERROR(ParseEdgeRecord(id, *bytes, &record));
    if (record.id_bytes != id_bytes) {
      Delete(Family::kEdgeIds, key);
      Problem("the index of edge ids is wrong for " + NameOfEdge(id));
    }
    return OkStatus();
  }

  void CheckCounts(const std::string& what, const std::map<LabelId, uint64_t>& actual,
                   const LabelCounts& recorded, std::map<LabelId, int64_t>* deltas) {
    std::map<LabelId, std::pair<uint64_t, uint64_t>> both;
    for (const auto& [label, count] : actual) both[label].first = count;
    for (const auto& [label, count] : recorded) both[label].second = count;
    for (const auto& [label, counts] : both) {
      if (counts.first == counts.second) continue;
      if (deltas != nullptr) {
        (*deltas)[label] = static_cast<int64_t>(counts.first) - static_cast<int64_t>(counts.second);
      }
      Problem("there are " + std::to_string(counts.first) + " " + what + " of the label '" +
              (KnownLabel(label) ? meta_.schema().labels.Name(label) : std::to_string(label)) +
              "', but the count says " + std::to_string(counts.second));
    }
  }

  Status CheckNamedSnapshot(uint32_t partition, NamedSnapshot named) {
    const uint64_t problems = report_.problems_found;
    auto opened = PartitionSnapshot::Open(state_.snapshot_folder(), partition, named.files[0]);
    uint64_t newest = view_->version();
    // A fold that ended meanwhile has removed the file: its own is looked at.
    for (int folds = 0; !opened.ok() && folds < kMostFolds; ++folds) {
      const NamedSnapshots now = state_.Snapshots();
      const auto found = now.find(partition);
      if (found == now.end() || found->second == named) break;
      named = found->second;
      newest = named.version;
      opened = PartitionSnapshot::Open(state_.snapshot_folder(), partition, named.files[0]);
    }
    if (!opened.ok() && opened.status().code() != StatusCode::kDataLoss) return opened.status();
    if (!opened.ok()) {
      Problem("the snapshot of partition " + std::to_string(partition) + ": " +
              MessageOf(opened.status()));
    } else if ((*opened)->header().version != named.version || named.version > newest) {
      Problem("the snapshot of partition " + std::to_string(partition) + " is of another version");
    } else {
      RETURN_IF_ERROR(CheckSnapshot(
          **opened, [this](const std::string& text) { Problem(text); }, watch_));
    }
    // It can be built again.
    if (report_.problems_found > problems && mends_ != nullptr) mends_->snapshots.insert(partition);
    return OkStatus();
  }

  std::shared_ptr<const RocksView> view_;
  const MetaState& meta_;
  const StoreState& state_;
  const CheckWatch& watch_;
  Mends* const mends_;
  uint64_t entries_ = 0;  // read so far, of all families
  CheckReport report_;
  std::map<LabelId, uint64_t> vertex_counts_, edge_counts_;
};

}  // namespace

StatusOr<CheckReport> CheckForMends(const GraphStore& store, const CheckWatch& watch,
                                    Mends* mends) {
  const std::shared_ptr<const RocksView> view = StoreAccess::Of(store).NewestView();
  ASSIGN_OR_RETURN(const MetaState meta, ReadMeta(view->snapshot().NewIterator(
                                             Family::kMeta, view->snapshot().ReadOptions())));
  return Checker(view, meta, StoreAccess::Of(store), watch, mends).Run();
}

StatusOr<CheckReport> Check(const GraphStore& store, const CheckWatch& watch) {
  return CheckForMends(store, watch, nullptr);
}

}  // namespace koios::storage
