#include "storage/codec/equality_hash.h"

#include <xxhash.h>

#include <bit>
#include <string_view>

#include "core/big_number.h"
#include "storage/codec/keys.h"

namespace koios::storage {
namespace {

// Of what a value's bytes are; never renumber.
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

uint64_t HashNumber(double number) {
  return Hash(HashKind::kNumber, std::bit_cast<uint64_t>(number + 0.0));  // the zeros are equal
}

}  // namespace

uint64_t EqualityHash(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
      return HashNumber(static_cast<double>(value.AsInteger()));
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return HashNumber(value.AsDouble());
    case ValueKind::kBigInt:
    case ValueKind::kBigDecimal:
      return HashNumber(value.AsBigNumber().ToDouble());
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

}  // namespace koios::storage
