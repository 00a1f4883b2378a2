// Random traversals as Gremlin text, for messages.
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

std::string StepsText(const Traversal& steps);

// What has changed is read, and what was read is changed, behind a barrier that is not written.
std::string ChangeText(const Step& step) {
  static constexpr const char* kWalks[] = {"", ".out()", ".in()"};
  static constexpr const char* kDropped[] = {"", "outE().", "bothE()."};
  const std::string number = std::to_string(step.number);
  if (step.kind == Kind::kSetNumber) {
    return "property('n', " + (step.number == 0 ? "null" : number) + ")";
  }
  if (step.kind == Kind::kAddVertexTo) return "sideEffect(addV('v').property('n', " + number + "))";
  if (step.kind == Kind::kAddEdge) {
    return std::string("as('a')") + kWalks[step.number % 3] + ".addE('e').from('a').inV()";
  }
  if (step.kind == Kind::kDrop) return std::string(kDropped[step.number % 3]) + "drop()";
  if (step.kind == Kind::kCountScan) return "count().V()";
  if (step.number == kRowItself) return "addV('v').property('n', identity())";
  const std::string added = "addV('v').property('n', " + number + ")";
  return step.number % 2 == 0 ? added : "as('a')." + added + ".addE('e').from('a').inV()";
}

std::string GroupText(int64_t number) {
  static constexpr const char* kValues[] = {"count()", "sum()", "max()"};
  return std::string("group().by().by(") + kValues[number % 3] + ").unfold().select(values)";
}

std::string StepText(const Step& step) {
  const std::string number = std::to_string(step.number);
  std::string inner;
  for (const Traversal& child : step.children) {
    inner += (inner.empty() ? "" : ", ") + StepsText(child);
  }
  switch (step.kind) {
    case Kind::kOut:
      return "out()";
    case Kind::kIn:
      return "in()";
    case Kind::kBoth:
      return "both()";
    case Kind::kHasOver:
      return "has('n', gt(" + number + "))";
    case Kind::kDedup:
      return "dedup()";
    case Kind::kMerge:
      return "barrier(" + number + ")";
    case Kind::kValues:
      return "values('n')";
    case Kind::kOver:
      return "is(gt(" + number + "))";
    case Kind::kSimplePath:
      return "simplePath()";
    case Kind::kCount:
      return "count()";
    case Kind::kSum:
      return "sum()";
    case Kind::kMin:
      return "min()";
    case Kind::kMax:
      return "max()";
    case Kind::kLimitCount:
      return "limit(" + number + ").count()";
    case Kind::kUnion:
      return "union(" + inner + ")";
    case Kind::kWhere:
      return "where(" + inner + ")";
    case Kind::kNot:
      return "not(" + inner + ")";
    case Kind::kOptional:
      return "optional(" + inner + ")";
    case Kind::kLocal:
      return "local(" + inner + ")";
    case Kind::kCoalesce:
      return "coalesce(" + inner + ")";
    case Kind::kRepeat:
      return "repeat(" + inner + ").times(" + number + ")";
    case Kind::kRepeatEmit:
      return "repeat(" + inner + ").emit().times(" + number + ")";
    case Kind::kAggregate:
      return "aggregate('x" + number + "')";
    case Kind::kWithout:
      return "where(without('x" + number + "'))";
    case Kind::kCapUnfold:
      return "cap('x" + number + "').unfold()";
    case Kind::kGroup:
      return GroupText(step.number);
    case Kind::kSetNumber:
    case Kind::kAddVertex:
    case Kind::kAddVertexTo:
    case Kind::kAddEdge:
    case Kind::kDrop:
    case Kind::kCountScan:
      return ChangeText(step);
  }
  return "?";
}

std::string StepsText(const Traversal& steps) {
  std::string text;
  for (const Step& step : steps) text += (text.empty() ? "" : ".") + StepText(step);
  return text;
}

}  // namespace

std::string ToText(const RandomQuery& query) {
  std::string text = "g.V()." + StepsText(query.steps) + (query.paths ? ".path()" : "");
  if (query.limit.has_value()) text += ".limit(" + std::to_string(*query.limit) + ")";
  return text;
}

}  // namespace koios::simulation
