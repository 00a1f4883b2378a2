// Liveness of stored names, from the end of the chain to its start: what nobody reads any more is
// not stored. Names stored inside a local child end with it.
#include <algorithm>

#include "planner/plan_error.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

using Names = std::set<std::string>;

// Only stores; drops no row and has no effect.
bool OnlyStores(const Op& op) {
  if (HasEffects(op)) return false;
  if (const Project* project = As<Project>(op)) {
    return !project->target.empty() &&
           (IsCurrent(*project->value) || project->absent != plan::Project::DROP_ROW);
  }
  if (const Scope* scope = As<Scope>(op)) {
    return scope->policy == plan::ScopeExit::EXISTS_FLAG ||
           (scope->policy == plan::ScopeExit::FIRST && !scope->target.empty() &&
            scope->absent != plan::Project::DROP_ROW);
  }
  return false;
}

// Called for every op with the names that are read behind it, before its children are visited.
using Visit = std::function<void(const Op&, const Names&)>;

Names LiveBefore(const Chain& chain, Names live, const Visit& visit);

// A name read anywhere in a loop may be read by the next iteration.
Names LiveInLoop(const Op& loop, Names behind) {
  CollectAllReads(loop, &behind);
  return behind;
}

void LiveBeforeOp(const Op& op, Names* live, const Visit& visit) {
  visit(op, *live);
  if (EndsHistory(op)) live->clear();
  if (!WrittenName(op).empty()) live->erase(WrittenName(op));
  if (const Scope* scope = As<Scope>(op)) {
    for (const Chain& body : scope->bodies) live->merge(LiveBefore(body, {}, visit));
  }
  if (const Split* split = As<Split>(op)) {
    Names before;
    for (const Chain& branch : split->branches) {
      before.merge(LiveBefore(branch, *live, visit));
    }
    *live = std::move(before);
  }
  CollectReads(op, live);
  if (const Loop* loop = As<Loop>(op)) {
    const Names inside = LiveInLoop(op, *live);
    Names before = inside;
    for (const Chain& part : loop->parts) LiveBefore(part, inside, visit);
    *live = std::move(before);
  }
}

Names LiveBefore(const Chain& chain, Names live, const Visit& visit) {
  for (auto op = chain.ops.rbegin(); op != chain.ops.rend(); ++op) {
    LiveBeforeOp(*op, &live, visit);
  }
  return live;
}

Names Sweep(Chain* chain, Names live, bool* changed) {
  const Visit ignore = [](const Op&, const Names&) {};
  std::vector<Op> kept;  // from the last to the first
  for (size_t i = chain->ops.size(); i-- > 0;) {
    Op& op = chain->ops[i];
    if (OnlyStores(op) && !live.contains(WrittenName(op))) {
      *changed = true;
      continue;
    }
    if (Scope* scope = As<Scope>(&op)) {
      for (Chain& body : scope->bodies) Sweep(&body, {}, changed);
    }
    if (Loop* loop = As<Loop>(&op)) {
      const Names inside = LiveInLoop(op, live);
      for (Chain& part : loop->parts) Sweep(&part, inside, changed);
    }
    if (Split* split = As<Split>(&op)) {
      for (Chain& branch : split->branches) Sweep(&branch, live, changed);
    }
    LiveBeforeOp(op, &live, ignore);
    kept.push_back(std::move(op));
  }
  std::reverse(kept.begin(), kept.end());
  chain->ops = std::move(kept);
  return live;
}

}  // namespace

bool DropUnread(Chain* root) {
  bool changed = false;
  Sweep(root, {}, &changed);
  return changed;
}

Status CheckVisibility(const Chain& root) {
  Status status = OkStatus();
  LiveBefore(root, {}, [&status](const Op& op, const Names& live) {
    const Scope* scope = As<Scope>(op);
    if (scope == nullptr ||
        (scope->policy != plan::ScopeExit::ALL && scope->policy != plan::ScopeExit::OPTIONAL)) {
      return;
    }
    Names written;
    for (const Chain& body : scope->bodies) CollectWrites(body, &written);
    for (const std::string& name : written) {
      // Of the planner's own names only this one is read by a later step.
      if (!live.contains(name) || (name[0] == '~' && name != kFromVertexName)) continue;
      if (name[0] != '~' && !scope->keeps_labels) continue;
      const std::string what =
          name[0] == '~' ? "the vertex that otherV() needs" : "the label \"" + name + "\"";
      status = NotThereYet(
          op.span, "",
          what + " is stored inside " + op.step + " and read behind it, which is not there yet");
    }
  });
  return status;
}

}  // namespace koios::planner
