#include "storage/snapshot/column_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

// A dictionary that grows faster than this is none.
constexpr uint64_t kDictionaryTrial = 8192;
constexpr uint64_t kValuesPerString = 4;
constexpr size_t kDictionaryEntryBytes = 64;

uint8_t CodeWidth(uint64_t strings) {
  if (strings <= 256) return 1;
  return strings <= kMostDictionaryStrings ? 2 : 4;
}

}  // namespace

ColumnWriter::ColumnWriter(const SectionName& name, const StageContext& context)
    : name_(name), context_(context), staged_(context.space), ids_(context.space) {}

ColumnWriter::~ColumnWriter() { context_.space->Release(held_bytes_); }

void ColumnWriter::BeginRow(uint64_t row, uint64_t count) {
  staged_.AppendVarint(row - next_row_);
  staged_.AppendVarint(count);
  next_row_ = row + 1;
  if (count > 0) ++rows_present_;
}

void ColumnWriter::Add(uint64_t row, std::string_view value) {
  if (several_) {
    const ItemInput item{value, 0, {}};
    return AddItems(row, cardinality_, {&item, 1});
  }
  BeginRow(row, 1);
  NoteValue(value);
}

void ColumnWriter::AddItems(uint64_t row, Cardinality cardinality,
                            std::span<const ItemInput> items) {
  if (!several_) {
    several_ = true;
    cardinality_ = cardinality;
    // Those before have none.
    for (uint64_t i = 0; i < values_; ++i) ids_.AppendNumber(uint64_t{0});
  }
  BeginRow(row, items.size());
  for (const ItemInput& item : items) {
    for (const auto& [key, value] : item.properties) {
      auto& column = item_properties_[key];
      if (column == nullptr) {
        const SectionName name{SectionKind::kColumn, SectionIndex::kValue, name_.set, name_.key,
                               key};
        column = std::make_unique<ColumnWriter>(name, context_);
      }
      column->Add(values_, value);
    }
    has_ids_ |= item.id != 0;
    ids_.AppendNumber(item.id);
    NoteValue(item.value);
  }
}

void ColumnWriter::NoteValue(std::string_view value) {
  const bool encoded = is_encoded();
  staged_.AppendVarint(value.size());
  staged_.Append(value);
  ++values_;
  value_bytes_ += value.size();
  const auto kind = value.empty() ? ValueKind::kNull : static_cast<ValueKind>(value[0]);
  value_kinds_differ_ |= value_kind_ && *value_kind_ != kind;
  value_kind_ = kind;
  if (encoded) {
    distinct_.Add(SnapshotCheck(value));
    return;
  }
  std::string_view rest = value;
  EncodedScalar scalar;
  if (ReadScalar(&rest, &scalar) && rest.empty()) {
    ++scalars_;
    NoteScalar(scalar, value);
  } else if (!several_ && ForEachScalar(value, [](const auto&, std::string_view) {})) {
    ++lists_;
    ForEachScalar(value, [this](const EncodedScalar& item, std::string_view bytes) {
      ++list_items_;
      NoteScalar(item, bytes);
    });
  } else {
    distinct_.Add(SnapshotCheck(value));
  }
  if (is_encoded()) GiveUpDictionary();
}

// Also when a column of lists gets several values per row: those stand as they are.
bool ColumnWriter::is_encoded() const {
  return domain_.mixed || scalars_ + lists_ < values_ || (scalars_ > 0 && lists_ > 0) ||
         (several_ && lists_ > 0);
}

void ColumnWriter::NoteScalar(const EncodedScalar& scalar, std::string_view bytes) {
  distinct_.Add(SnapshotCheck(bytes));
  domain_.mixed |= domain_.kind && *domain_.kind != scalar.kind;
  domain_.kind = scalar.kind;
  if (IsText(scalar.kind)) {
    NoteText(scalar.text);
  } else {
    NoteRange(scalar);
  }
}

void ColumnWriter::NoteText(std::string_view text) {
  domain_.text_bytes += text.size();
  if (!has_dictionary_ || dictionary_.contains(text)) return;
  const size_t bytes = text.size() + kDictionaryEntryBytes;
  const uint64_t seen = std::max(scalars_, list_items_);
  const bool hopeless = seen >= kDictionaryTrial && dictionary_.size() > seen / 2;
  if (hopeless || dictionary_.size() == kMostDictionaryStrings || !context_.space->TryHold(bytes)) {
    return GiveUpDictionary();
  }
  held_bytes_ += bytes;
  dictionary_.emplace(text, 0);
}

