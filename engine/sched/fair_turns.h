// FairTurns: who is next of those that share a thread, or a few: a worker's queries, and what the
// server's pool does for clients. Fair queueing over measured time: each has a virtual time, what
// it has had so far, and the ready one that has had least is next (Goyal, Guo, Vin, "A hierarchical
// CPU scheduler for multimedia operating systems", 1996). Those of one group share as one does: a
// client has as much, however many queries it has. Who was not ready has no claim to what it
// missed. Those that have had little are a class of their own, which gets three quarters of the
// time as long as it has something to do: a short query is over while long ones wait, and long ones
// are never without. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

namespace koios::engine {

// Ids and groups are ordered; std::monostate: there is one group.
template <typename Id, typename Group = std::monostate>
class FairTurns {
 public:
  // So much time one may have as a short one.
  static constexpr uint64_t kShortNanos = 20'000'000;

  // So many that are not short may have a turn at once.
  explicit FairTurns(size_t most_long = std::numeric_limits<size_t>::max())
      : most_long_(most_long) {}

  // It is there from now on, and not ready. `had`: time that counts as had. Nothing for one that is
  // there already.
  void Add(const Id& id, const Group& group = {}, uint64_t had = 0);
  // Of one that has a turn when that is over.
  void Remove(const Id& id);
  // Something has come for it that it may have waited for.
  void Wake(const Id& id);
  // Who is next: it has the turn until Ran(). nullopt: none that may have one is ready.
  std::optional<Id> Take();
  // The time that it has had, in nanoseconds; of one that is not there 0.
  uint64_t Had(const Id& id) const {
    const auto found = turns_.find(id);
    return found == turns_.end() ? 0 : found->second.had;
  }
  bool HasNext() const { return NextClass().has_value(); }
  // It has had a turn of so much time; whether it is ready still, or again by Wake().
  void Ran(const Id& id, uint64_t nanos, bool ready);

 private:
  enum class State { kIdle, kReady, kTaken, kTakenAndWoken, kTakenAndGone };
  struct Turn {
    Group group;
    uint64_t had = 0;  // nanoseconds
    uint64_t virtual_nanos = 0;
    State state = State::kIdle;
  };
  // What a group has of a class.
  struct Share {
    std::set<std::pair<uint64_t, Id>> ready;  // by virtual time
    uint64_t now = 0;                         // virtual time of the last that was taken
    uint64_t virtual_nanos = 0;               // of the group
    size_t num_turns = 0;                     // ready or not
  };
  struct Class {
    std::map<Group, Share> shares;
    std::set<std::pair<uint64_t, Group>> ready;  // by virtual time
    uint64_t now = 0;                            // virtual time of the last that was taken
    uint64_t virtual_nanos = 0;                  // of the class
    size_t num_taken = 0;
  };
  using Turns = std::map<Id, Turn>;
  static constexpr size_t kShort = 0, kLong = 1;
  static constexpr std::array<uint64_t, 2> kWeights = {3, 1};
  // A turn counts for so much at least: those that a clock can't tell apart take turns.
  static constexpr uint64_t kLeastNanos = 1000;

  static size_t ClassOf(const Turn& turn) { return turn.had < kShortNanos ? kShort : kLong; }
  Share* ShareOf(const Turn& turn) { return &classes_[ClassOf(turn)].shares[turn.group]; }
  std::optional<size_t> NextClass() const;
  void MakeReady(const Id& id, Turn* turn);
  void MakeUnready(const Id& id, Turn* turn);
  void Charge(Turn* turn, uint64_t nanos);
  void LeaveShare(const Turn& turn);
  void Erase(typename Turns::iterator found);

