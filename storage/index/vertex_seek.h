// VertexSeek: a question to the indexes of vertices, as ranges of their entries
// (codec/value_place.h): equal values for the first keys, then perhaps bounds for the next one.
// Made once per query from the schema of the view that it is asked of; immutable, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema.h"
#include "core/types.h"
#include "core/value.h"

namespace koios::storage {

// More ranges than this are rather scanned for.
inline constexpr size_t kMaxSeekRanges = 4096;

struct KeyBound {
  enum class Op : uint8_t { kGreater, kAtLeast, kLess, kAtMost, kStartsWith };
  Op op = Op::kAtLeast;
  Value value;
};

// What is sought of one key: equal to one of the values; or, when there are bounds, within them
// all.
struct SoughtKey {
  ValueList any_of;
  std::vector<KeyBound> bounds;
};

struct PlaceRange {
  std::string begin, end;  // `end` is not in it
  bool operator==(const PlaceRange&) const = default;
};

struct VertexSeek {
  std::vector<LabelId> labels;  // empty: all
  std::vector<IndexId> indexes;
  std::vector<KeyId> keys;         // of each of the indexes
  std::vector<PlaceRange> ranges;  // of places of entries; ascending, apart from each other

  bool Contains(std::string_view places) const;
};

// `sought` are the first of the keys; what is behind bounds does not count. Empty `labels`: all.
// `kinds_may_change`: vertices may yet get values of other kinds than the schema says, as in a
// transaction. nullopt: the graph has no such indexes, or a scan is better.
std::optional<VertexSeek> MakeSeek(const Schema& schema, std::span<const LabelId> labels,
                                   std::span<const KeyId> keys, std::span<const SoughtKey> sought,
                                   bool kinds_may_change = false);

}  // namespace koios::storage
