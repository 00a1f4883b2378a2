// The operators' table: which class makes which plan entry. A new operator is a line here.
#include "core/plan/operator_table.h"
#include "engine/op/collect_ops.h"
#include "engine/op/effect_ops.h"
#include "engine/op/element_ops.h"
#include "engine/op/filter_state_ops.h"
#include "engine/op/group_op.h"
#include "engine/op/merge_op.h"
#include "engine/op/mutate_ops.h"
#include "engine/op/operator.h"
#include "engine/op/reduce_op.h"
#include "engine/op/row_ops.h"
#include "engine/op/sack_barrier.h"
#include "engine/op/source_ops.h"
#include "engine/op/waiting_ops.h"
#include "engine/op/walk/reach_op.h"
#include "engine/op/walk/shortest_path_op.h"

namespace koios::engine {
namespace {

StatusOr<OperatorBundle> MakeChange(const plan::Operator& op, uint32_t num_slots,
                                    OperatorHost* host) {
  switch (op.kind_case()) {
    case plan::Operator::kAddVertex:
      return MakeAddVertex(op.add_vertex(), num_slots, host);
    case plan::Operator::kAddEdge:
      return MakeAddEdge(op.add_edge(), num_slots, host);
    case plan::Operator::kSetProperty:
      return MakeSetProperty(op.set_property(), num_slots, host);
    case plan::Operator::kDrop:
      return MakeDrop(op.drop(), host);
    case plan::Operator::kGuard:
      return MakeGuard(op.guard(), num_slots, host);
    default:
      return Internal("The plan has an unknown change.");
  }
}

StatusOr<OperatorBundle> MakeAnyBarrier(const plan::Barrier& op, uint32_t num_slots,
                                        OperatorHost* host) {
  if (op.has_sacks()) return MakeSackBarrier(op.sacks(), num_slots, host);
  return op.merge() ? MakeMergingBarrier(num_slots, host) : MakeBarrier(host);
}

StatusOr<OperatorBundle> MakeAnyGroup(const plan::Group& op, uint32_t num_slots,
                                      OperatorHost* host) {
  return op.side_effect().empty() ? MakeGroup(op, num_slots, host)
                                  : MakeGroupEffect(op, num_slots, host);
}

StatusOr<OperatorBundle> Make(const plan::Operator& op, uint32_t num_slots, OperatorHost* host) {
  switch (op.kind_case()) {
    case plan::Operator::kInject:
      return MakeInject(op.inject(), host);
    case plan::Operator::kPartitions:
      return MakePartitions(host);
    case plan::Operator::kScan:
      return MakeScan(op.scan(), host);
    case plan::Operator::kLookup:
      return MakeLookup(op.lookup(), host);
    case plan::Operator::kExpand:
      return MakeExpand(op.expand(), host);
    case plan::Operator::kEdgeEnd:
      return MakeEdgeEnd(op.edge_end());
    case plan::Operator::kFetch:
      return MakeFetch(op.fetch(), host);
    case plan::Operator::kFilter:
      return MakeFilter(op.filter(), num_slots, host);
    case plan::Operator::kProject:
      return MakeProject(op.project(), num_slots, host);
    case plan::Operator::kUnfold:
      return MakeUnfold();
    case plan::Operator::kLimit:
      return MakeLimit(op.limit(), host);
    case plan::Operator::kTimeLimit:
      return MakeTimeLimit(op.time_limit(), host);
    case plan::Operator::kDedup:
      return MakeDedup(op.dedup(), num_slots, host);
    case plan::Operator::kReduce:
      return MakeReduce(op.reduce(), host);
    case plan::Operator::kOrder:
      return MakeOrder(op.order(), num_slots, host);
    case plan::Operator::kTail:
      return MakeTail(op.tail(), host);
    case plan::Operator::kSample:
      return MakeSample(op.sample(), host);
    case plan::Operator::kBarrier:
      return MakeAnyBarrier(op.barrier(), num_slots, host);
    case plan::Operator::kGroup:
      return MakeAnyGroup(op.group(), num_slots, host);
    case plan::Operator::kMerge:
      return MakeMerge(op.merge(), host);
    case plan::Operator::kAggregate:
      return MakeAggregate(op.aggregate(), num_slots, host);
    case plan::Operator::kCap:
      return MakeCap(op.cap(), num_slots, host);
    case plan::Operator::kReach:
      return MakeReach(op.reach(), num_slots, host);
    case plan::Operator::kShortestPath:
      return MakeShortestPath(op.shortest_path(), num_slots, host);
    case plan::Operator::kAddVertex:
    case plan::Operator::kAddEdge:
    case plan::Operator::kSetProperty:
    case plan::Operator::kDrop:
    case plan::Operator::kGuard:
      return MakeChange(op, num_slots, host);
    case plan::Operator::kExchange:
    case plan::Operator::kSplit:
    case plan::Operator::kScopeEnter:
    case plan::Operator::kScopeExit:
    case plan::Operator::kLoopEnter:
    case plan::Operator::kLoopBack:
    case plan::Operator::kLoopExit:
    case plan::Operator::kSink:
      return OperatorBundle();
    case plan::Operator::KIND_NOT_SET:
      break;
  }
  return Internal("The plan has an unknown operator for the step " + op.step() + ".");
}

}  // namespace

StatusOr<OperatorBundle> MakeOperator(const plan::Operator& op, uint32_t num_slots,
                                      OperatorHost* host) {
  ASSIGN_OR_RETURN(OperatorBundle bundle, Make(op, num_slots, host));
  if ((bundle.barrier != nullptr) != plan::IsBarrier(op)) {
    return Internal("The plan has a stage of " + std::string(plan::NameOf(op)) +
                    " that is not there.");
  }
  return bundle;
}

}  // namespace koios::engine
