#include "planner/changes.h"
#include "planner/op_table.h"
#include "planner/plan_error.h"
#include "planner/steps/expressions/by.h"
#include "planner/steps/expressions/predicate.h"
#include "planner/steps/steps.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// The options of choose().option() in the order in which they are tried.
class OptionTable {
 public:
  OptionTable(ExpressionPtr choice, const StepCall& step) : choice_(choice), step_(step) {}

  Status Add(const Modulator& option, Builder* builder) {
    const Bound& token = option.args[0];
    ASSIGN_OR_RETURN(Chain branch, builder->Child(option.args.back()));
    if (option.args.size() == 1) {
      return StepError("WRONG_ARGUMENTS", option.call->span, "option",
                       "option() behind choose() takes a value and a traversal");
    }
    if (token.IsTraversal()) {
      return StepError("WRONG_ARGUMENTS", token.span, "option",
                       "an option is chosen by a value or a predicate, not by a traversal");
    }
    if (token.IsEnum("Pick")) return AddPick(token, std::move(branch));
    if (token.IsPredicate()) {
      ASSIGN_OR_RETURN(ExpressionPtr test, BuildPredicate(token, choice_, step_.name()));
      Put(std::move(test), std::move(branch), &split_);
      return OkStatus();
    }
    Put(CallOf("eq", {choice_, Constant(token.value)}), std::move(branch), &split_);
    return OkStatus();
  }

  // What no option takes passes through.
  Split Finish() {
    for (size_t i = 0; i < last_.branches.size(); ++i) {
      Put(last_.tests[i], std::move(last_.branches[i]), &split_);
    }
    Put(Constant(Value::Bool(true)), Chain{}, &split_);
    return std::move(split_);
  }

 private:
  static void Put(ExpressionPtr test, Chain branch, Split* split) {
    split->tests.push_back(std::move(test));
    split->branches.push_back(std::move(branch));
  }

  Status AddPick(const Bound& pick, Chain branch) {
    const ExpressionPtr present = CallOf("present", {choice_});
    if (pick.name == "none") {
      Put(present, std::move(branch), &last_);
    } else if (pick.name == "unproductive") {
      Put(CallOf("not", {present}), std::move(branch), &last_);
    } else {
      return StepError("WRONG_ARGUMENTS", pick.span, "option",
                       "choose() knows Pick.none and Pick.unproductive, not Pick." + pick.name);
    }
    return OkStatus();
  }

  ExpressionPtr choice_;
  const StepCall& step_;
  Split split_;
  Split last_;
};

// The name under which the choice is stored, absent when it gives nothing.
StatusOr<ExpressionPtr> BuildChoice(const Bound& choice, bool as_test, const StepCall& step,
                                    Builder* builder) {
  const std::string name = builder->FreshName('c');
  if (choice.IsTraversal()) {
    ASSIGN_OR_RETURN(Chain body, builder->Child(choice));
    builder->Emit(ScopeOf(as_test ? plan::ScopeExit::EXISTS_FLAG : plan::ScopeExit::FIRST, name,
                          as_test ? plan::Project::DROP_ROW : plan::Project::LEAVE_ABSENT,
                          std::move(body)));
    return Named(name);
  }
  ExpressionPtr value;
  if (choice.IsPredicate()) {
    ASSIGN_OR_RETURN(value, BuildPredicate(choice, Current(), step.name()));
    value = CallOf("and", {std::move(value)});
  } else {
    value = TokenValue(choice.name, Current(), "choose(T." + choice.name + ")", builder);
  }
  builder->Emit(Project{std::move(value), name, plan::Project::DROP_ROW});
  return Named(name);
}

// Whether the chain gives something for whatever enters it. `env`: where it begins.
bool AlwaysGives(const Chain& chain, TypeEnv env) {
  bool gives = true;
  for (const Op& op : chain.ops) {
    if (const Project* project = As<Project>(op)) {
      gives = gives &&
              (project->absent != plan::Project::DROP_ROW || IsAlwaysThere(*project->value, env));
    } else if (const Scope* scope = As<Scope>(op); scope != nullptr && !scope->bodies.empty()) {
      const bool one_of_bodies = scope->policy == plan::ScopeExit::ALL;
      gives = gives && one_of_bodies && AlwaysGives(scope->bodies.back(), env);
    } else {
      gives = TraitsOf(op).of_nothing;
    }
    Advance(op, &env);
  }
  return gives;
}

