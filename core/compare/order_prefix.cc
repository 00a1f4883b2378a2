#include "core/compare/order_prefix.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "core/arithmetic.h"

namespace koios {
namespace {

// NaN last. An integer is rounded, which changes no order.
uint64_t BitsOfNumber(const Value& value) {
  if (IsNaN(value)) return UINT64_MAX;
  return OrderedBits(IsReal(value) ? value.AsDouble() : static_cast<double>(value.AsInteger()));
}

// The first bytes.
uint64_t BitsOfText(std::string_view text) {
  uint64_t bits = 0;
  std::memcpy(&bits, text.data(), std::min(text.size(), sizeof(bits)));
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(bits);
}

// Seconds in 35 bits, of years from 1425 to 2514, and what is left for the nanoseconds.
uint64_t BitsOfDateTime(const DateTime& time) {
  constexpr int64_t kLimit = int64_t{1} << 34;
  if (time.seconds < -kLimit) return 0;
  if (time.seconds >= kLimit) return UINT64_MAX;
  return static_cast<uint64_t>(time.seconds + kLimit) << 29 |
         static_cast<uint64_t>(time.nanos) >> 1;
}

}  // namespace

uint64_t OrderedBits(double number) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(number);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

OrderPrefix OrderPrefixOf(const Value& value) {
  using Kind = OrderPrefix::Kind;
  if (value.kind() == ValueKind::kString) return {Kind::kText, BitsOfText(value.AsString())};
  if (value.kind() == ValueKind::kDateTime) {
    return {Kind::kDateTime, BitsOfDateTime(value.AsDateTime())};
  }
  if (value.is_number() && !IsBig(value)) return {Kind::kNumber, BitsOfNumber(value)};
  return {};
}

}  // namespace koios
