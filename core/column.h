// Column: a typed vector of values, the unit every kernel works on. A column has one kind;
// appending a value of another kind turns it into the generic kValue column (once), so that mixed
// data is correct and uniform data is fast.
//
// Its values are in buffers that columns share: a copy, a Slice and a Gather cost nothing per row
// or four bytes. Who appends to a column that shares its buffers gets buffers of its own first.
// Buffers may be borrowed from a mapped file. One cache line.
// Not thread-safe: it belongs to the batch that holds it; the buffers may be shared by threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "core/types.h"
#include "core/value.h"

namespace koios {

class Column {
 public:
  // On the wire: never renumber.
  enum class Kind : uint8_t {
    kEmpty = 0,  // no row yet; the first append decides
    kBool = 1,
    kInt = 2,
    kLong = 3,
    kDouble = 4,
    kString = 5,
    kVertex = 6,
    kEdge = 7,
    kValue = 8,
  };

  Column() = default;
  explicit Column(Kind kind) : kind_(kind) {}
  Column(const Column&) = default;
  Column& operator=(const Column&) = default;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    Column taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Column() = default;
  void swap(Column& other) noexcept;

  // Whole columns, without copying.
  static Column Of(std::vector<int32_t> ints);
  static Column Of(std::vector<int64_t> longs);
  static Column Of(std::vector<double> doubles);
  static Column Of(std::vector<VertexRef> vertices);
  static Column Of(std::vector<EdgeRef> edges);
  static Column Of(std::vector<Value> values);
  static Column OfBools(std::vector<uint8_t> bools);  // 0 or 1
  // String i is bytes [offsets[i], offsets[i + 1]). REQUIRES: offsets ascend from 0 to the size of
  // `bytes`; one more of them than strings.
  static Column OfStrings(std::vector<uint32_t> offsets, std::vector<char> bytes);
  // Of memory that `owner` keeps alive and nobody changes. REQUIRES: `kind` is one whose rows are
  // of one size, other than kValue; `start` has `rows` of them, aligned.
  static Column Borrow(Kind kind, const void* start, size_t rows,
                       std::shared_ptr<const void> owner);
  // As OfStrings, but the first offset may be any.
  static Column BorrowStrings(std::span<const uint32_t> offsets, const char* bytes,
                              std::shared_ptr<const void> owner);
  // The kind in which values of one ValueKind are stored best.
  static Kind KindFor(ValueKind kind);

