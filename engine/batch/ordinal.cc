#include "engine/batch/ordinal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace koios::engine {
namespace {

constexpr size_t kPackedBits = 63;
constexpr size_t kPackedBytes = 8;

struct Code {
  uint64_t bits = 0;  // the last `size` ones
  size_t size = 0;
};

// Codes that begin with so many ones, then a zero unless the last of its kind, and a payload.
struct Range {
  size_t prefix_size;
  uint64_t prefix;
  size_t payload_size;
  uint64_t first;  // number, of payload 0
};

// The first has no payload 0: it would be number -1.
constexpr std::array<Range, 6> kPlain = {{{1, 0b0, 2, UINT64_MAX},
                                          {2, 0b10, 4, 3},
                                          {3, 0b110, 8, 3 + 16},
                                          {4, 0b1110, 14, 3 + 16 + 256},
                                          {5, 0b11110, 22, 3 + 16 + 256 + (1 << 14)},
                                          {6, 0b111110, 39, 3 + 16 + 256 + (1 << 14) + (1 << 22)}}};
constexpr std::array<Range, 3> kMarked = {
    {{7, 0b1111110, 5, 0}, {8, 0b11111110, 12, 32}, {8, 0b11111111, 39, 32 + 4096}}};
constexpr size_t kMarkOnes = 6;

template <size_t kRanges>
Code Encode(const std::array<Range, kRanges>& ranges, uint64_t number) {
  DCHECK(number < kOrdinalEnd);
  size_t i = 0;
  while (i + 1 < kRanges && number >= ranges[i + 1].first) ++i;
  const Range& range = ranges[i];
  return {range.prefix << range.payload_size | (number - range.first),
          range.prefix_size + range.payload_size};
}

// What begins at the highest bit of `window`; of size 0: nothing, the ordinal is at its end.
struct Item {
  size_t size = 0;
  bool marked = false;
  uint64_t number = 0;
};

Item Decode(uint64_t window) {
  const auto ones = static_cast<size_t>(std::countl_one(window));
  const bool marked = ones >= kMarkOnes;
  const Range& range = marked ? kMarked[std::min<size_t>(ones - kMarkOnes, 2)] : kPlain[ones];
  const uint64_t payload = window << range.prefix_size >> (64 - range.payload_size);
  if (ones == 0 && payload == 0) return {};
  return {range.prefix_size + range.payload_size, marked, range.first + payload};
}

uint64_t LoadWord(const char* bytes, size_t size) {
  uint64_t word = 0;
  for (size_t i = 0; i < std::min(size, kPackedBytes); ++i) {
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (56 - 8 * i);
  }
  return word;
}

void AppendWord(uint64_t word, std::string* bytes) {
  for (size_t i = 0; i < kPackedBytes; ++i) {
    bytes->push_back(static_cast<char>(word >> (56 - 8 * i)));
  }
}

// The bits of one ordinal in either form. At() gives at least 56 of them, zeros behind the last.
class PackedBits {
 public:
  explicit PackedBits(int64_t packed) : word_(static_cast<uint64_t>(packed) << 1) {}
  uint64_t At(size_t bit) const { return word_ << bit; }
  size_t limit() const { return kPackedBits; }
  uint64_t word() const { return word_; }

