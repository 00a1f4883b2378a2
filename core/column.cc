#include "core/column.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/value_codec.h"

namespace koios {
namespace {

static_assert(std::endian::native == std::endian::little, "buffers are copied as they are");

constexpr uint8_t kAbsentBit = 0x80;  // of the kind byte: a mark per row follows the count
constexpr size_t kEdgeBytes = 28;     // id, out, in, label
constexpr size_t kMaxTextBytes = std::numeric_limits<uint32_t>::max();

template <typename T>
void AppendPart(const std::vector<T>& from, size_t begin, size_t count, std::vector<T>* to) {
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
  to->insert(to->end(), first, first + static_cast<std::ptrdiff_t>(count));
}

template <typename T>
void AppendRows(const std::vector<T>& from, const std::vector<uint32_t>& rows, std::vector<T>* to) {
  const size_t old_size = to->size();
  to->resize(old_size + rows.size());
  T* out = to->data() + old_size;
  for (const uint32_t row : rows) *out++ = from[row];
}

template <typename T>
void PutArray(const std::vector<T>& v, std::string* out) {
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

void PutEdges(const std::vector<EdgeRef>& edges, std::string* out) {
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
                std::string* bytes) {
  if (count >= input->size() || !GetArray(input, count + 1, offsets)) return false;
  if (offsets->front() != 0 || offsets->back() > input->size()) return false;
  for (size_t i = 0; i < count; ++i) {
    if ((*offsets)[i] > (*offsets)[i + 1]) return false;
  }
  bytes->assign(input->substr(0, offsets->back()));
  input->remove_prefix(offsets->back());
  return true;
}

}  // namespace

Column::Kind Column::KindFor(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool:
      return Kind::kBool;
    case ValueKind::kInt:
      return Kind::kInt;
    case ValueKind::kLong:
      return Kind::kLong;
    case ValueKind::kDouble:
      return Kind::kDouble;
    case ValueKind::kString:
      return Kind::kString;
    case ValueKind::kVertex:
      return Kind::kVertex;
    case ValueKind::kEdge:
      return Kind::kEdge;
    case ValueKind::kNull:
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kBigInt:
    case ValueKind::kFloat:
    case ValueKind::kBigDecimal:
    case ValueKind::kChar:
    case ValueKind::kDateTime:
    case ValueKind::kDuration:
    case ValueKind::kUuid:
    case ValueKind::kBinary:
    case ValueKind::kList:
    case ValueKind::kSet:
    case ValueKind::kMap:
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
    case ValueKind::kPath:
    case ValueKind::kElement:
    case ValueKind::kToken:
    case ValueKind::kDirection:
      return Kind::kValue;
  }
  return Kind::kValue;
}

size_t Column::ByteSize() const {
  size_t bytes = sizeof(Column) + absent_.capacity() + bools_.capacity() +
                 ints_.capacity() * sizeof(int32_t) + longs_.capacity() * sizeof(int64_t) +
                 doubles_.capacity() * sizeof(double) + offsets_.capacity() * sizeof(uint32_t) +
                 bytes_.capacity() + vertices_.capacity() * sizeof(VertexRef) +
                 edges_.capacity() * sizeof(EdgeRef) +
                 (values_.capacity() - values_.size()) * sizeof(Value);
  for (const Value& v : values_) bytes += v.ByteSize();
  return bytes;
}

void Column::Clear() {
  kind_ = Kind::kEmpty;
  size_ = 0;
  bools_.clear();
  ints_.clear();
  longs_.clear();
  doubles_.clear();
  offsets_.clear();
  bytes_.clear();
  vertices_.clear();
  edges_.clear();
  values_.clear();
  absent_.clear();
}

void Column::Reserve(size_t rows) {
  switch (kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      return bools_.reserve(rows);
    case Kind::kInt:
      return ints_.reserve(rows);
    case Kind::kLong:
      return longs_.reserve(rows);
    case Kind::kDouble:
      return doubles_.reserve(rows);
    case Kind::kString:
      return offsets_.reserve(rows + 1);
    case Kind::kVertex:
      return vertices_.reserve(rows);
    case Kind::kEdge:
      return edges_.reserve(rows);
    case Kind::kValue:
      return values_.reserve(rows);
  }
}

void Column::Become(Kind kind) {
  if (kind_ == kind) return;
  if (size_ == 0) {
    Clear();
    kind_ = kind;
    return;
  }
  DCHECK(kind == Kind::kValue);
  std::vector<Value> values;
  values.reserve(size_ + 1);
  for (size_t row = 0; row < size_; ++row) values.push_back(Get(row));
  const size_t rows = size_;
  std::vector<uint8_t> absent = std::move(absent_);
  Clear();
  absent_ = std::move(absent);
  values_ = std::move(values);
  size_ = rows;
  kind_ = Kind::kValue;
}

void Column::Append(const Value& value) {
  const Kind kind = KindFor(value.kind());
  if (kind == Kind::kValue || !Takes(kind)) {
    if (kind == Kind::kValue) Become(Kind::kValue);
    values_.push_back(value);
    ++size_;
    return;
  }
  switch (kind) {
    case Kind::kBool:
      return AppendBool(value.AsBool());
    case Kind::kInt:
      return AppendInt(static_cast<int32_t>(value.AsInteger()));
    case Kind::kLong:
      return AppendLong(value.AsInteger());
    case Kind::kDouble:
      return AppendDouble(value.AsDouble());
    case Kind::kString:
      return AppendString(value.AsString());
    case Kind::kVertex:
      return AppendVertex(value.AsVertex());
    case Kind::kEdge:
      return AppendEdge(value.AsEdge());
    case Kind::kEmpty:
    case Kind::kValue:
      return;  // not reached
  }
}

bool Column::Takes(Kind kind) {
  if (kind_ == kind) return true;
  if (size_ == 0 && kind_ != Kind::kValue) {
    Become(kind);
    return true;
  }
  Become(Kind::kValue);
  return false;
}

void Column::AppendBool(bool v) {
  if (Takes(Kind::kBool)) {
    bools_.push_back(v ? 1 : 0);
  } else {
    values_.push_back(Value::Bool(v));
  }
  ++size_;
}

void Column::AppendInt(int32_t v) {
  if (Takes(Kind::kInt)) {
    ints_.push_back(v);
  } else {
    values_.push_back(Value::Int(v));
  }
  ++size_;
}

void Column::AppendLong(int64_t v) {
  if (Takes(Kind::kLong)) {
    longs_.push_back(v);
  } else {
    values_.push_back(Value::Long(v));
  }
  ++size_;
}

void Column::AppendDouble(double v) {
  if (Takes(Kind::kDouble)) {
    doubles_.push_back(v);
  } else {
    values_.push_back(Value::Double(v));
  }
  ++size_;
}

void Column::AppendString(std::string_view v) {
  if (kind_ == Kind::kString && bytes_.size() + v.size() > kMaxTextBytes) Become(Kind::kValue);
  if (Takes(Kind::kString)) {
    if (offsets_.empty()) offsets_.push_back(0);
    bytes_.append(v);
    offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
  } else {
    values_.push_back(Value::String(std::string(v)));
  }
  ++size_;
}

Column Column::Of(std::vector<VertexRef> vertices) {
  Column column(Kind::kVertex);
  column.size_ = vertices.size();
  column.vertices_ = std::move(vertices);
  return column;
}

Column Column::Of(std::vector<EdgeRef> edges) {
  Column column(Kind::kEdge);
  column.size_ = edges.size();
  column.edges_ = std::move(edges);
  return column;
}

void Column::AppendVertex(VertexRef v) {
  if (Takes(Kind::kVertex)) {
    vertices_.push_back(v);
  } else {
    values_.push_back(Value::Of(v));
  }
  ++size_;
}

void Column::AppendEdge(const EdgeRef& v) {
  if (Takes(Kind::kEdge)) {
    edges_.push_back(v);
  } else {
    values_.push_back(Value::Of(v));
  }
  ++size_;
}

// Stands in the vector of the column's kind, so that the column stays typed.
void Column::AppendAbsent() {
  switch (kind_) {
    case Kind::kBool:
      AppendBool(false);
      break;
    case Kind::kInt:
      AppendInt(0);
      break;
    case Kind::kLong:
      AppendLong(0);
      break;
    case Kind::kDouble:
      AppendDouble(0);
      break;
    case Kind::kString:
      AppendString({});
      break;
    case Kind::kVertex:
      AppendVertex({});
      break;
    case Kind::kEdge:
      AppendEdge({});
      break;
    case Kind::kEmpty:
    case Kind::kValue:
      Append(Value::Null());
      break;
  }
  absent_.resize(size_, 0);
  absent_.back() = 1;
}

void Column::AppendFrom(const Column& other, size_t row) {
  if (other.IsAbsent(row)) return AppendAbsent();
  DCHECK(row < other.size_);
  switch (other.kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      return AppendBool(other.bools_[row] != 0);
    case Kind::kInt:
      return AppendInt(other.ints_[row]);
    case Kind::kLong:
      return AppendLong(other.longs_[row]);
    case Kind::kDouble:
      return AppendDouble(other.doubles_[row]);
    case Kind::kString:
      return AppendString(other.StringAt(row));
    case Kind::kVertex:
      return AppendVertex(other.vertices_[row]);
    case Kind::kEdge:
      return AppendEdge(other.edges_[row]);
    case Kind::kValue:
      return Append(other.values_[row]);
  }
}

void Column::AppendRange(const Column& other, size_t begin, size_t count) {
  DCHECK(begin + count <= other.size_ && &other != this);
  if (count == 0) return;
  if (size_ == 0 && kind_ != Kind::kValue) Become(other.kind_);
  // A string column that would outgrow its offsets, and a mixture, go row by row.
  const bool text = other.kind_ == Kind::kString;
  if (other.has_absent() || kind_ != other.kind_ ||
      (text && bytes_.size() + other.bytes_.size() > kMaxTextBytes)) {
    for (size_t i = 0; i < count; ++i) AppendFrom(other, begin + i);
    return;
  }
  switch (kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      AppendPart(other.bools_, begin, count, &bools_);
      break;
    case Kind::kInt:
      AppendPart(other.ints_, begin, count, &ints_);
      break;
    case Kind::kLong:
      AppendPart(other.longs_, begin, count, &longs_);
      break;
    case Kind::kDouble:
      AppendPart(other.doubles_, begin, count, &doubles_);
      break;
    case Kind::kString: {
      if (offsets_.empty()) offsets_.push_back(0);
      const uint32_t from = other.offsets_[begin];
      const auto base = static_cast<uint32_t>(bytes_.size());
      bytes_.append(other.bytes_, from, other.offsets_[begin + count] - from);
      for (size_t i = 1; i <= count; ++i) {
        offsets_.push_back(base + (other.offsets_[begin + i] - from));
      }
      break;
    }
    case Kind::kVertex:
      AppendPart(other.vertices_, begin, count, &vertices_);
      break;
    case Kind::kEdge:
      AppendPart(other.edges_, begin, count, &edges_);
      break;
    case Kind::kValue:
      AppendPart(other.values_, begin, count, &values_);
      break;
  }
  size_ += count;
}

void Column::AppendGather(const Column& other, const std::vector<uint32_t>& rows) {
  DCHECK(&other != this);
  if (rows.empty()) return;
  if (size_ == 0 && kind_ != Kind::kValue) Become(other.kind_);
  if (other.has_absent() || kind_ != other.kind_) {
    for (const uint32_t row : rows) AppendFrom(other, row);
    return;
  }
  switch (kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      AppendRows(other.bools_, rows, &bools_);
      break;
    case Kind::kInt:
      AppendRows(other.ints_, rows, &ints_);
      break;
    case Kind::kLong:
      AppendRows(other.longs_, rows, &longs_);
      break;
    case Kind::kDouble:
      AppendRows(other.doubles_, rows, &doubles_);
      break;
    case Kind::kString: {
      size_t total = bytes_.size();
      for (const uint32_t row : rows) total += other.offsets_[row + 1] - other.offsets_[row];
      if (total > kMaxTextBytes) {  // a gather may repeat long strings
        for (const uint32_t row : rows) AppendString(other.StringAt(row));
        return;
      }
      if (offsets_.empty()) offsets_.push_back(0);
      for (const uint32_t row : rows) {
        bytes_.append(other.StringAt(row));
        offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
      }
      break;
    }
    case Kind::kVertex:
      AppendRows(other.vertices_, rows, &vertices_);
      break;
    case Kind::kEdge:
      AppendRows(other.edges_, rows, &edges_);
      break;
    case Kind::kValue:
      AppendRows(other.values_, rows, &values_);
      break;
  }
  size_ += rows.size();
}

Value Column::Get(size_t row) const {
  DCHECK(row < size_);
  if (IsAbsent(row)) return Value::Null();
  switch (kind_) {
    case Kind::kEmpty:
      return Value::Null();
    case Kind::kBool:
      return Value::Bool(bools_[row] != 0);
    case Kind::kInt:
      return Value::Int(ints_[row]);
    case Kind::kLong:
      return Value::Long(longs_[row]);
    case Kind::kDouble:
      return Value::Double(doubles_[row]);
    case Kind::kString:
      return Value::String(std::string(StringAt(row)));
    case Kind::kVertex:
      return Value::Of(vertices_[row]);
    case Kind::kEdge:
      return Value::Of(edges_[row]);
    case Kind::kValue:
      return values_[row];
  }
  return Value::Null();
}

void Column::EncodeTo(std::string* out) const {
  out->push_back(static_cast<char>(static_cast<uint8_t>(kind_) | (has_absent() ? kAbsentBit : 0)));
  PutVarint(size_, out);
  if (has_absent()) {
    std::vector<uint8_t> absent = absent_;
    absent.resize(size_, 0);
    PutArray(absent, out);
  }
  switch (kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      return PutArray(bools_, out);
    case Kind::kInt:
      return PutArray(ints_, out);
    case Kind::kLong:
      return PutArray(longs_, out);
    case Kind::kDouble:
      return PutArray(doubles_, out);
    case Kind::kString:
      if (size_ == 0) return;
      PutArray(offsets_, out);
      out->append(bytes_);
      return;
    case Kind::kVertex:
      return PutArray(vertices_, out);
    case Kind::kEdge:
      return PutEdges(edges_, out);
    case Kind::kValue:
      for (const Value& v : values_) EncodeValue(v, out);
      return;
  }
}

StatusOr<Column> Column::Decode(std::string_view bytes) {
  const auto damaged = [] { return DataLoss("An encoded column is damaged."); };
  if (bytes.empty()) return damaged();
  const bool has_absent = (static_cast<uint8_t>(bytes[0]) & kAbsentBit) != 0;
  const uint8_t kind = static_cast<uint8_t>(bytes[0]) & ~kAbsentBit;
  if (kind > static_cast<uint8_t>(Kind::kValue)) return damaged();
  Column column(static_cast<Kind>(kind));
  bytes.remove_prefix(1);
  uint64_t rows = 0;
  if (!GetVarint(&bytes, &rows) || rows > bytes.size()) return damaged();  // a byte a row at least
  const auto count = static_cast<size_t>(rows);
  bool ok = true;
  if (has_absent && !GetArray(&bytes, count, &column.absent_)) return damaged();
  switch (column.kind_) {
    case Kind::kEmpty:
      ok = count == 0;
      break;
    case Kind::kBool:
      ok = GetArray(&bytes, count, &column.bools_);
      for (const uint8_t v : column.bools_) ok = ok && v <= 1;
      break;
    case Kind::kInt:
      ok = GetArray(&bytes, count, &column.ints_);
      break;
    case Kind::kLong:
      ok = GetArray(&bytes, count, &column.longs_);
      break;
    case Kind::kDouble:
      ok = GetArray(&bytes, count, &column.doubles_);
      break;
    case Kind::kString:
      ok = count == 0 || GetStrings(&bytes, count, &column.offsets_, &column.bytes_);
      break;
    case Kind::kVertex:
      ok = GetArray(&bytes, count, &column.vertices_);
      break;
    case Kind::kEdge:
      ok = GetEdges(&bytes, count, &column.edges_);
      break;
    case Kind::kValue:
      column.values_.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        ASSIGN_OR_RETURN(Value v, DecodeValue(&bytes));
        column.values_.push_back(std::move(v));
      }
      break;
  }
  if (!ok || !bytes.empty()) return damaged();
  column.size_ = count;
  return column;
}

}  // namespace koios
