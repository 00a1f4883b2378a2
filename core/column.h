// Column: a typed vector of values, the unit every kernel works on. A column has one kind;
// appending a value of another kind turns it into the generic kValue column (once), so that mixed
// data is correct and uniform data is fast. Not thread-safe: it belongs to the batch that holds it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  // Whole columns of references, without copying.
  static Column Of(std::vector<VertexRef> vertices);
  static Column Of(std::vector<EdgeRef> edges);
  // The kind in which values of one ValueKind are stored best.
  static Kind KindFor(ValueKind kind);

  Kind kind() const { return kind_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t ByteSize() const;  // what an account is charged
  void Clear();             // size 0, kind kEmpty; keeps no capacity promises
  void Reserve(size_t rows);

  // Appends. The typed ones are for kernels that know the kind; on a column of another kind they
  // convert it to kValue. Without rows a column takes the kind of the first one, but kValue stays.
  void Append(const Value& value);
  void AppendBool(bool v);
  void AppendInt(int32_t v);
  void AppendLong(int64_t v);
  void AppendDouble(double v);
  void AppendString(std::string_view v);
  void AppendVertex(VertexRef v);
  void AppendEdge(const EdgeRef& v);
  void AppendFrom(const Column& other, size_t row);
  // REQUIRES for both: `other` is another column.
  void AppendRange(const Column& other, size_t begin, size_t count);
  // rows[i] are positions in `other`.
  void AppendGather(const Column& other, const std::vector<uint32_t>& rows);

  Value Get(size_t row) const;  // null for an absent entry

  // An entry may be absent (a step gave nothing for that row and the row went on): that is not
  // null.
  void AppendAbsent();
  // Marks the entries with absent[row] != 0. REQUIRES: absent.size() == size().
  void MarkAbsent(std::vector<uint8_t> absent) { absent_ = std::move(absent); }
  bool has_absent() const { return !absent_.empty(); }
  bool IsAbsent(size_t row) const { return row < absent_.size() && absent_[row] != 0; }

  // Typed views. REQUIRES: kind() matches.
  const std::vector<uint8_t>& bools() const { return bools_; }
  const std::vector<int32_t>& ints() const { return ints_; }
  const std::vector<int64_t>& longs() const { return longs_; }
  const std::vector<double>& doubles() const { return doubles_; }
  const std::vector<VertexRef>& vertices() const { return vertices_; }
  const std::vector<EdgeRef>& edges() const { return edges_; }
  const std::vector<Value>& values() const { return values_; }
  std::string_view StringAt(size_t row) const {
    return std::string_view(bytes_).substr(offsets_[row], offsets_[row + 1] - offsets_[row]);
  }

  // Wire form: kind, row count, raw little-endian buffers (values by the value codec).
  // Decode checks every length against the input and fails with DATA_LOSS.
  void EncodeTo(std::string* out) const;
  static StatusOr<Column> Decode(std::string_view bytes);

 private:
  void Become(Kind kind);  // to any kind when there are no rows, else to kValue
  bool Takes(Kind kind);   // is of this kind now; false: is kValue now

  Kind kind_ = Kind::kEmpty;
  size_t size_ = 0;
  std::vector<uint8_t> bools_;
  std::vector<int32_t> ints_;
  std::vector<int64_t> longs_;
  std::vector<double> doubles_;
  std::vector<uint32_t> offsets_;  // kString: size_ + 1 entries
  std::string bytes_;              // kString
  std::vector<VertexRef> vertices_;
  std::vector<EdgeRef> edges_;
  std::vector<Value> values_;
  std::vector<uint8_t> absent_;  // shorter than size_: the rest is present
};

}  // namespace koios
