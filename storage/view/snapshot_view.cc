// Scans and look-ups of SnapshotView.
#include "storage/view/snapshot_view.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "storage/codec/element_id.h"
#include "storage/codec/records.h"
#include "storage/view/window_lists.h"

namespace koios::storage {
namespace {

// Vertices whose edges a scan of edges reads at once.
constexpr size_t kScannedVertices = 64;
constexpr size_t kMostScanned = kMostPassedOver / 8;  // each is looked up in the lists of its edges

constexpr uint64_t kEndOfScan = kLocalMask;  // nobody's local number
constexpr uint32_t kNowhere = kNoSet - 1;    // no label set
constexpr LabelId kNobodysLabel = ~LabelId{0};

// Looks ids up in the snapshot of the partition that each belongs to, and before in its delta.
class IdLookup {
 public:
  IdLookup(const SnapshotSet& snapshots, const DeltaAt& at, size_t num_ids)
      : snapshots_(snapshots), at_(at), found_(num_ids) {}

  void Ask(size_t input, const Value& id) { asked_.push_back({input, IdBytes(id)}); }

  Status Run() {
    const uint32_t num_partitions = snapshots_.num_partitions();
    std::vector<std::vector<size_t>> by_partition(num_partitions);
    for (size_t i = 0; i < asked_.size(); ++i) {
      const uint32_t partition = PartitionOfIdBytes(asked_[i].bytes, num_partitions);
      if (!FindInDelta(partition, asked_[i])) by_partition[partition].push_back(i);
    }
    std::vector<std::string_view> ids;
    std::vector<uint64_t> locals;
    for (uint32_t p = 0; p < num_partitions; ++p) {
      if (by_partition[p].empty()) continue;
      ids.clear();
      for (const size_t i : by_partition[p]) ids.push_back(asked_[i].bytes);
      locals.assign(ids.size(), kNoLocal);
      RETURN_IF_ERROR(snapshots_.Of(p).FindIds(ids, locals.data()));
      for (size_t i = 0; i < locals.size(); ++i) {
        if (locals[i] == kNoLocal) continue;
        found_[asked_[by_partition[p][i]].input] = VertexRef::Make(p, locals[i]);
      }
    }
    asked_.clear();
    return OkStatus();
  }

  const std::vector<std::optional<VertexRef>>& found() const { return found_; }

 private:
  struct Asked {
    size_t input = 0;
    std::string bytes;
  };
  // False: the base tells.
  bool FindInDelta(uint32_t partition, const Asked& asked) {
    if (at_.delta == nullptr) return false;
    uint64_t local = 0;
    const DeltaState state = at_.delta->Of(partition).FindId(asked.bytes, at_.version, &local);
    if (state == DeltaState::kChanged) found_[asked.input] = VertexRef::Make(partition, local);
    return state != DeltaState::kAsInBase;
  }

