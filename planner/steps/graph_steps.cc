#include "planner/plan_error.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

void AppendId(const PlanValue& id, PlanValues* ids) {
  if (id.is_null()) return;
  if (id.is_collection()) {
    for (const Value& member : id.AsList()) AppendId(member, ids);
  } else if (id.kind() == ValueKind::kElement) {
    ids->emplace_back(id.AsElement().id);
  } else {
    ids->push_back(id);
  }
}

}  // namespace

Status BuildGraph(const StepCall& step, Builder* builder) {
  Source source;
  source.element = step.name() == "V" ? plan::VERTEX : plan::EDGE;
  source.graph = builder->graph();
  if (!step.args.empty()) {
    source.ids.emplace();
    for (const Bound& argument : step.args) AppendId(argument.value, &*source.ids);
  }
  builder->Emit(std::move(source));
  return OkStatus();
}

Status BuildInject(const StepCall& step, Builder* builder) {
  Inject inject;
  for (const Bound& argument : step.args) inject.values.push_back(argument.value);
  // At the start of the root the only row is the seed, which is no traverser.
  if (!builder->is_child() && builder->at_start()) {
    builder->Emit(std::move(inject));
    return OkStatus();
  }
  Chain values;
  if (builder->is_child()) {
    // A child is begun again for each row, its inject() only once.
    const ExpressionPtr once = CallOf("once", {StringConstant(builder->FreshName('i'))});
    values.ops.push_back(Op{Filter{once}, step.span(), step.text});
  }
  values.ops.push_back(Op{std::move(inject), step.span(), step.text});
  if (builder->keeps_paths()) values.ops.push_back(Op{NewPath(), step.span(), step.text});
  if (builder->is_child() && builder->sacks().written) {
    const ExpressionPtr initial = Constant(builder->sacks().initial);
    values.ops.push_back(Op{StoreSack(initial), step.span(), step.text});
  }
  return builder->UnionWith(std::move(values));
}

Status BuildExpand(const StepCall& step, Builder* builder) {
  Expand expand;
  std::string_view name = step.name();
  if (name.back() == 'E') {
    expand.to = plan::Expand::INCIDENT;
    name.remove_suffix(1);
    builder->Emit(StoreFrom());
  }
  expand.direction = name == "out" ? plan::OUT : name == "in" ? plan::IN : plan::BOTH;
  for (const Bound& label : step.args) expand.labels.push_back(label.value.AsString());
  builder->Emit(std::move(expand));
  return OkStatus();
}

Status BuildTo(const StepCall& step, Builder* builder) {
  const Bound& direction = step.args[0];
  if (!direction.IsEnum("Direction")) {
    return StepError("MISPLACED_STEP", step.span(), step.name(),
                     "to() takes a Direction here; with a label or a traversal it follows addE(), "
                     "path(), simplePath() or cyclicPath()");
  }
  const bool out = direction.name == "OUT" || direction.name == "from";
  const bool in = direction.name == "IN" || direction.name == "to";
  if (step.name() == "toV") {
    builder->Emit(EdgeEnd{out  ? plan::EdgeEnd::OUT_VERTEX
                          : in ? plan::EdgeEnd::IN_VERTEX
                               : plan::EdgeEnd::BOTH_VERTICES});
    return OkStatus();
  }
  Expand expand;
  if (step.name() == "toE") {
    expand.to = plan::Expand::INCIDENT;
    builder->Emit(StoreFrom());
  }
  expand.direction = out ? plan::OUT : in ? plan::IN : plan::BOTH;
  for (size_t i = 1; i < step.args.size(); ++i) {
    expand.labels.push_back(step.args[i].value.AsString());
  }
  builder->Emit(std::move(expand));
  return OkStatus();
}

Status BuildEdgeEnd(const StepCall& step, Builder* builder) {
  EdgeEnd end;
  if (step.name() == "outV") end.end = plan::EdgeEnd::OUT_VERTEX;
  if (step.name() == "inV") end.end = plan::EdgeEnd::IN_VERTEX;
  if (step.name() == "bothV") end.end = plan::EdgeEnd::BOTH_VERTICES;
  if (step.name() == "otherV") {
    end.end = plan::EdgeEnd::OTHER;
    if (!HasFrom(builder->env())) {
      return StepError("MISPLACED_STEP", step.span(), step.name(),
                       "otherV() needs the vertex that the traversal came from: it follows "
                       "outE(), inE() or bothE()",
                       "bothV()");
    }
  }
  builder->Emit(end);
  return OkStatus();
}

}  // namespace koios::planner