  const size_t most_long_;
  Turns turns_;
  std::array<Class, 2> classes_;
};

template <typename Id, typename Group>
void FairTurns<Id, Group>::Add(const Id& id, const Group& group, uint64_t had) {
  const auto [found, added] = turns_.try_emplace(id);
  if (!added) return;
  found->second.group = group;
  found->second.had = had;
  ++ShareOf(found->second)->num_turns;
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::Remove(const Id& id) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  Turn& turn = found->second;
  if (turn.state == State::kReady) MakeUnready(id, &turn);
  if (turn.state != State::kIdle) {
    turn.state = State::kTakenAndGone;
    return;
  }
  Erase(found);
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::Erase(typename Turns::iterator found) {
  LeaveShare(found->second);
  turns_.erase(found);
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::LeaveShare(const Turn& turn) {
  if (--ShareOf(turn)->num_turns == 0) classes_[ClassOf(turn)].shares.erase(turn.group);
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::Wake(const Id& id) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  Turn& turn = found->second;
  if (turn.state == State::kTaken) turn.state = State::kTakenAndWoken;
  if (turn.state == State::kIdle) MakeReady(id, &turn);
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::MakeReady(const Id& id, Turn* turn) {
  Class& own = classes_[ClassOf(*turn)];
  // A class that had nothing to do has no claim to that time, either.
  if (own.ready.empty() && own.num_taken == 0) {
    own.virtual_nanos = std::max(own.virtual_nanos, classes_[1 - ClassOf(*turn)].virtual_nanos);
  }
  Share& share = *ShareOf(*turn);
  if (share.ready.empty()) {
    share.virtual_nanos = std::max(share.virtual_nanos, own.now);
    own.ready.emplace(share.virtual_nanos, turn->group);
  }
  turn->virtual_nanos = std::max(turn->virtual_nanos, share.now);
  turn->state = State::kReady;
  share.ready.emplace(turn->virtual_nanos, id);
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::MakeUnready(const Id& id, Turn* turn) {
  Share& share = *ShareOf(*turn);
  share.ready.erase({turn->virtual_nanos, id});
  turn->state = State::kIdle;
  if (!share.ready.empty()) return;
  classes_[ClassOf(*turn)].ready.erase({share.virtual_nanos, turn->group});
}

template <typename Id, typename Group>
std::optional<size_t> FairTurns<Id, Group>::NextClass() const {
  const bool has_short = !classes_[kShort].ready.empty();
  const bool has_long = !classes_[kLong].ready.empty() && classes_[kLong].num_taken < most_long_;
  if (has_short && has_long) {
    return classes_[kLong].virtual_nanos < classes_[kShort].virtual_nanos ? kLong : kShort;
  }
  if (has_short) return kShort;
  if (has_long) return kLong;
  return std::nullopt;
}

template <typename Id, typename Group>
std::optional<Id> FairTurns<Id, Group>::Take() {
  const std::optional<size_t> number = NextClass();
  if (!number.has_value()) return std::nullopt;
  Class& own = classes_[*number];
  Share& share = own.shares.find(own.ready.begin()->second)->second;
  const Id id = share.ready.begin()->second;
  Turn& turn = turns_.find(id)->second;
  own.now = std::max(own.now, share.virtual_nanos);
  share.now = std::max(share.now, turn.virtual_nanos);
  MakeUnready(id, &turn);
  turn.state = State::kTaken;
  ++own.num_taken;
  return id;
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::Charge(Turn* turn, uint64_t nanos) {
  const size_t number = ClassOf(*turn);
  Class& own = classes_[number];
  Share& share = *ShareOf(*turn);
  if (!share.ready.empty()) {
    own.ready.erase({share.virtual_nanos, turn->group});
    own.ready.emplace(share.virtual_nanos + nanos, turn->group);
  }
  share.virtual_nanos += nanos;
  own.virtual_nanos += nanos / kWeights[number];
  turn->virtual_nanos += nanos;
  if (number == kShort && turn->had + nanos >= kShortNanos) {
    // Among others, whose times have nothing to do with those of the short.
    LeaveShare(*turn);
    turn->had += nanos;
    turn->virtual_nanos = 0;
    ++ShareOf(*turn)->num_turns;
    return;
  }
  turn->had += nanos;
}

template <typename Id, typename Group>
void FairTurns<Id, Group>::Ran(const Id& id, uint64_t nanos, bool ready) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  Turn& turn = found->second;
  Class& own = classes_[ClassOf(turn)];
  Charge(&turn, std::max(nanos, kLeastNanos));
  const State state = std::exchange(turn.state, State::kIdle);
  if (state == State::kTakenAndGone) {
    Erase(found);
  } else if (ready || state == State::kTakenAndWoken) {
    MakeReady(id, &turn);
  }
  --own.num_taken;  // until here its class was not without work
}

}  // namespace koios::engine
