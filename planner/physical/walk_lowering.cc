// Lowering of walks that are asked for their ends only.
#include "core/value_codec.h"
#include "planner/physical/lowering.h"
#include "planner/traverser.h"

namespace koios::planner {

void Lowering::EncodeHop(const Hop& hop, plan::Hop* out) {
  out->set_direction(hop.direction);
  for (const std::string& label : hop.labels) out->add_labels(label);
  if (hop.filter != nullptr) Encode(hop.filter, out->mutable_filter());
  out->set_repeat(hop.repeats);
}

void Lowering::EncodeEnds(const WalkEnds& ends, plan::WalkEnds* out) {
  if (ends.ids) {
    plan::Inject* ids = out->mutable_ids();
    for (const PlanValue& id : *ends.ids) ids->add_values(Encoded(id));
  } else if (!ends.name.empty()) {
    out->set_at_slot(SlotOf(ends.name));
  } else {
    plan::Scan* scan = out->mutable_scan();
    for (const std::string& label : ends.scan.labels) scan->add_labels(label);
    if (ends.scan.seek) *scan->mutable_seek() = *ends.scan.seek;
  }
  for (const std::string& key : ends.keys) out->add_keys(key);
  if (ends.filter != nullptr) Encode(ends.filter, out->mutable_filter());
}

void Lowering::Lower(const Reach& op) {
  ToOwner(0);
  plan::Reach* reach = Add()->mutable_reach();
  for (const Hop& hop : op.hops) EncodeHop(hop, reach->add_hops());
  EncodeEnds(op.ends, reach->mutable_ends());
  reach->set_result(op.result);
  if (op.result == plan::Reach::COUNT || op.result == plan::Reach::NUMBER) flow_.here.erase(0);
  if (op.result != plan::Reach::FLAG) return;
  reach->set_flag_slot(SlotOf(op.target));
  flow_.here.erase(SlotOf(op.target));
}

void Lowering::Lower(const ShortestPath& op) {
  ToOwner(0);
  plan::ShortestPath* path = Add()->mutable_shortest_path();
  EncodeHop(op.hop, path->mutable_hop());
  EncodeEnds(op.ends, path->mutable_ends());
  path->set_may_stay(op.may_stay);
  path->set_simple(op.simple);
  if (op.gives_path) path->set_path_slot(SlotOf(CarriedPath()->name));
  flow_.here.erase(0);
}

}  // namespace koios::planner
