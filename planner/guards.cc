#include "planner/guards.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "planner/op_table.h"
#include "planner/rules/equals_property.h"

namespace koios::planner {
namespace {

bool IsAddition(const Op& op) {
  const Mutate* mutate = As<Mutate>(op);
  return mutate != nullptr &&
         (mutate->kind == Mutate::Kind::kAddVertex || mutate->kind == Mutate::Kind::kAddEdge);
}

Op GuardOf(plan::Guard::Look look, const std::vector<std::string>& labels, const Op& at) {
  Mutate guard;
  guard.kind = Mutate::Kind::kGuard;
  guard.look = look;
  guard.labels = labels;
  return {std::move(guard), at.span, at.step};
}

// The guards for what a filter behind a scan looks up. Those of many constants are one operation: a
// child that gets the constants, so that a plan does not grow with a list. Whether they are all
// that the filter lets pass.
bool AddValueGuards(const Source& source, const Expression& test, const Op& filter,
                    std::vector<Op>* ops) {
  if (IsCall(test, "or") || IsCall(test, "and")) {
    bool all = true, any = false;
    for (const ExpressionPtr& part : test.args) {
      const bool covered = AddValueGuards(source, *part, filter, ops);
      all = all && covered;
      any = any || covered;
    }
    return IsCall(test, "or") ? all : any;
  }
  ExpressionPtr key, value;
  ValueList any_of;
  if (!EqualsProperty(test, &key, &value, &any_of)) return false;
  Mutate guard;
  guard.kind = Mutate::Kind::kGuard;
  if (source.labels.size() == 1) guard.label = StringConstant(source.labels[0]);
  guard.properties.emplace_back(key, value != nullptr ? value : Current());
  Op op{std::move(guard), filter.span, filter.step};
  if (value == nullptr) {
    Chain body;
    body.ops = {{Inject{PlanValues(any_of.begin(), any_of.end())}, filter.span, filter.step},
                std::move(op)};
    op = {ScopeOf(plan::ScopeExit::EFFECT, "", plan::Project::DROP_ROW, std::move(body)),
          filter.span, filter.step};
  }
  ops->push_back(std::move(op));
  return true;
}

// Follows the rows of an expansion to a test of the vertex at the far end of the edge.
class NeighbourFinder {
 public:
  explicit NeighbourFinder(const Expand& expand)
      : expand_(expand), at_neighbour_(expand.to == plan::Expand::NEIGHBOUR) {}

  // The vertex, or the list of ids, that the far end must be; in terms of the row that is expanded.
  // Null: nothing names it.
  ExpressionPtr Find(std::span<const Op> ops) {
    for (const Op& op : ops) {
      if (const Filter* filter = As<Filter>(op)) {
        if (ExpressionPtr named = at_neighbour_ ? Named(*filter->predicate) : nullptr) return named;
      } else if (const Project* project = As<Project>(op)) {
        if (project->target.empty()) return nullptr;
        const bool far = at_neighbour_ && IsCurrent(*project->value);
        stored_[project->target] = far ? project->value : Resolve(project->value);
      } else if (const EdgeEnd* end = As<EdgeEnd>(op)) {
        if (at_neighbour_ || !IsFarEnd(end->end)) return nullptr;
        at_neighbour_ = true;
      } else if (const Scope* scope = As<Scope>(op)) {
        if (!scope->target.empty() || scope->bodies.size() != 1) return nullptr;
        if (scope->policy != plan::ScopeExit::EXISTS && scope->policy != plan::ScopeExit::NONE) {
          return nullptr;
        }
        if (scope->policy == plan::ScopeExit::NONE) continue;
        NeighbourFinder inside = *this;
        if (ExpressionPtr named = inside.Find(scope->bodies[0].ops)) return named;
      } else if (!As<Mutate>(op) || ChangesGraph(op)) {
        return nullptr;
      }
    }
    return nullptr;
  }

 private:
  bool IsFarEnd(plan::EdgeEnd::End end) const {
    switch (end) {
      case plan::EdgeEnd::OTHER:
        return true;
      case plan::EdgeEnd::OUT_VERTEX:
        return expand_.direction == plan::IN;
      case plan::EdgeEnd::IN_VERTEX:
        return expand_.direction == plan::OUT;
      default:
        return false;
    }
  }

  ExpressionPtr Named(const Expression& test) {
    if (IsCall(test, "and")) {
      for (const ExpressionPtr& part : test.args) {
        if (ExpressionPtr named = Named(*part)) return named;
      }
    }
    const bool equals = IsCall(test, "eq");
    if (!equals && !IsCall(test, "has_id")) return nullptr;
    if (IsFarVertex(*test.args[0])) return Resolve(test.args[1]);
    return equals && IsFarVertex(*test.args[1]) ? Resolve(test.args[0]) : nullptr;
  }

  bool IsFarVertex(const Expression& expression) const {
    if (expression.kind != Expression::Kind::kNamed) return IsCurrent(expression);
    const auto stored = stored_.find(expression.name);
    return stored != stored_.end() && stored->second != nullptr && IsCurrent(*stored->second);
  }

  // In terms of the row that is expanded; null when it cannot be said.
  ExpressionPtr Resolve(const ExpressionPtr& expression) const {
    if (expression->kind == Expression::Kind::kConstant) return expression;
    if (expression->kind != Expression::Kind::kNamed) return nullptr;
    const auto stored = stored_.find(expression->name);
    if (stored == stored_.end()) return expression;
    return IsFarVertex(*expression) ? nullptr : stored->second;
  }

