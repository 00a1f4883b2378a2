#include "tests/simulation/saved_case.h"

#include "google/protobuf/text_format.h"
#include "tests/simulation/saved_case.pb.h"

namespace koios::simulation {
namespace {

void PutTraversal(const Traversal& steps, saved::Traversal* out) {
  for (const Step& step : steps) {
    saved::Step* put = out->add_steps();
    put->set_kind(static_cast<saved::Step::Kind>(step.kind));
    put->set_number(step.number);
    put->set_lock_step(static_cast<saved::Step::LockStep>(step.lock_step));
    for (const Traversal& child : step.children) PutTraversal(child, put->add_children());
  }
}

// Recursion is bounded by the parser of the text.
Traversal GetTraversal(const saved::Traversal& in) {
  Traversal steps;
  for (const saved::Step& got : in.steps()) {
    Step step;
    step.kind = static_cast<Step::Kind>(got.kind());
    step.number = got.number();
    step.lock_step = static_cast<LockStep>(got.lock_step());
    for (const saved::Traversal& child : got.children()) {
      step.children.push_back(GetTraversal(child));
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

void PutGraph(const GraphData& graph, saved::Graph* out) {
  out->set_partitions(graph.partitions);
  for (const std::optional<int64_t>& number : graph.vertices) {
    saved::Vertex* vertex = out->add_vertices();
    if (number.has_value()) vertex->set_n(*number);
  }
  for (const GraphData::Edge& edge : graph.edges) {
    saved::Edge* put = out->add_edges();
    put->set_from(edge.from);
    put->set_to(edge.to);
  }
}

StatusOr<GraphData> GetGraph(const saved::Graph& in) {
  GraphData graph;
  graph.partitions = in.partitions();
  for (const saved::Vertex& vertex : in.vertices()) {
    graph.vertices.push_back(vertex.has_n() ? std::optional<int64_t>(vertex.n()) : std::nullopt);
  }
  for (const saved::Edge& edge : in.edges()) {
    if (edge.from() >= graph.vertices.size() || edge.to() >= graph.vertices.size()) {
      return InvalidArgument("An edge of the case has an end that is no vertex.");
    }
    graph.edges.push_back({edge.from(), edge.to()});
  }
  return graph;
}

void PutOptions(const engine::SimulationOptions& options, saved::Schedule* out) {
  out->set_seed(options.seed);
  out->set_num_workers(options.num_workers);
  out->set_serialize(options.serialize);
  out->set_shared_view(options.shared_view);
  out->set_isolated(options.isolated);
  out->set_spread_after_rows(options.spread_after_rows);
  out->set_batch_rows(options.bounds.batch_rows);
  out->set_queue_batches(options.bounds.queue_batches);
  out->set_open_instances(options.bounds.open_instances);
  out->set_deliver_percent(options.deliver_percent);
  out->set_sink_window(options.sink_window);
  out->set_profile(options.profile);
  out->set_cancel_after_turns(options.cancel_after_turns);
  out->set_first_turn_slices(options.first_turn_slices);
  out->set_spills(options.spills);
  out->set_credit_bytes(options.bounds.credit_bytes);
  out->set_depth_slots(options.bounds.depth_slots);
  out->set_memory_limit_bytes(options.memory_limit_bytes);
  out->set_fail_from_spill(options.fail_from_spill);
  out->set_stall_after_batches(options.stall_after_batches);
  out->set_stall_turns(options.stall_turns);
  out->set_turn_ns(options.turn_ns);
  out->set_deadline_ns(options.deadline_ns);
  out->set_slow_workers(options.slow_workers);
  out->set_max_turns(options.max_turns);
  out->set_refuse_from_charge(options.refuse_from_charge);
  out->set_refused_charges(options.refused_charges);
  out->set_damage_from_read(options.damage_from_read);
  out->set_lease_ns(options.lease_ns);
}

engine::SimulationOptions GetOptions(const saved::Schedule& in) {
  engine::SimulationOptions options;
  options.seed = in.seed();
  options.num_workers = in.num_workers();
  options.serialize = in.serialize();
  options.shared_view = in.shared_view();
  options.isolated = in.isolated();
  options.spread_after_rows = in.spread_after_rows();
  options.bounds.batch_rows = in.batch_rows();
  options.bounds.queue_batches = in.queue_batches();
  options.bounds.open_instances = in.open_instances();
  options.deliver_percent = in.deliver_percent();
  options.sink_window = in.sink_window();
  options.profile = in.profile();
  options.cancel_after_turns = in.cancel_after_turns();
  options.first_turn_slices = in.first_turn_slices();
  options.spills = in.spills();
  if (in.credit_bytes() > 0) options.bounds.credit_bytes = in.credit_bytes();
  if (in.depth_slots() > 0) options.bounds.depth_slots = in.depth_slots();
  options.memory_limit_bytes = in.memory_limit_bytes();
  options.fail_from_spill = in.fail_from_spill();
  options.damage_from_read = in.damage_from_read();
  options.stall_after_batches = in.stall_after_batches();
  options.stall_turns = in.stall_turns();
  if (in.turn_ns() > 0) options.turn_ns = in.turn_ns();
  options.deadline_ns = in.deadline_ns();
  options.slow_workers = in.slow_workers();
  if (in.max_turns() > 0) options.max_turns = in.max_turns();
  options.refuse_from_charge = in.refuse_from_charge();
  options.refused_charges = in.refused_charges();
  options.lease_ns = in.lease_ns();
  return options;
}

}  // namespace

std::string SaveCase(const Case& drawn) {
  saved::Case out;
  out.set_text(ToText(drawn.query));
  PutTraversal(drawn.query.steps, out.mutable_traversal());
  if (drawn.query.limit.has_value()) out.set_limit(*drawn.query.limit);
  out.set_paths(drawn.query.paths);
  PutOptions(drawn.options, out.mutable_schedule());
  PutGraph(drawn.graph, out.mutable_graph());
  *out.mutable_plan() = drawn.plan;
  std::string text;
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseShortRepeatedPrimitives(true);
  CHECK(printer.PrintToString(out, &text));
  return text;
}

StatusOr<Case> ReadCase(const std::string& text) {
  saved::Case in;
  if (!google::protobuf::TextFormat::ParseFromString(text, &in)) {
    return InvalidArgument("The text is no case of the simulation.");
  }
  Case read;
  read.query.steps = GetTraversal(in.traversal());
  if (in.has_limit()) read.query.limit = in.limit();
  read.query.paths = in.paths();
  if (ToText(read.query) != in.text()) {
    return InvalidArgument("The case's steps are not its traversal " + in.text());
  }
  read.options = GetOptions(in.schedule());
  ASSIGN_OR_RETURN(read.graph, GetGraph(in.graph()));
  read.plan = in.plan();
  return read;
}

}  // namespace koios::simulation