// The options of branch(): every one that fits takes the traverser, Pick.none's when none fits.
class BranchOptions {
 public:
  BranchOptions(ExpressionPtr choice, const StepCall& step) : choice_(choice), step_(step) {}

  // Before the branches are built: what the options ask is stored in front of all of them.
  Status AddTests(Builder* builder) {
    for (const Modulator& option : step_.options) {
      if (option.args.size() == 1 || option.args[0].IsEnum("Pick")) continue;
      ASSIGN_OR_RETURN(ExpressionPtr test, TestOf(option.args[0], builder));
      tests_.push_back(std::move(test));
    }
    return OkStatus();
  }

  StatusOr<Split> Branches(Builder* builder) {
    Split all;
    size_t next_test = 0;
    for (const Modulator& option : step_.options) {
      ASSIGN_OR_RETURN(Chain branch, builder->Child(option.args.back()));
      const Bound& token = option.args[0];
      const bool any = option.args.size() == 1;
      if (!any && !token.IsEnum("Pick")) {
        branch = Chosen({tests_[next_test++]}, true, branch, *builder);
      } else if (!any && token.name == "none") {
        branch = Chosen(tests_, false, branch, *builder);
      } else if (!any && token.name != "any") {
        return StepError("WRONG_ARGUMENTS", token.span, "option",
                         "branch() knows Pick.any and Pick.none, not Pick." + token.name);
      }
      all.branches.push_back(std::move(branch));
    }
    // A traverser that nothing takes is dropped; and a barrier of the only branch waits for a
    // first traverser.
    if (all.branches.size() == 1) all.branches.push_back(Nothing(*builder));
    return all;
  }

 private:
  StatusOr<ExpressionPtr> TestOf(const Bound& token, Builder* builder) {
    if (token.IsPredicate()) return BuildPredicate(token, choice_, step_.name());
    if (token.IsTraversal()) return TestOfTraversal(token, builder);
    if (token.kind == Bound::Kind::kValue) {
      return CallOf("eq", {choice_, Constant(token.value)});
    }
    return StepError("WRONG_ARGUMENTS", token.span, "option",
                     "an option of branch() is chosen by a value, a predicate, a traversal or a "
                     "Pick, not by " +
                         DescribeBound(token));
  }

  // The traversal begins at the choice, with a traverser that knows no labels.
  StatusOr<ExpressionPtr> TestOfTraversal(const Bound& token, Builder* builder) {
    TypeEnv env = builder->env();
    env.current = TypeOf(*choice_, env);
    std::erase_if(env.names, [](const auto& entry) {
      return IsLabel(entry.first) || entry.first == FromName();
    });
    ASSIGN_OR_RETURN(Chain body, builder->ChildFrom(token, env, LabelMode::kPlain));
    if (builder->keeps_paths()) body.ops.insert(body.ops.begin(), builder->Place(NewPath()));
    body.ops.insert(body.ops.begin(),
                    builder->Place(Project{choice_, "", plan::Project::DROP_ROW}));
    return builder->EmitFlag(std::move(body));
  }

  static Chain Nothing(const Builder& builder) {
    Chain nothing;
    nothing.ops.push_back(builder.Place(Filter{Constant(Value::Bool(false))}));
    return nothing;
  }

  // The branch for those for whom one of the tests holds, or for whom none does. What counts them
  // gives nothing when nobody takes it, so that this is no filter.
  static Chain Chosen(const std::vector<ExpressionPtr>& tests, bool holds, const Chain& branch,
                      const Builder& builder) {
    Split split;
    for (const ExpressionPtr& test : tests) {
      split.tests.push_back(test);
      split.branches.push_back(holds ? branch : Nothing(builder));
    }
    split.tests.push_back(Constant(Value::Bool(true)));
    split.branches.push_back(holds ? Nothing(builder) : branch);
    Chain chain;
    chain.ops.push_back(builder.Place(std::move(split)));
    return chain;
  }

  ExpressionPtr choice_;
  const StepCall& step_;
  std::vector<ExpressionPtr> tests_;
};

void EmitScope(Scope scope, Builder* builder) {
  for (Project& store : StoresBefore(scope)) builder->Emit(std::move(store));
  builder->Emit(std::move(scope));
}

// Whether the child gives something when nothing enters it: count() gives 0, fold() [].
bool GivesOfNothing(const Chain& child) {
  return std::any_of(child.ops.begin(), child.ops.end(),
                     [](const Op& op) { return TraitsOf(op).of_nothing; });
}

