#include "planner/rules/choices/order_shows.h"

#include "planner/op_table.h"

namespace koios::planner {

bool OrderShows(const Chain& root, size_t at) {
  bool shows = false, reads = false;
  for (size_t i = root.ops.size(); i-- > at + 1;) {
    const Op& op = root.ops[i];
    const OpTraits traits = TraitsOf(op);
    if (traits.order != OrderSeen::kAsBehind) shows = traits.order == OrderSeen::kShown;
    // Of rows with equal keys the first one goes on, with all that it has stored.
    if (const Dedup* dedup = As<Dedup>(op)) {
      const bool whole = dedup->keys.size() == 1 && dedup->keys[0].empty();
      shows = shows || !whole || reads;
    }
    // What is done for each of them is done in turn; branches and loops may end at the first.
    const bool in_turn = HasEffects(op) || As<Split>(op) != nullptr || As<Loop>(op) != nullptr;
    shows = shows || in_turn || AnyOp(op, [](const Op& each) { return TraitsOf(each).races; });
    if (traits.ends_history) reads = false;
    std::set<std::string> names;
    CollectAllReads(op, &names);
    reads = reads || !names.empty();
  }
  return shows;
}

}  // namespace koios::planner
