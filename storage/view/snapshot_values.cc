// Values of a property, counted where they stand: one addition per row of a column, no vertex is
// looked at. For partitions that nothing was committed to since, and columns of few values: texts
// with a dictionary, integers of a small range.
#include <algorithm>

#include "storage/snapshot/snapshot_adjacency.h"
#include "storage/view/snapshot_view.h"

namespace koios::storage {
namespace {

constexpr uint64_t kMostDifferent = 4096;
// Rows that are counted in one call.
constexpr uint64_t kCountedRows = 256 * 1024;

// 0: no array of counts has one for each value.
uint64_t NumDifferent(const SnapshotColumn& column) {
  uint64_t different = 0;
  if (column.by_item()) return 0;
  if (column.form() == ColumnForm::kDictionary) {
    different = column.num_strings();
  } else if (column.form() == ColumnForm::kFixed && column.facts().has_range != 0 &&
             (column.value_kind() == ValueKind::kInt || column.value_kind() == ValueKind::kLong)) {
    different = column.facts().largest_bits - column.facts().least_bits + 1;
  }
  return different <= kMostDifferent ? different : 0;
}

// Whether each row is of a vertex, and of one that a scan gives.
bool HasAllRows(const PartitionSnapshot& snapshot, uint32_t set) {
  const auto runs = snapshot.Runs();
  if (!runs.has_value()) return false;
  uint64_t rows = 0;
  for (const LabelRun& run : *runs) rows += run.set == set ? run.count : 0;
  return rows == snapshot.label_sets()[set].rows;
}

class Counting {
 public:
  Counting(const SnapshotColumn& column, uint64_t first, uint64_t count)
      : column_(column), first_(first), count_(count), counts_(NumDifferent(column)) {}

  // False: it has a value that it can't have.
  bool Count() {
    if (column_.form() == ColumnForm::kDictionary) {
      const MappedSection& codes = column_.codes();
      if (codes.width() == 1) return CountEach(codes.As<uint8_t>(), 0);
      if (codes.width() == 2) return CountEach(codes.As<uint16_t>(), 0);
      if (codes.width() == 4) return CountEach(codes.As<uint32_t>(), 0);
      return false;
    }
    const uint64_t least = column_.facts().least_bits;
    if (column_.value_kind() == ValueKind::kInt) return CountEach(column_.Fixed<int32_t>(), least);
    return CountEach(column_.Fixed<int64_t>(), least);
  }

  Status Give(CountedValues* out) const {
    for (uint64_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      if (column_.form() == ColumnForm::kDictionary) {
        std::string_view text;
        RETURN_IF_ERROR(column_.StringOf(i, &text));
        out->values.AppendString(text);
      } else {
        const auto value = static_cast<int64_t>(column_.facts().least_bits + i);
        if (column_.value_kind() == ValueKind::kInt) {
          out->values.AppendInt(static_cast<int32_t>(value));
        } else {
          out->values.AppendLong(value);
        }
      }
      out->counts.push_back(counts_[i]);
    }
    return OkStatus();
  }

 private:
  template <typename Number>
  bool CountEach(const Number* numbers, uint64_t least) {
    bool wrong = false;
    const auto count = [&](uint64_t row) {
      const uint64_t at = static_cast<uint64_t>(static_cast<int64_t>(numbers[row])) - least;
      if (at < counts_.size()) {
        ++counts_[at];
      } else {
        wrong = true;
      }
    };
    const bool all = column_.has_all_values();
    for (uint64_t row = first_; row < first_ + count_; ++row) {
      if (all || column_.HasValue(row)) count(row);
    }
    return !wrong;
  }

  const SnapshotColumn& column_;
  const uint64_t first_, count_;
  std::vector<int64_t> counts_;
};

// Of vertices with one of the labels; empty: all.
std::vector<uint32_t> SetsWith(const PartitionSnapshot& snapshot, std::span<const LabelId> labels) {
  std::vector<uint32_t> sets;
  const std::span<const LabelSet> all = snapshot.label_sets();
  for (uint32_t set = 0; set < all.size(); ++set) {
    const std::vector<LabelId>& has = all[set].labels;
    if (labels.empty() ||
        std::find_first_of(has.begin(), has.end(), labels.begin(), labels.end()) != has.end()) {
      sets.push_back(set);
    }
  }
  return sets;
}

}  // namespace

bool SnapshotView::CountsValues(uint32_t partition, std::span<const uint32_t> sets,
                                KeyId key) const {
  if (delta_ != nullptr && !delta_->Of(partition).empty()) return false;
  const PartitionSnapshot& snapshot = snapshots_->Of(partition);
  return std::all_of(sets.begin(), sets.end(), [&](uint32_t set) {
    const SnapshotColumn* column = snapshot.FindVertexColumn(set, key);
    return column == nullptr || (NumDifferent(*column) > 0 && HasAllRows(snapshot, set));
  });
}

Status SnapshotView::ScanValues(uint32_t partition, std::span<const LabelId> labels, KeyId key,
                                ValueCursor* cursor, size_t limit, CountedValues* out) const {
  if (key == kNoName) {  // as a column's it would be that of given ids
    cursor->done = true;
    return OkStatus();
  }
  const PartitionSnapshot& snapshot = snapshots_->Of(partition);
  const std::vector<uint32_t> sets = SetsWith(snapshot, labels);
  // What is committed from now on the view does not see.
  if (!cursor->begun) cursor->counts = CountsValues(partition, sets, key);
  cursor->begun = true;
  if (!cursor->counts) return GraphView::ScanValues(partition, labels, key, cursor, limit, out);
  for (uint64_t left = kCountedRows; left > 0 && cursor->set < sets.size();) {
    const SnapshotColumn* column = snapshot.FindVertexColumn(sets[cursor->set], key);
    const uint64_t rows = column == nullptr ? 0 : column->facts().rows - cursor->row;
    const uint64_t count = std::min(rows, left);
    if (count > 0) {
      RETURN_IF_ERROR(column->TouchRange(cursor->row, count));
      Counting counting(*column, cursor->row, count);
      if (!counting.Count()) return snapshot.NoteDamage();
      RETURN_IF_ERROR(counting.Give(out));
    }
    left -= count;
    cursor->row += count;
    if (count < rows) break;
    ++cursor->set;
    cursor->row = 0;
  }
  cursor->done = cursor->set >= sets.size();
  return snapshot.Damage();
}

}  // namespace koios::storage
