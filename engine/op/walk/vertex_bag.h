// VertexBag: vertices that a walk has met, each once, with or without how often. References are
// dense in a partition, so there is a bit for each vertex of a page, or a number, and a row is
// looked up in two reads. Grows with its operator's charge.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/types.h"
#include "engine/account/charge_ahead.h"

namespace koios::engine {

class VertexBag {
 public:
  explicit VertexBag(bool counts) : counts_(counts) {}

  // Whether it was not there. RESOURCE_EXHAUSTED: it is not there now. INVALID_ARGUMENT: it is
  // there more often than a long can count.
  StatusOr<bool> Add(VertexRef vertex, int64_t times, StateAccount* account);
  bool Contains(VertexRef vertex) const {
    if (counts_) return TimesOf(vertex) != 0;
    const Bits* page = bits_.Find(vertex);
    return page != nullptr &&
           ((*page)[vertex.local() % kBits / 64] >> (vertex.local() % 64) & 1) != 0;
  }
  // REQUIRES: it counts.
  int64_t TimesOf(VertexRef vertex) const {
    const Times* page = times_.Find(vertex);
    return page == nullptr ? 0 : (*page)[vertex.local() % kTimes];
  }
  int64_t bytes() const { return bytes_; }
  // Without what it has charged: the owner gives that back.
  void Clear();

 private:
  static constexpr uint64_t kBits = 4096, kTimes = 256;  // vertices of a page
  using Bits = std::array<uint64_t, kBits / 64>;
  using Times = std::array<int64_t, kTimes>;

  // By partition, then by number.
  template <typename Page, uint64_t kVertices>
  struct Pages {
    std::vector<std::vector<std::unique_ptr<Page>>> partitions;

    Page* Find(VertexRef vertex) const {
      if (vertex.partition() >= partitions.size()) return nullptr;
      const auto& pages = partitions[vertex.partition()];
      const uint64_t at = vertex.local() / kVertices;
      return at < pages.size() ? pages[at].get() : nullptr;
    }
    // The page, which is made where it is not there.
    template <typename Charge>
    StatusOr<Page*> Get(VertexRef vertex, const Charge& charge) {
      if (Page* page = Find(vertex)) return page;
      if (vertex.partition() >= partitions.size()) partitions.resize(vertex.partition() + 1);
      auto& pages = partitions[vertex.partition()];
      const uint64_t at = vertex.local() / kVertices;
      const uint64_t more = at < pages.size() ? 0 : at + 1 - pages.size();
      RETURN_IF_ERROR(charge(static_cast<int64_t>(sizeof(Page) + more * sizeof(pages[0]))));
      if (more > 0) pages.resize(at + 1);
      pages[at] = std::make_unique<Page>();
      return pages[at].get();
    }
  };

  bool counts_;
  Pages<Bits, kBits> bits_;
  Pages<Times, kTimes> times_;
  int64_t bytes_ = 0;
};

// More traversers than a long can count.
Status TooManyWalks();

}  // namespace koios::engine