  Kind kind() const { return kind_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // What an account is charged: a slice's share of what it holds; nothing for what is borrowed.
  size_t ByteSize() const { return items_ == nullptr ? sizeof(Column) : ByteSizeOfRows(); }
  // What its rows take in a column that shares nothing.
  size_t FlatByteSize() const;
  void Clear();               // size 0, kind kEmpty
  void Reserve(size_t rows);  // no promise for strings

  // Rows [begin, begin + count), sharing the buffers.
  Column Slice(size_t begin, size_t count) const;
  // Row rows[i] of this column for each i. Shares the buffers of wide values, unless few of the
  // rows are taken: the rest would be held for nothing.
  Column Gather(std::span<const uint32_t> rows) const;

  // Appends. The typed ones are for kernels that know the kind; on a column of another kind they
  // convert it to kValue. Without rows a column takes the kind of the first one, but kValue stays.
  // Whoever makes a whole column of one kind makes a vector of it, and gives that to Of().
  void Append(const Value& value);
  void AppendBool(bool v);
  void AppendInt(int32_t v);
  void AppendLong(int64_t v);
  void AppendDouble(double v);
  void AppendString(std::string_view v);
  void AppendVertex(VertexRef v);
  void AppendEdge(const EdgeRef& v);
  void AppendFrom(const Column& other, size_t row);
  // Copy, and share nothing. REQUIRES for both: `other` is another column.
  void AppendRange(const Column& other, size_t begin, size_t count);
  // rows[i] are positions in `other`.
  void AppendGather(const Column& other, std::span<const uint32_t> rows);

  Value Get(size_t row) const;  // null for an absent entry

  // An entry may be absent (a step gave nothing for that row and the row went on): that is not
  // null.
  void AppendAbsent();
  // Marks the entries with absent[row] != 0. REQUIRES: absent.size() == size().
  void MarkAbsent(std::vector<uint8_t> absent);
  bool has_absent() const { return absent_ != nullptr; }
  bool IsAbsent(size_t row) const { return absent_ != nullptr && AbsentMarks()[At(row)] != 0; }

  // Typed views. REQUIRES: kind() matches, or there are no rows. Valid until the column is appended
  // to, moved from or gone. Of a gathered column they copy the rows once.
  std::span<const uint8_t> bools() const { return Items<uint8_t>(); }
  std::span<const int32_t> ints() const { return Items<int32_t>(); }
  std::span<const int64_t> longs() const { return Items<int64_t>(); }
  std::span<const double> doubles() const { return Items<double>(); }
  std::span<const VertexRef> vertices() const { return Items<VertexRef>(); }
  std::span<const EdgeRef> edges() const { return Items<EdgeRef>(); }
  std::span<const Value> values() const { return Items<Value>(); }
  // REQUIRES: a kString column; row < size().
  std::string_view StringAt(size_t row) const {
    const auto* offsets = static_cast<const uint32_t*>(offsets_->start()) + At(row);
    return {static_cast<const char*>(items_->start()) + offsets[0], offsets[1] - offsets[0]};
  }
  // REQUIRES: a kValue column; row < size(). Copies no value.
  const Value& ValueAt(size_t row) const { return Base<Value>()[At(row)]; }

  // Wire form (column_codec.cc): kind, row count, raw little-endian buffers (values by the value
  // codec). Decode checks every length against the input and fails with DATA_LOSS.
  void EncodeTo(std::string* out) const;
  static StatusOr<Column> Decode(std::string_view bytes);

 private:
  size_t ByteSizeOfRows() const;
  static StatusOr<Column> DecodeRows(Kind kind, size_t count, std::string_view* bytes);
  template <typename T>
  static Column OfItems(Kind kind, std::vector<T> items);
  template <typename T>
  const T* Base() const {
    return static_cast<const T*>(items_->start());
  }
  template <typename T>
  std::span<const T> Items() const {
    if (items_ == nullptr) return {};
    if (selection_ != nullptr) Flatten();
    return {Base<T>() + begin_, size_};
  }
  // Where a row is in the buffers.
  size_t At(size_t row) const {
    if (selection_ == nullptr) return begin_ + row;
    return static_cast<const uint32_t*>(selection_->start())[begin_ + row];
  }
  const uint8_t* AbsentMarks() const { return static_cast<const uint8_t*>(absent_->start()); }
  size_t BaseRows() const;
  size_t EntryBytes(size_t at) const;

  void Become(Kind kind);  // to any kind when there are no rows, else to kValue
  bool Takes(Kind kind);   // is of this kind now; false: is kValue now
  // Buffers of its own that hold its rows and nothing else.
  void Own();
  void Flatten() const;
  template <typename T>
  std::vector<T>& Growing();
  template <typename T>
  void ReserveItems(size_t rows);
  template <typename T>
  void Push(T item);
  void PushAbsent(bool absent);
  template <typename T, typename Row>
  void PushRows(const Column& other, size_t count, const Row& row);
  template <typename Row>
  void PushStrings(const Column& other, size_t count, const Row& row);
  template <typename Row>
  void AppendPicked(const Column& other, size_t count, const Row& row);

  Kind kind_ = Kind::kEmpty;
  bool owned_ = false;  // the buffers were made for its rows, and have no others: it may append to
                        // them as long as nobody shares them
  size_t size_ = 0;
  size_t begin_ = 0;     // of its rows in the selection, else in the other buffers
  BufferPtr items_;      // by kind; kString: the bytes; null as long as there are no rows
  BufferPtr offsets_;    // kString: where each string begins, and the last one ends
  BufferPtr absent_;     // a mark per row of items_; null: all are there
  BufferPtr selection_;  // positions in items_; null: rows [begin_, begin_ + size_)
};
static_assert(sizeof(Column) <= 64);

}  // namespace koios
