// V().out().out().count(): from all vertices together one comes to each of them as often as it has
// incoming edges. So the rows stay where they are, with that bulk, and no edge is walked. The rows
// come in another order, which nobody may see: what is behind forgets it.
#include "planner/op_table.h"
#include "planner/rules/bulk/repeats.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

bool IsAllVertices(const Op& op) {
  const Source* source = As<Source>(op);
  return source != nullptr && source->element == plan::VERTEX && source->labels.empty() &&
         !source->ids && !source->seek;
}

plan::Direction Reversed(plan::Direction direction) {
  switch (direction) {
    case plan::OUT:
      return plan::IN;
    case plan::IN:
      return plan::OUT;
    default:
      return direction;
  }
}

}  // namespace

bool CountArrivals(Chain* root) {
  if (root->ops.size() < 3 || !IsAllVertices(root->ops[0]) || ChangesGraph(*root)) return false;
  Expand* expand = As<Expand>(&root->ops[1]);
  if (expand == nullptr || expand->to != plan::Expand::NEIGHBOUR || !MayComeAsBulk(*root, 2)) {
    return false;
  }
  expand->direction = Reversed(expand->direction);
  expand->to = plan::Expand::ARRIVALS;
  return true;
}

}  // namespace koios::planner
