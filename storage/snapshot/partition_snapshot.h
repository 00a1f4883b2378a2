// PartitionSnapshot: all of one partition at one version, read from its mapped file (and the older
// ones of its chain). Calls take batches; what they give is either copied small numbers or spans
// into the mapping. Immutable; any thread.
// Rule: every call answers DATA_LOSS rather than wrong; who reads spans asks Damage() after them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "storage/snapshot/mapped_file.h"
#include "storage/snapshot/snapshot_adjacency.h"
#include "storage/snapshot/snapshot_column.h"

namespace koios::storage {

inline constexpr uint32_t kNoSet = ~uint32_t{0};
inline constexpr uint64_t kNoLocal = ~uint64_t{0};

// Where a vertex is; kNoSet: there is none.
struct VertexPlace {
  uint32_t set = kNoSet;
  uint64_t row = 0;
  bool operator==(const VertexPlace&) const = default;
};

struct LabelSet {
  std::vector<LabelId> labels;
  uint64_t rows = 0;  // some may be nobody's
};

// Where vertices are, told one by one without a call. Who asks calls Damage() afterwards.
class VertexPlaces {
 public:
  // *wrong: is set when what stands there makes no sense.
  VertexPlace Of(uint64_t local, bool* wrong) {
    if (sets_ == nullptr) {
      // Nearly always in the run of the one before.
      if (local - run_->first_local >= run_->count && !FindRun(local)) return {};
      return {run_->set, run_->first_row + (local - run_->first_local)};
    }
    if (local >= end_local_) return {};
    const uint64_t set = wide_sets_ ? static_cast<const uint16_t*>(sets_)[local]
                                    : static_cast<const uint8_t*>(sets_)[local];
    if (set == no_set_) return {};
    const uint64_t row = narrow_rows_ != nullptr ? narrow_rows_[local] : NumberAt(*rows_, local);
    if (set >= label_sets_.size() || row >= label_sets_[set].rows) {
      *wrong = true;
      return {};
    }
    return {static_cast<uint32_t>(set), row};
  }

  // Where the vertex is, when the `count` vertices from it on are in rows that follow each other;
  // nothing: each must be asked for.
  std::optional<VertexPlace> OfStretch(uint64_t local, uint64_t count) {
    if (sets_ != nullptr) return std::nullopt;
    if (local - run_->first_local >= run_->count && !FindRun(local)) return std::nullopt;
    if (local - run_->first_local + count > run_->count) return std::nullopt;
    return VertexPlace{run_->set, run_->first_row + (local - run_->first_local)};
  }

 private:
  friend class PartitionSnapshot;
  bool FindRun(uint64_t local) {
    const auto found = std::find_if(runs_.begin(), runs_.end(), [local](const LabelRun& run) {
      return local - run.first_local < run.count;
    });
    if (found == runs_.end()) return false;
    run_ = &*found;
    return true;
  }

  std::span<const LabelRun> runs_;
  const LabelRun* run_ = nullptr;
  std::span<const LabelSet> label_sets_;
  const void* sets_ = nullptr;  // by local; null: there are runs
  bool wide_sets_ = false;
  uint64_t no_set_ = 0;
  const uint32_t* narrow_rows_ = nullptr;  // by local; null: they are of another width
  const MappedSection* rows_ = nullptr;
  uint64_t end_local_ = 0;
};

class PartitionSnapshot {
 public:
  // DATA_LOSS: it is not what `name` says, damaged or gone: to be dropped and made anew.
  static StatusOr<std::shared_ptr<const PartitionSnapshot>> Open(const std::string& folder,
                                                                 uint32_t partition,
                                                                 const SnapshotFileName& name);

  // Of a partition that had nothing at the version; has no file.
  static std::shared_ptr<const PartitionSnapshot> Empty(uint32_t partition, uint32_t num_partitions,
                                                        uint64_t version);

  const SnapshotHeader& header() const { return header_; }
  uint32_t partition() const { return header().partition; }
  std::span<const LabelSet> label_sets() const { return label_sets_; }
  Status Damage() const;
  // Of what was read from it. REQUIRES: it has a file.
  Status NoteDamage() const { return files_[0]->NoteDamage(); }

  // out[i]: of locals[i].
  Status Locate(std::span<const uint64_t> locals, VertexPlace* out) const;
  // Nothing while what it is told from has not been checked, and is large.
  std::optional<VertexPlaces> Places() const;
  // Nothing unless runs of locals, without a gap in one, tell where all vertices are.
  std::optional<std::span<const LabelRun>> Runs() const {
    if (set_of_local_ != nullptr || alive_ != nullptr) return std::nullopt;
    return runs_;
  }
  // Locals of vertices from *next_local on, of one label set or (kNoSet) all, at most `limit` more;
  // *next_local goes on behind them, up to header().end_local. A call looks at some thousands of
  // locals at most, and may find none.
  Status ScanVertices(uint32_t set, uint64_t* next_local, size_t limit,
                      std::vector<uint64_t>* locals) const;
  // out[i]: the local of the vertex with the id (its bytes, storage/codec/element_id.h), or
  // kNoLocal.
  Status FindIds(std::span<const std::string_view> ids, uint64_t* out) const;

  // Null: nothing has any.
  const SnapshotAdjacency* FindAdjacency(uint32_t set, Direction direction, LabelId label) const;
  // Key kNoName: the given ids.
  const SnapshotColumn* FindVertexColumn(uint32_t set, KeyId key) const {
    return FindColumn(SectionIndex::kVertex, set, 0, key);
  }
  const SnapshotColumn* FindEdgeColumn(uint32_t set, LabelId label, KeyId key) const {
    return FindColumn(SectionIndex::kOut, set, label, key);
  }
  // A property of the values of a property.
  const SnapshotColumn* FindItemColumn(uint32_t set, KeyId of, KeyId key) const {
    return FindColumn(SectionIndex::kValue, set, of, key);
  }
  using Adjacencies = std::map<SectionName, std::unique_ptr<SnapshotAdjacency>>;
  using Columns = std::map<SectionName, std::unique_ptr<SnapshotColumn>>;
  const Adjacencies& adjacencies() const { return adjacencies_; }
  const Columns& columns() const { return columns_; }
  using Sections = std::map<SectionName, std::unique_ptr<MappedSection>>;
  const Sections& sections() const { return sections_; }

 private:
  PartitionSnapshot() : refs_(1) {}
  Status OpenFiles(const std::string& folder, uint32_t partition, const SnapshotFileName& name);
  Status ReadVertices();
  Status ReadHeads();
  const MappedSection* Find(const SectionName& name) const;
  const SnapshotColumn* FindColumn(SectionIndex index, uint32_t set, uint32_t parent,
                                   KeyId key) const;
  Status IsAlive(uint64_t local, bool* alive) const;
  Status PlaceOf(uint64_t local, VertexPlace* out) const;
  StatusOr<bool> HasId(uint64_t local, std::string_view id_bytes) const;

  SnapshotHeader header_;
  std::vector<std::shared_ptr<const MappedFile>> files_;  // the newest first
  NarrowRefs refs_;
  Sections sections_;
  std::vector<LabelSet> label_sets_;
  std::vector<LabelRun> runs_;
  const MappedSection* alive_ = nullptr;
  const MappedSection* set_of_local_ = nullptr;  // with row_of_local_, unless there are runs
  const MappedSection* row_of_local_ = nullptr;
  const MappedSection* id_table_ = nullptr;
  Adjacencies adjacencies_;
  Columns columns_;
};

}  // namespace koios::storage
