// Csr: the yardstick. The out edges of a whole graph in two arrays, and plain loops over them on
// one thread: what a hand-written program would do. Immutable once built.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/status.h"
#include "storage/graph_view.h"

namespace koios::bench {

// What a walk and a query are compared by: how many rows (or what a count says), and a checksum of
// the rows that does not depend on their order.
struct Answer {
  uint64_t rows = 0;
  uint64_t checksum = 0;

  // `bulk` equal rows.
  void Add(uint64_t value, uint64_t bulk = 1) {
    const uint64_t mixed = value * 0x9E3779B97F4A7C15ull;
    rows += bulk;
    checksum += (mixed ^ (mixed >> 32)) * bulk;
  }
  bool operator==(const Answer&) const = default;
};

class Csr {
 public:
  static StatusOr<Csr> Build(const storage::GraphView& view);

  uint32_t num_vertices() const { return static_cast<uint32_t>(refs_.size()); }
  uint64_t num_edges() const { return targets_.size(); }
  size_t ByteSize() const;
  VertexRef ref(uint32_t vertex) const { return refs_[vertex]; }
  std::span<const uint32_t> Out(uint32_t vertex) const {
    return {targets_.data() + offsets_[vertex], targets_.data() + offsets_[vertex + 1]};
  }
  // Walks of `hops` edges from each vertex.
  std::vector<uint64_t> NumWalks(int hops) const;

  // The ends of all walks of `hops` edges, and their number by nested loops that add up the degrees
  // before the last hop.
  Answer Enumerate(std::span<const uint32_t> starts, int hops) const;
  // Without those that end where they began.
  Answer EnumerateOthers(std::span<const uint32_t> starts, int hops) const;
  uint64_t Count(std::span<const uint32_t> starts, int hops) const;
  // The distinct ends.
  Answer Dedup(std::span<const uint32_t> starts, int hops) const;
  // The k largest out degrees of the ends.
  Answer TopDegrees(std::span<const uint32_t> starts, int hops, size_t k) const;
  // Ends by out degree: a row per degree.
  Answer GroupByDegree(std::span<const uint32_t> starts, int hops) const;

 private:
  // Calls use(end) for each walk's end.
  template <typename Use>
  void Walk(uint32_t from, int hops, const Use& use) const {
    if (hops == 0) return use(from);
    for (const uint32_t to : Out(from)) Walk(to, hops - 1, use);
  }
  uint64_t Degree(uint32_t vertex) const { return offsets_[vertex + 1] - offsets_[vertex]; }

  std::vector<VertexRef> refs_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> targets_;
};

}  // namespace koios::bench