void ColumnWriter::GiveUpDictionary() {
  has_dictionary_ = false;
  dictionary_ = {};
  context_.space->Release(held_bytes_);
  held_bytes_ = 0;
}

void ColumnWriter::NoteRange(const EncodedScalar& scalar) {
  const bool first = !domain_.any;
  domain_.any = true;
  int64_t number = scalar.integer;
  switch (scalar.kind) {
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      domain_.has_range &= !std::isnan(scalar.real);
      if (first || scalar.real < domain_.least_real) domain_.least_real = scalar.real;
      if (first || scalar.real > domain_.largest_real) domain_.largest_real = scalar.real;
      return;
    case ValueKind::kDateTime: {
      const auto millis = MillisOf(scalar.date_time);
      if (first) domain_.offset_seconds = scalar.date_time.offset_seconds;
      domain_.whole_millis &= millis && scalar.date_time.nanos % 1'000'000 == 0 &&
                              scalar.date_time.offset_seconds == domain_.offset_seconds;
      domain_.has_range &= millis.has_value();
      number = millis.value_or(0);
      break;
    }
    case ValueKind::kUuid:
      domain_.has_range = false;
      return;
    default:
      break;
  }
  domain_.least = first ? number : std::min(domain_.least, number);
  domain_.largest = first ? number : std::max(domain_.largest, number);
}

template <typename Use>
Status ColumnWriter::ForEachEntry(uint64_t rows, const Use& use) const {
  const bool lists = holds_lists(), absent = !by_item();
  SpillReader reader(staged_);
  uint64_t next_row = 0, distance = 0, count = 0, bytes = 0;
  std::string_view value;
  while (reader.ReadVarint(&distance) && reader.ReadVarint(&count)) {
    for (uint64_t i = 0; absent && i < distance; ++i) use(std::string_view());
    next_row += distance + 1;
    for (uint64_t i = 0; i < count; ++i) {
      if (!reader.ReadVarint(&bytes) || !reader.ReadBytes(bytes, &value)) return reader.status();
      if (lists) {
        ForEachScalar(value, [&use](const EncodedScalar&, std::string_view item) { use(item); });
      } else {
        use(value);
      }
    }
  }
  for (; absent && next_row < rows; ++next_row) use(std::string_view());
  return reader.status();
}

template <typename Use>
Status ColumnWriter::ForEachRow(uint64_t rows, const Use& use) const {
  SpillReader reader(staged_);
  uint64_t next_row = 0, distance = 0, count = 0, bytes = 0;
  std::string_view value;
  while (reader.ReadVarint(&distance) && reader.ReadVarint(&count)) {
    for (uint64_t i = 0; i < distance; ++i) use(next_row++, uint64_t{0}, false);
    uint64_t entries = 0;
    for (uint64_t i = 0; i < count; ++i) {
      if (!reader.ReadVarint(&bytes) || !reader.ReadBytes(bytes, &value)) return reader.status();
      uint64_t items = 1;
      if (holds_lists() && !ReadListHead(&value, &items)) return Internal("A list is none.");
      entries += items;
    }
    use(next_row++, entries, count > 0);
  }
  while (next_row < rows) use(next_row++, uint64_t{0}, false);
  return reader.status();
}

Status ColumnWriter::Write(uint64_t rows, SnapshotWriter* writer) {
  RETURN_IF_ERROR(context_.space->status());
  if (next_row_ > rows) return Internal("A column has more rows than its elements.");
  FillFacts(rows);
  if (!several_ && rows_present_ < rows) RETURN_IF_ERROR(WriteValidity(rows, writer));
  if (by_item()) RETURN_IF_ERROR(WriteItems(rows, writer));
  const uint64_t entries = by_item() ? facts_.values : rows;
  switch (static_cast<ColumnForm>(facts_.form)) {
    case ColumnForm::kFixed:
      RETURN_IF_ERROR(WriteFixed(rows, entries, writer));
      break;
    case ColumnForm::kDictionary:
      RETURN_IF_ERROR(WriteDictionary(rows, entries, writer));
      break;
    case ColumnForm::kHeap:
      RETURN_IF_ERROR(WriteHeap(rows, entries, /*encoded=*/false, writer));
      break;
    case ColumnForm::kEncoded:
      RETURN_IF_ERROR(WriteHeap(rows, entries, /*encoded=*/true, writer));
      break;
  }
  writer->WriteFacts(name_.Of(SectionKind::kColumn), facts_);
  for (const auto& [key, column] : item_properties_) {
    RETURN_IF_ERROR(column->Write(facts_.values, writer));
  }
  return OkStatus();
}

