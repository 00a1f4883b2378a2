#include "engine/batch/batch.h"

#include <algorithm>

namespace koios::engine {
namespace {

size_t EntryBytes(const Column& column, size_t row) {
  switch (column.kind()) {
    case Column::Kind::kValue:
      return column.ValueAt(row).ByteSize();
    case Column::Kind::kString:
      return column.StringAt(row).size() + sizeof(uint32_t);
    case Column::Kind::kEdge:
      return sizeof(EdgeRef);
    default:
      return sizeof(int64_t);
  }
}

}  // namespace

size_t Batch::ByteSize() const {
  size_t bytes = sizeof(Batch) + bulk.size() * sizeof(int64_t) + runs.size() * sizeof(Run);
  for (const Column& column : slots) bytes += column.ByteSize();
  return bytes;
}

size_t Batch::RowBytes(size_t row) const {
  size_t bytes = 0;
  for (const Column& column : slots) {
    if (row < column.size()) bytes += EntryBytes(column, row);
  }
  return bytes;
}

bool Batch::SameShape(const Batch& other) const {
  const size_t most = std::max(slots.size(), other.slots.size());
  for (size_t slot = 0; slot < most; ++slot) {
    const bool mine = slot < slots.size() && !slots[slot].empty();
    const bool theirs = slot < other.slots.size() && !other.slots[slot].empty();
    if (mine != theirs) return false;
  }
  return true;
}

void Batch::AppendRows(const Batch& source, const std::vector<uint32_t>& picked) {
  if (slots.size() < source.slots.size()) slots.resize(source.slots.size());
  for (size_t slot = 0; slot < source.slots.size(); ++slot) {
    if (!source.slots[slot].empty()) slots[slot].AppendGather(source.slots[slot], picked);
  }
  if (!source.bulk.empty() || !bulk.empty()) {
    bulk.resize(rows, 1);
    bulk.reserve(rows + picked.size());
    for (uint32_t row : picked) bulk.push_back(source.BulkAt(row));
  }
  rows += picked.size();
}

Batch Batch::Slice(size_t begin, size_t end) const {
  Batch slice;
  slice.rows = end - begin;
  slice.slots.resize(slots.size());
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (Has(slot)) slice.slots[slot] = slots[slot].Slice(begin, end - begin);
  }
  if (!bulk.empty()) {
    slice.bulk.assign(bulk.begin() + static_cast<std::ptrdiff_t>(begin),
                      bulk.begin() + static_cast<std::ptrdiff_t>(end));
  }
  size_t row = 0;
  for (const Run& run : runs) {
    const size_t first = std::max(begin, row), last = std::min<size_t>(end, row + run.count);
    row += run.count;
    if (first >= last) continue;
    slice.runs.push_back(run);
    slice.runs.back().count = static_cast<uint32_t>(last - first);
  }
  return slice;
}

void Batch::AppendCurrent(const Value& value) {
  if (slots.empty()) slots.resize(1);
  slots[0].Append(value);
  if (!bulk.empty()) bulk.push_back(1);
  ++rows;
}

void Batch::AppendRun(const Run& run) {
  if (!runs.empty()) {
    Run& last = runs.back();
    if (last.k == run.k && last.k > 0 && last.instance == run.instance && last.loops == run.loops) {
      last.count += run.count;
      --last.k;
      return;
    }
  }
  runs.push_back(run);
}

size_t RowLimit(size_t bytes, size_t rows) {
  if (bytes <= rows * (kBatchBytes / kBatchRows)) return kBatchRows;
  return std::max<size_t>(1, kBatchBytes * rows / bytes);
}

namespace {

constexpr size_t kOrdinalBytes = 5;
constexpr uint64_t kLoopMark = uint64_t{1} << 39;

void WriteOrdinal(uint64_t number, char* bytes) {
  for (size_t i = kOrdinalBytes; i-- > 0; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
}

// Where the innermost loop's counter is; nullptr: there is none.
char* FindLoop(std::string* ordinal) {
  for (size_t at = ordinal->size(); at >= kOrdinalBytes; at -= kOrdinalBytes) {
    char* bytes = ordinal->data() + at - kOrdinalBytes;
    if ((static_cast<unsigned char>(bytes[0]) & 0x80) != 0) return bytes;
  }
  return nullptr;
}

uint64_t ReadOrdinal(const char* bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < kOrdinalBytes; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace

void AppendOrdinal(uint64_t number, std::string* ordinal) {
  ordinal->resize(ordinal->size() + kOrdinalBytes);
  WriteOrdinal(number, ordinal->data() + ordinal->size() - kOrdinalBytes);
}

void EnterLoop(std::string* ordinal) { AppendOrdinal(kLoopMark, ordinal); }

void CountLoop(std::string* ordinal) {
  char* bytes = FindLoop(ordinal);
  if (bytes != nullptr) WriteOrdinal(ReadOrdinal(bytes) + 1, bytes);
}

void LeaveLoop(std::string* ordinal) {
  char* bytes = FindLoop(ordinal);
  if (bytes != nullptr) WriteOrdinal(ReadOrdinal(bytes) & ~kLoopMark, bytes);
}

}  // namespace koios::engine
