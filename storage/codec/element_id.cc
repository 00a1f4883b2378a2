// Bytes of an id: tag 1, then the int64 big-endian with its sign bit flipped (so that bytes order
// as the numbers do); or tag 2, then the string's bytes to the end.
#include "storage/codec/element_id.h"

#include <xxhash.h>

#include <charconv>

#include "core/big_number.h"
#include "storage/codec/keys.h"

namespace koios::storage {
namespace {

constexpr char kLongTag = 1;
constexpr char kStringTag = 2;

}  // namespace

std::optional<Value> TryNormaliseId(const Value& id) {
  switch (id.kind()) {
    case ValueKind::kByte:
    case ValueKind::kShort:
    case ValueKind::kInt:
    case ValueKind::kLong:
      return Value::Long(id.AsInteger());
    case ValueKind::kBigInt:
      if (std::optional<int64_t> number = id.AsBigNumber().ToInt64()) return Value::Long(*number);
      return std::nullopt;
    case ValueKind::kString:
      if (id.AsString().size() > kMaxIdBytes) return std::nullopt;
      return id;
    default:
      return std::nullopt;
  }
}

StatusOr<Value> NormaliseId(const Value& id) {
  if (std::optional<Value> normal = TryNormaliseId(id)) return *std::move(normal);
  if (id.kind() == ValueKind::kString) {
    ErrorDetail detail;
    detail.reason = "ID_TOO_LONG";
    detail.limit = "id length " + std::to_string(kMaxIdBytes) + " bytes";
    detail.used = std::to_string(id.AsString().size()) + " bytes";
    return ResourceExhausted("An id may have at most " + std::to_string(kMaxIdBytes) + " bytes.",
                             detail);
  }
  return InvalidArgument("An id is a 64-bit integer or a string, not a " +
                         std::string(KindName(id.kind())) + ".");
}

std::optional<int64_t> IntegerOfId(const Value& id) {
  const std::optional<Value> normal = TryNormaliseId(id);
  if (!normal) return std::nullopt;
  return normal->kind() == ValueKind::kLong ? normal->AsInteger()
                                            : CanonicalDecimal(normal->AsString());
}

std::optional<int64_t> CanonicalDecimal(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.empty() || digits.size() > 19) return std::nullopt;
  if (digits[0] == '0' && text != "0") return std::nullopt;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  auto [parsed_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed_to != end) return std::nullopt;
  return number;
}

void AppendIdBytes(const Value& id, std::string* out) {
  if (id.kind() == ValueKind::kLong) return AppendNumberId(id.AsInteger(), out);
  CHECK(id.kind() == ValueKind::kString);
  AppendTextId(id.AsString(), out);
}

void AppendNumberId(int64_t number, std::string* out) {
  out->push_back(kLongTag);
  PutBigEndian64(static_cast<uint64_t>(number) ^ kSignBit, out);
}

void AppendTextId(std::string_view text, std::string* out) {
  out->push_back(kStringTag);
  out->append(text);
}

std::optional<int64_t> NumberOfIdBytes(std::string_view bytes) {
  if (bytes.size() != 9 || bytes[0] != kLongTag) return std::nullopt;
  return static_cast<int64_t>(GetBigEndian64(bytes.data() + 1) ^ kSignBit);
}

std::string IdBytes(const Value& id) {
  std::string out;
  AppendIdBytes(id, &out);
  return out;
}

StatusOr<std::string_view> TextOfIdBytes(std::string_view bytes) {
  if (!bytes.empty() && bytes[0] == kStringTag) return bytes.substr(1);
  return DataLoss("A stored id is damaged.");
}

StatusOr<Value> DecodeIdBytes(std::string_view bytes) {
  if (const auto number = NumberOfIdBytes(bytes)) return Value::Long(*number);
  ASSIGN_OR_RETURN(const std::string_view text, TextOfIdBytes(bytes));
  return Value::String(std::string(text));
}

uint32_t PartitionOfIdBytes(std::string_view id_bytes, uint32_t num_partitions) {
  return static_cast<uint32_t>(XXH3_64bits(id_bytes.data(), id_bytes.size()) % num_partitions);
}

uint32_t PartitionOfId(const Value& id, uint32_t num_partitions) {
  std::optional<Value> normal = TryNormaliseId(id);
  return normal ? PartitionOfIdBytes(IdBytes(*normal), num_partitions) : 0;
}

}  // namespace koios::storage
