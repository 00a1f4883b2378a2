#include "storage/codec/equality_hash.h"

#include <xxhash.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "core/big_number.h"
#include "storage/codec/keys.h"

namespace koios::storage {
namespace {

// The integers up to here are floats, too. Those of at most 32 bits are compared with floats as
// floats.
constexpr double kFloatIntegers = 0x1p24;
constexpr double kFirstInt = -0x1p31, kLastInt = 0x1p31 - 1;

// Of what a value's bytes are.
enum class HashKind : uint64_t {
  kOther = 0,
  kNumber = 1,
  kString = 2,
  kBool = 3,
  kChar = 4,
  kBinary = 5,
  kUuid = 6,
  kDateTime = 7,
  kDuration = 8,
};

uint64_t Hash(HashKind kind, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), static_cast<uint64_t>(kind));
}

uint64_t Hash(HashKind kind, uint64_t first, uint64_t second = 0) {
  char bytes[2 * sizeof(uint64_t)];
  StoreBigEndian64(first, bytes);
  StoreBigEndian64(second, bytes + sizeof(uint64_t));
  return Hash(kind, std::string_view(bytes, sizeof(bytes)));
}

// The double nearest to the decimal that a float prints, which is what a decimal is compared with.
double PrintedAs(float number) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof(text), number, std::chars_format::scientific).ptr;
  double printed = 0;
  std::from_chars(text, end, printed);
  return printed;
}

// One double for all numbers that are equal to this one, be it by way of others. Only floats join
// different doubles: their own, that of the decimal that they print, and those of the integers that
// are rounded to them. All these are nearer to their float than to any other one.
double StandIn(double number) {
  const bool is_whole = std::trunc(number) == number;
  if (is_whole && std::abs(number) <= kFloatIntegers) return number;
  if (!(std::abs(number) <= std::numeric_limits<float>::max())) return number;  // NaN is none
  const auto nearest = static_cast<float>(number);
  const bool is_int = is_whole && number >= kFirstInt && number <= -kFirstInt;
  return is_int || nearest == number ? PrintedAs(nearest) : number;
}

// nullopt: it is no number.
std::optional<double> NumberOf(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
      return static_cast<double>(value.AsInteger());
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return value.AsDouble();
    case ValueKind::kBigInt:
    case ValueKind::kBigDecimal:
      return value.AsBigNumber().ToDouble();
    default:
      return std::nullopt;
  }
}

uint64_t HashNumber(double number) {
  return Hash(HashKind::kNumber, std::bit_cast<uint64_t>(number + 0.0));  // the zeros are equal
}

uint64_t HashOther(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kString:
      return Hash(HashKind::kString, value.AsString());
    case ValueKind::kBinary:
      return Hash(HashKind::kBinary, value.AsString());
    case ValueKind::kBool:
      return Hash(HashKind::kBool, static_cast<uint64_t>(value.AsInteger()));
    case ValueKind::kChar:
      return Hash(HashKind::kChar, static_cast<uint64_t>(value.AsInteger()));
    case ValueKind::kUuid:
      return Hash(HashKind::kUuid, value.AsUuid().high, value.AsUuid().low);
    case ValueKind::kDateTime:
      return Hash(HashKind::kDateTime, static_cast<uint64_t>(value.AsDateTime().seconds),
                  static_cast<uint64_t>(value.AsDateTime().nanos));
    case ValueKind::kDuration:
      return Hash(HashKind::kDuration, static_cast<uint64_t>(value.AsDuration().seconds),
                  static_cast<uint64_t>(value.AsDuration().nanos));
    default:
      return Hash(HashKind::kOther, std::string_view());
  }
}

}  // namespace

uint64_t EqualityHash(const Value& value) {
  const std::optional<double> number = NumberOf(value);
  return number ? HashNumber(StandIn(*number)) : HashOther(value);
}

void AppendEqualityHashes(const Value& value, std::vector<uint64_t>* out) {
  const std::optional<double> number = NumberOf(value);
  out->push_back(number ? HashNumber(*number) : HashOther(value));
  if (value.kind() != ValueKind::kFloat) return;
  const auto real = static_cast<float>(*number);
  if (const double printed = PrintedAs(real); printed != *number) {
    out->push_back(HashNumber(printed));
  }
  if (std::abs(real) < kFloatIntegers) return;
  for (const double step : {-1.0, 1.0}) {
    double integer = *number + step;
    while (integer >= kFirstInt && integer <= kLastInt && static_cast<float>(integer) == real) {
      out->push_back(HashNumber(integer));
      integer += step;
    }
  }
}

}  // namespace koios::storage