  const SnapshotSet& snapshots_;
  const DeltaAt at_;
  std::vector<Asked> asked_;
  std::vector<std::optional<VertexRef>> found_;
};

}  // namespace

Status SnapshotView::ScanLocals(uint32_t partition, uint32_t set, LabelId label, uint64_t* next,
                                size_t limit, std::vector<uint64_t>* locals) const {
  const PartitionSnapshot& snapshot = snapshots_->Of(partition);
  const size_t full = FullSize(locals->size(), limit);
  const size_t before = locals->size();
  size_t passed = 0;
  std::vector<uint64_t> base;
  std::optional<SortedChanges::Reader> changes;
  if (delta_ != nullptr && !delta_->Of(partition).empty()) {
    changes.emplace(delta_->Of(partition).Vertices(at_.version));
    changes->Seek({kNoName, *next, 0});
  }
  while (!changes && set != kNowhere && *next < kEndOfScan && locals->size() < full) {
    RETURN_IF_ERROR(snapshot.ScanVertices(set, next, full - locals->size(), locals));
    if (*next >= snapshot.header().end_local) *next = kEndOfScan;
    // A long look at locals that are nobody's.
    if (locals->size() == before) return OkStatus();
  }
  while (*next < kEndOfScan && locals->size() < full) {
    base.clear();
    uint64_t upto = *next;
    if (set != kNowhere) {
      RETURN_IF_ERROR(snapshot.ScanVertices(set, &upto, full - locals->size(), &base));
    }
    if (set == kNowhere || upto >= snapshot.header().end_local) upto = kEndOfScan;
    size_t at = 0;
    for (; changes && changes->Valid() && changes->change().key.first < upto; changes->Next()) {
      const SortedChanges::Change& change = changes->change();
      for (; at < base.size() && base[at] < change.key.first && locals->size() < full; ++at) {
        locals->push_back(base[at]);
      }
      if (locals->size() == full) break;
      if (change.difference < 0 && at < base.size() && base[at] == change.key.first) ++at;
      const bool wanted = label == kNoName || change.key.second == label;
      if (change.difference > 0 && wanted) {
        locals->push_back(change.key.first);
      } else if (++passed == kMostPassedOver) {
        *next = change.key.first + 1;
        return OkStatus();
      }
    }
    const size_t rest = std::min(base.size() - at, full - locals->size());
    const auto first = base.begin() + static_cast<std::ptrdiff_t>(at);
    locals->insert(locals->end(), first, first + static_cast<std::ptrdiff_t>(rest));
    const bool cut = locals->size() == full && full > before;
    *next = cut && locals->back() + 1 < upto ? locals->back() + 1 : upto;
    // A long look at locals that are nobody's.
    if (base.empty() && locals->size() == before) break;
  }
  return OkStatus();
}

// Label by label, as the truth's index of labels has them. The cursor packs the number of the label
// set among those to be scanned and the next local number.
Status SnapshotView::ScanVertices(uint32_t partition, std::span<const LabelId> labels,
                                  ScanCursor* cursor, size_t limit,
                                  std::vector<VertexRef>* out) const {
  struct Scanned {
    uint32_t set;
    LabelId label;
  };
  std::vector<Scanned> all;
  if (labels.empty()) all.push_back({kNoSet, kNoName});
  for (const LabelId label : WantedLabels(labels)) {
    std::vector<uint32_t> sets = snapshots_->SetsOf(partition, label);
    if (sets.empty() && delta_ != nullptr) sets.push_back(kNowhere);
    // What the delta adds comes with the first.
    for (const uint32_t set : sets) all.push_back({set, set == sets[0] ? label : kNobodysLabel});
  }
  const size_t full = FullSize(out->size(), limit);
  uint64_t next = VertexRef{cursor->next_local}.local();
  size_t at = VertexRef{cursor->next_local}.partition();
  std::vector<uint64_t> locals;
  for (; at < all.size(); ++at, next = 0) {
    if (out->size() == full) break;
    locals.clear();
    RETURN_IF_ERROR(
        ScanLocals(partition, all[at].set, all[at].label, &next, full - out->size(), &locals));
    const size_t size = out->size();
    out->resize(size + locals.size());
    std::transform(locals.begin(), locals.end(), out->begin() + static_cast<std::ptrdiff_t>(size),
                   [partition](uint64_t local) { return VertexRef::Make(partition, local); });
    if (next < kEndOfScan) break;
  }
  cursor->done = at >= all.size();
  cursor->next_local = VertexRef::Make(static_cast<uint32_t>(at), next).bits;
  return OkStatus();
}

// By out vertex: the cursor's row is its local number, the key where its edges go on.
Status SnapshotView::ScanEdges(uint32_t partition, std::span<const LabelId> labels,
                               ExpandCursor* cursor, size_t limit,
                               std::vector<EdgeRef>* out) const {
  const size_t full = FullSize(out->size(), limit);
  std::vector<uint64_t> locals;
  std::vector<VertexRef> vertices;
  uint64_t next = cursor->row;
  for (uint64_t passed = 0; next < kEndOfScan; passed += next - cursor->row, cursor->row = next) {
    if (out->size() == full || passed >= kMostScanned) return OkStatus();
    locals.clear();
    vertices.clear();
    RETURN_IF_ERROR(ScanLocals(partition, kNoSet, kNoName, &next, kScannedVertices, &locals));
    for (const uint64_t local : locals) vertices.push_back(VertexRef::Make(partition, local));
    ExpandCursor of_vertices;
    of_vertices.resume_key = std::move(cursor->resume_key);
    Expansion found;
    found.edges = std::move(*out);
    const Status status = Expand(vertices, Direction::kOut, labels, /*want_edges=*/true,
                                 &of_vertices, full - found.edges.size(), &found);
    *out = std::move(found.edges);
    RETURN_IF_ERROR(status);
    if (!of_vertices.done) {
      cursor->row = locals[of_vertices.row];
      cursor->resume_key = std::move(of_vertices.resume_key);
      return OkStatus();
    }
    cursor->resume_key.clear();
  }
  cursor->done = true;
  return OkStatus();
}

Status SnapshotView::LookupExactVertices(std::span<const Value> ids, std::vector<uint32_t>* rows,
                                         std::vector<VertexRef>* out) const {
  IdLookup lookup(*snapshots_, at_, ids.size());
  for (size_t row = 0; row < ids.size(); ++row) {
    const std::optional<Value> id = TryNormaliseId(ids[row]);
    if (id) lookup.Ask(row, *id);
  }
  RETURN_IF_ERROR(lookup.Run());
  for (size_t row = 0; row < ids.size(); ++row) {
    if (!lookup.found()[row]) continue;
    rows->push_back(static_cast<uint32_t>(row));
    out->push_back(*lookup.found()[row]);
  }
  return OkStatus();
}

Status SnapshotView::VertexLabels(std::span<const VertexRef> vertices,
                                  std::vector<LabelId>* out) const {
  const size_t begin = out->size();
  out->resize(begin + vertices.size(), kNoName);
  const TouchedVertices touched(at_, vertices);
  if (snapshots_->vertex_runs().whole()) {
    std::vector<uint32_t> lasts;
    VertexRuns::Reader reader(snapshots_->vertex_runs(), &lasts);
    for (size_t row = 0; row < vertices.size(); ++row) {
      const VertexRuns::Run* const run = reader.Of(touched.clean()[row]);
      if (run != nullptr) (*out)[begin + row] = run->label;
    }
  } else {
    PlacedRows placed;
    RETURN_IF_ERROR(placed.Locate(*snapshots_, touched.clean()));
    for (const PlacedRows::Group& group : placed.groups()) {
      const LabelSet& set = snapshots_->Of(group.partition).label_sets()[group.set];
      for (const uint32_t row : placed.Inputs(group)) (*out)[begin + row] = set.labels.front();
    }
  }
  for (const TouchedRow& row : touched.rows()) {
    if (row.gone) continue;
    ASSIGN_OR_RETURN((*out)[begin + row.row], RecordLabel(row.record));
  }
  return OkStatus();
}

}  // namespace koios::storage
