// A user's id of a vertex or edge: what is one, its bytes in keys, the partition it hashes to.
// Rule: every integer width is the same id (kLong); a string is another id than the number it
// spells. The bytes of an id (format in element_id.cc) keep its order and never change: partitions
// depend on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/value.h"

namespace koios::storage {

inline constexpr size_t kMaxIdBytes = 32 * 1024;
// A partition's number fits the 16 bits that a reference has for it, and so does the one after it.
inline constexpr uint32_t kMaxPartitions = 4096;

// The id as it is stored: kLong or kString. nullopt for what can't be an id (other kinds, longer
// than kMaxIdBytes).
std::optional<Value> TryNormaliseId(const Value& id);
// The same; INVALID_ARGUMENT or RESOURCE_EXHAUSTED that says why.
StatusOr<Value> NormaliseId(const Value& id);

// The integer that a string is the canonical spelling of: "0", "-7", not "+1", "01", "-0".
std::optional<int64_t> CanonicalDecimal(std::string_view text);

// The integer that an id is, or that a string spells.
std::optional<int64_t> IntegerOfId(const Value& id);

// Appends type tag and id bytes. REQUIRES: `id` is normalised.
void AppendIdBytes(const Value& id, std::string* out);
std::string IdBytes(const Value& id);
void AppendNumberId(int64_t number, std::string* out);
void AppendTextId(std::string_view text, std::string* out);
// nullopt: the id is a string.
std::optional<int64_t> NumberOfIdBytes(std::string_view bytes);
// Of the bytes of a string; DATA_LOSS else.
StatusOr<std::string_view> TextOfIdBytes(std::string_view bytes);
// The whole input is one id; DATA_LOSS else.
StatusOr<Value> DecodeIdBytes(std::string_view bytes);

// XXH3-64 over type tag and id bytes, modulo the number of partitions.
uint32_t PartitionOfIdBytes(std::string_view id_bytes, uint32_t num_partitions);
// Partition 0 for what can't be an id.
uint32_t PartitionOfId(const Value& id, uint32_t num_partitions);

}  // namespace koios::storage
