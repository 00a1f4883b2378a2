// What withSack(), withSideEffect(), withBulk() and withPath() say of a query, between g and its
// first step.
#pragma once

#include <string>
#include <vector>

#include "planner/argument.h"
#include "planner/steps/side_effect_table.h"

namespace koios::planner {

struct SackSettings {
  PlanValue initial;      // null without withSack()
  std::string operator_;  // puts the sacks of traversers together that become one; empty: none do
  bool bulks = true;      // withBulk(false): traversers that become one count as one
  bool read = false;      // a step reads sacks,
  bool written = false;   // or changes them,
  bool by_steps = false;  // by itself, where none meet
  bool met = false;       // a step before this one in the text made bulks

  // Where TinkerPop makes one of several traversers can be seen in the answer.
  bool meetings_show() const { return !bulks || (!operator_.empty() && read); }
};

struct Configuration {
  SackSettings sacks;
  bool keeps_paths = false;
};

// One call. REQUIRES: a row of the catalogue with kConfigures, whose signature the arguments match.
Status Configure(std::string_view name, const std::vector<Bound>& args,
                 Configuration* configuration, SideEffectTable* effects);
// What the steps of the traversal do with sacks.
void FindSacks(const parser::Traversal& traversal, SackSettings* sacks);

}  // namespace koios::planner
