// in('hasCreator').hasLabel('Post'): the expansion gives the posts alone, and tells them while it
// reads the list. At the end, as rules that look for an expansion and its tests take them as two.
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// The labels that are asked for; empty: it is another test, or they are parameters, which a plan
// that is kept must not read.
std::vector<std::string> LabelsOf(const Op& op) {
  std::vector<std::string> labels;
  const Filter* filter = As<Filter>(op);
  if (filter == nullptr || !IsCall(*filter->predicate, "label_in") ||
      !IsCurrent(*filter->predicate->args[0])) {
    return labels;
  }
  for (size_t i = 1; i < filter->predicate->args.size(); ++i) {
    const Expression& label = *filter->predicate->args[i];
    if (label.kind != Expression::Kind::kConstant || label.constant.use() != nullptr ||
        label.constant.kind() != ValueKind::kString) {
      return {};
    }
    labels.push_back(label.constant.AsString());
  }
  return labels;
}

}  // namespace

bool ExpandToLabels(Chain* root) {
  return ForEachChain(root, [](Chain* chain) {
    bool changed = false;
    for (size_t i = 0; i + 1 < chain->ops.size(); ++i) {
      Expand* expand = As<Expand>(&chain->ops[i]);
      if (expand == nullptr || expand->to != plan::Expand::NEIGHBOUR) continue;
      std::vector<std::string> labels = LabelsOf(chain->ops[i + 1]);
      if (labels.empty()) continue;
      expand->neighbour_labels = std::move(labels);
      chain->ops[i].step += "." + chain->ops[i + 1].step;
      chain->ops.erase(chain->ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      changed = true;
    }
    return changed;
  });
}

}  // namespace koios::planner
