// FairTurns: which of a worker's queries has the next slice. Fair queueing over measured time: each
// query has a virtual time, what it has had so far, and the ready one that has had least is next
// (Goyal, Guo, Vin, "A hierarchical CPU scheduler for multimedia operating systems", 1996). Who was
// not ready has no claim to what it missed. Queries that have had little are a class of their own,
// which gets three quarters of the time as long as it has something to do: a short query is over
// while long ones wait, and long ones are never without. Belongs to its worker's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/exchange/frame.h"

namespace koios::engine {

class FairTurns {
 public:
  // So much time a query may have as a short one.
  static constexpr uint64_t kShortNanos = 20'000'000;

  // It is there from now on, and ready.
  void Add(const QueryId& id);
  void Remove(const QueryId& id);
  // Something has come for it that it may have waited for.
  void Wake(const QueryId& id);
  // nullopt: none is ready.
  std::optional<QueryId> Next() const;
  // The one that was next has had a slice of so much time; whether it is still ready.
  void Ran(const QueryId& id, uint64_t nanos, bool ready);

 private:
  struct Turn {
    uint64_t had = 0;  // nanoseconds
    uint64_t virtual_nanos = 0;
    bool ready = false;
  };
  struct Class {
    std::set<std::pair<uint64_t, QueryId>> ready;  // by virtual time
    uint64_t now = 0;                              // virtual time of the last that ran
    uint64_t virtual_nanos = 0;                    // of the class
  };
  static constexpr std::array<uint64_t, 2> kWeights = {3, 1};
  // A slice counts for so much at least: those that a clock can't tell apart take turns.
  static constexpr uint64_t kLeastNanos = 1000;

  static size_t ClassOf(const Turn& turn) { return turn.had < kShortNanos ? 0 : 1; }
  size_t NextClass() const;
  void CatchUp(size_t number);
  void MakeReady(const QueryId& id, Turn* turn);

  std::map<QueryId, Turn> turns_;
  std::array<Class, 2> classes_;
};

}  // namespace koios::engine
