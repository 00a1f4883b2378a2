// local(bothE().limit(1)).otherV(): the vertex that otherV() needs is the one that enters the
// child; stored before the child, it is seen behind it.
#include <algorithm>

#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// The name under which the body first of all stores the entering value; empty: none.
std::string StoredAtEntry(const Chain& body) {
  if (body.ops.empty()) return "";
  const Project* project = As<Project>(body.ops[0]);
  return project != nullptr && IsCurrent(*project->value) ? project->target : "";
}

bool WritesAgain(const Chain& body, const std::string& name) {
  std::set<std::string> names;
  CollectStores(Chain{{body.ops.begin() + 1, body.ops.end()}}, &names);
  return names.contains(name);
}

// The name that every body of the scope stores at its entry and nowhere else.
std::string Hoistable(const Op& op) {
  const Scope* scope = As<Scope>(op);
  if (scope == nullptr || !GivesBodyRows(scope->policy)) return "";
  const std::string name = StoredAtEntry(scope->bodies[0]);
  if (name.empty() || !scope->keeps_labels) return "";
  // The row that optional() passes as it is has no label of the child, and the sack that it had.
  const bool shows = IsLabel(name) || Changes(name);
  if (scope->policy == plan::ScopeExit::OPTIONAL && shows) return "";
  const bool all =
      std::all_of(scope->bodies.begin(), scope->bodies.end(), [&name](const Chain& body) {
        return StoredAtEntry(body) == name && !WritesAgain(body, name);
      });
  return all ? name : "";
}

}  // namespace

bool HoistStores(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      while (!Hoistable(chain->ops[i]).empty()) {
        Scope* scope = As<Scope>(&chain->ops[i]);
        Op store = scope->bodies[0].ops[0];
        for (Chain& body : scope->bodies) body.ops.erase(body.ops.begin());
        if (!ForgetsNames(scope->bodies[0])) scope->carried.erase(StoredName(store));
        chain->ops.insert(chain->ops.begin() + static_cast<std::ptrdiff_t>(i), std::move(store));
        changed = true;
        ++i;
      }
    }
    return changed;
  });
}

}  // namespace koios::planner