// TinkerPop's optional() asks its child before the first traverser enters: V().optional(count())
// begins with 0, also without any traverser. Once for the traversal, here for that of the root; in
// a child it were once for each traverser, and before the others.
Status EmitOfNothing(const Chain& child, const StepCall& step, Builder* builder) {
  const std::span<const Op> before = builder->OpsFrom(0);
  const bool ordered = std::any_of(before.begin(), before.end(),
                                   [](const Op& op) { return As<Order>(op) != nullptr; });
  const bool effects = HasEffects(child) || std::any_of(child.ops.begin(), child.ops.end(),
                                                        [](const Op& op) { return As<Cap>(op); });
  if (builder->is_child() || builder->loop().inside || builder->keeps_paths() || ordered ||
      effects) {
    return NotThereYet(step.args[0].span, step.name(),
                       "optional() also gives once what its child gives of nothing, as count() and "
                       "fold() do: in a child, behind order(), with paths or with side-effects "
                       "that is not there yet; coalesce(..., identity()) gives only the rest");
  }
  Chain nothing = child;
  nothing.ops.insert(nothing.ops.begin(), builder->Place(Filter{Constant(Value::Bool(false))}));
  return builder->UnionWith(std::move(nothing));
}

// The branches of union() and choose() run side by side unless one can see what another one
// changes. Then their order is TinkerPop's: a traverser is through all branches before the next one
// enters them, but when a branch keeps traversers back, every branch has all of them in turn.
class BranchOrder {
 public:
  explicit BranchOrder(Builder* builder)
      : builder_(builder),
        begin_(builder->num_ops()),
        before_(builder->env()),
        many_(builder->takes_many()) {}

  void Emit(Split split) {
    const bool all_take = split.tests.empty();
    const std::span<const Op> tests = builder_->OpsFrom(begin_);
    bool tests_see = false, branches_see = false, holds = false;
    for (const Chain& branch : split.branches) {
      tests_see = tests_see || Sees(tests, branch.ops);
      holds = holds || HoldsTraversers(branch);
      if (!ChangesGraph(branch)) continue;
      for (const Chain& other : split.branches) {
        branches_see = branches_see || (&other != &branch && Sees(other.ops, branch.ops));
      }
    }
    const bool one_by_one = many_ && !holds && (tests_see || branches_see);
    if (branches_see && (all_take || !one_by_one)) {
      EmitInTurn(std::move(split));
    } else {
      builder_->Emit(std::move(split));
    }
    if (one_by_one) builder_->Enclose(begin_, std::move(before_), plan::ScopeExit::ALL, true);
  }

 private:
  // Behind each branch but the last, what has left it waits with what is still to enter others.
  void EmitInTurn(Split split) {
    const std::string done = builder_->FreshName('u');
    builder_->Emit(Project{Constant(Value::Bool(false)), done, plan::Project::DROP_ROW});
    const size_t num = split.branches.size();
    for (size_t i = 0; i < num; ++i) {
      Chain branch = std::move(split.branches[i]);
      if (i + 1 < num) {
        branch.ops.push_back(
            AsOp(Project{Constant(Value::Bool(true)), done, plan::Project::DROP_ROW}));
      }
      Split turn;
      turn.tests = {Named(done)};
      turn.branches.resize(1);
      if (!split.tests.empty()) {
        turn.tests.push_back(split.tests[i]);
        turn.branches.push_back(std::move(branch));
        turn.tests.push_back(Constant(Value::Bool(true)));
        turn.branches.emplace_back();
      } else {
        turn.tests.push_back(Constant(Value::Bool(true)));
        turn.branches.push_back(i + 1 < num ? CopyInto(std::move(branch)) : std::move(branch));
      }
      builder_->Emit(std::move(turn));
      if (i + 1 < num) builder_->Emit(Barrier{true});
    }
  }

  Chain CopyInto(Chain branch) const {
    Split copy;
    copy.branches.push_back(std::move(branch));
    copy.branches.emplace_back();
    Chain chain;
    chain.ops.push_back(AsOp(std::move(copy)));
    return chain;
  }

  Op AsOp(Operation operation) const { return builder_->Place(std::move(operation)); }

  Builder* const builder_;
  const size_t begin_;
  TypeEnv before_;
  const bool many_;
};

}  // namespace

