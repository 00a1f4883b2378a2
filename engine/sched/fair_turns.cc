#include "engine/sched/fair_turns.h"

#include <algorithm>

namespace koios::engine {

void FairTurns::Add(const QueryId& id) { MakeReady(id, &turns_[id]); }

void FairTurns::Remove(const QueryId& id) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  const Turn& turn = found->second;
  if (turn.ready) classes_[ClassOf(turn)].ready.erase({turn.virtual_, id});
  turns_.erase(found);
}

void FairTurns::Wake(const QueryId& id) {
  const auto found = turns_.find(id);
  if (found != turns_.end() && !found->second.ready) MakeReady(id, &found->second);
}

void FairTurns::MakeReady(const QueryId& id, Turn* turn) {
  Class& own = classes_[ClassOf(*turn)];
  const Class& other = classes_[1 - ClassOf(*turn)];
  if (own.ready.empty() && !other.ready.empty()) {
    own.virtual_ = std::max(own.virtual_, other.virtual_);
  }
  turn->virtual_ = std::max(turn->virtual_, own.now);
  turn->ready = true;
  own.ready.emplace(turn->virtual_, id);
}

size_t FairTurns::NextClass() const {
  if (classes_[0].ready.empty()) return 1;
  if (classes_[1].ready.empty()) return 0;
  return classes_[1].virtual_ < classes_[0].virtual_ ? 1 : 0;
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
  own.ready.erase({turn.virtual_, id});
  own.now = std::max(own.now, turn.virtual_);
  own.virtual_ += nanos / kWeights[number];
  turn.virtual_ += nanos;
  turn.had += nanos;
  turn.ready = false;
  if (ready) MakeReady(id, &turn);
}

}  // namespace koios::engine
