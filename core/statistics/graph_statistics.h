// GraphStatistics: about how much of what a graph has, for whoever has to guess how many rows a
// query makes. Plain data, immutable once published, any thread.
// Rule: they are estimates, and may be older than what is read, or missing: answers never depend on
// them, only what an answer costs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>

#include "core/types.h"

namespace koios {

inline constexpr size_t kNumDegreeClasses = 34;

// The edges of one label that the vertices of one label have in one direction. Ordered by edge
// label and direction: next to each other is who is at that end of such edges.
struct DegreesOf {
  LabelId edge_label = kNoName;
  Direction direction = Direction::kOut;  // or kIn
  LabelId vertex_label = kNoName;
  auto operator<=>(const DegreesOf&) const = default;
};

struct DegreeStatistics {
  uint64_t vertices = 0;  // of the label, those without any included
  uint64_t with_any = 0;
  uint64_t edges = 0;
  uint64_t largest = 0;
  double sum_of_squares = 0;
  // Vertices with 2^(i-1) <= degree < 2^i; [0]: none; the last one takes all larger ones.
  std::array<uint64_t, kNumDegreeClasses> classes{};

  void AddVertex(uint64_t degree) {
    ++vertices;
    with_any += degree > 0 ? 1 : 0;
    edges += degree;
    largest = degree > largest ? degree : largest;
    sum_of_squares += static_cast<double>(degree) * static_cast<double>(degree);
    ++classes[std::min<size_t>(static_cast<size_t>(std::bit_width(degree)), kNumDegreeClasses - 1)];
  }
  double Mean() const {
    return vertices == 0 ? 0 : static_cast<double>(edges) / static_cast<double>(vertices);
  }
};

// The values of one key that the elements of one label have.
struct PropertyStatistics {
  uint64_t elements = 0;  // that have it
  uint64_t values = 0;    // more than that when they are lists: their items
  double distinct = 0;    // values
  // Of numbers, and of date-times in milliseconds since 1970.
  bool has_range = false;
  double least = 0;
  double largest = 0;
};

struct GraphStatistics {
  using Counts = std::map<LabelId, uint64_t>;
  using Properties = std::map<std::pair<LabelId, KeyId>, PropertyStatistics>;

  uint64_t version = 0;  // of the graph, when they were taken
  Counts vertices;
  Counts edges;
  std::map<DegreesOf, DegreeStatistics> degrees;
  Properties vertex_properties;
  Properties edge_properties;
};

}  // namespace koios
