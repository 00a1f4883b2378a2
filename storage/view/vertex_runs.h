// VertexRuns: where the vertices of a set of snapshots are, told from the runs of local numbers
// that loads and folds make, without a look at any file. A column mostly stays in few of them:
// that of the row before, or the last one of its partition. Immutable; a Reader belongs to one
// call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/snapshot/partition_snapshot.h"

namespace koios::storage {

class VertexRuns {
 public:
  struct Run {
    VertexRef first;
    uint64_t count = 0;
    uint64_t first_row = 0;
    uint32_t table = 0;
    LabelId label = kNoName;  // the first one of its set
    bool Has(VertexRef vertex) const { return vertex.bits - first.bits < count; }
    uint64_t RowOf(VertexRef vertex) const { return first_row + (vertex.bits - first.bits); }
  };
  // The vertices of one label set in one partition; numbered by partition, then set.
  struct Table {
    uint32_t partition = 0;
    uint32_t set = 0;
  };

  VertexRuns() = default;
  // `snapshots`: of all partitions, by number.
  explicit VertexRuns(std::span<const PartitionSnapshot* const> snapshots);

  // False: some partition has too many runs, or gone vertices in them; nothing is told then.
  bool whole() const { return whole_; }
  std::span<const Table> tables() const { return tables_; }

  // Tells the vertices that have one of some labels.
  class Labelled {
   public:
    // REQUIRES: whole().
    Labelled(const VertexRuns& runs, std::span<const LabelId> labels);

    // Mostly a label is one run of each partition.
    bool is_one_run() const { return stride_ == 1; }
    // kOneRun: is_one_run().
    template <bool kOneRun>
    bool Has(VertexRef vertex) const {
      const size_t partition = std::min<size_t>(vertex.partition(), num_partitions_);
      if constexpr (kOneRun) return stretches_[partition].Has(vertex);
      bool has = false;
      for (size_t i = 0; i < stride_; ++i) has |= stretches_[partition * stride_ + i].Has(vertex);
      return has;
    }

   private:
    struct Stretch {
      VertexRef first;
      uint64_t count = 0;
      bool Has(VertexRef vertex) const { return vertex.bits - first.bits < count; }
    };
    size_t num_partitions_ = 0;
    size_t stride_ = 1;
    std::vector<Stretch> stretches_;  // of each partition so many, and none of a last one
  };

  class Reader {
   public:
    // REQUIRES: whole(). `lasts` is scratch.
    Reader(const VertexRuns& runs, std::vector<uint32_t>* lasts);

    // Null: the vertex does not exist. Valid while the runs are.
    const Run* Of(VertexRef vertex) {
      if (run_ != nullptr && run_->Has(vertex)) return run_;
      const uint32_t partition = vertex.partition();
      if (partition >= lasts_.size()) return nullptr;
      const uint32_t last = lasts_[partition];
      if (last < runs_.runs_.size() && runs_.runs_[last].Has(vertex)) {
        return run_ = &runs_.runs_[last];
      }
      return Search(vertex);
    }

   private:
    const Run* Search(VertexRef vertex);

    const VertexRuns& runs_;
    std::vector<uint32_t>& lasts_;  // by partition
    const Run* run_ = nullptr;
  };

 private:
  bool whole_ = false;
  std::vector<Run> runs_;         // ascending
  std::vector<uint32_t> begins_;  // of each partition, and the end
  std::vector<Table> tables_;
};

}  // namespace koios::storage
