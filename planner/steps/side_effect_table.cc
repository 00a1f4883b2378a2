#include "planner/steps/side_effect_table.h"

namespace koios::planner {
namespace {

void Collect(const parser::Traversal& traversal, const Parameters& parameters,
             SideEffectTable* table);

void CollectFrom(const parser::Argument& argument, const Parameters& parameters,
                 SideEffectTable* table) {
  if (argument.traversal != nullptr) Collect(*argument.traversal, parameters, table);
  for (const parser::Argument& item : argument.items) CollectFrom(item, parameters, table);
}

void Collect(const parser::Traversal& traversal, const Parameters& parameters,
             SideEffectTable* table) {
  for (const parser::Call& call : traversal.calls) {
    const bool group = call.name == "group" || call.name == "groupCount";
    if ((group || call.name == "aggregate") && call.arguments.size() == 1) {
      const StatusOr<Bound> name = Bind(call.arguments[0], parameters, call.name);
      if (name.ok() && name->IsString()) {
        SideEffect& effect = (*table)[name->value.AsString()];
        effect.is_group = group;
        effect.gathered = true;
      }
    }
    for (const parser::Argument& argument : call.arguments) {
      CollectFrom(argument, parameters, table);
    }
  }
}

}  // namespace

bool Collects(const SideEffect& effect) {
  if (!effect.initial) return !effect.is_group;
  return effect.initial->is_collection() &&
         (effect.operator_.empty() || effect.operator_ == "addAll");
}

SideEffectTable FindSideEffects(const parser::Traversal& root, const Parameters& parameters) {
  SideEffectTable table;
  Collect(root, parameters, &table);
  return table;
}

}  // namespace koios::planner
