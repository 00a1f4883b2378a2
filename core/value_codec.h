// The binary form of a Value: tag byte (ValueKind), then the payload; varints for integers,
// length-prefixed strings. Used on disk (properties), in plans (constants) and in frames.
// Format: docs in value_codec.cc; tags are never renumbered.
// Decoding trusts nothing: lengths, tags and depth are checked; failures are DATA_LOSS.
#pragma once

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
void PutVarint(uint64_t v, std::string* out);
// The getters return false, with *input unspecified, when the input ends early or a varint does
// not fit 64 bits.
bool GetVarint(std::string_view* input, uint64_t* v);
void PutSigned(int64_t v, std::string* out);
bool GetSigned(std::string_view* input, int64_t* v);
void PutBytes(std::string_view bytes, std::string* out);
bool GetBytes(std::string_view* input, std::string_view* bytes);
// Fixed width, little-endian.
void PutFixed64(uint64_t v, std::string* out);
bool GetFixed64(std::string_view* input, uint64_t* v);

}  // namespace koios
