// What the driver must know of a plan's shape, computed once per query and shared by its workers:
// who can reach whom, which barrier is armed when, who leads only to a closed operator.
// Pure; immutable after Make; bounded by the number of operators.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/status.h"
#include "engine/exchange/frame.h"
#include "proto/plan.pb.h"

namespace koios::engine {

// Where rows wait: the greater one is nearer to the end. The loops around the place, outermost
// first, each with its counter, then the place. In `repeat(out().in())` all of iteration 5 is
// deeper than iteration 4, and what follows the loop is deeper than both.
using Depth = absl::InlinedVector<uint32_t, 6>;

class PlanShape {
 public:
  // INTERNAL when the plan is not well formed (ids, edges, scopes).
  static StatusOr<std::shared_ptr<const PlanShape>> Make(const plan::Plan& plan);

  // The first barrier that rows entering `op` are bound to meet on every way, within op's scope and
  // loop (not inside a loop on the way): in `where(out().count().is(0))` the count(). A row that
  // enters there arms it. nullopt: none before the end of the scope, of the iteration, of the plan.
  std::optional<uint32_t> FirstBarrier(uint32_t op) const;
  // The first barrier of the branch of `split` that begins with `first`, before the branches meet.
  std::optional<uint32_t> BranchBarrier(uint32_t split, uint32_t first) const;
  // The barrier to arm when the barrier `op` fires.
  std::optional<uint32_t> NextBarrier(uint32_t op) const;
  // REQUIRES: both name barriers, or operators whose rows may rest. A row that `from` holds may
  // come to `to`. An earlier iteration of a loop around both reaches a later one, never the other
  // way round.
  bool Reaches(const BarrierKey& from, const BarrierKey& to) const;
  // 1 + the innermost LoopEnter around `op`; 0: none.
  uint32_t LoopOf(uint32_t op) const { return loop_[op]; }
  // Marks the operators before `op` all of whose ways lead to it and which have no effect.
  static std::vector<uint8_t> LeadsOnlyTo(const plan::Plan& plan, uint32_t op);
  // Whether all rows come to a limit before they come to a barrier: the first of them may be
  // enough.
  bool IsCutShort(uint32_t op) const { return cut_short_[op] != 0; }
  // Of operators that can move, the one of the highest rank is nearest to the end. Ranks are a
  // permutation of the ids: of the branches of a union the first has the highest, so that its rows
  // come first, as users expect where a union is all there is.
  uint32_t RankOf(uint32_t op) const { return rank_[op]; }
  uint32_t AtRank(uint32_t rank) const { return at_rank_[rank]; }
  // Of rows that wait for `op` in the iteration `loops`.
  Depth DepthOf(uint32_t op, const Loops& loops) const;
  // The ScopeExit of a ScopeEnter.
  uint32_t ExitOf(uint32_t enter) const { return exit_of_[enter]; }
  // Whether the operator is in a scope in place, or its exit: the scope's operator runs it.
  bool IsInPlace(uint32_t op) const { return in_place_[op] != 0; }

 private:
  Status CheckEdges(const plan::Plan& plan) const;
  // The ways onward, loops cut open: what follows a LoopBack is its loop's exit.
  std::vector<uint32_t> Onward(const plan::Operator& op) const;
  void ComputePostDominators(const plan::Plan& plan);
  void ComputeReach(const plan::Plan& plan);
  void ComputeCutShort(const plan::Plan& plan);
  void ComputeRanks(const plan::Plan& plan);
  void ComputeInPlace(const plan::Plan& plan);

  static constexpr uint32_t kEnd = UINT32_MAX;
  std::vector<uint8_t> is_barrier_;
  std::vector<uint32_t> exit_of_;
  std::vector<uint32_t> post_dominator_;  // nearest operator on all ways onward; kEnd: none
  std::vector<uint8_t> cut_short_;
  std::vector<uint8_t> in_place_;
  std::vector<uint32_t> scope_;
  std::vector<uint32_t> loop_;
  std::vector<uint32_t> loop_exit_;  // by LoopEnter
  std::vector<uint32_t> rank_, at_rank_;
  std::vector<uint32_t> barrier_index_;       // dense index of where rows may rest
  uint32_t num_barriers_ = 0;                 // of these
  std::vector<std::vector<uint64_t>> reach_;  // per barrier: bitmap of barriers
};

}  // namespace koios::engine
