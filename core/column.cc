#include "core/column.h"

#include <algorithm>
#include <limits>

#include "core/status.h"

namespace koios {
namespace {

constexpr size_t kMaxTextBytes = std::numeric_limits<uint32_t>::max();
// A gathered column holds at most so many rows of the buffers that it shares for each of its own.
constexpr size_t kMaxHeldPerRow = 4;

size_t WidthOf(Column::Kind kind) {
  switch (kind) {
    case Column::Kind::kEmpty:
    case Column::Kind::kString:
      return 0;
    case Column::Kind::kBool:
      return sizeof(uint8_t);
    case Column::Kind::kInt:
      return sizeof(int32_t);
    case Column::Kind::kLong:
    case Column::Kind::kDouble:
    case Column::Kind::kVertex:
      return sizeof(int64_t);
    case Column::Kind::kEdge:
      return sizeof(EdgeRef);
    case Column::Kind::kValue:
      return sizeof(Value);
  }
  return 0;
}

template <typename T>
BufferPtr MakeBuffer(std::vector<T> items) {
  return BufferPtr(new VectorBuffer<T>(std::move(items)));
}

size_t HeldBytes(const BufferPtr& buffer) { return buffer == nullptr ? 0 : buffer->HeldBytes(); }

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

void Column::swap(Column& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(owned_, other.owned_);
  std::swap(size_, other.size_);
  std::swap(begin_, other.begin_);
  items_.swap(other.items_);
  offsets_.swap(other.offsets_);
  absent_.swap(other.absent_);
  selection_.swap(other.selection_);
}

// ---- whole columns

template <typename T>
Column Column::OfItems(Kind kind, std::vector<T> items) {
  Column column(kind);
  column.owned_ = true;
  column.size_ = items.size();
  column.items_ = MakeBuffer(std::move(items));
  return column;
}

Column Column::Of(std::vector<int32_t> ints) { return OfItems(Kind::kInt, std::move(ints)); }
Column Column::Of(std::vector<int64_t> longs) { return OfItems(Kind::kLong, std::move(longs)); }
Column Column::Of(std::vector<double> doubles) {
  return OfItems(Kind::kDouble, std::move(doubles));
}
Column Column::Of(std::vector<VertexRef> vertices) {
  return OfItems(Kind::kVertex, std::move(vertices));
}
Column Column::Of(std::vector<EdgeRef> edges) { return OfItems(Kind::kEdge, std::move(edges)); }
Column Column::Of(std::vector<Value> values) { return OfItems(Kind::kValue, std::move(values)); }
Column Column::OfBools(std::vector<uint8_t> bools) {
  return OfItems(Kind::kBool, std::move(bools));
}

Column Column::OfStrings(std::vector<uint32_t> offsets, std::vector<char> bytes) {
  Column column(Kind::kString);
  column.owned_ = true;
  column.size_ = offsets.size() - 1;
  column.items_ = MakeBuffer(std::move(bytes));
  column.offsets_ = MakeBuffer(std::move(offsets));
  return column;
}

Column Column::Borrow(Kind kind, const void* start, size_t rows,
                      std::shared_ptr<const void> owner) {
  DCHECK(kind != Kind::kEmpty && kind != Kind::kString && kind != Kind::kValue);
  Column column(kind);
  column.size_ = rows;
  column.items_ = BufferPtr(new BorrowedBuffer(start, rows, std::move(owner)));
  return column;
}

Column Column::BorrowStrings(std::span<const uint32_t> offsets, const char* bytes,
                             std::shared_ptr<const void> owner) {
  Column column(Kind::kString);
  column.size_ = offsets.size() - 1;
  column.items_ = BufferPtr(new BorrowedBuffer(bytes, offsets.back(), owner));
  column.offsets_ = BufferPtr(new BorrowedBuffer(offsets.data(), offsets.size(), std::move(owner)));
  return column;
}

// ---- sharing

Column Column::Slice(size_t begin, size_t count) const {
  DCHECK(begin + count <= size_);
  if (count == 0) return Column(kind_ == Kind::kValue ? kind_ : Kind::kEmpty);
  Column slice = *this;
  slice.begin_ += begin;
  slice.size_ = count;
  slice.owned_ = owned_ && count == size_;
  return slice;
}

Column Column::Gather(std::span<const uint32_t> rows) const {
  const bool wide = kind_ == Kind::kString || kind_ == Kind::kValue;
  if (!wide || rows.empty() || rows.size() * kMaxHeldPerRow < BaseRows()) {
    Column copy(kind_);
    copy.AppendGather(*this, rows);
    return copy;
  }
  std::vector<uint32_t> selection;
  selection.reserve(rows.size());
  for (const uint32_t row : rows) selection.push_back(static_cast<uint32_t>(At(row)));
  Column gathered = *this;
  gathered.selection_ = MakeBuffer(std::move(selection));
  gathered.begin_ = 0;
  gathered.size_ = rows.size();
  gathered.owned_ = false;
  return gathered;
}

void Column::Own() {
  Column own(kind_);
  own.AppendRange(*this, 0, size_);
  swap(own);
}

// Whoever reads the column sees the same rows before and after.
void Column::Flatten() const { const_cast<Column*>(this)->Own(); }

size_t Column::BaseRows() const {
  if (items_ == nullptr) return 0;
  return offsets_ != nullptr ? offsets_->num_items() - 1 : items_->num_items();
}

size_t Column::EntryBytes(size_t at) const {
  if (kind_ == Kind::kValue) return Base<Value>()[at].ByteSize();
  if (kind_ != Kind::kString) return WidthOf(kind_);
  const auto* offsets = static_cast<const uint32_t*>(offsets_->start()) + at;
  return sizeof(uint32_t) + (offsets[1] - offsets[0]);
}

namespace {

// What a value shares with its copies; null: nothing.
const void* ObjectOf(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kString:
      return &value.AsString();
    case ValueKind::kList:
    case ValueKind::kSet:
      return &value.AsList();
    case ValueKind::kMap:
      return &value.AsMap();
    default:
      return nullptr;
  }
}

// Of values one after the other, what they take. A list that many rows have under one label is
// counted where it first comes.
class ValueBytes {
 public:
  size_t Of(const Value& value) {
    const void* const object = ObjectOf(value);
    if (object != nullptr && object == last_) return sizeof(Value);
    last_ = object;
    return value.ByteSize();
  }

