// The binary form of a Value: tag byte (ValueKind), then the payload; varints for integers,
// length-prefixed strings. Used on disk (properties), in plans (constants) and in frames.
// Format: docs in value_codec.cc; tags are never renumbered.
// Decoding trusts nothing: lengths, tags and depth are checked; failures are DATA_LOSS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/value.h"

namespace koios {

void EncodeValue(const Value& value, std::string* out);
std::string EncodeValue(const Value& value);
// Takes one value off the front of *input.
StatusOr<Value> DecodeValue(std::string_view* input);
// The whole input is one value.
StatusOr<Value> DecodeWholeValue(std::string_view input);

// Varints (LEB128, zig-zag for signed), shared by the codecs of core and storage.
void PutLongVarint(uint64_t v, std::string* out);
inline void PutVarint(uint64_t v, std::string* out) {
  // Most are small.
  if (v >= 0x80) return PutLongVarint(v, out);
  out->push_back(static_cast<char>(v));
}
// The getters return false, with *input unspecified, when the input ends early or a varint does
// not fit 64 bits.
bool GetLongVarint(std::string_view* input, uint64_t* v);
inline bool GetVarint(std::string_view* input, uint64_t* v) {
  if (input->empty() || static_cast<unsigned char>(input->front()) >= 0x80) {
    return GetLongVarint(input, v);
  }
  *v = static_cast<unsigned char>(input->front());
  input->remove_prefix(1);
  return true;
}
void PutSigned(int64_t v, std::string* out);
bool GetSigned(std::string_view* input, int64_t* v);
void PutBytes(std::string_view bytes, std::string* out);
inline bool GetBytes(std::string_view* input, std::string_view* bytes) {
  uint64_t size = 0;
  if (!GetVarint(input, &size) || size > input->size()) return false;
  *bytes = input->substr(0, static_cast<size_t>(size));
  input->remove_prefix(static_cast<size_t>(size));
  return true;
}
// Fixed width, little-endian.
void PutFixed64(uint64_t v, std::string* out);
bool GetFixed64(std::string_view* input, uint64_t* v);

}  // namespace koios
