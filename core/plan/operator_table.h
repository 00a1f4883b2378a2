// The operators of a plan: one row says of each all that planner and engine must know beside what
// it does, those that the engine's driver itself is (Exchange, Split, scopes, loops, Sink)
// included. Rule: nobody else lists kinds to answer one of these questions. A test walks the kinds
// of the proto and fails for one without a row.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/plan.pb.h"

namespace koios::plan {

// All rows of an instance and iteration are in before one goes on: kept at the instance's home.
bool IsBarrier(const Operator& op);
// No barrier, but some of its rows may rest where they are until all have come.
bool MayRest(const Operator& op);
// Keeps something of each instance on the workers where its rows come, until the instance is over.
bool KeepsState(const Operator& op);
// Adds to the query's side-effects or changes the graph.
bool HasEffect(const Operator& op);
// Behind it rows may not be needed any more before all have come.
bool StopsEarly(const Operator& op);
// A spread barrier that fires at all workers, as what it gives there needs no rows to have come.
bool FiresEverywhere(const Operator& op);
// Output rows are new: what an input row had in its slots is gone, but for SlotUse::kept.
bool MakesNewRows(const Operator& op);
// May make several rows of one, or let rows overtake each other: where there is an order, it
// appends the number of each to its ordinal.
bool AppendsOrdinals(const Operator& op);

// Slots of rows. 0 is the current value.
struct SlotUse {
  std::vector<uint32_t> needed;  // read without asking whether the rows have them
  std::vector<uint32_t> read;    // read where they are; 0 may be named or not, nobody drops it
  uint32_t written = 0;          // beside the current value; 0: none
  uint32_t kept = 0;             // by an operator that makes new rows; 0: none
  std::vector<uint32_t> keys;    // of those read: hashed, or compared with many others
  bool whole_rows = false;       // as keys are all slots
};
SlotUse SlotsOf(const Operator& op);

// As its message is named; "?" for none.
std::string_view NameOf(const Operator& op);
// Whether the table knows the kind: false for what a damaged plan has instead of one.
bool IsKnown(const Operator& op);

}  // namespace koios::plan
