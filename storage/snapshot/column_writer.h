// ColumnWriter: one property of the vertices of a label set, or of the edges with a label (by their
// out position), gathered row by row and written in the form that fits all of its values:
//   all of one kind with a fixed width: raw; date-times in milliseconds when all have one offset
//   strings: a dictionary of at most 65,536 when each comes four times on average; else a heap
//   lists of one such kind: the same, by item
//   else: a heap of encoded values
// A row may have several values, with ids and properties of their own; then all is by item.
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/status.h"
#include "core/value.h"
#include "storage/snapshot/distinct_count.h"
#include "storage/snapshot/encoded_scalar.h"
#include "storage/snapshot/number_stage.h"

namespace koios::storage {

inline constexpr uint64_t kMostDictionaryStrings = 65'536;

// One of several values that a row has.
struct ItemInput {
  std::string_view value;  // encoded
  uint64_t id = 0;
  std::span<const std::pair<KeyId, std::string_view>> properties;  // encoded
};

class ColumnWriter {
 public:
  // `name`: index, set, parent and key of the column.
  ColumnWriter(const SectionName& name, const StageContext& context);
  ~ColumnWriter();

  // The row's value, encoded (core/value_codec.h). REQUIRES (both): rows ascend, each once.
  void Add(uint64_t row, std::string_view value);
  void AddItems(uint64_t row, Cardinality cardinality, std::span<const ItemInput> items);

  // `rows`: how many the index has, those without a value included.
  Status Write(uint64_t rows, SnapshotWriter* writer);
  uint64_t ByteEstimate() const { return staged_.bytes(); }

 private:
  // What is known of the scalars that stand in the column, values or items of lists.
  struct Domain {
    std::optional<ValueKind> kind;
    bool mixed = false;
    uint64_t text_bytes = 0;
    bool has_range = true;  // no NaN, nothing out of range
    bool any = false;
    int64_t least = 0, largest = 0;
    double least_real = 0, largest_real = 0;
    bool whole_millis = true;  // and one offset
    int32_t offset_seconds = 0;
  };
  void BeginRow(uint64_t row, uint64_t count);
  void NoteValue(std::string_view value);
  void NoteScalar(const EncodedScalar& scalar, std::string_view bytes);
  void NoteRange(const EncodedScalar& scalar);
  void NoteText(std::string_view text);
  void GiveUpDictionary();
  bool by_item() const { return several_ || holds_lists(); }
  bool holds_lists() const { return !several_ && !is_encoded() && lists_ > 0 && domain_.kind; }
  bool is_encoded() const;

  // Calls use(encoded scalar or value; empty: the row has none) for each entry of the values.
  template <typename Use>
  Status ForEachEntry(uint64_t rows, const Use& use) const;
  // Calls use(row, number of its entries) for each row.
  template <typename Use>
  Status ForEachRow(uint64_t rows, const Use& use) const;
  Status WriteValidity(uint64_t rows, SnapshotWriter* writer) const;
  Status WriteItems(uint64_t rows, SnapshotWriter* writer);
  Status WriteFixed(uint64_t rows, uint64_t entries, SnapshotWriter* writer);
  Status WriteBits(uint64_t rows, uint64_t entries, SnapshotWriter* writer) const;
  Status WriteDictionary(uint64_t rows, uint64_t entries, SnapshotWriter* writer);
  Status WriteHeap(uint64_t rows, uint64_t entries, bool encoded, SnapshotWriter* writer) const;
  void FillFacts(uint64_t rows);

  const SectionName name_;
  const StageContext context_;
  SpillBuffer staged_;  // per row: distance, count, and each value with its length
  SpillBuffer ids_;
  bool has_ids_ = false;
  bool several_ = false;
  Cardinality cardinality_ = Cardinality::kSingle;
  std::map<KeyId, std::unique_ptr<ColumnWriter>> item_properties_;
  uint64_t next_row_ = 0;
  uint64_t rows_present_ = 0;
  uint64_t values_ = 0;
  uint64_t lists_ = 0;    // values that are lists of scalars
  uint64_t scalars_ = 0;  // that stand as values
  uint64_t list_items_ = 0;
  uint64_t value_bytes_ = 0;
  std::optional<ValueKind> value_kind_;
  bool value_kinds_differ_ = false;
  Domain domain_;
  DistinctCount distinct_;
  bool has_dictionary_ = true;
  size_t held_bytes_ = 0;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return SnapshotCheck(text); }
  };
  absl::flat_hash_map<std::string, uint32_t, TextHash, std::equal_to<>> dictionary_;
  ColumnFacts facts_;
};

}  // namespace koios::storage
