// What leaves a loop in an earlier iteration comes first where somebody can tell, as in TinkerPop:
// repeat(out()).until(...).limit(1) is how people find a shortest path. Such a loop goes in
// lock-step. Where nobody can tell, or all leave in the same iteration, iterations run free of each
// other and nothing waits.
#include <algorithm>

#include "planner/rules/loops/loop_times.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// By the op or one inside it.
bool ReadsEffects(const Op& op) {
  bool reads = false;
  ForEachExpression(op, [&reads](const Expression& part) {
    reads = reads || HasCallWith(part, plan::kReadsEffect);
  });
  const std::vector<Chain>* children = ChildrenOf(op);
  if (reads || children == nullptr) return reads;
  return std::any_of(children->begin(), children->end(), [](const Chain& child) {
    return std::any_of(child.ops.begin(), child.ops.end(),
                       [](const Op& inner) { return ReadsEffects(inner); });
  });
}

// What passes a set of the visited is decided by who comes first.
bool Visits(const Op& op) {
  const Aggregate* aggregate = As<Aggregate>(op);
  if (aggregate != nullptr && aggregate->distinct) return true;
  const std::vector<Chain>* children = ChildrenOf(op);
  return children != nullptr && std::any_of(children->begin(), children->end(), [](const Chain& c) {
           return std::any_of(c.ops.begin(), c.ops.end(), Visits);
         });
}

// What is known of the operations behind.
struct Behind {
  bool shows = false;  // somebody can tell the order in which rows come
  bool reads = false;  // stored names are read
};

class Marking {
 public:
  bool changed() const { return changed_; }

  void Run(Chain* chain, Behind behind) {
    for (auto op = chain->ops.rbegin(); op != chain->ops.rend(); ++op) {
      RunChildren(&*op, behind);
      Pass(*op, &behind);
    }
  }

 private:
  void RunChildren(Op* op, const Behind& behind) {
    if (Scope* scope = As<Scope>(op)) {
      const bool first = scope->policy == plan::ScopeExit::FIRST;
      const bool all =
          scope->policy == plan::ScopeExit::ALL || scope->policy == plan::ScopeExit::OPTIONAL;
      const Behind inside{first || (all && behind.shows), behind.reads};
      for (Chain& body : scope->bodies) Run(&body, inside);
    }
    if (Split* split = As<Split>(op)) {
      for (Chain& branch : split->branches) Run(&branch, behind);
    }
    if (Loop* loop = As<Loop>(op)) {
      const bool lazy = (HasEffects(*op) && ReadsEffects(*op)) || Visits(*op);
      if (lazy || (behind.shows && !LeavesAtOnce(*loop))) {
        loop->breadth_first = true;
        changed_ = true;
      }
      for (Chain& part : loop->parts) Run(&part, behind);
    }
  }

  // From behind the op to before it.
  static void Pass(const Op& op, Behind* behind) {
    if (As<Limit>(op) || As<Tail>(op)) behind->shows = true;
    if (As<Order>(op) || As<Sample>(op) || As<Cap>(op)) behind->shows = false;
    if (const Reduce* reduce = As<Reduce>(op)) {
      behind->shows =
          reduce->function == plan::Reduce::FOLD || reduce->function == plan::Reduce::FOLD_WITH;
    }
    if (const Group* group = As<Group>(op); group != nullptr && group->side_effect.empty()) {
      behind->shows = group->kind == plan::Group::LIST || group->kind == plan::Group::LAST;
    }
    // Of rows with equal keys the first one goes on, with all that it has stored.
    if (const Dedup* dedup = As<Dedup>(op)) {
      const bool whole = dedup->keys.size() == 1 && dedup->keys[0].empty();
      behind->shows = behind->shows || !whole || behind->reads;
    }
    if (EndsHistory(op)) behind->reads = false;
    std::set<std::string> names;
    CollectAllReads(op, &names);
    behind->reads = behind->reads || !names.empty();
  }

  bool changed_ = false;
};

}  // namespace

bool BreadthFirst(Chain* root) {
  Marking marking;
  marking.Run(root, {});
  return marking.changed();
}

}  // namespace koios::planner
