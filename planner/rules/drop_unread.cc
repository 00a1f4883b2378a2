// Liveness of stored names, from the end of the chain to its start: what nobody reads any more is
// not stored. Names stored inside a local child end with it, but for what local() and optional()
// carry.
#include <algorithm>

#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

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

// What the results of the scope bring along of what is stored inside and read behind it. Where the
// body begins a new history, nothing of before it is seen behind it.
Names ReadThrough(const Scope& scope, const Names& live) {
  if (!scope.keeps_labels) return {};
  Names written;
  bool forgets = false;
  for (const Chain& body : scope.bodies) {
    CollectStores(body, &written);
    forgets = forgets || ForgetsNames(body);
  }
  Names carried;
  for (const std::string& name : live) {
    if (written.contains(name) || (forgets && IsOfHistory(name))) carried.insert(name);
  }
  return carried;
}

Names LiveBefore(const Chain& chain, Names live);

// The names that the op or its children read, but for what is stored only to be stored again.
void CollectLoopReads(const Op& op, Names* names) {
  Names own;
  CollectReads(op, &own);
  if (OnlyStores(op)) own.erase(StoredName(op));
  names->merge(own);
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return;
  for (const Chain& child : *children) {
    for (const Op& inner : child.ops) CollectLoopReads(inner, names);
  }
}

// A name read anywhere in a loop may be read by the next iteration.
Names LiveInLoop(const Op& loop, Names behind) {
  CollectLoopReads(loop, &behind);
  return behind;
}

// Of what may be live anywhere in the loop: not what each iteration stores before it reads it.
Names LiveAtLoopStart(const Loop& loop, Names inside, const Names& behind) {
  const auto add_tests = [&inside](const LoopTests& tests) {
    for (const ExpressionPtr& test : {tests.until, tests.emit}) {
      if (test != nullptr) CollectNames(*test, &inside);
    }
  };
  for (size_t part = loop.parts.size(); part-- > 0;) {
    if (part == 0) inside.insert(behind.begin(), behind.end());  // a row may leave there
    if (part != 1) add_tests(part == 0 ? loop.before : loop.behind);
    inside = LiveBefore(loop.parts[part], std::move(inside));
  }
  return inside;
}

void LiveBeforeOp(const Op& op, Names* live) {
  if (OnlyStores(op) && !live->contains(StoredName(op))) return;
  if (EndsHistory(op)) live->clear();
  if (!StoredName(op).empty()) live->erase(StoredName(op));
  if (const Scope* scope = As<Scope>(op)) {
    const Names carried = ReadThrough(*scope, *live);
    if (scope->policy == plan::ScopeExit::ALL) {
      for (const std::string& name : carried) live->erase(name);
    }
    for (const Chain& body : scope->bodies) live->merge(LiveBefore(body, carried));
  }
  if (const Split* split = As<Split>(op)) {
    Names before;
    for (const Chain& branch : split->branches) before.merge(LiveBefore(branch, *live));
    *live = std::move(before);
  }
  if (const Loop* loop = As<Loop>(op)) *live = LiveAtLoopStart(*loop, LiveInLoop(op, *live), *live);
  CollectReads(op, live);
}

Names LiveBefore(const Chain& chain, Names live) {
  for (auto op = chain.ops.rbegin(); op != chain.ops.rend(); ++op) LiveBeforeOp(*op, &live);
  return live;
}

Names Sweep(Chain* chain, Names live, bool* changed) {
  std::vector<Op> kept;  // from the last to the first
  for (size_t i = chain->ops.size(); i-- > 0;) {
    Op& op = chain->ops[i];
    if (OnlyStores(op) && !live.contains(StoredName(op))) {
      *changed = true;
      continue;
    }
    if (Scope* scope = As<Scope>(&op)) {
      Names carried = ReadThrough(*scope, live);
      *changed = *changed || carried != scope->carried;
      scope->carried = std::move(carried);
      for (Chain& body : scope->bodies) Sweep(&body, scope->carried, changed);
    }
    if (Loop* loop = As<Loop>(&op)) {
      const Names inside = LiveInLoop(op, live);
      for (Chain& part : loop->parts) Sweep(&part, inside, changed);
    }
    if (Split* split = As<Split>(&op)) {
      for (Chain& branch : split->branches) Sweep(&branch, live, changed);
    }
    LiveBeforeOp(op, &live);
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

}  // namespace koios::planner