void ColumnWriter::FillFacts(uint64_t rows) {
  const bool encoded = is_encoded() || !domain_.kind;
  facts_.rows = rows;
  facts_.rows_present = rows_present_;
  facts_.values = holds_lists() ? list_items_ : values_;
  facts_.cardinality = static_cast<uint8_t>(cardinality_);
  facts_.holds_lists = holds_lists() ? 1 : 0;
  facts_.distinct = distinct_.Estimate();
  const ValueKind kind = !encoded              ? *domain_.kind
                         : value_kinds_differ_ ? ValueKind::kNull
                                               : value_kind_.value_or(ValueKind::kNull);
  facts_.value_kind = static_cast<uint8_t>(kind);
  facts_.form = static_cast<uint8_t>(ColumnForm::kEncoded);
  if (encoded) return;
  if (IsText(kind)) {
    const bool dictionary = kind == ValueKind::kString && has_dictionary_ &&
                            dictionary_.size() * kValuesPerString <= facts_.values;
    if (has_dictionary_) {
      facts_.distinct = dictionary_.size();
      facts_.exact_distinct = 1;
    }
    facts_.form = static_cast<uint8_t>(dictionary ? ColumnForm::kDictionary : ColumnForm::kHeap);
    return;
  }
  facts_.form = static_cast<uint8_t>(ColumnForm::kFixed);
  facts_.offset_seconds = domain_.whole_millis ? domain_.offset_seconds : 0;
  facts_.has_range = domain_.has_range ? 1 : 0;
  if (!domain_.has_range) return;
  const bool real = kind == ValueKind::kFloat || kind == ValueKind::kDouble;
  facts_.least_bits =
      real ? std::bit_cast<uint64_t>(domain_.least_real) : static_cast<uint64_t>(domain_.least);
  facts_.largest_bits =
      real ? std::bit_cast<uint64_t>(domain_.largest_real) : static_cast<uint64_t>(domain_.largest);
}

Status ColumnWriter::WriteValidity(uint64_t rows, SnapshotWriter* writer) const {
  writer->Begin(name_.Of(SectionKind::kValidity), 0, WordsOfBits(rows) * 8);
  uint64_t word = 0;
  RETURN_IF_ERROR(ForEachRow(rows, [&](uint64_t row, uint64_t, bool present) {
    if (present) word |= uint64_t{1} << (row % 64);
    if (row % 64 == 63 || row + 1 == rows) {
      writer->AppendNumber(word);
      word = 0;
    }
  }));
  return writer->End(rows);
}

Status ColumnWriter::WriteItems(uint64_t rows, SnapshotWriter* writer) {
  const uint8_t width = context_.WidthFor(facts_.values);
  writer->Begin(name_.Of(SectionKind::kItemEnds), width, rows * width);
  uint64_t end = 0;
  RETURN_IF_ERROR(ForEachRow(rows, [&](uint64_t, uint64_t entries, bool) {
    end += entries;
    writer->AppendWide(end, width);
  }));
  RETURN_IF_ERROR(writer->End(rows));
  if (!has_ids_) return OkStatus();
  writer->Begin(name_.Of(SectionKind::kValueIds), 8, ids_.bytes());
  SpillReader ids(ids_);
  for (std::string_view bytes = ids.Next(); !bytes.empty(); bytes = ids.Next()) {
    writer->Append(bytes);
  }
  RETURN_IF_ERROR(ids.status());
  return writer->End(values_);
}

Status ColumnWriter::WriteBits(uint64_t rows, uint64_t entries, SnapshotWriter* writer) const {
  writer->Begin(name_.Of(SectionKind::kValues), 0, WordsOfBits(entries) * 8);
  uint64_t word = 0, entry = 0;
  RETURN_IF_ERROR(ForEachEntry(rows, [&](std::string_view bytes) {
    EncodedScalar scalar;
    if (ReadScalar(&bytes, &scalar) && scalar.integer != 0) word |= uint64_t{1} << (entry % 64);
    ++entry;
    if (entry % 64 == 0 || entry == entries) {
      writer->AppendNumber(word);
      word = 0;
    }
  }));
  return writer->End(entries);
}

