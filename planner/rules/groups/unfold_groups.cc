// group().unfold(), groupCount().unfold(): nobody asks for the map as one value, so that each group
// goes on by itself, as an entry. Then groups stay at the owners of their keys, and may go to disk.
// Not in loops, where entries become keys of entries and double in size each time: as one value
// they are soon too much, on disk they would be moved about until then.
// Likewise cap('x').unfold() of what aggregate('x') or group('x') has gathered, where that is done
// once and nothing is added behind: rows of it may come where others are still given.
#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

const char kKey[] = "~key";  // of groups by what is current

bool GivesMap(const Op& op) {
  const Group* group = As<Group>(op);
  return group != nullptr && !group->rows && group->side_effect.empty();
}

bool UnfoldIn(Chain* chain) {
  bool changed = false;
  for (size_t i = 0; i < chain->ops.size(); ++i) {
    std::vector<Chain>* children = ChildrenOf(&chain->ops[i]);
    if (children != nullptr && As<Loop>(chain->ops[i]) == nullptr) {
      for (Chain& child : *children) changed = UnfoldIn(&child) || changed;
    }
    if (i + 1 == chain->ops.size() || !GivesMap(chain->ops[i])) continue;
    Op& unfold = chain->ops[i + 1];
    if (As<Unfold>(unfold) == nullptr) continue;
    Group* group = As<Group>(&chain->ops[i]);
    const bool by_current = group->key.empty();
    if (by_current) group->key = kKey;
    group->rows = true;
    std::vector<ExpressionPtr> pair = {Named(group->key), Current()};
    unfold.body = Project{CallOf("map_of", std::move(pair)), "", plan::Project::DROP_ROW};
    if (by_current) {
      const Op& of = chain->ops[i];
      Op key{Project{Current(), kKey, plan::Project::DROP_ROW}, of.span, of.step};
      chain->ops.insert(chain->ops.begin() + static_cast<std::ptrdiff_t>(i), std::move(key));
      ++i;
    }
    changed = true;
  }
  return changed;
}

bool IsOfOne(const Op& op) {
  const Cap* cap = As<Cap>(op);
  return cap != nullptr && cap->names.size() == 1 && !cap->began;
}

bool UnfoldEffects(Chain* root) {
  bool changed = false;
  std::set<std::string> written_behind;
  for (size_t i = root->ops.size(); i-- > 0;) {
    CollectEffectWrites(root->ops[i], &written_behind);
    if (!IsOfOne(root->ops[i]) || i + 1 == root->ops.size()) continue;
    Cap* cap = As<Cap>(&root->ops[i]);
    if (As<Unfold>(root->ops[i + 1]) == nullptr || written_behind.contains(cap->names[0])) continue;
    cap->rows = true;
    root->ops.erase(root->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    changed = true;
  }
  return changed;
}

}  // namespace

bool UnfoldGroups(Chain* root) {
  const bool changed = UnfoldEffects(root);
  return UnfoldIn(root) || changed;
}

}  // namespace koios::planner
