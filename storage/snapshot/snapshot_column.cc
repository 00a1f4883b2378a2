#include "storage/snapshot/snapshot_column.h"

#include <cstring>
#include <utility>

#include "core/value_codec.h"
#include "storage/snapshot/encoded_scalar.h"
#include "storage/snapshot/snapshot_adjacency.h"

namespace koios::storage {

StatusOr<std::unique_ptr<SnapshotColumn>> SnapshotColumn::Make(const SectionName& name,
                                                               const MappedSection& facts,
                                                               const ColumnSections& sections) {
  RETURN_IF_ERROR(facts.TouchAll());
  ColumnFacts copy;
  if (facts.rows() != sizeof(copy)) return facts.file().NoteDamage();
  std::memcpy(&copy, facts.bytes().data(), sizeof(copy));
  std::unique_ptr<SnapshotColumn> column(new SnapshotColumn(name, copy, sections, facts.file()));
  RETURN_IF_ERROR(column->CheckSections());
  return column;
}

Status SnapshotColumn::CheckSections() const {
  const auto& s = sections_;
  const uint64_t entries = s.item_ends != nullptr ? facts_.values : facts_.rows;
  const auto has = [](const MappedSection* section, uint64_t rows) {
    return section == nullptr || section->rows() == rows;
  };
  bool whole = has(s.validity, facts_.rows) && has(s.item_ends, facts_.rows) &&
               has(s.values, entries) && has(s.codes, entries) && has(s.heap_ends, entries) &&
               has(s.value_ids, facts_.values) &&
               (s.item_ends != nullptr) == (holds_lists() || has_several());
  switch (form()) {
    case ColumnForm::kFixed: {
      const auto width = FixedWidthOf(value_kind());
      const bool millis =
          value_kind() == ValueKind::kDateTime && s.values != nullptr && s.values->width() == 8;
      whole &= s.values != nullptr && width && (s.values->width() == *width || millis);
      break;
    }
    case ColumnForm::kDictionary:
      whole &= s.codes != nullptr && s.dictionary != nullptr && s.dictionary_heap != nullptr &&
               value_kind() == ValueKind::kString;
      break;
    case ColumnForm::kHeap:
      whole &= s.heap_ends != nullptr && s.heap != nullptr && IsText(value_kind());
      break;
    case ColumnForm::kEncoded:
      whole &= s.heap_ends != nullptr && s.heap != nullptr;
      break;
    default:
      whole = false;
  }
  return whole ? OkStatus() : file_.NoteDamage();
}

Status SnapshotColumn::Slice(const MappedSection& ends, const MappedSection& heap, uint64_t i,
                             std::string_view* out) const {
  const uint64_t first = i == 0 ? 0 : i - 1;
  RETURN_IF_ERROR(ends.Touch(first, i - first + 1));
  const uint64_t begin = i == 0 ? 0 : NumberAt(ends, i - 1), end = NumberAt(ends, i);
  if (begin > end || end > heap.rows()) return file_.NoteDamage();
  RETURN_IF_ERROR(heap.Touch(begin, end - begin));
  *out = heap.bytes().substr(begin, end - begin);
  return OkStatus();
}

Status SnapshotColumn::StringOf(uint64_t code, std::string_view* out) const {
  if (code >= num_strings()) return file_.NoteDamage();
  return Slice(*sections_.dictionary, *sections_.dictionary_heap, code, out);
}

Status SnapshotColumn::BytesOf(uint64_t entry, std::string_view* out) const {
  if (form() != ColumnForm::kDictionary) {
    return Slice(*sections_.heap_ends, *sections_.heap, entry, out);
  }
  RETURN_IF_ERROR(sections_.codes->Touch(entry, 1));
  return StringOf(NumberAt(*sections_.codes, entry), out);
}

Status SnapshotColumn::Texts(std::span<const uint64_t> entries, std::string_view* out) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    out[i] = {};
    if (!by_item() && sections_.validity != nullptr) {
      RETURN_IF_ERROR(sections_.validity->Touch(entries[i], 1));
      if (!HasValue(entries[i])) continue;
    }
    RETURN_IF_ERROR(BytesOf(entries[i], &out[i]));
  }
  return file_.Damage();
}

Status SnapshotColumn::Touch(std::span<const uint64_t> entries) const {
  for (const MappedSection* section :
       {by_item() ? nullptr : sections_.validity, sections_.values, sections_.codes}) {
    if (section == nullptr) continue;
    RETURN_IF_ERROR(section->TouchEach(
        entries.size(), [&](size_t i) { return std::pair(entries[i], uint64_t{1}); }));
  }
  return OkStatus();
}

