// What leaves a loop in an earlier iteration comes first where somebody can tell, as in TinkerPop:
// repeat(out()).until(...).limit(1) is how people find a shortest path. Such a loop goes in
// lock-step. Where nobody can tell, or all leave in the same iteration, iterations run free of each
// other and nothing waits.
#include <algorithm>

#include "planner/op_table.h"
#include "planner/rules/loops/loop_times.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// What is known of the operations behind.
struct BehindLoop {
  bool shows = false;  // somebody can tell the order in which rows come
  bool reads = false;  // stored names are read
};

class Marking {
 public:
  bool changed() const { return changed_; }

  void Run(Chain* chain, BehindLoop behind) {
    for (auto op = chain->ops.rbegin(); op != chain->ops.rend(); ++op) {
      RunChildren(&*op, behind);
      Pass(*op, &behind);
    }
  }

 private:
  void RunChildren(Op* op, const BehindLoop& behind) {
    if (Scope* scope = As<Scope>(op)) {
      const bool first = scope->policy == plan::ScopeExit::FIRST;
      const bool all = GivesBodyRows(scope->policy);
      const BehindLoop inside{first || (all && behind.shows), behind.reads};
      for (Chain& body : scope->bodies) Run(&body, inside);
    }
    if (Split* split = As<Split>(op)) {
      for (Chain& branch : split->branches) Run(&branch, behind);
    }
    if (Loop* loop = As<Loop>(op)) {
      const bool lazy = (HasEffects(*op) && AnyOp(*op, ReadsEffects)) ||
                        AnyOp(*op, [](const Op& each) { return TraitsOf(each).races; });
      if (lazy || (behind.shows && !LeavesAtOnce(*loop))) {
        loop->breadth_first = true;
        changed_ = true;
      }
      for (Chain& part : loop->parts) Run(&part, behind);
    }
  }

  // From behind the op to before it.
  static void Pass(const Op& op, BehindLoop* behind) {
    const OpTraits traits = TraitsOf(op);
    if (traits.order != OrderSeen::kAsBehind) behind->shows = traits.order == OrderSeen::kShown;
    // Of rows with equal keys the first one goes on, with all that it has stored.
    if (const Dedup* dedup = As<Dedup>(op)) {
      const bool whole = dedup->keys.size() == 1 && dedup->keys[0].empty();
      behind->shows = behind->shows || !whole || behind->reads;
    }
    if (traits.ends_history) behind->reads = false;
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
