#include "import/load/record_block.h"

#include "core/value_codec.h"
#include "storage/codec/keys.h"

namespace koios::import {

void PutSource(const RecordSource& source, std::string* out) {
  PutVarint(source.file, out);
  PutVarint(source.line, out);
  PutVarint(source.offset, out);
}

bool GetSource(std::string_view* input, RecordSource* source) {
  uint64_t file = 0;
  if (!GetVarint(input, &file) || !GetVarint(input, &source->line) ||
      !GetVarint(input, &source->offset)) {
    return false;
  }
  source->file = static_cast<uint32_t>(file);
  return true;
}

void PutEdgeKey(const EdgeKeyParts& parts, std::string* out) {
  storage::PutBigEndian16(static_cast<uint16_t>(parts.out.partition()), out);
  storage::PutBigEndian32(parts.label, out);
  storage::PutBigEndian48(parts.out.local(), out);
  storage::PutBigEndian64(parts.in.bits, out);
}

EdgeKeyParts ReadEdgeKey(std::string_view key) {
  EdgeKeyParts parts;
  parts.label = storage::GetBigEndian32(key.data() + 2);
  parts.out =
      VertexRef::Make(storage::GetBigEndian16(key.data()), storage::GetBigEndian48(key.data() + 6));
  parts.in.bits = storage::GetBigEndian64(key.data() + 12);
  return parts;
}

EdgeKeyParts ReadEdgeKeyByOutVertex(std::string_view key) {
  EdgeKeyParts parts;
  parts.out.bits = storage::GetBigEndian64(key.data());
  parts.label = storage::GetBigEndian32(key.data() + 8);
  parts.in.bits = storage::GetBigEndian64(key.data() + 12);
  return parts;
}

void RecordBlock::AddBad(const BadRow& row) {
  PutVarint(row.file, &bad_bytes_);
  PutVarint(row.line, &bad_bytes_);
  PutVarint(row.column, &bad_bytes_);
  PutVarint(static_cast<uint64_t>(row.code), &bad_bytes_);
  PutBytes(row.message, &bad_bytes_);
  PutBytes(row.raw, &bad_bytes_);
}

BadRow RecordBlock::UnpackBad(std::string_view* bytes) {
  uint64_t file = 0, column = 0, code = 0;
  BadRow row;
  std::string_view message, raw;
  CHECK(GetVarint(bytes, &file) && GetVarint(bytes, &row.line) && GetVarint(bytes, &column) &&
        GetVarint(bytes, &code) && GetBytes(bytes, &message) && GetBytes(bytes, &raw));
  row.file = static_cast<uint32_t>(file);
  row.column = static_cast<uint32_t>(column);
  row.code = static_cast<RowCode>(code);
  row.message = message;
  row.raw = raw;
  return row;
}

Status DamagedRecord() { return DataLoss("A record of the import is damaged."); }

}  // namespace koios::import
