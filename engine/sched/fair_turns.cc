#include "engine/sched/fair_turns.h"

#include <algorithm>

namespace koios::engine {

void FairTurns::Add(const QueryId& id) {
  turns_.try_emplace(id);
  Wake(id);
}

void FairTurns::Remove(const QueryId& id) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  const Turn& turn = found->second;
  if (turn.ready) classes_[ClassOf(turn)].ready.erase({turn.virtual_nanos, id});
  turns_.erase(found);
}

void FairTurns::Wake(const QueryId& id) {
  const auto found = turns_.find(id);
  if (found == turns_.end() || found->second.ready) return;
  CatchUp(ClassOf(found->second));
  MakeReady(id, &found->second);
}

// A class that had nothing to do has no claim to that time, either.
void FairTurns::CatchUp(size_t number) {
  Class& own = classes_[number];
  const Class& other = classes_[1 - number];
  if (!own.ready.empty() || other.ready.empty()) return;
  own.virtual_nanos = std::max(own.virtual_nanos, other.virtual_nanos);
}

void FairTurns::MakeReady(const QueryId& id, Turn* turn) {
  Class& own = classes_[ClassOf(*turn)];
  turn->virtual_nanos = std::max(turn->virtual_nanos, own.now);
  turn->ready = true;
  own.ready.emplace(turn->virtual_nanos, id);
}

size_t FairTurns::NextClass() const {
  if (classes_[0].ready.empty()) return 1;
  if (classes_[1].ready.empty()) return 0;
  return classes_[1].virtual_nanos < classes_[0].virtual_nanos ? 1 : 0;
}

std::optional<QueryId> FairTurns::Next() const {
  const Class& next = classes_[NextClass()];
  if (next.ready.empty()) return std::nullopt;
  return next.ready.begin()->second;
}

void FairTurns::Ran(const QueryId& id, uint64_t nanos, bool ready) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  Turn& turn = found->second;
  const size_t number = ClassOf(turn);
  Class& own = classes_[number];
  nanos = std::max(nanos, kLeastNanos);
  own.ready.erase({turn.virtual_nanos, id});
  own.now = std::max(own.now, turn.virtual_nanos);
  own.virtual_nanos += nanos / kWeights[number];
  turn.virtual_nanos += nanos;
  turn.had += nanos;
  turn.ready = false;
  if (!ready) return;
  if (ClassOf(turn) != number) CatchUp(ClassOf(turn));
  MakeReady(id, &turn);
}

}  // namespace koios::engine
