// The wire form of a column.
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/column.h"
#include "core/value_codec.h"

namespace koios {
namespace {

static_assert(std::endian::native == std::endian::little, "buffers are copied as they are");

constexpr uint8_t kAbsentBit = 0x80;  // of the kind byte: a mark per row follows the count
constexpr size_t kEdgeBytes = 28;     // id, out, in, label

template <typename T>
void PutArray(std::span<const T> v, std::string* out) {
  if (!v.empty()) out->append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
}

template <typename T>
bool GetArray(std::string_view* input, size_t count, std::vector<T>* v) {
  if (count > input->size() / sizeof(T)) return false;
  v->resize(count);
  if (count > 0) std::memcpy(v->data(), input->data(), count * sizeof(T));
  input->remove_prefix(count * sizeof(T));
  return true;
}

void PutEdges(std::span<const EdgeRef> edges, std::string* out) {
  out->reserve(out->size() + edges.size() * kEdgeBytes);
  for (const EdgeRef& e : edges) {
    char row[kEdgeBytes];
    std::memcpy(row, &e.id, 8);
    std::memcpy(row + 8, &e.out.bits, 8);
    std::memcpy(row + 16, &e.in.bits, 8);
    std::memcpy(row + 24, &e.label, 4);
    out->append(row, kEdgeBytes);
  }
}

bool GetEdges(std::string_view* input, size_t count, std::vector<EdgeRef>* edges) {
  if (count > input->size() / kEdgeBytes) return false;
  edges->resize(count);
  const char* row = input->data();
  for (EdgeRef& e : *edges) {
    std::memcpy(&e.id, row, 8);
    std::memcpy(&e.out.bits, row + 8, 8);
    std::memcpy(&e.in.bits, row + 16, 8);
    std::memcpy(&e.label, row + 24, 4);
    row += kEdgeBytes;
  }
  input->remove_prefix(count * kEdgeBytes);
  return true;
}

// The offsets of `count` strings and their bytes. False when an offset is out of order or range.
bool GetStrings(std::string_view* input, size_t count, std::vector<uint32_t>* offsets,
                std::vector<char>* bytes) {
  if (count >= input->size() || !GetArray(input, count + 1, offsets)) return false;
  if (offsets->front() != 0 || offsets->back() > input->size()) return false;
  for (size_t i = 0; i < count; ++i) {
    if ((*offsets)[i] > (*offsets)[i + 1]) return false;
  }
  bytes->assign(input->begin(), input->begin() + offsets->back());
  input->remove_prefix(offsets->back());
  return true;
}

void PutStrings(const Column& strings, std::string* out) {
  if (strings.empty()) return;
  uint32_t offset = 0;
  for (size_t row = 0; row <= strings.size(); ++row) {
    PutArray(std::span<const uint32_t>(&offset, 1), out);
    if (row < strings.size()) offset += static_cast<uint32_t>(strings.StringAt(row).size());
  }
  for (size_t row = 0; row < strings.size(); ++row) out->append(strings.StringAt(row));
}

Status Damaged() { return DataLoss("An encoded column is damaged."); }

}  // namespace

void Column::EncodeTo(std::string* out) const {
  out->push_back(static_cast<char>(static_cast<uint8_t>(kind_) | (has_absent() ? kAbsentBit : 0)));
  PutVarint(size_, out);
  for (size_t row = 0; has_absent() && row < size_; ++row) out->push_back(IsAbsent(row) ? 1 : 0);
  switch (kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      return PutArray(bools(), out);
    case Kind::kInt:
      return PutArray(ints(), out);
    case Kind::kLong:
      return PutArray(longs(), out);
    case Kind::kDouble:
      return PutArray(doubles(), out);
    case Kind::kString:
      return PutStrings(*this, out);
    case Kind::kVertex:
      return PutArray(vertices(), out);
    case Kind::kEdge:
      return PutEdges(edges(), out);
    case Kind::kValue:
      for (size_t row = 0; row < size_; ++row) EncodeValue(ValueAt(row), out);
      return;
  }
}

// `count` rows of one kind; the column says nothing of absent ones yet.
StatusOr<Column> Column::DecodeRows(Kind kind, size_t count, std::string_view* bytes) {
  const auto of = [&]<typename T>(std::vector<T> items) -> StatusOr<Column> {
    if (!GetArray(bytes, count, &items)) return Damaged();
    return Column::Of(std::move(items));
  };
  switch (kind) {
    case Kind::kEmpty:
      if (count > 0) return Damaged();
      return Column();
    case Kind::kBool: {
      std::vector<uint8_t> bools;
      if (!GetArray(bytes, count, &bools)) return Damaged();
      if (std::any_of(bools.begin(), bools.end(), [](uint8_t v) { return v > 1; })) {
        return Damaged();
      }
      return OfBools(std::move(bools));
    }
    case Kind::kInt:
      return of(std::vector<int32_t>());
    case Kind::kLong:
      return of(std::vector<int64_t>());
    case Kind::kDouble:
      return of(std::vector<double>());
    case Kind::kVertex:
      return of(std::vector<VertexRef>());
    case Kind::kString: {
      std::vector<uint32_t> offsets;
      std::vector<char> text;
      if (count == 0) return Column(kind);
      if (!GetStrings(bytes, count, &offsets, &text)) return Damaged();
      return OfStrings(std::move(offsets), std::move(text));
    }
    case Kind::kEdge: {
      std::vector<EdgeRef> edges;
      if (!GetEdges(bytes, count, &edges)) return Damaged();
      return Of(std::move(edges));
    }
    case Kind::kValue: {
      std::vector<Value> values;
      values.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        ASSIGN_OR_RETURN(Value v, DecodeValue(bytes));
        values.push_back(std::move(v));
      }
      return Of(std::move(values));
    }
  }
  return Damaged();
}

StatusOr<Column> Column::Decode(std::string_view bytes) {
  if (bytes.empty()) return Damaged();
  const bool has_absent = (static_cast<uint8_t>(bytes[0]) & kAbsentBit) != 0;
  const uint8_t kind = static_cast<uint8_t>(bytes[0]) & ~kAbsentBit;
  if (kind > static_cast<uint8_t>(Kind::kValue)) return Damaged();
  bytes.remove_prefix(1);
  uint64_t rows = 0;
  if (!GetVarint(&bytes, &rows) || rows > bytes.size()) return Damaged();  // a byte a row at least
  const auto count = static_cast<size_t>(rows);
  std::vector<uint8_t> absent;
  if (has_absent && !GetArray(&bytes, count, &absent)) return Damaged();
  ASSIGN_OR_RETURN(Column column, DecodeRows(static_cast<Kind>(kind), count, &bytes));
  if (!bytes.empty()) return Damaged();
  if (has_absent) column.MarkAbsent(std::move(absent));
  return column;
}

}  // namespace koios
