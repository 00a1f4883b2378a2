#include "planner/steps/source/configuration.h"

namespace koios::planner {
namespace {

void FindInArgument(const parser::Argument& argument, SackSettings* sacks) {
  if (argument.traversal != nullptr) FindSacks(*argument.traversal, sacks);
  for (const parser::Argument& item : argument.items) FindInArgument(item, sacks);
}

}  // namespace

Status Configure(std::string_view name, const std::vector<Bound>& args,
                 Configuration* configuration, SideEffectTable* effects) {
  SackSettings& sacks = configuration->sacks;
  if (name == "withSack") {
    sacks.initial = args[0].value;
    sacks.operator_ = args.size() > 1 ? args[1].name : "";
  } else if (name == "withBulk") {
    sacks.bulks = args[0].value.AsBool();
  } else if (name == "withSideEffect") {
    SideEffect& effect = (*effects)[args[0].value.AsString()];
    effect.initial = args[1].value;
    effect.operator_ = args.size() > 2 ? args[2].name : "";
  } else {  // withPath
    configuration->keeps_paths = true;
  }
  return OkStatus();
}

void FindSacks(const parser::Traversal& traversal, SackSettings* sacks) {
  for (const parser::Call& call : traversal.calls) {
    const bool sack = call.name == "sack";
    const bool barrier = call.name == "barrier" && !call.arguments.empty() &&
                         call.arguments[0].qualifier == "Barrier";
    sacks->read = sacks->read || sack || barrier;
    sacks->by_steps = sacks->by_steps || barrier || (sack && !call.arguments.empty());
    sacks->written = sacks->by_steps;
    for (const parser::Argument& argument : call.arguments) FindInArgument(argument, sacks);
  }
}

}  // namespace koios::planner
