// VertexSet: vertices that were met. A list at first; a bit for each number once these take not
// much more, as where rows come from a good part of a graph: then a vertex is one read.
// Grows with its operator's charge.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/status.h"
#include "core/types.h"
#include "engine/account/charge_ahead.h"

namespace koios::engine {

class VertexSet {
 public:
  bool Contains(VertexRef vertex) const;
  // Whether it was not there. An error: it is not there now, and the account is full.
  StatusOr<bool> Insert(VertexRef vertex, ChargeAhead* charge);
  // Inserts vertices [begin, end) that are not in `passed` (nullptr: nothing is), and appends the
  // positions of those that were in neither.
  Status InsertAll(std::span<const VertexRef> vertices, size_t begin, size_t end,
                   const VertexSet* passed, ChargeAhead* charge, std::vector<uint32_t>* fresh);
  bool is_dense() const { return is_dense_; }
  // Where somebody is who looks at all of them.
  struct Walk {
    bool has_begun = false;
    absl::flat_hash_set<uint64_t>::const_iterator listed;
    size_t partition = 0;
    size_t page = 0;
  };
  // About `most` vertices come at once.
  static constexpr size_t kWalkMost = 4096;
  // Calls use(vertex) for some that come next. False: there is none left. REQUIRES: the set does
  // not change in between.
  template <typename Use>
  bool WalkSome(Walk* walk, const Use& use) const;
  // REQUIRES: it is empty. There are few such sets, and bits of some pages are worth it at once.
  void ExpectMany() {
    next_look_ = kFewOfMany;
    spare_bytes_ = kSpareBytes;
  }

 private:
  static constexpr uint64_t kVertices = 4096;  // of a page
  static constexpr int64_t kListedBytes = 2 * (sizeof(uint64_t) + 1);
  static constexpr size_t kFewListed = 1024;
  static constexpr size_t kFewOfMany = 32;
  static constexpr int64_t kSpareBytes = 64 * 1024;
  using Page = std::array<uint64_t, kVertices / 64>;

  // nullptr: none of its page is there.
  uint64_t* WordOf(VertexRef vertex) const {
    if (vertex.partition() >= pages_.size()) return nullptr;
    const auto& pages = pages_[vertex.partition()];
    const uint64_t at = vertex.local() / kVertices;
    if (at >= pages.size() || pages[at] == nullptr) return nullptr;
    return &(*pages[at])[vertex.local() % kVertices / 64];
  }
  static uint64_t BitOf(VertexRef vertex) { return uint64_t{1} << (vertex.local() % 64); }

  StatusOr<bool> InsertListed(VertexRef vertex, ChargeAhead* charge);
  Status MakePage(VertexRef vertex, ChargeAhead* charge);
  // Bytes of the pages for those that are listed; more than `most` when they are more.
  int64_t DenseBytes(int64_t most) const;
  // Bits from now on, when they are worth it and there is room.
  void MakeDense(ChargeAhead* charge);

  absl::flat_hash_set<uint64_t> listed_;
  size_t next_look_ = kFewListed;  // at how many it is asked whether bits are worth it
  int64_t spare_bytes_ = 0;        // that they may take however few there are
  bool is_dense_ = false;          // all are in the pages
  std::vector<std::vector<std::unique_ptr<Page>>> pages_;  // by partition and number
};

template <typename Use>
bool VertexSet::WalkSome(Walk* walk, const Use& use) const {
  if (!is_dense_) {
    if (!std::exchange(walk->has_begun, true)) walk->listed = listed_.begin();
    size_t left = kWalkMost;
    for (; left > 0 && walk->listed != listed_.end(); --left) use(VertexRef{*walk->listed++});
    return left < kWalkMost;
  }
  static_assert(kVertices <= kWalkMost);
  for (; walk->partition < pages_.size(); ++walk->partition, walk->page = 0) {
    const auto& pages = pages_[walk->partition];
    while (walk->page < pages.size() && pages[walk->page] == nullptr) ++walk->page;
    if (walk->page == pages.size()) continue;
    const uint64_t first = walk->page * kVertices;
    const Page& page = *pages[walk->page++];
    for (size_t w = 0; w < page.size(); ++w) {
      for (uint64_t bits = page[w]; bits != 0; bits &= bits - 1) {
        use(VertexRef::Make(static_cast<uint32_t>(walk->partition),
                            first + w * 64 + static_cast<uint64_t>(std::countr_zero(bits))));
      }
    }
    return true;
  }
  return false;
}

}  // namespace koios::engine
