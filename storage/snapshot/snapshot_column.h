// SnapshotColumn: one property in a snapshot, by row (of edges: by position). Typed arrays are read
// in place after Touch; the rest by value. Immutable; any thread.
// Rule: a column that holds items (lists, or several values per row) is read by item: Items says
// which are a row's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "storage/snapshot/mapped_file.h"

namespace koios::storage {

// The sections of one; those that it lacks are null.
struct ColumnSections {
  const MappedSection* validity = nullptr;
  const MappedSection* values = nullptr;
  const MappedSection* codes = nullptr;
  const MappedSection* dictionary = nullptr;
  const MappedSection* dictionary_heap = nullptr;
  const MappedSection* heap_ends = nullptr;
  const MappedSection* heap = nullptr;
  const MappedSection* item_ends = nullptr;
  const MappedSection* value_ids = nullptr;
};

// Entries [begin, begin + count) of the values.
struct ItemSlice {
  uint64_t begin = 0;
  uint64_t count = 0;
};

class SnapshotColumn {
 public:
  // DATA_LOSS unless the sections fit each other.
  static StatusOr<std::unique_ptr<SnapshotColumn>> Make(const SectionName& name,
                                                        const MappedSection& facts,
                                                        const ColumnSections& sections);

  const SectionName& name() const { return name_; }
  const ColumnFacts& facts() const { return facts_; }
  ColumnForm form() const { return static_cast<ColumnForm>(facts_.form); }
  ValueKind value_kind() const { return static_cast<ValueKind>(facts_.value_kind); }
  // The row's value is a list of items; or the row may have several values, the items.
  bool holds_lists() const { return facts_.holds_lists != 0; }
  bool has_several() const {
    return facts_.cardinality != static_cast<uint8_t>(Cardinality::kSingle);
  }
  bool by_item() const { return sections_.item_ends != nullptr; }

  // out[i]: the value of rows[i], nullopt where it has none. REQUIRES: rows < facts().rows;
  // !has_several().
  Status Values(std::span<const uint64_t> rows, std::vector<std::optional<Value>>* out) const;
  // REQUIRES: by_item().
  Status Items(std::span<const uint64_t> rows, std::vector<ItemSlice>* out) const;
  Status ItemValues(std::span<const uint64_t> items, std::vector<Value>* out) const;
  // 0: it has none.
  Status ItemIds(std::span<const uint64_t> items, std::vector<uint64_t>* out) const;

  // In place. Entries are rows, or items. Before: Touch; afterwards: the file's Damage().
  bool HasValue(uint64_t row) const {
    return sections_.validity == nullptr ||
           (sections_.validity->As<uint64_t>()[row / 64] >> (row % 64) & 1) != 0;
  }
  bool has_all_values() const { return sections_.validity == nullptr; }
  // Validity and fixed values or codes of the entries may be read. Free of cost once all of the
  // column has been checked.
  Status Touch(std::span<const uint64_t> entries) const;
  Status TouchRange(uint64_t first, uint64_t count) const;
  // REQUIRES: form() is kFixed, and the width T's.
  template <typename T>
  const T* Fixed() const {
    return sections_.values->As<T>();
  }
  uint8_t fixed_width() const { return sections_.values->width(); }
  // REQUIRES: kDictionary. Codes ascend as their strings do, in this column only.
  const MappedSection& codes() const { return *sections_.codes; }
  uint64_t num_strings() const { return sections_.dictionary->rows(); }
  Status StringOf(uint64_t code, std::string_view* out) const;
  // Of kDictionary and kHeap, without copying: valid while the snapshot is. Empty where there is
  // none.
  Status Texts(std::span<const uint64_t> entries, std::string_view* out) const;

 private:
  SnapshotColumn(const SectionName& name, const ColumnFacts& facts, const ColumnSections& sections,
                 const MappedFile& file)
      : name_(name), facts_(facts), sections_(sections), file_(file) {}
  Status CheckSections() const;
  Status Slice(const MappedSection& ends, const MappedSection& heap, uint64_t i,
               std::string_view* out) const;
  Status BytesOf(uint64_t entry, std::string_view* out) const;
  StatusOr<Value> ValueAt(uint64_t entry) const;
  StatusOr<Value> FixedAt(uint64_t entry) const;
  StatusOr<Value> ListAt(uint64_t row) const;

  const SectionName name_;
  const ColumnFacts facts_;
  const ColumnSections sections_;
  const MappedFile& file_;
};

}  // namespace koios::storage
