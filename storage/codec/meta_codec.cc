#include "storage/codec/meta_codec.h"

#include "core/value_codec.h"
#include "storage/codec/keys.h"
#include "storage/store_errors.h"

namespace koios::storage {
namespace {

Status Damaged() { return DataLoss("A record of the meta family is damaged."); }

// Bytes that follow the kind; -1 for an unknown kind.
int PartsSize(MetaKind kind) {
  switch (kind) {
    case MetaKind::kFormat:
    case MetaKind::kVersion:
    case MetaKind::kNextVertexId:
    case MetaKind::kLogStart:
      return 0;
    case MetaKind::kLabelName:
    case MetaKind::kKeyName:
    case MetaKind::kVertexCount:
    case MetaKind::kEdgeCount:
    case MetaKind::kVertexIndex:
      return 4;
    case MetaKind::kPropertyKind:
    case MetaKind::kHashedIndex:
      return 8;
    case MetaKind::kNextLocals:
    case MetaKind::kSnapshot:
      return 2;
  }
  return -1;
}

}  // namespace

std::string EncodeMetaKey(const MetaKey& key) {
  std::string out(1, static_cast<char>(key.kind));
  switch (PartsSize(key.kind)) {
    case 2:
      PutBigEndian16(static_cast<uint16_t>(key.first), &out);
      break;
    case 4:
      PutBigEndian32(key.first, &out);
      break;
    case 8:
      PutBigEndian32(key.first, &out);
      PutBigEndian32(key.second, &out);
      break;
    default:
      break;
  }
  return out;
}

StatusOr<MetaKey> DecodeMetaKey(std::string_view bytes) {
  if (bytes.empty()) return Damaged();
  MetaKey key;
  if (bytes[0] == 'c' || bytes[0] == 'P') return OfNewerVersion("several values of a property");
  key.kind = static_cast<MetaKind>(bytes[0]);
  bytes.remove_prefix(1);
  const int size = PartsSize(key.kind);
  if (size < 0 || bytes.size() != static_cast<size_t>(size)) return Damaged();
  if (size == 2) key.first = GetBigEndian16(bytes.data());
  if (size >= 4) key.first = GetBigEndian32(bytes.data());
  if (size == 8) key.second = GetBigEndian32(bytes.data() + 4);
  return key;
}

std::string LogKey(uint64_t version) {
  std::string key(1, kLogPrefix);
  PutBigEndian64(version, &key);
  return key;
}

StatusOr<uint64_t> DecodeLogKey(std::string_view bytes) {
  if (bytes.size() != 9 || bytes[0] != kLogPrefix) return Damaged();
  return GetBigEndian64(bytes.data() + 1);
}

std::string EncodeMetaNumber(uint64_t number) {
  std::string out;
  PutVarint(number, &out);
  return out;
}

StatusOr<uint64_t> DecodeMetaNumber(std::string_view bytes) {
  uint64_t number = 0;
  if (!GetVarint(&bytes, &number) || !bytes.empty()) return Damaged();
  return number;
}

std::string EncodeMetaSigned(int64_t number) {
  std::string out;
  PutSigned(number, &out);
  return out;
}

StatusOr<int64_t> DecodeMetaSigned(std::string_view bytes) {
  int64_t number = 0;
  if (!GetSigned(&bytes, &number) || !bytes.empty()) return Damaged();
  return number;
}

std::string EncodeMetaPair(uint64_t first, uint64_t second) {
  std::string out;
  PutVarint(first, &out);
  PutVarint(second, &out);
  return out;
}

Status DecodeMetaPair(std::string_view bytes, uint64_t* first, uint64_t* second) {
  if (!GetVarint(&bytes, first) || !GetVarint(&bytes, second) || !bytes.empty()) return Damaged();
  return OkStatus();
}

std::string EncodeMetaNumbers(std::span<const uint64_t> numbers) {
  std::string out;
  for (const uint64_t number : numbers) PutVarint(number, &out);
  return out;
}

StatusOr<std::vector<uint64_t>> DecodeMetaNumbers(std::string_view bytes) {
  std::vector<uint64_t> numbers;
  uint64_t number = 0;
  while (!bytes.empty()) {
    if (!GetVarint(&bytes, &number)) return Damaged();
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace koios::storage
