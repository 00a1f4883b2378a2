#include "planner/steps/path.h"

#include <algorithm>
#include <array>

namespace koios::planner {
namespace {

bool ReadsInArgument(const parser::Argument& argument) {
  if (argument.traversal != nullptr && ReadsPaths(*argument.traversal)) return true;
  return std::any_of(argument.items.begin(), argument.items.end(), ReadsInArgument);
}

bool ReadsInCall(const parser::Call& call) {
  static constexpr std::array<std::string_view, 3> kReaders = {"path", "simplePath", "cyclicPath"};
  if (std::find(kReaders.begin(), kReaders.end(), call.name) != kReaders.end()) return true;
  if (call.name == "select" && !call.arguments.empty() && call.arguments[0].qualifier == "Pop") {
    return true;
  }
  return std::any_of(call.arguments.begin(), call.arguments.end(), ReadsInArgument);
}

}  // namespace

bool ReadsPaths(const parser::Traversal& traversal) {
  return std::any_of(traversal.calls.begin(), traversal.calls.end(), ReadsInCall);
}

Project NewPath() {
  return Project{CallOf("path_of", {Current()}), kPathName, plan::Project::LEAVE_ABSENT};
}

}  // namespace koios::planner
