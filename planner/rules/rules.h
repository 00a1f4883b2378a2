// The rewrite rules of the logical traversal, in the order in which they run. Each is a pure
// function of the whole chain in a file of its own, with its test in testdata/rules/NAME.test.
// Rule: a rule never changes what a traversal answers, only what it costs.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "planner/logical.h"

namespace koios::planner {

struct Rule {
  std::string_view name;
  std::string_view help;
  bool (*apply)(Chain* root) = nullptr;  // whether it changed anything
  bool reads_all = false;                // for workers that may read each other's partitions
};

const std::vector<Rule>& Rules();

// Runs them all, `isolated`: but those for workers that read each other's partitions. `fired` is
// told after each that changed something.
void RunRules(Chain* root, bool isolated,
              const std::function<void(const Rule&, const Chain&)>& fired);

// The chain and every chain below it, innermost first.
template <typename Function>
bool ForEachChain(Chain* chain, const Function& function) {
  bool changed = false;
  for (Op& op : chain->ops) {
    std::vector<Chain>* children = ChildrenOf(&op);
    if (children == nullptr) continue;
    for (Chain& child : *children) changed = ForEachChain(&child, function) || changed;
  }
  return function(chain) || changed;
}

bool RemoveIdentity(Chain* root);
bool UnnestLocal(Chain* root);
bool HoistStores(Chain* root);
bool DropUnread(Chain* root);
bool InlineScopes(Chain* root);
bool MergeProjects(Chain* root);
bool StopBeforeChanges(Chain* root);
bool StopOneByOne(Chain* root);
bool UnrollRepeat(Chain* root);
bool PushFilters(Chain* root);
bool FoldSource(Chain* root);
bool StartAtFarEnd(Chain* root);
bool SeekSource(Chain* root);
bool OrderFilters(Chain* root);
bool CountDegrees(Chain* root);
bool CountArrivals(Chain* root);
bool CountEnds(Chain* root);
bool CountValues(Chain* root);
bool EarlyLimit(Chain* root);
bool ProjectBeforeOrder(Chain* root);
bool ReachEnds(Chain* root);
bool CountWalks(Chain* root);
bool FindShortestPath(Chain* root);
bool TopK(Chain* root);
bool PlainGroup(Chain* root);
bool UnfoldGroups(Chain* root);
bool ExpandToLabels(Chain* root);
bool FirstEnds(Chain* root);
bool VisitInTurn(Chain* root);
bool AddInPassing(Chain* root);
bool BreadthFirst(Chain* root);
bool MergeBulk(Chain* root);
bool RunInPlace(Chain* root);

// After the rules: UNIMPLEMENTED when rows could be changed that an early stop behind would have
// spared.
Status CheckEarlyStops(const Chain& root);

}  // namespace koios::planner
