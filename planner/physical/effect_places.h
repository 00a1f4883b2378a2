// Where the side-effects of a query are, when workers share nothing (engine rule 25): that follows
// from who writes and who reads each of them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "planner/logical.h"

namespace koios::planner {

enum class EffectPlace : uint8_t {
  kHome,     // at the home of the whole traversal, where rows go to write and to read it
  kShares,   // each worker has what its rows have added; only cap() reads it, from all of them
  kByValue,  // the same, but each value is where all that are equal to it are: who asks whether one
             // is a member asks there
};

// Of every name that the chain writes or reads.
std::map<std::string, EffectPlace> PlaceEffects(const Chain& root);

// Those that are asked for once, by one cap() of the whole traversal: it may take what is there.
std::set<std::string> EffectsCappedOnce(const Chain& root);

}  // namespace koios::planner
