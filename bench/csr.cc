#include "bench/csr.h"

#include <algorithm>
#include <unordered_map>

#include "core/random.h"

namespace koios::bench {
namespace {

constexpr size_t kChunk = 64 * 1024;

}  // namespace

StatusOr<Csr> Csr::Build(const storage::GraphView& view) {
  Csr csr;
  std::vector<uint32_t> first;  // of each partition
  for (uint32_t partition = 0; partition < view.num_partitions(); ++partition) {
    first.push_back(csr.num_vertices());
    storage::ScanCursor cursor;
    while (!cursor.done) {
      RETURN_IF_ERROR(view.ScanVertices(partition, {}, &cursor, kChunk, &csr.refs_));
    }
  }
  std::unordered_map<VertexRef, uint32_t> index;
  index.reserve(csr.refs_.size());
  for (uint32_t i = 0; i < csr.num_vertices(); ++i) index[csr.refs_[i]] = i;
  csr.offsets_.assign(csr.refs_.size() + 1, 0);
  storage::ExpandCursor cursor;
  while (!cursor.done) {
    storage::Expansion ends;
    RETURN_IF_ERROR(view.Expand(csr.refs_, Direction::kOut, {}, false, &cursor, kChunk, &ends));
    for (const uint32_t row : ends.rows) ++csr.offsets_[row + 1];
    for (const VertexRef end : ends.neighbours) csr.targets_.push_back(index.at(end));
  }
  for (size_t i = 1; i < csr.offsets_.size(); ++i) csr.offsets_[i] += csr.offsets_[i - 1];
  csr.targets_.shrink_to_fit();
  return csr;
}

size_t Csr::ByteSize() const {
  return offsets_.size() * sizeof(uint64_t) + targets_.size() * sizeof(uint32_t);
}

std::vector<uint64_t> Csr::NumWalks(int hops) const {
  std::vector<uint64_t> walks(num_vertices(), 1);
  for (int hop = 0; hop < hops; ++hop) {
    std::vector<uint64_t> longer(num_vertices(), 0);
    for (uint32_t v = 0; v < num_vertices(); ++v) {
      for (const uint32_t to : Out(v)) longer[v] += walks[to];
    }
    walks = std::move(longer);
  }
  return walks;
}

Answer Csr::Enumerate(std::span<const uint32_t> starts, int hops) const {
  Answer answer;
  for (const uint32_t start : starts) {
    Walk(start, hops, [&](uint32_t end) { answer.Add(refs_[end].bits); });
  }
  return answer;
}

Answer Csr::EnumerateOthers(std::span<const uint32_t> starts, int hops) const {
  Answer answer;
  for (const uint32_t start : starts) {
    Walk(start, hops, [&](uint32_t end) {
      if (end != start) answer.Add(refs_[end].bits);
    });
  }
  return answer;
}

uint64_t Csr::Count(std::span<const uint32_t> starts, int hops) const {
  uint64_t count = 0;
  for (const uint32_t start : starts) {
    Walk(start, hops - 1, [&](uint32_t end) { count += Degree(end); });
  }
  return count;
}

Answer Csr::Dedup(std::span<const uint32_t> starts, int hops) const {
  Answer answer;
  std::vector<uint8_t> seen(num_vertices(), 0);
  for (const uint32_t start : starts) {
    Walk(start, hops, [&](uint32_t end) {
      if (seen[end]++ == 0) answer.Add(refs_[end].bits);
      seen[end] = 1;
    });
  }
  return answer;
}

Answer Csr::TopDegrees(std::span<const uint32_t> starts, int hops, size_t k) const {
  std::vector<uint64_t> top;  // a heap, the least in front
  for (const uint32_t start : starts) {
    Walk(start, hops, [&](uint32_t end) {
      const uint64_t degree = Degree(end);
      if (top.size() == k && degree <= top.front()) return;
      if (top.size() == k) {
        std::pop_heap(top.begin(), top.end(), std::greater<>());
        top.pop_back();
      }
      top.push_back(degree);
      std::push_heap(top.begin(), top.end(), std::greater<>());
    });
  }
  Answer answer;
  for (const uint64_t degree : top) answer.Add(degree);
  return answer;
}

Answer Csr::GroupByDegree(std::span<const uint32_t> starts, int hops) const {
  std::unordered_map<uint64_t, uint64_t> groups;
  for (const uint32_t start : starts) {
    Walk(start, hops, [&](uint32_t end) { ++groups[Degree(end)]; });
  }
  Answer answer;
  for (const auto& [degree, count] : groups) answer.Add(MixSeeds(degree, count));
  return answer;
}

}  // namespace koios::bench
