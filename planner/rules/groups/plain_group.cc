// group('x').cap('x'), groupCount('x').cap('x'): nobody else gathers in x or reads it, so that it
// is group(), whose keys are counted where rows are and meet at their owners, and whose groups go
// to disk where they are taken apart again.
#include <set>
#include <string>

#include "planner/op_table.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// Of the op and its children.
void CollectEffects(const Op& op, std::set<std::string>* names) {
  CollectEffectReads(op, names);
  CollectEffectWrites(op, names);
  CollectCaps(op, names);
}

bool IsCapOf(const Op& op, const std::string& name) {
  const Cap* cap = As<Cap>(op);
  return cap != nullptr && !cap->began && cap->names.size() == 1 && cap->names[0] == name;
}

// Rows without a key had gone on; now they need not come.
void DropWithoutKey(const std::string& key, size_t group, std::vector<Op>* ops) {
  for (size_t i = group; i-- > 0;) {
    Project* project = As<Project>(&(*ops)[i]);
    if (project == nullptr) return;
    if (project->target != key) continue;
    project->absent = plan::Project::DROP_ROW;
    return;
  }
}

}  // namespace

bool PlainGroup(Chain* root) {
  std::vector<Op>& ops = root->ops;
  bool changed = false;
  for (size_t i = 0; i + 1 < ops.size(); ++i) {
    Group* group = As<Group>(&ops[i]);
    if (group == nullptr || group->side_effect.empty()) continue;
    if (!IsCapOf(ops[i + 1], group->side_effect)) continue;
    std::set<std::string> others;
    for (size_t other = 0; other < ops.size(); ++other) {
      if (other != i && other != i + 1) CollectEffects(ops[other], &others);
    }
    if (others.contains(group->side_effect)) continue;
    group->side_effect.clear();
    if (!group->key.empty()) DropWithoutKey(group->key, i, &ops);
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    changed = true;
  }
  return changed;
}

}  // namespace koios::planner
