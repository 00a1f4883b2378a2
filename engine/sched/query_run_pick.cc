// What the driver does next: the deepest that can move, in queues that have bounds.
#include <algorithm>

#include "engine/sched/query_run.h"

namespace koios::engine {
namespace {

// Of the query's account: what it may use before it is crowded. Then its queues hold one batch, and
// its scopes open few instances at a time.
constexpr int64_t kCrowdedShare = 4;

// Of the calls of a query with loops, the share of the shallowest iteration: one in so many.
constexpr uint64_t kShallowestTurn = 8;

// Of so many calls three quarters let few rows wait for more: a row is late by a slice or two.
constexpr uint64_t kGatheringTurns = 16;

}  // namespace

// Deepest first: what is nearest to the end moves on before more is made. The shallowest iteration
// of a loop keeps a share (engine rule 20): `repeat(both()).emit(has('x'))` gives an x two hops
// away, also where the graph has circles.
bool QueryRun::Step() {
  if (!failure_.ok() || complete_) return false;
  if (!left_.empty()) {
    FreeSome();
    return true;
  }
  if (spilling_.has_value()) {
    RunSpill();
    return true;
  }
  if (stores_waiting_) {
    StoreWaiting();
    return true;
  }
  if (++num_steps_ % kShallowestTurn == 0 && has_loops_ && StepShallowest()) return true;
  return (IsCrowded() && StepDeepest(/*widen=*/false)) || StepDeepest(true);
}

// Unless `widen`, no instance begins the next iteration of a loop in lock-step. Of
// `local(repeat(out().order()).times(3))` what is under way gets through first, and its memory is
// free.
bool QueryRun::StepDeepest(bool widen) {
  const bool gathers =
      is_line_ && num_steps_ % kGatheringTurns < kGatheringTurns * 3 / 4 && !IsCrowded();
  std::optional<uint32_t> thin;
  for (auto it = busy_.rbegin(); it != busy_.rend(); ++it) {
    Node& node = nodes_[shape_->AtRank(*it)];
    const bool may_fire = widen || node.op->loop() <= node.op->scope();
    if (!PickOwn(&node, may_fire) && !PickLane(&node, /*shallowest=*/false)) continue;
    if (gathers && IsThin(node)) {
      if (!thin.has_value()) thin = *it;
      continue;
    }
    RunPicked(*it);
    return true;
  }
  if (!thin.has_value()) return false;
  RunPicked(*thin);
  return true;
}

// Few rows wait for it, and more may come: behind a filter that hardly anything passes. Others go
// first, for some calls, as a call costs as much for a row as for a hundred.
bool QueryRun::IsThin(const Node& node) const {
  if (node.lane == nullptr || node.lane->active.has_value()) return false;
  if (node.lane->queue.size() > 1 || shape_->IsCutShort(node.op->id())) return false;
  const Input& only = node.lane->queue.front();
  return !only.remote && 2 * only.batch.rows < worker_.bounds.batch_rows &&
         2 * only.charged < static_cast<int64_t>(kBatchBytes);
}

// What is farthest from the end of all that can move. Its queues have bounds: then it is what
// stands behind it, and so on through the first iteration.
bool QueryRun::StepShallowest() {
  std::optional<uint32_t> first;
  Depth depth;
  for (const uint32_t rank : busy_) {
    const uint32_t id = shape_->AtRank(rank);
    if (!PickLane(&nodes_[id], /*shallowest=*/true)) continue;
    Depth here = shape_->DepthOf(id, nodes_[id].iteration);
    if (first.has_value() && here >= depth) continue;
    first = rank;
    depth = std::move(here);
  }
  if (!first.has_value()) return false;
  RunPicked(*first);
  return true;
}

void QueryRun::RunPicked(uint32_t rank) {
  const uint32_t id = shape_->AtRank(rank);
  RunNode(id);
  idle_told_ = false;
  if (!HasWork(nodes_[id])) busy_.erase(rank);
}

bool QueryRun::IsCrowded() const {
  return spec_->account->used() > spec_->account->limit() / kCrowdedShare;
}

bool QueryRun::HasRoom(uint32_t op, const Loops& iteration) const {
  const Lane* lane = nodes_[op].lanes.Find(iteration);
  const SortedStreams* streams = nodes_[op].merging.Find(iteration);
  if (lane == nullptr && streams == nullptr) return true;
  const size_t waiting = streams == nullptr ? lane->queue.size() : streams->Waiting(worker_.index);
  // In `repeat(out()).emit()` each iteration has a queue: they become short before they fill the
  // account.
  return waiting < (IsCrowded() ? 1 : worker_.bounds.queue_batches);
}

bool QueryRun::HasWork(const Node& node) const {
  if (!node.lanes.empty() || !node.firings.empty() || !node.merging.empty() ||
      node.exits.batch.rows > 0) {
    return true;
  }
  return std::any_of(node.restarts.begin(), node.restarts.end(),
                     [](const JoinedBatch& joined) { return joined.batch.rows > 0; });
}

// What a node does on its own account: fired barriers, rows leaving a scope or trying its next
// body.
bool QueryRun::PickOwn(Node* node, bool may_fire) const {
  node->lane = nullptr;
  if (may_fire && PickFiring(node)) return true;
  if (!node->merging.empty() && PickMerging(node)) return true;
  if (node->exits.batch.rows > 0) {
    return HasRoom(node->op->next(0), node->exits.batch.runs.front().loops);
  }
  return std::any_of(node->restarts.begin(), node->restarts.end(),
                     [](const JoinedBatch& joined) { return joined.batch.rows > 0; });
}

// The deepest iteration's. When memory is short the oldest instance's: of
// `local(repeat(out().order()).times(3))` one ends before others grow.
bool QueryRun::PickFiring(Node* node) const {
  const bool oldest = node->op->scope() > 0 && IsCrowded();
  const auto by_age = [](const Firing& a, const Firing& b) {
    return a.key.instance.serial < b.key.instance.serial;
  };
  uint64_t serial = UINT64_MAX;
  node->firings.Last([&](const Loops& iteration, Fifo<Firing>& firings) {
    if (!HasRoom(node->op->next(0), iteration)) return false;
    if (oldest) {
      std::iter_swap(firings.begin(), std::min_element(firings.begin(), firings.end(), by_age));
      if (firings.front().key.instance.serial >= serial) return false;
    }
    serial = firings.front().key.instance.serial;
    node->iteration = iteration;
    return !oldest;
  });
  return serial != UINT64_MAX;
}

bool QueryRun::PickLane(Node* node, bool shallowest) const {
  if (node->absorbing.has_value()) {
    node->iteration = *node->absorbing;
    node->lane = node->lanes.Find(node->iteration);
    return true;
  }
  const auto can_take = [&](const Loops& iteration, const Lane&) {
    return CanTake(*node, iteration);
  };
  const auto picked = shallowest ? node->lanes.First(can_take) : node->lanes.Last(can_take);
  if (picked.kept == nullptr) return false;
  node->lane = picked.kept;
  node->iteration = *picked.loops;
  return true;
}

// Whether the operator may work on input of this iteration: where its output goes there is room.
bool QueryRun::CanTake(const Node& node, const Loops& iteration) const {
  if (node.op->has_sink()) return spec_->sink->Room() > 0;
  if (node.outbox != nullptr && node.outbox->Blocked(iteration)) return false;
  if (node.op->has_scope_enter()) {
    // A row that leaves when its instance is complete, as in `not(out())`, asks for no room. It has
    // waited for that when it came.
    const plan::Operator& exit = *nodes_[shape_->ExitOf(node.op->id())].op;
    if (!MayOpen(node, iteration) || !HasRoom(exit.next(0), iteration)) return false;
  }
  if (node.code.barrier != nullptr) return true;
  Loops behind = iteration;
  if (node.op->has_loop_enter()) behind.push_back(0);
  if (node.op->has_loop_back() && !behind.empty()) ++behind.back();
  if (node.op->has_loop_exit() && !behind.empty()) behind.pop_back();
  return std::all_of(node.op->next().begin(), node.op->next().end(),
                     [&](uint32_t next) { return HasRoom(next, behind); });
}

// Instances of an iteration wait for their rows to get through the next ones, and so never the
// other way round. Of a serial scope, `local(aggregate('x'))`, one is open. In a loop it is one of
// each iteration, opened in order: in `repeat(local(out().aggregate('x')))` the rows of an instance
// go through the further iterations before it gives more.
bool QueryRun::MayOpen(const Node& enter, const Loops& iteration) const {
  if (enter.op->scope_enter().serial()) {
    const Loops* last = enter.open_instances.Last();
    return last == nullptr || *last < iteration;
  }
  return OpenRoom(enter, iteration) > 0;
}

// How many instances more may open in this iteration. Where none is open one may, whatever memory
// is used.
size_t QueryRun::OpenRoom(const Node& enter, const Loops& iteration) const {
  const OpenInstances* instances = enter.open_instances.Find(iteration);
  const size_t open = instances == nullptr ? 0 : instances->count;
  const size_t window = enter.op->scope_enter().window();
  const size_t most = IsCrowded()  ? 1
                      : window > 0 ? std::min(window, worker_.bounds.open_instances)
                                   : worker_.bounds.open_instances;
  return open < most ? most - open : 0;
}

}  // namespace koios::engine