 private:
  uint64_t word_;
};

class ByteBits {
 public:
  explicit ByteBits(std::string_view bytes) : bytes_(bytes) {}
  uint64_t At(size_t bit) const {
    const size_t byte = bit / 8;
    return LoadWord(bytes_.data() + byte, bytes_.size() - byte) << (bit % 8);
  }
  size_t limit() const { return 8 * bytes_.size(); }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// Bits [begin, end) are replaced by a code; `size`: of all before that.
struct Edit {
  size_t begin = 0, end = 0, size = 0;
  Code code;
};

// Visits the items of an ordinal, use(bit, item); returns where they end.
template <typename Bits, typename Use>
size_t EachItem(const Bits& bits, const Use& use) {
  size_t at = 0;
  while (at < bits.limit()) {
    const Item item = Decode(bits.At(at));
    if (item.size == 0 || at + item.size > bits.limit()) break;
    use(at, item);
    at += item.size;
  }
  return at;
}

template <typename Bits>
size_t SizeOf(const Bits& bits) {
  return EachItem(bits, [](size_t, const Item&) {});
}

// The last marked number becomes what `next` makes of it.
template <typename Bits, typename Next>
std::optional<Edit> EditLoop(const Bits& bits, const Next& next) {
  std::optional<Edit> edit;
  const size_t size = EachItem(bits, [&](size_t at, const Item& item) {
    if (item.marked) edit = Edit{at, at + item.size, 0, next(item.number)};
  });
  if (edit.has_value()) edit->size = size;
  return edit;
}

// False: the result is more than a long has room for.
bool EditPacked(const PackedBits& bits, const Edit& edit, uint64_t* word) {
  const size_t code_end = edit.begin + edit.code.size;
  if (edit.size - edit.end + code_end > kPackedBits) return false;
  const uint64_t before = bits.word() & ~(~uint64_t{0} >> edit.begin);
  const uint64_t behind = bits.word() << edit.end >> code_end;
  *word = before | edit.code.bits << (64 - code_end) | behind;
  return true;
}

// Ordinals as they are made: longs, until one does not fit.
class Writer {
 public:
  explicit Writer(size_t rows) : column_(Column::Kind::kLong) { column_.Reserve(rows); }

  void Put(const PackedBits& bits, const std::optional<Edit>& edit) {
    if (!edit.has_value()) return PutWord(bits.word());
    uint64_t word = 0;
    if (EditPacked(bits, *edit, &word)) return PutWord(word);
    from_.clear();
    AppendWord(bits.word(), &from_);
    Put(ByteBits(from_), edit);
  }

  void Put(const ByteBits& bits, const std::optional<Edit>& edit) {
    if (!edit.has_value()) return PutBytes(bits.bytes());
    bytes_.clear();
    size_ = 0;
    Copy(bits, 0, edit->begin);
    PutCode(edit->code);
    Copy(bits, edit->end, edit->size);
    if (size_ <= kPackedBits) return PutWord(LoadWord(bytes_.data(), bytes_.size()));
    bytes_.resize(std::max(kPackedBytes, (size_ + 7) / 8));
    PutBytes(bytes_);
  }

  Column Take() { return std::move(column_); }

 private:
  void PutWord(uint64_t word) {
    if (column_.kind() == Column::Kind::kLong) {
      return column_.AppendLong(static_cast<int64_t>(word >> 1));
    }
    word_.clear();
    AppendWord(word, &word_);
    column_.AppendString(word_);
  }

  void PutBytes(std::string_view bytes) {
    if (column_.kind() == Column::Kind::kLong) {
      const Column longs = std::move(column_);
      column_ = Column(Column::Kind::kString);
      for (size_t row = 0; row < longs.size(); ++row) {
        PutWord(static_cast<uint64_t>(longs.longs()[row]) << 1);
      }
    }
    column_.AppendString(bytes);
  }

  void Copy(const ByteBits& bits, size_t begin, size_t end) {
    constexpr size_t kStep = 32;
    for (; begin < end; begin += kStep) {
      const size_t size = std::min(kStep, end - begin);
      PutCode({bits.At(begin) >> (64 - size), size});
    }
  }

  void PutCode(const Code& code) {
    bytes_.resize((size_ + code.size + 7) / 8);
    for (size_t left = code.size; left > 0;) {
      const size_t room = 8 - size_ % 8;
      const size_t size = std::min(room, left);
      left -= size;
      const uint64_t bits = code.bits >> left & ((1u << size) - 1);
      bytes_[size_ / 8] =
          static_cast<char>(static_cast<unsigned char>(bytes_[size_ / 8]) | bits << (room - size));
      size_ += size;
    }
  }

