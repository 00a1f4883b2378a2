// WaitingRows: rows of a dedup() that wait on disk until all have come, as nobody can tell at once
// which of their keys are new: too many keys are on disk to look there for each. Then the keys of
// rows and those that have passed are merged, both in order, and what is left of the rows comes in
// the order of arrival. All of it is read and written from end to end. Belongs to one operator.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/op/operator.h"
#include "engine/op/state/key_code.h"
#include "engine/op/state/sorted_records.h"
#include "engine/op/state/spilled_keys.h"
#include "engine/op/state/spilled_runs.h"

namespace koios::engine {

class WaitingRows {
 public:
  explicit WaitingRows(OperatorHost* host)
      : host_(host), rows_(&kAsTheyCame, 0, host), keys_(std::in_place, host) {}
  ~WaitingRows() { (void)host_->ChargeState(-charged_); }
  WaitingRows(const WaitingRows&) = delete;
  WaitingRows& operator=(const WaitingRows&) = delete;

  // codes[i] is of row picked[i].
  Status Add(const Batch& batch, const std::vector<uint32_t>& picked,
             const std::vector<KeyCode>& codes);
  // All have come. A slice of giving the first row of each key that is not among `met`, of which
  // nothing is left behind it; may give nothing. REQUIRES: `output` is empty.
  Status Fire(SpilledKeys* met, Batch* output, bool* done);

 private:
  struct Numbered {
    KeyCode code;
    uint64_t number = 0;  // of the row: they are counted as they come
    auto operator<=>(const Numbered&) const = default;
  };
  enum class Stage : uint8_t { kSort, kSift, kOrder, kGive };
  static constexpr size_t kSliceRecords = 4096;

  Status PutOpen();
  Status SiftSome(SpilledKeys* met);
  Status GiveSome(Batch* output, bool* done);
  Status ChargeBatch(const Batch& batch);

  OperatorHost* const host_;
  SpilledRuns rows_;
  Batch open_;           // those that came last
  int64_t charged_ = 0;  // for it, or for `batch_`
  uint64_t num_rows_ = 0;
  std::optional<SortedRecords<Numbered>> keys_;     // of all rows
  std::optional<SortedRecords<uint64_t>> passing_;  // numbers
  Stage stage_ = Stage::kSort;
  std::optional<Numbered> row_;  // that is sifted,
  std::optional<KeyCode> last_;  // the key of the one before it,
  bool has_met_ = false;         // and one of those met
  KeyCode met_;
  Batch batch_;                   // rows of a block,
  uint64_t begin_ = 0;            // the number of its first one,
  std::optional<uint64_t> next_;  // and of the next one that passes
};

}  // namespace koios::engine
