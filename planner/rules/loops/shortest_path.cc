// V(1).repeat(both().simplePath()).until(hasId(2)).path().limit(1): only the first is asked for,
// and which of several shortest comes first is not said. So each vertex is met once, from both
// sides. Where it must not be: where there may be several starts, as the first of all comes from
// the nearest; where vertices of the path before the loop would be visited again, which
// simplePath() forbids; where tests read more than the vertex; where the query changes the graph.
#include <set>
#include <string>

#include "planner/op_table.h"
#include "planner/rules/rules.h"
#include "planner/rules/walks/walks.h"
#include "planner/traverser.h"
#include "planner/value_type.h"

namespace koios::planner {
namespace {

// path_append(~path, _), without labels.
bool GrowsPath(const Op& op) {
  const Project* project = As<Project>(op);
  return project != nullptr && project->target == CarriedPath()->name &&
         IsCall(*project->value, "path_append") && project->value->args.size() == 2 &&
         IsCurrent(*project->value->args[1]);
}

bool IsSimpleTest(const Op& op) {
  const Filter* filter = As<Filter>(op);
  if (filter == nullptr || !IsCall(*filter->predicate, "eq")) return false;
  const Expression& left = *filter->predicate->args[0];
  return IsCall(left, "is_simple") && SameExpression(*left.args[0], *CarriedPath()) &&
         IsTrue(*filter->predicate->args[1]);
}

// One hop, then each vertex once or none of the path again.
struct Body {
  Hop hop;
  bool simple = false;
  bool grows_path = false;
};
std::optional<Body> BodyOf(const Chain& chain) {
  const Expand* expand = chain.ops.empty() ? nullptr : As<Expand>(chain.ops[0]);
  std::optional<Hop> hop = expand == nullptr ? std::nullopt : HopOf(*expand);
  if (!hop) return std::nullopt;
  Body body;
  body.hop = *std::move(hop);
  std::vector<ExpressionPtr> filters;
  bool dedups = false;
  for (size_t i = 1; i < chain.ops.size(); ++i) {
    const Op& op = chain.ops[i];
    const Filter* filter = As<Filter>(op);
    const Dedup* dedup = As<Dedup>(op);
    if (GrowsPath(op) && !body.grows_path) {
      body.grows_path = true;
    } else if (IsSimpleTest(op) && body.grows_path) {
      body.simple = true;
    } else if (dedup != nullptr && dedup->keys == std::vector<std::string>{""}) {
      dedups = true;
    } else if (filter != nullptr && IsVertexFilter(*filter->predicate) && !dedups) {
      filters.push_back(filter->predicate);
    } else {
      return std::nullopt;
    }
  }
  body.hop.filter = AllOf(filters);
  return body;
}

// Whether every row has the name: stored in this chain for rows that go on, and not forgotten.
bool IsStored(const Chain& chain, size_t end, const std::string& name) {
  for (size_t i = end; i-- > 0;) {
    const Project* project = As<Project>(chain.ops[i]);
    if (project != nullptr && project->target == name) {
      return project->absent == plan::Project::DROP_ROW;
    }
    if (EndsHistory(chain.ops[i])) return false;
  }
  return false;
}

// A test of what kind of value there is, which any vertex passes.
bool IsOfVertices(const Expression& predicate) {
  return IsCall(predicate, "require") && IsCurrent(*predicate.args[0]) &&
         predicate.args[1]->constant.AsString().find('v') != std::string::npos;
}

// What a test asks of a vertex.
void AddAsked(const ExpressionPtr& test, std::vector<ExpressionPtr>* asked) {
  if (IsOfVertices(*test)) return;
  if (!IsCall(*test, "and")) {
    asked->push_back(test);
    return;
  }
  for (const ExpressionPtr& part : test->args) AddAsked(part, asked);
}

// What `test` of the part's end asks of the vertex that is there.
std::optional<std::vector<ExpressionPtr>> AskedBy(const ExpressionPtr& test, const Chain& part,
                                                  const Chain& chain, size_t at) {
  std::vector<ExpressionPtr> asked;
  if (test->kind != Expression::Kind::kNamed) {
    if (!part.ops.empty()) return std::nullopt;
    AddAsked(test, &asked);
    return asked;
  }
  if (part.ops.size() != 1 || StoredName(part.ops[0]) != test->name) return std::nullopt;
  if (const Project* project = As<Project>(part.ops[0])) {
    AddAsked(project->value, &asked);
    return asked;
  }
  const Scope* scope = As<Scope>(part.ops[0]);
  if (scope == nullptr || scope->policy != plan::ScopeExit::EXISTS_FLAG ||
      scope->bodies.size() != 1) {
    return std::nullopt;
  }
  for (const Op& op : scope->bodies[0].ops) {
    const Filter* filter = As<Filter>(op);
    if (filter == nullptr) return std::nullopt;
    const Expression& predicate = *filter->predicate;
    const bool has_label = IsCall(predicate, "require_label") &&
                           predicate.args[0]->kind == Expression::Kind::kNamed &&
                           IsStored(chain, at, predicate.args[0]->name);
    if (!has_label) AddAsked(filter->predicate, &asked);
  }
  return asked;
}

// Whether the first row behind `at` is all that is asked for.
bool FirstIsEnough(const Chain& chain, size_t at) {
  for (size_t i = at + 1; i < chain.ops.size(); ++i) {
    if (const Limit* limit = As<Limit>(chain.ops[i])) return limit->low == 0 && limit->high == 1;
    const Project* project = As<Project>(chain.ops[i]);
    const bool path = project != nullptr && SameExpression(*project->value, *CarriedPath());
    if (project == nullptr || (!path && !TraitsOf(chain.ops[i]).every_row)) return false;
  }
  return false;
}

// What is known of the rows before an operation.
struct BeforeLoop {
  bool is_root = true;  // nothing is before the chain: no path, no rows but one
  bool one = true;      // there is at most one row
  size_t objects = 0;   // that its path has from here; more: it is not known
  TypeEnv types;