  const Expand& expand_;
  bool at_neighbour_;
  std::map<std::string, ExpressionPtr> stored_;  // behind the expansion
};

// The guards of degrees that an expression reads.
void AddDegreeGuards(const Expression& expression, const Op& at, std::vector<Op>* ops) {
  for (const ExpressionPtr& arg : expression.args) AddDegreeGuards(*arg, at, ops);
  if (!IsCall(expression, "degree")) return;
  std::vector<std::string> labels;
  for (size_t i = 2; i < expression.args.size(); ++i) {
    labels.push_back(expression.args[i]->constant.AsString());
  }
  const ExpressionPtr& vertex = expression.args[0];
  if (vertex->kind == Expression::Kind::kCall) {
    ops->push_back(GuardOf(plan::Guard::EDGE_SCAN, labels, at));
    return;
  }
  Op guard = GuardOf(plan::Guard::ADJACENCY, labels, at);
  As<Mutate>(&guard)->out = vertex;
  As<Mutate>(&guard)->direction =
      static_cast<plan::Direction>(expression.args[1]->constant.AsInteger());
  ops->push_back(std::move(guard));
}

// What the rows of a chain go to.
struct Ahead {
  bool adds = false;     // something is added that rests on them
  bool gathers = false;  // by what they came to
};

class Guards {
 public:
  bool changed() const { return changed_; }

  void GuardChain(Chain* chain, Ahead ahead) {
    std::vector<std::vector<Op>> guards_of(chain->ops.size());
    for (size_t i = chain->ops.size(); i-- > 0;) {
      Op& op = chain->ops[i];
      const bool adds = AnyOp(op, IsAddition);
      GuardChildren(&op, ahead);
      if (ahead.adds || adds) GuardExpressions(&op, &guards_of[i]);
      if (As<Source>(op) && ahead.adds) GuardSource(*chain, i, ahead, &guards_of[i]);
      if (As<Expand>(op) && ahead.adds && ahead.gathers) GuardExpand(*chain, i, &guards_of[i]);
      ahead.gathers = ahead.gathers || (ahead.adds && TraitsOf(op).gathers);
      ahead.adds = ahead.adds || adds;
    }
    std::vector<Op> ops;
    for (size_t i = 0; i < chain->ops.size(); ++i) {
      changed_ = changed_ || !guards_of[i].empty();
      for (Op& guard : guards_of[i]) ops.push_back(std::move(guard));
      ops.push_back(std::move(chain->ops[i]));
    }
    chain->ops = std::move(ops);
  }

 private:
  void GuardChildren(Op* op, Ahead ahead) {
    std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) return;
    const Scope* scope = As<Scope>(op);
    if (scope == nullptr) {
      ahead.adds = ahead.adds || AnyOp(*op, IsAddition);  // in a next iteration or branch
      for (Chain& child : *children) GuardChain(&child, ahead);
      return;
    }
    const bool flows =
        scope->policy == plan::ScopeExit::ALL || scope->policy == plan::ScopeExit::EFFECT;
    for (size_t i = children->size(); i-- > 0;) {
      const bool last = i + 1 == children->size();
      Ahead inside = ahead;
      inside.gathers = inside.gathers || !flows || !last;
      GuardChain(&(*children)[i], inside);
      ahead.adds =
          ahead.adds || AnyOp((*children)[i], IsAddition);  // when those before gave nothing
    }
  }

  // Tests of a loop are asked in each iteration: their guards stand in its parts.
  void GuardExpressions(Op* op, std::vector<Op>* guards) {
    if (As<Mutate>(*op)) return;
    Loop* loop = As<Loop>(op);
    if (loop == nullptr) {
      ForEachExpression(*op, [&](const Expression& part) { AddDegreeGuards(part, *op, guards); });
      return;
    }
    const auto guard = [&](const LoopTests& tests, Chain* before) {
      const size_t size = before->ops.size();
      for (const ExpressionPtr& test : {tests.until, tests.emit}) {
        if (test != nullptr) AddDegreeGuards(*test, *op, &before->ops);
      }
      changed_ = changed_ || before->ops.size() > size;
    };
    guard(loop->before, &loop->parts[0]);
    guard(loop->behind, &loop->parts[2]);
  }

  static void GuardSource(const Chain& chain, size_t i, Ahead ahead, std::vector<Op>* guards) {
    const Source& source = *As<Source>(chain.ops[i]);
    if (source.ids) return;
    bool covered = false;
    for (size_t k = i + 1; k < chain.ops.size() && As<Filter>(chain.ops[k]); ++k) {
      const Op& filter = chain.ops[k];
      covered = AddValueGuards(source, *As<Filter>(filter)->predicate, filter, guards) || covered;
    }
    if (covered || !ahead.gathers) return;
    const bool edges = source.element == plan::EDGE;
    guards->push_back(GuardOf(edges ? plan::Guard::EDGE_SCAN : plan::Guard::VERTEX_SCAN,
                              source.labels, chain.ops[i]));
  }

  static void GuardExpand(const Chain& chain, size_t i, std::vector<Op>* guards) {
    const Expand& expand = *As<Expand>(chain.ops[i]);
    Op op = GuardOf(plan::Guard::ADJACENCY, expand.labels, chain.ops[i]);
    Mutate* guard = As<Mutate>(&op);
    guard->direction = expand.direction;
    guard->out = Current();
    if (expand.to != plan::Expand::DEGREE) {
      guard->in = NeighbourFinder(expand).Find(std::span(chain.ops).subspan(i + 1));
    }
    guards->push_back(std::move(op));
  }

  bool changed_ = false;
};

}  // namespace

bool AddGuards(Chain* root) {
  if (!AnyOp(*root, IsAddition)) return false;
  Guards guards;
  guards.GuardChain(root, {});
  return guards.changed();
}

}  // namespace koios::planner