  Column column_;
  // For what is being put; kept so that rows need no memory of their own.
  std::string bytes_, from_, word_;
  size_t size_ = 0;
};

// use(bits) of a row, in its form.
template <typename Use>
void WithBits(const Column& column, size_t row, const Use& use) {
  if (column.kind() == Column::Kind::kLong) return use(PackedBits(column.longs()[row]));
  if (column.kind() == Column::Kind::kString) return use(ByteBits(column.StringAt(row)));
  if (column.kind() != Column::Kind::kValue) return use(PackedBits(0));
  const Value& value = column.ValueAt(row);
  if (value.kind() == ValueKind::kString) return use(ByteBits(value.AsString()));
  use(PackedBits(value.kind() == ValueKind::kLong ? value.AsInteger() : 0));
}

// All rows anew, with make(row, bits)'s edits.
template <typename Make>
void Rewrite(Column* ordinals, const Make& make) {
  Writer writer(ordinals->size());
  for (size_t row = 0; row < ordinals->size(); ++row) {
    WithBits(*ordinals, row, [&](const auto& bits) { writer.Put(bits, make(row, bits)); });
  }
  *ordinals = writer.Take();
}

// Rows of one origin follow each other: they are as long as their like.
class AppendEdit {
 public:
  Edit operator()(const PackedBits& bits, uint64_t number) {
    if (bits.word() != word_) {
      word_ = bits.word();
      size_ = SizeOf(bits);
    }
    return {size_, size_, size_, Encode(kPlain, number)};
  }
  Edit operator()(const ByteBits& bits, uint64_t number) {
    const size_t size = SizeOf(bits);
    return {size, size, size, Encode(kPlain, number)};
  }

 private:
  uint64_t word_ = 0;
  size_t size_ = 0;
};

}  // namespace

void AppendOrdinals(std::span<const uint64_t> numbers, Column* ordinals) {
  AppendEdit append;
  if (ordinals->empty()) {
    Writer writer(numbers.size());
    for (const uint64_t number : numbers) {
      writer.Put(PackedBits(0), append(PackedBits(0), number));
    }
    *ordinals = writer.Take();
    return;
  }
  DCHECK(numbers.size() == ordinals->size());
  Rewrite(ordinals, [&](size_t row, const auto& bits) { return append(bits, numbers[row]); });
}

void AppendOrdinal(uint64_t number, Column* ordinals) {
  AppendEdit append;
  Rewrite(ordinals, [&](size_t, const auto& bits) { return append(bits, number); });
}

void AppendOrdinalOf(const Column& from, size_t row, uint64_t number, Column* to) {
  WithBits(from, row, [&](const auto& bits) {
    const Edit edit = AppendEdit()(bits, number);
    if constexpr (std::is_same_v<decltype(bits), const PackedBits&>) {
      uint64_t word = 0;
      if (EditPacked(bits, edit, &word)) return to->AppendLong(static_cast<int64_t>(word >> 1));
    }
    Writer writer(1);
    writer.Put(bits, edit);
    to->AppendFrom(writer.Take(), 0);
  });
}

void EnterLoops(Column* ordinals) {
  Rewrite(ordinals, [](size_t, const auto& bits) {
    const size_t size = SizeOf(bits);
    return Edit{size, size, size, Encode(kMarked, 0)};
  });
}

void CountLoops(Column* ordinals) {
  Rewrite(ordinals, [](size_t, const auto& bits) {
    return EditLoop(bits, [](uint64_t number) {
      return Encode(kMarked, std::min(number + 1, kOrdinalEnd - 1));
    });
  });
}

void LeaveLoops(Column* ordinals) {
  Rewrite(ordinals, [](size_t, const auto& bits) {
    return EditLoop(
        bits, [](uint64_t number) { return Encode(kPlain, std::min(number, kOrdinalEnd - 1)); });
  });
}

std::strong_ordering CompareOrdinals(const Value& a, const Value& b) {
  const bool a_long = a.kind() != ValueKind::kString, b_long = b.kind() != ValueKind::kString;
  const auto packed = [](const Value& v) {
    return v.kind() == ValueKind::kLong ? v.AsInteger() : 0;
  };
  if (a_long && b_long) return packed(a) <=> packed(b);
  const auto bytes = [&](const Value& v, bool is_long, std::string* room) -> std::string_view {
    if (!is_long) return v.AsString();
    AppendWord(static_cast<uint64_t>(packed(v)) << 1, room);
    return *room;
  };
  std::string a_room, b_room;  // of 8 bytes: on the stack
  return bytes(a, a_long, &a_room).compare(bytes(b, b_long, &b_room)) <=> 0;
}

bool AreOrdinals(const Column& column) {
  if (column.kind() == Column::Kind::kLong || column.kind() == Column::Kind::kString) return true;
  if (column.kind() != Column::Kind::kValue) return false;
  for (size_t row = 0; row < column.size(); ++row) {
    const ValueKind kind = column.ValueAt(row).kind();
    if (kind != ValueKind::kLong && kind != ValueKind::kString && !column.IsAbsent(row))
      return false;
  }
  return true;
}

}  // namespace koios::engine