Status SnapshotColumn::TouchRange(uint64_t first, uint64_t count) const {
  for (const MappedSection* section :
       {by_item() ? nullptr : sections_.validity, sections_.values, sections_.codes}) {
    if (section != nullptr) RETURN_IF_ERROR(section->Touch(first, count));
  }
  return OkStatus();
}

StatusOr<Value> SnapshotColumn::FixedAt(uint64_t entry) const {
  RETURN_IF_ERROR(sections_.values->Touch(entry, 1));
  const MappedSection& values = *sections_.values;
  switch (value_kind()) {
    case ValueKind::kBool:
      return Value::Bool(BitAt(values, entry));
    case ValueKind::kByte:
      return Value::Byte(values.As<int8_t>()[entry]);
    case ValueKind::kShort:
      return Value::Short(values.As<int16_t>()[entry]);
    case ValueKind::kInt:
      return Value::Int(values.As<int32_t>()[entry]);
    case ValueKind::kLong:
      return Value::Long(values.As<int64_t>()[entry]);
    case ValueKind::kFloat:
      return Value::Float(values.As<float>()[entry]);
    case ValueKind::kDouble:
      return Value::Double(values.As<double>()[entry]);
    case ValueKind::kUuid:
      return Value::Of(
          Uuid{values.As<uint64_t>()[2 * entry], values.As<uint64_t>()[2 * entry + 1]});
    case ValueKind::kDateTime: {
      if (values.width() == 8) {
        return Value::Of(DateTimeOfMillis(values.As<int64_t>()[entry], facts_.offset_seconds));
      }
      DateTime when;
      const char* const at = values.bytes().data() + 16 * entry;
      std::memcpy(&when.seconds, at, 8);
      std::memcpy(&when.nanos, at + 8, 4);
      std::memcpy(&when.offset_seconds, at + 12, 4);
      return Value::Of(when);
    }
    default:
      return file_.NoteDamage();
  }
}

StatusOr<Value> SnapshotColumn::ValueAt(uint64_t entry) const {
  if (form() == ColumnForm::kFixed) return FixedAt(entry);
  std::string_view bytes;
  RETURN_IF_ERROR(BytesOf(entry, &bytes));
  if (form() != ColumnForm::kEncoded) {
    return value_kind() == ValueKind::kBinary ? Value::Binary(std::string(bytes))
                                              : Value::String(std::string(bytes));
  }
  StatusOr<Value> value = DecodeWholeValue(bytes);
  if (!value.ok()) return file_.NoteDamage();
  return value;
}

StatusOr<Value> SnapshotColumn::ListAt(uint64_t row) const {
  std::vector<ItemSlice> items;
  RETURN_IF_ERROR(Items({&row, 1}, &items));
  ValueList list;
  for (uint64_t i = 0; i < items[0].count; ++i) {
    ASSIGN_OR_RETURN(Value value, ValueAt(items[0].begin + i));
    list.push_back(std::move(value));
  }
  return Value::List(std::move(list));
}

Status SnapshotColumn::Values(std::span<const uint64_t> rows,
                              std::vector<std::optional<Value>>* out) const {
  for (const uint64_t row : rows) {
    if (sections_.validity != nullptr) {
      RETURN_IF_ERROR(sections_.validity->Touch(row, 1));
      if (!HasValue(row)) {
        out->push_back(std::nullopt);
        continue;
      }
    }
    ASSIGN_OR_RETURN(Value value, holds_lists() ? ListAt(row) : ValueAt(row));
    out->push_back(std::move(value));
  }
  return file_.Damage();
}

Status SnapshotColumn::Items(std::span<const uint64_t> rows, std::vector<ItemSlice>* out) const {
  const MappedSection& ends = *sections_.item_ends;
  for (const uint64_t row : rows) {
    const uint64_t first = row == 0 ? 0 : row - 1;
    RETURN_IF_ERROR(ends.Touch(first, row - first + 1));
    const uint64_t begin = row == 0 ? 0 : NumberAt(ends, row - 1), end = NumberAt(ends, row);
    if (begin > end || end > facts_.values) return file_.NoteDamage();
    out->push_back({begin, end - begin});
  }
  return file_.Damage();
}

Status SnapshotColumn::ItemValues(std::span<const uint64_t> items, std::vector<Value>* out) const {
  for (const uint64_t item : items) {
    ASSIGN_OR_RETURN(Value value, ValueAt(item));
    out->push_back(std::move(value));
  }
  return file_.Damage();
}

Status SnapshotColumn::ItemIds(std::span<const uint64_t> items, std::vector<uint64_t>* out) const {
  for (const uint64_t item : items) {
    if (sections_.value_ids != nullptr) RETURN_IF_ERROR(sections_.value_ids->Touch(item, 1));
    out->push_back(sections_.value_ids == nullptr ? 0 : NumberAt(*sections_.value_ids, item));
  }
  return file_.Damage();
}

}  // namespace koios::storage