 private:
  const void* last_ = nullptr;
};

}  // namespace

size_t Column::ByteSizeOfRows() const {
  if (size_ == 0) return sizeof(Column) + HeldBytes(items_);
  size_t held = HeldBytes(items_) + HeldBytes(offsets_) + HeldBytes(absent_);
  const size_t base_rows = BaseRows();
  if (selection_ != nullptr) {
    // Of a row that is taken many times no copy exists.
    const size_t rows = FlatByteSize();
    ValueBytes bytes;
    for (size_t at = 0; kind_ == Kind::kValue && held < rows && at < base_rows; ++at) {
      held += bytes.Of(Base<Value>()[at]) - sizeof(Value);
    }
    return sizeof(Column) + size_ * sizeof(uint32_t) + std::min(held, rows);
  }
  if (size_ < base_rows) held = held / base_rows * size_ + held % base_rows;
  ValueBytes bytes;
  for (size_t row = 0; kind_ == Kind::kValue && row < size_; ++row) {
    held += bytes.Of(Base<Value>()[begin_ + row]) - sizeof(Value);
  }
  return sizeof(Column) + held;
}

size_t Column::FlatByteSize() const {
  if (kind_ != Kind::kString && kind_ != Kind::kValue) return size_ * WidthOf(kind_);
  size_t bytes = 0;
  ValueBytes values;
  for (size_t row = 0; row < size_; ++row) {
    bytes += kind_ == Kind::kValue ? values.Of(Base<Value>()[At(row)]) : EntryBytes(At(row));
  }
  return bytes;
}

void Column::Clear() { *this = Column(); }

// ---- appending

void Column::Become(Kind kind) {
  if (kind_ == kind) return;
  if (size_ == 0) {
    *this = Column(kind);
    return;
  }
  DCHECK(kind == Kind::kValue);
  std::vector<Value> values;
  values.reserve(size_ + 1);
  for (size_t row = 0; row < size_; ++row) values.push_back(Get(row));
  Column mixed = Of(std::move(values));
  if (has_absent()) {
    std::vector<uint8_t> absent(size_);
    for (size_t row = 0; row < size_; ++row) absent[row] = IsAbsent(row) ? 1 : 0;
    mixed.absent_ = MakeBuffer(std::move(absent));
  }
  swap(mixed);
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

// The vector of the column's items, which are its own from now on.
template <typename T>
std::vector<T>& Column::Growing() {
  if (items_ != nullptr && (!owned_ || items_->use_count() > 1)) Own();
  if (items_ == nullptr) {
    items_ = MakeBuffer(std::vector<T>());
    if (kind_ == Kind::kString) offsets_ = MakeBuffer(std::vector<uint32_t>(1, 0));
    owned_ = true;
  }
  return static_cast<VectorBuffer<T>*>(items_.get())->items();
}

template <typename T>
void Column::Push(T item) {
  Growing<T>().push_back(std::move(item));
  static_cast<VectorBuffer<T>*>(items_.get())->Publish();
  ++size_;
  if (absent_ != nullptr) PushAbsent(false);
}

void Column::PushAbsent(bool absent) {
  if (absent_ == nullptr) absent_ = MakeBuffer(std::vector<uint8_t>());
  auto* marks = static_cast<VectorBuffer<uint8_t>*>(absent_.get());
  marks->items().resize(size_, 0);
  marks->items().back() = absent ? 1 : 0;
  marks->Publish();
}

template <typename T>
void Column::ReserveItems(size_t rows) {
  Growing<T>().reserve(rows);
  static_cast<VectorBuffer<T>*>(items_.get())->Publish();
}

void Column::Reserve(size_t rows) {
  switch (kind_) {
    case Kind::kEmpty:
    case Kind::kString:
      return;
    case Kind::kBool:
      return ReserveItems<uint8_t>(rows);
    case Kind::kInt:
      return ReserveItems<int32_t>(rows);
    case Kind::kLong:
      return ReserveItems<int64_t>(rows);
    case Kind::kDouble:
      return ReserveItems<double>(rows);
    case Kind::kVertex:
      return ReserveItems<VertexRef>(rows);
    case Kind::kEdge:
      return ReserveItems<EdgeRef>(rows);
    case Kind::kValue:
      return ReserveItems<Value>(rows);
  }
}

void Column::Append(const Value& value) {
  const Kind kind = KindFor(value.kind());
  if (kind == Kind::kValue || !Takes(kind)) {
    if (kind == Kind::kValue) Become(Kind::kValue);
    return Push(value);
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

void Column::AppendBool(bool v) {
  if (!Takes(Kind::kBool)) return Push(Value::Bool(v));
  Push(static_cast<uint8_t>(v ? 1 : 0));
}

void Column::AppendInt(int32_t v) {
  if (!Takes(Kind::kInt)) return Push(Value::Int(v));
  Push(v);
}

void Column::AppendLong(int64_t v) {
  if (!Takes(Kind::kLong)) return Push(Value::Long(v));
  Push(v);
}

void Column::AppendDouble(double v) {
  if (!Takes(Kind::kDouble)) return Push(Value::Double(v));
  Push(v);
}

void Column::AppendVertex(VertexRef v) {
  if (!Takes(Kind::kVertex)) return Push(Value::Of(v));
  Push(v);
}

void Column::AppendEdge(const EdgeRef& v) {
  if (!Takes(Kind::kEdge)) return Push(Value::Of(v));
  Push(v);
}

void Column::AppendString(std::string_view v) {
  if (kind_ == Kind::kString && items_ != nullptr &&
      items_->num_items() + v.size() > kMaxTextBytes) {
    Become(Kind::kValue);
  }
  if (!Takes(Kind::kString)) return Push(Value::String(std::string(v)));
  std::vector<char>& bytes = Growing<char>();
  bytes.insert(bytes.end(), v.begin(), v.end());
  static_cast<VectorBuffer<char>*>(items_.get())->Publish();
  auto* offsets = static_cast<VectorBuffer<uint32_t>*>(offsets_.get());
  offsets->items().push_back(static_cast<uint32_t>(bytes.size()));
  offsets->Publish();
  ++size_;
  if (absent_ != nullptr) PushAbsent(false);
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
  PushAbsent(true);
}

void Column::MarkAbsent(std::vector<uint8_t> absent) {
  DCHECK(absent.size() == size_);
  if (begin_ != 0 || selection_ != nullptr || size_ != BaseRows()) Own();
  absent_ = MakeBuffer(std::move(absent));
  // Whoever shares the values has marks of its own.
  owned_ = owned_ && items_->use_count() == 1;
}

void Column::AppendFrom(const Column& other, size_t row) {
  if (other.IsAbsent(row)) return AppendAbsent();
  DCHECK(row < other.size_);
  const size_t at = other.At(row);
  switch (other.kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      return AppendBool(other.Base<uint8_t>()[at] != 0);
    case Kind::kInt:
      return AppendInt(other.Base<int32_t>()[at]);
    case Kind::kLong:
      return AppendLong(other.Base<int64_t>()[at]);
    case Kind::kDouble:
      return AppendDouble(other.Base<double>()[at]);
    case Kind::kString:
      return AppendString(other.StringAt(row));
    case Kind::kVertex:
      return AppendVertex(other.Base<VertexRef>()[at]);
    case Kind::kEdge:
      return AppendEdge(other.Base<EdgeRef>()[at]);
    case Kind::kValue:
      return Append(other.Base<Value>()[at]);
  }
}

template <typename T, typename Row>
void Column::PushRows(const Column& other, size_t count, const Row& row) {
  std::vector<T>& items = Growing<T>();
  const size_t old_size = items.size();
  items.resize(old_size + count);
  T* out = items.data() + old_size;
  const T* base = other.Base<T>();
  if (other.selection_ == nullptr) {
    base += other.begin_;
    for (size_t i = 0; i < count; ++i) out[i] = base[row(i)];
  } else {
    for (size_t i = 0; i < count; ++i) out[i] = base[other.At(row(i))];
  }
  static_cast<VectorBuffer<T>*>(items_.get())->Publish();
  size_ += count;
}

// A column that would outgrow its offsets goes string by string.
template <typename Row>
void Column::PushStrings(const Column& other, size_t count, const Row& row) {
  std::vector<char>& bytes = Growing<char>();
  size_t total = bytes.size();
  for (size_t i = 0; i < count; ++i) total += other.StringAt(row(i)).size();
  if (total > kMaxTextBytes) {
    for (size_t i = 0; i < count; ++i) AppendString(other.StringAt(row(i)));
    return;
  }
  if (total > bytes.capacity()) bytes.reserve(std::max(total, 2 * bytes.capacity()));
  auto* offsets = static_cast<VectorBuffer<uint32_t>*>(offsets_.get());
  for (size_t i = 0; i < count; ++i) {
    const std::string_view text = other.StringAt(row(i));
    bytes.insert(bytes.end(), text.begin(), text.end());
    offsets->items().push_back(static_cast<uint32_t>(bytes.size()));
  }
  static_cast<VectorBuffer<char>*>(items_.get())->Publish();
  offsets->Publish();
  size_ += count;
}

// Rows row(0), row(1), ... of `other`. A mixture goes row by row.
template <typename Row>
void Column::AppendPicked(const Column& other, size_t count, const Row& row) {
  DCHECK(&other != this);
  if (count == 0) return;
  if (size_ == 0 && kind_ != Kind::kValue) Become(other.kind_);
  if (has_absent() || other.has_absent() || kind_ != other.kind_) {
    for (size_t i = 0; i < count; ++i) AppendFrom(other, row(i));
    return;
  }
  switch (kind_) {
    case Kind::kEmpty:
      return;
    case Kind::kBool:
      return PushRows<uint8_t>(other, count, row);
    case Kind::kInt:
      return PushRows<int32_t>(other, count, row);
    case Kind::kLong:
      return PushRows<int64_t>(other, count, row);
    case Kind::kDouble:
      return PushRows<double>(other, count, row);
    case Kind::kString:
      return PushStrings(other, count, row);
    case Kind::kVertex:
      return PushRows<VertexRef>(other, count, row);
    case Kind::kEdge:
      return PushRows<EdgeRef>(other, count, row);
    case Kind::kValue:
      return PushRows<Value>(other, count, row);
  }
}

void Column::AppendRange(const Column& other, size_t begin, size_t count) {
  DCHECK(begin + count <= other.size_);
  AppendPicked(other, count, [begin](size_t i) { return begin + i; });
}

void Column::AppendGather(const Column& other, std::span<const uint32_t> rows) {
  AppendPicked(other, rows.size(), [rows](size_t i) { return size_t{rows[i]}; });
}

Value Column::Get(size_t row) const {
  DCHECK(row < size_);
  if (IsAbsent(row)) return Value::Null();
  const size_t at = At(row);
  switch (kind_) {
    case Kind::kEmpty:
      return Value::Null();
    case Kind::kBool:
      return Value::Bool(Base<uint8_t>()[at] != 0);
    case Kind::kInt:
      return Value::Int(Base<int32_t>()[at]);
    case Kind::kLong:
      return Value::Long(Base<int64_t>()[at]);
    case Kind::kDouble:
      return Value::Double(Base<double>()[at]);
    case Kind::kString:
      return Value::String(std::string(StringAt(row)));
    case Kind::kVertex:
      return Value::Of(Base<VertexRef>()[at]);
    case Kind::kEdge:
      return Value::Of(Base<EdgeRef>()[at]);
    case Kind::kValue:
      return Base<Value>()[at];
  }
  return Value::Null();
}

}  // namespace koios
