#include "storage/codec/value_place.h"

#include <cmath>
#include <limits>

#include "core/big_number.h"
#include "core/compare/order_prefix.h"
#include "storage/codec/keys.h"

namespace koios::storage {
namespace {

// Never renumber.
enum class Tag : uint8_t {
  kNone = 0x08,
  kBool = 0x10,
  kNumber = 0x20,
  kDateTime = 0x30,
  kString = 0x40,
  kUuid = 0x50,
  kChar = 0x60,
  kDuration = 0x70,
  kBinary = 0x80,
  kOther = 0xf0,
};

// Behind a text. A zero byte in it becomes two bytes, so that the end sorts before all that goes
// on.
constexpr std::string_view kEnd("\x00\x01", 2);
constexpr std::string_view kCut("\x00\x02", 2);
constexpr std::string_view kZero("\x00\xff", 2);

void PutTag(Tag tag, std::string* out) { out->push_back(static_cast<char>(tag)); }

void PutSigned64(int64_t number, std::string* out) {
  PutBigEndian64(static_cast<uint64_t>(number) ^ kSignBit, out);
}

void PutSigned32(int32_t number, std::string* out) {
  PutBigEndian32(static_cast<uint32_t>(number) ^ (uint32_t{1} << 31), out);
}

void PutNumber(double number, std::string* out) {
  if (std::isnan(number)) return PutTag(Tag::kOther, out);
  PutTag(Tag::kNumber, out);
  PutBigEndian64(OrderedBits(number + 0.0), out);  // the zeros are equal
}

void PutText(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (c == '\0') {
      out->append(kZero);
    } else {
      out->push_back(c);
    }
  }
}

void PutWholeText(Tag tag, std::string_view text, std::string* out) {
  PutTag(tag, out);
  PutText(text.substr(0, kMaxPlacedBytes), out);
  out->append(text.size() > kMaxPlacedBytes ? kCut : kEnd);
}

// Numbers that are compared with floats as floats.
bool IsSmallInteger(ValueKind kind) {
  return kind == ValueKind::kByte || kind == ValueKind::kShort || kind == ValueKind::kInt;
}

// Numbers without a fixed width, which floats are compared with as the decimals that they print.
bool IsWide(ValueKind kind) { return kind == ValueKind::kBigInt || kind == ValueKind::kBigDecimal; }

// The doubles that a float may be equal to once both are floats or decimals, and some beside them.
void PutRoundedTo(float number, Places* places) {
  const float below = std::nextafter(number, -std::numeric_limits<float>::infinity());
  const float above = std::nextafter(number, std::numeric_limits<float>::infinity());
  const double exact = static_cast<double>(number);
  PutNumber((static_cast<double>(below) + exact) / 2, &places->first);
  PutNumber((exact + static_cast<double>(above)) / 2, &places->last);
}

}  // namespace

void AppendNoPlace(std::string* out) { PutTag(Tag::kNone, out); }

void AppendPlace(const Value& value, std::string* out) {
  switch (value.kind()) {
    case ValueKind::kBool:
      PutTag(Tag::kBool, out);
      out->push_back(value.AsBool() ? '\1' : '\0');
      return;
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
      return PutNumber(static_cast<double>(value.AsInteger()), out);
    case ValueKind::kFloat:
    case ValueKind::kDouble:
      return PutNumber(value.AsDouble(), out);
    case ValueKind::kBigInt:
    case ValueKind::kBigDecimal:
      return PutNumber(value.AsBigNumber().ToDouble(), out);
    case ValueKind::kString:
      return PutWholeText(Tag::kString, value.AsString(), out);
    case ValueKind::kBinary:
      return PutWholeText(Tag::kBinary, value.AsString(), out);
    case ValueKind::kChar:
      PutTag(Tag::kChar, out);
      return PutBigEndian32(static_cast<uint32_t>(value.AsChar()), out);
    case ValueKind::kUuid:
      PutTag(Tag::kUuid, out);
      PutBigEndian64(value.AsUuid().high ^ kSignBit, out);
      return PutBigEndian64(value.AsUuid().low ^ kSignBit, out);
    case ValueKind::kDateTime:
      PutTag(Tag::kDateTime, out);
      PutSigned64(value.AsDateTime().seconds, out);
      PutSigned32(value.AsDateTime().nanos, out);
      return PutSigned32(value.AsDateTime().offset_seconds, out);
    case ValueKind::kDuration:
      PutTag(Tag::kDuration, out);
      PutSigned64(value.AsDuration().seconds, out);
      return PutSigned32(value.AsDuration().nanos, out);
    case ValueKind::kNull:
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
      return PutTag(Tag::kOther, out);
  }
}

Places PlacesOf(const Value& sought, ValueKind stored) {
  Places places;
  const bool of_any = stored == ValueKind::kNull;
  const bool is_float = sought.kind() == ValueKind::kFloat && !std::isnan(sought.AsDouble());
  if (is_float && (of_any || IsSmallInteger(stored) || IsWide(stored))) {
    PutRoundedTo(static_cast<float>(sought.AsDouble()), &places);
    return places;
  }
  AppendPlace(sought, &places.first);
  places.last = places.first;
  const bool wide = IsWide(sought.kind());
  if (!(wide || IsSmallInteger(sought.kind())) || !(of_any || stored == ValueKind::kFloat)) {
    return places;
  }
  const double number =
      wide ? sought.AsBigNumber().ToDouble() : static_cast<double>(sought.AsInteger());
  std::string as_float;
  PutNumber(static_cast<double>(static_cast<float>(number)), &as_float);
  if (as_float < places.first) places.first = as_float;
  if (as_float > places.last) places.last = as_float;
  return places;
}

std::string_view PlaceTag(const std::string& place) { return std::string_view(place).substr(0, 1); }

std::string PrefixOfPlaces(std::string_view text) {
  std::string prefix;
  PutTag(Tag::kString, &prefix);
  PutText(text.substr(0, kMaxPlacedBytes), &prefix);
  if (text.size() > kMaxPlacedBytes) prefix.append(kCut);
  return prefix;
}

bool PlaceIsExact(const Value& bound, ValueKind stored) {
  if (bound.is_number()) {
    const bool whole = bound.kind() <= ValueKind::kLong;
    constexpr double kEachHasADouble = int64_t{1} << 53;
    if (!whole && bound.kind() != ValueKind::kDouble) return false;
    if (whole && std::abs(static_cast<double>(bound.AsInteger())) >= kEachHasADouble) return false;
    // Numbers without a fixed width may stand beside the double that is their place.
    return (stored >= ValueKind::kByte && stored <= ValueKind::kLong) ||
           stored == ValueKind::kFloat || stored == ValueKind::kDouble;
  }
  if (bound.kind() == ValueKind::kString || bound.kind() == ValueKind::kBinary) {
    return bound.AsString().size() <= kMaxPlacedBytes;
  }
  std::string place;
  AppendPlace(bound, &place);
  return place[0] != static_cast<char>(Tag::kOther);
}

}  // namespace koios::storage
