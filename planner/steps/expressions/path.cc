#include "planner/steps/expressions/path.h"

#include <algorithm>

#include "planner/steps/catalogue.h"

namespace koios::planner {
namespace {

bool ReadsInArgument(const parser::Argument& argument) {
  if (argument.traversal != nullptr && ReadsPaths(*argument.traversal)) return true;
  return std::any_of(argument.items.begin(), argument.items.end(), ReadsInArgument);
}

bool ReadsInCall(const parser::Call& call) {
  const StepSpec* spec = FindStep(call.name);
  if (spec != nullptr && spec->Has(kReadsPath)) return true;
  if (call.name == "select" && !call.arguments.empty() && call.arguments[0].qualifier == "Pop") {
    return true;
  }
  return std::any_of(call.arguments.begin(), call.arguments.end(), ReadsInArgument);
}

}  // namespace

bool ReadsPaths(const parser::Traversal& traversal) {
  return std::any_of(traversal.calls.begin(), traversal.calls.end(), ReadsInCall);
}

}  // namespace koios::planner