  void Pass(const Op& op) {
    Advance(op, &types);
    const Source* source = As<Source>(op);
    const Limit* limit = As<Limit>(op);
    const bool by_id = source != nullptr && source->ids && source->ids->size() <= 1;
    one = (limit != nullptr && limit->low == 0 && limit->high == 1) || (one && by_id) ||
          (one && source == nullptr && TraitsOf(op).at_most_one);
    std::set<std::string> stored;  // by the op or by what is inside it
    CollectStores(Chain{{op}}, &stored);
    if (!stored.contains(CarriedPath()->name)) return;
    const Project* project = As<Project>(op);
    objects += project != nullptr && IsCall(*project->value, "path_append") ? 1 : 2;
  }
};

std::optional<ShortestPath> ShortestPathOf(const Chain& chain, size_t at, const BeforeLoop& before,
                                           const Source& all) {
  const Loop* loop = As<Loop>(chain.ops[at]);
  if (loop == nullptr || !before.one || before.types.current != ValueType::kVertex ||
      !FirstIsEnough(chain, at)) {
    return std::nullopt;
  }
  const bool stays = loop->before.until != nullptr;
  if (stays == (loop->behind.until != nullptr) || loop->before.emit || loop->behind.emit) {
    return std::nullopt;
  }
  if (!loop->parts[stays ? 2 : 0].ops.empty()) return std::nullopt;
  const std::optional<Body> body = BodyOf(loop->parts[1]);
  if (!body || (body->simple && !(before.is_root && before.objects == 1))) return std::nullopt;
  const auto asked = AskedBy(stays ? loop->before.until : loop->behind.until,
                             loop->parts[stays ? 0 : 2], chain, at);
  if (!asked) return std::nullopt;
  std::optional<WalkEnds> ends = EndsOf(*asked, all);
  // Who comes for each row anew would look through the ends for each.
  const bool looks = ends && !ends->ids && ends->name.empty() && !ends->scan.seek;
  if (!ends || (looks && !before.is_root)) return std::nullopt;
  ShortestPath path;
  path.hop = body->hop;
  path.ends = *std::move(ends);
  path.may_stay = stays;
  path.simple = body->simple;
  path.gives_path = body->grows_path;
  return path;
}

// Instead of `loop`; `next` is what comes behind it.
void AppendPath(ShortestPath path, const Op& loop, const Op& next, std::vector<Op>* ops) {
  const bool gives_path = path.gives_path;
  ops->push_back({std::move(path), loop.span, loop.step});
  if (!gives_path) return;
  ops->push_back(
      {Project{Current(), CarriedPath()->name, plan::Project::LEAVE_ABSENT}, loop.span, loop.step});
  // Then the last object of the path is the current one.
  const Project* replaces = As<Project>(next);
  if (replaces != nullptr && replaces->target.empty() && !ReadsCurrent(*replaces->value)) return;
  ops->push_back({Project{CallOf("list_tail", {CarriedPath(), Constant(Value::Long(1))}), "",
                          plan::Project::DROP_ROW},
                  loop.span, loop.step});
  ops->push_back({Unfold{}, loop.span, loop.step});
}

bool RewriteChain(Chain* chain, BeforeLoop before, const Source& all) {
  bool changed = false;
  std::vector<Op> ops;
  for (size_t at = 0; at < chain->ops.size(); ++at) {
    Op& op = chain->ops[at];
    std::optional<ShortestPath> path = ShortestPathOf(*chain, at, before, all);
    if (Scope* scope = As<Scope>(&op)) {
      for (Chain& body : scope->bodies) {
        changed = RewriteChain(&body, {.is_root = false, .types = before.types}, all) || changed;
      }
    }
    before.Pass(op);
    if (path) {
      AppendPath(*std::move(path), op, chain->ops[at + 1], &ops);
      changed = true;
      continue;
    }
    ops.push_back(op);
  }
  if (changed) chain->ops = std::move(ops);
  return changed;
}

}  // namespace

bool FindShortestPath(Chain* root) {
  if (ChangesGraph(*root)) return false;
  return RewriteChain(root, {}, SourceOfAll(*root));
}

}  // namespace koios::planner
