// The small words every folder shares: references to elements, directions, tokens.
// References are internal: 64 bits, partition (16) | local number (48), dense per partition.
// A user's ids live in the id index and come back only at output or id().
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace koios {

inline constexpr int kLocalBits = 48;
inline constexpr uint64_t kLocalMask = (uint64_t{1} << kLocalBits) - 1;

// Interned names, per graph. 0 is never a name.
using LabelId = uint32_t;
using KeyId = uint32_t;
inline constexpr uint32_t kNoName = 0;

struct VertexRef {
  uint64_t bits = 0;

  static VertexRef Make(uint32_t partition, uint64_t local) {
    return {(static_cast<uint64_t>(partition) << kLocalBits) | (local & kLocalMask)};
  }
  uint32_t partition() const { return static_cast<uint32_t>(bits >> kLocalBits); }
  uint64_t local() const { return bits & kLocalMask; }
  auto operator<=>(const VertexRef&) const = default;
};

// `id` has the same shape as a vertex reference; its partition is the out vertex's.
struct EdgeRef {
  uint64_t id = 0;
  VertexRef out;
  VertexRef in;
  LabelId label = kNoName;
  // Where who gave the edge found it: 1 + its position among the out-edges of that label; 0: not
  // known. A hint for who reads its properties, which may be wrong and is checked before it is
  // used; no part of the edge: it is not compared, hashed, ordered or encoded.
  uint32_t place_hint = 0;

  bool operator==(const EdgeRef& other) const { return id == other.id; }
};

// On disk and wire: never renumber.
enum class Direction : uint8_t { kOut = 0, kIn = 1, kBoth = 2 };
enum class Token : uint8_t { kId = 0, kLabel = 1, kKey = 2, kValue = 3 };

}  // namespace koios

template <>
struct std::hash<koios::VertexRef> {
  size_t operator()(koios::VertexRef v) const noexcept {
    return static_cast<size_t>(v.bits * 0x9E3779B97F4A7C15ull);
  }
};
