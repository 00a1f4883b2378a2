#include "engine/sched/plan_shape.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/plan/operator_table.h"

namespace koios::engine {

StatusOr<std::shared_ptr<const PlanShape>> PlanShape::Make(const plan::Plan& plan) {
  auto shape = std::make_shared<PlanShape>();
  const size_t size = plan.operators_size();
  shape->is_barrier_.assign(size, 0);
  shape->exit_of_.assign(size, kEnd);
  shape->scope_.assign(size, 0);
  shape->loop_.assign(size, 0);
  shape->loop_exit_.assign(size, kEnd);
  shape->barrier_index_.assign(size, kEnd);
  RETURN_IF_ERROR(shape->CheckEdges(plan));
  for (const plan::Operator& op : plan.operators()) {
    shape->scope_[op.id()] = op.scope();
    shape->loop_[op.id()] = op.loop();
    if (op.has_loop_exit()) shape->loop_exit_[op.loop_exit().enter()] = op.id();
    if (op.has_scope_exit()) {
      // An exit belongs to the scope around the one that it ends.
      shape->exit_of_[op.scope_exit().enter()] = op.id();
      shape->scope_[op.id()] = plan.operators(static_cast<int>(op.scope_exit().enter())).scope();
    }
    if (plan::IsBarrier(op)) shape->is_barrier_[op.id()] = 1;
    if (plan::IsBarrier(op) || plan::MayRest(op)) {
      shape->barrier_index_[op.id()] = shape->num_barriers_++;
    }
  }
  for (const plan::Operator& op : plan.operators()) {
    if (op.has_scope_enter() && shape->exit_of_[op.id()] == kEnd) {
      return Internal("The plan has a scope without an exit.");
    }
    if (op.has_loop_back() && shape->loop_exit_[op.loop_back().enter()] == kEnd) {
      return Internal("The plan has a loop without an exit.");
    }
  }
  shape->ComputePostDominators(plan);
  shape->ComputeReach(plan);
  shape->ComputeCutShort(plan);
  shape->ComputeRanks(plan);
  shape->ComputeInPlace(plan);
  return std::shared_ptr<const PlanShape>(std::move(shape));
}

// The operators of a branch have ids in a row, so that exchanging branches keeps places together.
void PlanShape::ComputeRanks(const plan::Plan& plan) {
  const auto size = static_cast<uint32_t>(plan.operators_size());
  std::vector<uint32_t> ends(size, size);            // of the innermost branch around an operator
  std::map<uint32_t, std::vector<uint32_t>> begins;  // of each union's branches, and their end
  for (const plan::Operator& op : plan.operators()) {
    if (!op.has_split() || op.split().options_size() > 0) continue;
    const uint32_t end = std::min(post_dominator_[op.id()], ends[op.id()]);
    std::set<uint32_t> places(op.next().begin(), op.next().end());
    places.insert(end);
    if (*places.rbegin() != end) continue;
    for (auto place = places.begin(); *place != end;) {
      const uint32_t begin = *place++;
      std::fill(ends.begin() + begin, ends.begin() + *place, *place);
    }
    begins[op.id()].assign(places.begin(), places.end());
  }
  at_rank_.resize(size);
  std::iota(at_rank_.begin(), at_rank_.end(), 0);
  for (auto split = begins.rbegin(); split != begins.rend(); ++split) {  // inner ones first
    const std::vector<uint32_t>& places = split->second;
    std::vector<uint32_t> reversed;
    for (size_t branch = places.size() - 1; branch-- > 0;) {
      reversed.insert(reversed.end(), at_rank_.begin() + places[branch],
                      at_rank_.begin() + places[branch + 1]);
    }
    std::copy(reversed.begin(), reversed.end(), at_rank_.begin() + places.front());
  }
  rank_.resize(size);
  for (uint32_t rank = 0; rank < size; ++rank) rank_[at_rank_[rank]] = rank;
}

Status PlanShape::CheckEdges(const plan::Plan& plan) const {
  const uint32_t size = static_cast<uint32_t>(plan.operators_size());
  if (size == 0 || plan.num_slots() == 0) return Internal("The plan is empty.");
  for (uint32_t id = 0; id < size; ++id) {
    const plan::Operator& op = plan.operators(id);
    if (op.id() != id) return Internal("The plan's operators are not in the order of their ids.");
    if (op.has_sink() != op.next().empty()) return Internal("The plan has a loose end.");
    for (uint32_t next : op.next()) {
      if (next >= size || (next <= id && !op.has_loop_back())) {
        return Internal("The plan is not in topological order.");
      }
    }
    if (op.has_scope_exit() && (op.scope_exit().enter() >= id ||
                                !plan.operators(op.scope_exit().enter()).has_scope_enter())) {
      return Internal("The plan has an exit without a scope.");
    }
    if (op.has_loop_back() && (op.loop_back().enter() >= id || op.next_size() != 1 ||
                               op.next(0) <= op.loop_back().enter())) {
      return Internal("The plan has a loop that leads back outside itself.");
    }
    if (op.has_loop_exit() && op.loop_exit().enter() >= id) {
      return Internal("The plan leaves a loop that it did not enter.");
    }
    for (uint32_t first : op.scope_exit().alternatives()) {
      if (first >= id) return Internal("The plan has an alternative outside its scope.");
    }
  }
  return OkStatus();
}

std::vector<uint32_t> PlanShape::Onward(const plan::Operator& op) const {
  if (op.has_loop_back()) return {loop_exit_[op.loop_back().enter()]};
  return {op.next().begin(), op.next().end()};
}

// Operators are in topological order, so one pass backwards finds the nearest common way onward.
// A scope is one hop: from its enter to its exit.
void PlanShape::ComputePostDominators(const plan::Plan& plan) {
  const uint32_t size = static_cast<uint32_t>(plan.operators_size());
  post_dominator_.assign(size, kEnd);
  std::vector<uint32_t> depth(size, 0);  // distance from the end in the post-dominator tree
  const auto depth_of = [&](uint32_t op) { return op == kEnd ? 0 : depth[op]; };
  for (uint32_t id = size; id-- > 0;) {
    const plan::Operator& op = plan.operators(id);
    uint32_t common = kEnd;
    if (op.has_scope_enter()) {
      common = exit_of_[id];
    } else {
      bool first = true;
      for (uint32_t next : Onward(op)) {
        if (first) {
          common = next;
          first = false;
          continue;
        }
        uint32_t other = next;
        while (common != other) {
          if (depth_of(common) >= depth_of(other)) {
            common = common == kEnd ? kEnd : post_dominator_[common];
          } else {
            other = post_dominator_[other];
          }
        }
      }
    }
    post_dominator_[id] = common;
    depth[id] = depth_of(common) + 1;
  }
}

std::optional<uint32_t> PlanShape::FirstBarrier(uint32_t op) const {
  const uint32_t scope = scope_[op];
  const uint32_t loop = loop_[op];
  // Ids grow on the way, and a loop is left for good at its exit: what lies deeper is passed over.
  while (op != kEnd && scope_[op] == scope) {
    if (loop_[op] == loop && is_barrier_[op] != 0) return op;
    if (loop > 0 && op > loop_exit_[loop - 1]) return std::nullopt;
    op = loop_exit_[op] != kEnd ? loop_exit_[op] : post_dominator_[op];
  }
  return std::nullopt;
}

std::optional<uint32_t> PlanShape::BranchBarrier(uint32_t split, uint32_t first) const {
  const uint32_t meet = post_dominator_[split];
  uint32_t op = first;
  while (op != kEnd && op != meet) {
    const bool same = scope_[op] == scope_[split] && loop_[op] == loop_[split];
    if (same && is_barrier_[op] != 0) return op;
    // A loop arms its own barriers, iteration by iteration.
    op = loop_exit_[op] != kEnd ? loop_exit_[op] : post_dominator_[op];
  }
  return std::nullopt;
}

std::optional<uint32_t> PlanShape::NextBarrier(uint32_t op) const {
  const uint32_t next = post_dominator_[op];
  if (next == kEnd || scope_[next] != scope_[op] || loop_[next] != loop_[op]) return std::nullopt;
  return FirstBarrier(next);
}

void PlanShape::ComputeReach(const plan::Plan& plan) {
  const uint32_t size = static_cast<uint32_t>(plan.operators_size());
  const size_t words = (num_barriers_ + 63) / 64;
  std::vector<std::vector<uint64_t>> from(size);  // barriers that a row at the operator may meet
  reach_.assign(num_barriers_, {});
  for (uint32_t id = size; id-- > 0;) {
    const plan::Operator& op = plan.operators(id);
    std::vector<uint64_t>& bits = from[id];
    bits.assign(words, 0);
    for (uint32_t next : Onward(op)) {
      for (size_t word = 0; word < words; ++word) bits[word] |= from[next][word];
    }
    if (barrier_index_[id] != kEnd) {
      reach_[barrier_index_[id]] = bits;
      bits[barrier_index_[id] / 64] |= uint64_t{1} << (barrier_index_[id] % 64);
    }
    // Only successors are read again: what lies behind all of them may go.
  }
}

void PlanShape::ComputeCutShort(const plan::Plan& plan) {
  const auto size = static_cast<uint32_t>(plan.operators_size());
  cut_short_.assign(size, 0);
  for (uint32_t id = size; id-- > 0;) {
    const uint32_t next = post_dominator_[id];
    if (next == kEnd || is_barrier_[next] != 0) continue;
    const plan::Operator& op = plan.operators(static_cast<int>(next));
    cut_short_[id] = plan::StopsEarly(op) ? 1 : cut_short_[next];
  }
}

void PlanShape::ComputeInPlace(const plan::Plan& plan) {
  in_place_.assign(static_cast<size_t>(plan.operators_size()), 0);
  for (const plan::Operator& op : plan.operators()) {
    const uint32_t enter = op.has_scope_exit() ? op.scope_exit().enter() : op.scope() - 1;
    if (!op.has_scope_exit() && op.scope() == 0) continue;
    if (enter >= op.id()) continue;
    const plan::Operator& scope = plan.operators(static_cast<int>(enter));
    in_place_[op.id()] = scope.scope_enter().in_place() || in_place_[enter] != 0 ? 1 : 0;
  }
}

bool PlanShape::Reaches(const BarrierKey& from, const BarrierKey& to) const {
  // The loops around both, outermost first, are a common prefix of the two chains.
  std::vector<uint32_t> from_loops, to_loops;
  for (uint32_t loop = loop_[from.op]; loop > 0; loop = loop_[loop - 1]) from_loops.push_back(loop);
  for (uint32_t loop = loop_[to.op]; loop > 0; loop = loop_[loop - 1]) to_loops.push_back(loop);
  std::reverse(from_loops.begin(), from_loops.end());
  std::reverse(to_loops.begin(), to_loops.end());
  const size_t most =
      std::min({from_loops.size(), to_loops.size(), from.loops.size(), to.loops.size()});
  for (size_t i = 0; i < most && from_loops[i] == to_loops[i]; ++i) {
    if (from.loops[i] != to.loops[i]) return from.loops[i] < to.loops[i];
  }
  const uint32_t index = barrier_index_[to.op];
  return (reach_[barrier_index_[from.op]][index / 64] >> (index % 64)) & 1;
}

// Rows come to the exit of a loop with the counter of that loop, too: it stands behind the place.
Depth PlanShape::DepthOf(uint32_t op, const Loops& loops) const {
  absl::InlinedVector<uint32_t, 4> around;
  for (uint32_t loop = loop_[op]; loop > 0; loop = loop_[loop - 1]) around.push_back(loop - 1);
  std::reverse(around.begin(), around.end());
  Depth depth;
  depth.reserve(2 * around.size() + loops.size() + 1);
  const size_t known = std::min(around.size(), loops.size());
  for (size_t i = 0; i < known; ++i) {
    depth.push_back(rank_[around[i]]);
    depth.push_back(loops[i]);
  }
  depth.push_back(rank_[op]);
  depth.insert(depth.end(), loops.begin() + known, loops.end());
  return depth;
}

std::vector<uint8_t> PlanShape::LeadsOnlyTo(const plan::Plan& plan, uint32_t op) {
  std::vector<uint8_t> leads(plan.operators_size(), 0);
  std::set<uint32_t> exits;  // loops whose exit leads only to `op`
  leads[op] = 1;
  for (uint32_t id = op; id-- > 0;) {
    const plan::Operator& before = plan.operators(id);
    // A barrier with an effect has all its rows before `op` has one, unless branches meet between.
    const bool effect = plan::IsBarrier(before) && plan::HasEffect(before);
    bool only = !effect || before.scope() != plan.operators(op).scope() ||
                before.loop() != plan.operators(op).loop();
    if (before.has_loop_back()) {
      only = only && exits.contains(before.loop_back().enter());
    } else {
      for (uint32_t next : before.next()) only = only && next <= op && leads[next] != 0;
    }
    leads[id] = only ? 1 : 0;
    if (only && before.has_loop_exit()) exits.insert(before.loop_exit().enter());
  }
  leads[op] = 0;
  return leads;
}

}  // namespace koios::engine
