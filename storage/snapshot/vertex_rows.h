// VertexRows: which vertex is which row of its label set, as vertices come in order of their local
// numbers. While few runs of locals tell (those that a load makes), the runs are written; a run may
// go over locals that are nobody's, as long as few rows are lost that way. Else two arrays by
// local. One thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/status.h"
#include "core/types.h"
#include "storage/snapshot/number_stage.h"

namespace koios::storage {

// Numbers rows; the same vertices in the same order get the same rows again.
class RowNumbers {
 public:
  uint64_t Next(uint64_t local, uint32_t set);
  // False: there are more than kMostLabelRuns.
  bool has_runs() const { return has_runs_; }
  const std::vector<LabelRun>& runs() const { return runs_; }
  uint64_t rows(uint32_t set) const { return set < rows_.size() ? rows_[set] : 0; }
  uint64_t lost_rows() const { return all_lost_; }
  uint64_t end_local() const { return end_local_; }

 private:
  std::vector<uint64_t> rows_, lost_;  // by set
  uint64_t all_lost_ = 0;
  std::vector<LabelRun> runs_;
  bool has_runs_ = true;
  uint64_t end_local_ = 0;
};

class VertexRowsWriter {
 public:
  explicit VertexRowsWriter(const StageContext& context)
      : context_(context), staged_(context.space) {}

  // The row of the next vertex. REQUIRES: locals ascend.
  uint64_t Add(uint64_t local, uint32_t set);
  uint64_t rows(uint32_t set) const { return numbers_.rows(set); }
  uint64_t end_local() const { return numbers_.end_local(); }

  // `sets`: labels by set.
  Status Write(std::span<const std::vector<LabelId>> sets, SnapshotWriter* writer);

 private:
  void EndStretch();
  template <typename Use>
  Status ForEachVertex(const Use& use) const;
  Status WriteArrays(size_t num_sets, SnapshotWriter* writer) const;
  Status WriteAlive(SnapshotWriter* writer) const;

  const StageContext context_;
  RowNumbers numbers_;
  SpillBuffer staged_;  // stretches: locals before it that are nobody's, set, count
  uint64_t stretch_gap_ = 0, stretch_count_ = 0;
  uint32_t stretch_set_ = 0;
};

}  // namespace koios::storage
