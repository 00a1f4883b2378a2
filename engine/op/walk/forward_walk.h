// ForwardWalk: from a slice of rows along the first hops of a walk, all rows at once and deepest
// first, so that what waits is a batch per hop. What comes to the last of these positions is
// handed to `arrive`, with the row that it began at. Where only is asked whether there is a walk,
// rows that have had theirs are passed over.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "engine/op/walk/walk.h"

namespace koios::engine {

class ForwardWalk {
 public:
  // Adds to `found` of the rows, by number in the slice.
  using Arrive =
      std::function<Status(std::span<const uint32_t> rows, std::span<const VertexRef> vertices)>;

  // `all`: every walk counts, not only the first one of a row.
  ForwardWalk(Walk* walk, bool all, OperatorHost* host, Arrive arrive)
      : walk_(walk), all_(all), host_(host), arrive_(std::move(arrive)) {}
  ~ForwardWalk() { Forget(); }
  ForwardWalk(const ForwardWalk&) = delete;
  ForwardWalk& operator=(const ForwardWalk&) = delete;

  // Walks `hops` of the hops, to where `asked_there` (null: nothing) is asked.
  void Begin(std::span<const VertexRef> vertices, size_t hops, const VertexFilter* asked_there);
  // A batch's share. False: there is nothing left.
  StatusOr<bool> Proceed();
  // Rows before this one need no answer.
  void SkipTo(size_t row) { skipped_ = std::max(skipped_, row); }
  // Ways found to arrive; without `all` any number but 0 means that there is one.
  std::vector<int64_t>& found() { return found_; }
  // Edges walked along, of all slices.
  size_t work() const { return work_; }

 private:
  struct Pairs {
    std::vector<uint32_t> rows;
    std::vector<VertexRef> vertices;
  };
  // The vertices at one position that are being expanded.
  struct Level {
    Pairs at;
    size_t first = 0;  // of them: where the cursor begins
    storage::ExpandCursor cursor;
    Pairs later;                                             // of a hop that repeats
    absl::flat_hash_set<std::pair<uint32_t, uint64_t>> met;  // by it
  };

  bool NeedsNoMore(uint32_t row) const { return row < skipped_ || (!all_ && found_[row] != 0); }
  bool SkipDone(Level* level) const;
  Status Expand(size_t position);
  Status ExpandSome(size_t position, bool* more);
  Status Deliver(size_t position, Pairs pairs);
  Status Remember(Level* level, Pairs* pairs);
  void Forget();

  Walk* const walk_;
  const bool all_;
  OperatorHost* const host_;
  const Arrive arrive_;
  const VertexFilter* asked_there_ = nullptr;
  std::vector<Level> levels_;  // by position
  std::vector<int64_t> found_;
  size_t skipped_ = 0;
  size_t work_ = 0;
  CallSize expanded_ = ExpandedInACall();
  int64_t charged_ = 0;
};

}  // namespace koios::engine