Status ColumnWriter::WriteFixed(uint64_t rows, uint64_t entries, SnapshotWriter* writer) {
  const ValueKind kind = *domain_.kind;
  const bool in_millis = kind == ValueKind::kDateTime && domain_.whole_millis;
  const uint8_t width = in_millis ? 8 : FixedWidthOf(kind).value_or(0);
  if (width == 0) return WriteBits(rows, entries, writer);
  writer->Begin(name_.Of(SectionKind::kValues), width, entries * width);
  RETURN_IF_ERROR(ForEachEntry(rows, [&](std::string_view bytes) {
    EncodedScalar scalar;
    // Zeros where there is nothing.
    if (!ReadScalar(&bytes, &scalar)) scalar = {};
    switch (kind) {
      case ValueKind::kFloat:
        return writer->AppendNumber(static_cast<float>(scalar.real));
      case ValueKind::kDouble:
        return writer->AppendNumber(scalar.real);
      case ValueKind::kUuid:
        writer->AppendNumber(scalar.uuid.high);
        return writer->AppendNumber(scalar.uuid.low);
      case ValueKind::kDateTime:
        if (in_millis) return writer->AppendNumber(MillisOf(scalar.date_time).value_or(0));
        writer->AppendNumber(scalar.date_time.seconds);
        writer->AppendNumber(scalar.date_time.nanos);
        return writer->AppendNumber(scalar.date_time.offset_seconds);
      default:
        return writer->AppendWide(static_cast<uint64_t>(scalar.integer), width);
    }
  }));
  return writer->End(entries);
}

Status ColumnWriter::WriteDictionary(uint64_t rows, uint64_t entries, SnapshotWriter* writer) {
  std::vector<std::string_view> strings;
  uint64_t heap_bytes = 0;
  for (const auto& [text, code] : dictionary_) {
    strings.push_back(text);
    heap_bytes += text.size();
  }
  std::sort(strings.begin(), strings.end());
  for (size_t i = 0; i < strings.size(); ++i) {
    dictionary_.find(strings[i])->second = static_cast<uint32_t>(i);
  }
  const uint8_t width = CodeWidth(strings.size());
  writer->Begin(name_.Of(SectionKind::kCodes), width, entries * width);
  RETURN_IF_ERROR(ForEachEntry(rows, [&](std::string_view bytes) {
    EncodedScalar scalar;
    uint32_t code = 0;
    if (ReadScalar(&bytes, &scalar)) code = dictionary_.find(scalar.text)->second;
    writer->AppendWide(code, width);
  }));
  RETURN_IF_ERROR(writer->End(entries));
  const uint8_t ends_width = context_.WidthFor(heap_bytes);
  writer->Begin(name_.Of(SectionKind::kDictionary), ends_width, strings.size() * ends_width);
  uint64_t end = 0;
  for (const std::string_view text : strings) {
    end += text.size();
    writer->AppendWide(end, ends_width);
  }
  RETURN_IF_ERROR(writer->End(strings.size()));
  writer->Begin(name_.Of(SectionKind::kDictionaryHeap), 1, heap_bytes);
  for (const std::string_view text : strings) writer->Append(text);
  return writer->End(heap_bytes);
}

Status ColumnWriter::WriteHeap(uint64_t rows, uint64_t entries, bool encoded,
                               SnapshotWriter* writer) const {
  const uint64_t heap_bytes = encoded ? value_bytes_ : domain_.text_bytes;
  const auto content = [encoded](std::string_view bytes) {
    EncodedScalar scalar;
    if (!encoded && ReadScalar(&bytes, &scalar)) return scalar.text;
    return bytes;
  };
  const uint8_t width = context_.WidthFor(heap_bytes);
  writer->Begin(name_.Of(SectionKind::kHeapEnds), width, entries * width);
  uint64_t end = 0;
  RETURN_IF_ERROR(ForEachEntry(rows, [&](std::string_view bytes) {
    end += content(bytes).size();
    writer->AppendWide(end, width);
  }));
  RETURN_IF_ERROR(writer->End(entries));
  writer->Begin(name_.Of(SectionKind::kHeap), 1, heap_bytes);
  RETURN_IF_ERROR(
      ForEachEntry(rows, [&](std::string_view bytes) { writer->Append(content(bytes)); }));
  return writer->End(heap_bytes);
}

}  // namespace koios::storage
