// The side-effects of one query: what withSideEffect() begins with, and which names its steps
// gather under, found before anything is built, because a name may be read before the step that
// fills it (in a loop: without('x') ... aggregate('x')).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/argument.h"
#include "planner/logical.h"

namespace koios::planner {

// What of a group's value runs when the group is complete, over the list of what was gathered.
struct GroupTail {
  // Stored names that `rest` reads: each value is then a map of it (under "") and of them.
  std::vector<std::string> carried;
  int unfolds = 1;  // 1: a list of values; 2: of lists of values
  Chain rest;
};

struct SideEffect {
  std::optional<PlanValue> initial;  // of withSideEffect(),
  std::string operator_;             // and how what is gathered is put to it; empty: as members
  bool used = false;                 // the plan gathers it or reads it while it runs
  bool gathered = false;             // a step fills it
  bool is_group = false;  // of group() or groupCount(): a map; else of aggregate(): a list
  bool built = false;     // a step that fills it came before in the text
  plan::Group::Value kind = plan::Group::LIST;
  std::optional<GroupTail> tail;
};

// Whether it is a collection, to which members are added.
bool Collects(const SideEffect& effect);

using SideEffectTable = std::map<std::string, SideEffect>;

SideEffectTable FindSideEffects(const parser::Traversal& root, const Parameters& parameters);

}  // namespace koios::planner
