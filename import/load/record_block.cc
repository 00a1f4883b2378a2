#include "import/load/record_block.h"

#include "core/value_codec.h"

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

void RecordBlock::Add(std::string_view key, std::string_view value) {
  const uint32_t sizes[2] = {static_cast<uint32_t>(key.size()),
                             static_cast<uint32_t>(value.size())};
  bytes_.append(reinterpret_cast<const char*>(sizes), sizeof(sizes));
  bytes_.append(key);
  bytes_.append(value);
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

}  // namespace koios::import
