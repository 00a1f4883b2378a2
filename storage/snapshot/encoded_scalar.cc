#include "storage/snapshot/encoded_scalar.h"

#include <cstring>
#include <limits>

#include "core/value_codec.h"

namespace koios::storage {
namespace {

constexpr int64_t kMillisPerSecond = 1000;
constexpr int64_t kNanosPerMilli = 1'000'000;

template <typename T>
bool ReadRaw(std::string_view* encoded, T* out) {
  if (encoded->size() < sizeof(T)) return false;
  std::memcpy(out, encoded->data(), sizeof(T));
  encoded->remove_prefix(sizeof(T));
  return true;
}

bool ReadDateTime(std::string_view* encoded, DateTime* out) {
  uint64_t nanos = 0;
  int64_t offset = 0;
  if (!GetSigned(encoded, &out->seconds) || !GetVarint(encoded, &nanos) ||
      !GetSigned(encoded, &offset)) {
    return false;
  }
  if (nanos >= 1'000'000'000 || offset < std::numeric_limits<int32_t>::min() ||
      offset > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  out->nanos = static_cast<int32_t>(nanos);
  out->offset_seconds = static_cast<int32_t>(offset);
  return true;
}

}  // namespace

bool ReadScalar(std::string_view* encoded, EncodedScalar* out) {
  if (encoded->empty()) return false;
  out->kind = static_cast<ValueKind>((*encoded)[0]);
  encoded->remove_prefix(1);
  switch (out->kind) {
    case ValueKind::kBool: {
      uint8_t truth = 0;
      if (!ReadRaw(encoded, &truth)) return false;
      out->integer = truth;
      return true;
    }
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
      return GetSigned(encoded, &out->integer);
    case ValueKind::kFloat: {
      float real = 0;
      if (!ReadRaw(encoded, &real)) return false;
      out->real = static_cast<double>(real);
      return true;
    }
    case ValueKind::kDouble:
      return ReadRaw(encoded, &out->real);
    case ValueKind::kString:
    case ValueKind::kBinary:
      return GetBytes(encoded, &out->text);
    case ValueKind::kDateTime:
      return ReadDateTime(encoded, &out->date_time);
    case ValueKind::kUuid:
      return ReadRaw(encoded, &out->uuid.high) && ReadRaw(encoded, &out->uuid.low);
    case ValueKind::kNull:
    case ValueKind::kBigInt:
    case ValueKind::kBigDecimal:
    case ValueKind::kChar:
    case ValueKind::kDuration:
    case ValueKind::kList:
    case ValueKind::kSet:
    case ValueKind::kMap:
    case ValueKind::kVertex:
    case ValueKind::kEdge:
    case ValueKind::kVertexProperty:
    case ValueKind::kProperty:
    case ValueKind::kPath:
    case ValueKind::kElement:
    case ValueKind::kToken:
    case ValueKind::kDirection:
      return false;
  }
  return false;
}

bool ReadListHead(std::string_view* encoded, uint64_t* count) {
  if (encoded->empty() || static_cast<ValueKind>((*encoded)[0]) != ValueKind::kList) return false;
  encoded->remove_prefix(1);
  return GetVarint(encoded, count);
}

std::optional<uint8_t> FixedWidthOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::kBool:
      return 0;
    case ValueKind::kByte:
      return 1;
    case ValueKind::kShort:
      return 2;
    case ValueKind::kInt:
    case ValueKind::kFloat:
      return 4;
    case ValueKind::kLong:
    case ValueKind::kDouble:
      return 8;
    case ValueKind::kDateTime:
    case ValueKind::kUuid:
      return 16;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> MillisOf(const DateTime& when) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / kMillisPerSecond - 1;
  if (when.seconds > kMost || when.seconds < -kMost) return std::nullopt;
  return when.seconds * kMillisPerSecond + when.nanos / kNanosPerMilli;
}

DateTime DateTimeOfMillis(int64_t millis, int32_t offset_seconds) {
  DateTime when;
  when.seconds = millis / kMillisPerSecond;
  int64_t rest = millis % kMillisPerSecond;
  if (rest < 0) {
    rest += kMillisPerSecond;
    --when.seconds;
  }
  when.nanos = static_cast<int32_t>(rest * kNanosPerMilli);
  when.offset_seconds = offset_seconds;
  return when;
}

}  // namespace koios::storage