Status BuildLocal(const StepCall& step, Builder* builder) {
  if (step.name() == "local" && builder->sacks().met) {
    return NotThereYet(step.span(), step.name(),
                       "local() behind a barrier at which sacks were put together, which would "
                       "part the traversers again, is not there yet");
  }
  ASSIGN_OR_RETURN(Chain body, builder->Child(step.args[0]));
  const bool optional = step.name() == "optional";
  Chain child;
  if (optional && GivesOfNothing(body)) child = body;
  Scope scope;
  scope.policy = step.name() == "map"          ? plan::ScopeExit::FIRST
                 : step.name() == "sideEffect" ? plan::ScopeExit::EFFECT
                 : optional                    ? plan::ScopeExit::OPTIONAL
                                               : plan::ScopeExit::ALL;
  scope.bodies.push_back(std::move(body));
  scope.keeps_labels = step.name() == "local" || optional;
  EmitScope(std::move(scope), builder);
  return child.ops.empty() ? OkStatus() : EmitOfNothing(child, step, builder);
}

Status BuildCoalesce(const StepCall& step, Builder* builder) {
  Scope scope;
  scope.policy = plan::ScopeExit::ALL;
  for (const Bound& child : step.args) {
    ASSIGN_OR_RETURN(Chain body, builder->Child(child));
    scope.bodies.push_back(std::move(body));
  }
  EmitScope(std::move(scope), builder);
  return OkStatus();
}

Status BuildUnion(const StepCall& step, Builder* builder) {
  if (step.args.empty()) {
    builder->Emit(Filter{Constant(Value::Bool(false))});
    return OkStatus();
  }
  Split split;
  for (const Bound& child : step.args) {
    ASSIGN_OR_RETURN(Chain branch, builder->Child(child));
    split.branches.push_back(std::move(branch));
  }
  // A barrier of the only branch is that branch's own too: it waits for a first traverser.
  if (split.branches.size() == 1 && HoldsTraversers(split.branches[0])) {
    split.branches.emplace_back().ops = {builder->Place(Filter{Constant(Value::Bool(false))})};
  }
  BranchOrder(builder).Emit(std::move(split));
  return OkStatus();
}

Status BuildChoose(const StepCall& step, Builder* builder) {
  const bool as_test = step.args.size() > 1;
  if (as_test == !step.options.empty()) {
    return StepError("WRONG_ARGUMENTS", step.span(), step.name(),
                     "choose() takes either a test with its one or two branches, or a choice "
                     "with option() modulators");
  }
  BranchOrder order(builder);
  ASSIGN_OR_RETURN(ExpressionPtr choice, BuildChoice(step.args[0], as_test, step, builder));
  if (!as_test) {
    OptionTable options(choice, step);
    for (const Modulator& option : step.options) RETURN_IF_ERROR(options.Add(option, builder));
    order.Emit(options.Finish());
    return OkStatus();
  }
  Split split;
  split.tests = {choice, Constant(Value::Bool(true))};
  ASSIGN_OR_RETURN(Chain then, builder->Child(step.args[1]));
  Chain otherwise;
  if (step.args.size() > 2) {
    ASSIGN_OR_RETURN(otherwise, builder->Child(step.args[2]));
  }
  split.branches.push_back(std::move(then));
  split.branches.push_back(std::move(otherwise));
  order.Emit(std::move(split));
  return OkStatus();
}

Status BuildBranch(const StepCall& step, Builder* builder) {
  if (step.options.empty()) {
    return StepError("WRONG_ARGUMENTS", step.span(), step.name(),
                     "branch() takes a choice, and option() modulators behind it");
  }
  const Bound& asked = step.args[0];
  const TypeEnv before = builder->env();
  const size_t begin = builder->num_ops();
  BranchOrder order(builder);
  ASSIGN_OR_RETURN(ExpressionPtr choice, BuildChoice(asked, false, step, builder));
  const Scope* scope = As<Scope>(builder->OpsFrom(begin).back());
  if (scope != nullptr && !AlwaysGives(scope->bodies[0], before)) {
    return NotThereYet(asked.span, step.name(),
                       "branch() fails where its choice gives nothing: a choice that may give "
                       "nothing is not there yet; coalesce(..., constant(...)) always gives");
  }
  BranchOptions options(choice, step);
  RETURN_IF_ERROR(options.AddTests(builder));
  ASSIGN_OR_RETURN(Split split, options.Branches(builder));
  order.Emit(std::move(split));
  return OkStatus();
}

}  // namespace koios::planner
