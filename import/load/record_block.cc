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

}  // namespace koios::import
