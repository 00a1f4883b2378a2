// A value under a name of the planner's own that one later filter or projection reads is computed
// there: or(~f1, ~f2) becomes or(..., ...) without slots.
#include <map>

#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"
#include "planner/value_type.h"

namespace koios::planner {
namespace {

// How far a value may be from its reader; bounds the work in long chains.
constexpr size_t kMaxDistance = 64;

struct Readers {
  size_t count = 0;
  size_t last = 0;  // position in the chain
};

std::map<std::string, Readers> ReadersIn(const Chain& chain) {
  std::map<std::string, Readers> readers;
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    std::set<std::string> names;
    CollectAllReads(chain.ops[i], &names);
    for (const std::string& name : names) {
      ++readers[name].count;
      readers[name].last = i;
    }
  }
  return readers;
}

// Neither the current value nor a stored one that `value` reads is changed by `op`.
bool Keeps(const Op& op, const Expression& value) {
  if (HasEffects(op)) return false;
  if (As<Filter>(op)) return true;
  const Scope* scope = As<Scope>(op);
  const bool stores =
      As<Project>(op) || (scope != nullptr && (scope->policy == plan::ScopeExit::FIRST ||
                                               scope->policy == plan::ScopeExit::EXISTS_FLAG));
  if (!stores || StoredName(op).empty()) return false;
  std::set<std::string> names;
  CollectNames(value, &names);
  return !names.contains(StoredName(op));
}

bool ReplaceIn(Op* op, const std::string& name, const ExpressionPtr& value) {
  ExpressionPtr* where = nullptr;
  if (Filter* filter = As<Filter>(op)) where = &filter->predicate;
  if (Project* project = As<Project>(op)) where = &project->value;
  if (where == nullptr) return false;
  ExpressionPtr replaced = ReplaceNamed(*where, name, value);
  if (!Fits(*replaced)) return false;
  *where = std::move(replaced);
  return true;
}

bool IsMergeable(const Project& project) {
  return !project.target.empty() && !IsLabel(project.target) && !Changes(project.target) &&
         (project.absent == plan::Project::LEAVE_ABSENT || IsAlwaysThere(*project.value, {}));
}

// Merges the projection at `i` into its only reader.
bool Merge(Chain* chain, size_t i, const std::map<std::string, Readers>& readers,
           const std::vector<bool>& merged) {
  const Project* project = As<Project>(chain->ops[i]);
  if (project == nullptr || !IsMergeable(*project)) return false;
  auto found = readers.find(project->target);
  if (found == readers.end() || found->second.count != 1) return false;
  const size_t reader = found->second.last;
  if (reader <= i || reader - i > kMaxDistance) return false;
  for (size_t k = i + 1; k < reader; ++k) {
    if (!merged[k] && !Keeps(chain->ops[k], *project->value)) return false;
  }
  return ReplaceIn(&chain->ops[reader], project->target, project->value);
}

// From the last to the first, so that a value's own parts are merged into where it went.
bool MergeIn(Chain* chain) {
  std::map<std::string, Readers> readers = ReadersIn(*chain);
  std::vector<bool> merged(chain->ops.size(), false);
  std::vector<Op> kept;
  for (size_t i = chain->ops.size(); i-- > 0;) {
    merged[i] = Merge(chain, i, readers, merged);
    if (!merged[i]) continue;
    std::set<std::string> names;
    CollectReads(chain->ops[i], &names);
    const size_t reader = readers[StoredName(chain->ops[i])].last;
    for (const std::string& name : names) {
      if (readers[name].last == i) readers[name].last = reader;
    }
  }
  for (size_t i = 0; i < chain->ops.size(); ++i) {
    if (!merged[i]) kept.push_back(std::move(chain->ops[i]));
  }
  const bool changed = kept.size() < merged.size();
  chain->ops = std::move(kept);
  return changed;
}

}  // namespace

bool MergeProjects(Chain* root) { return ForEachChain(root, MergeIn); }

}  // namespace koios::planner
