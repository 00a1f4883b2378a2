// What lets few rows pass at little cost is asked first: has('name', regex('..')).has('age', 3) and
// where(out()).has('age', 3) ask for the age first, and so do the parts of an and(). Only what is
// no error for any row and leaves nothing behind changes places; and only where it is clearly
// cheaper, as shares are estimates.
#include <algorithm>
#include <optional>

#include "planner/cost/cost_model.h"
#include "planner/op_table.h"
#include "planner/rules/choices/quiet.h"
#include "planner/rules/rules.h"

namespace koios::planner {
namespace {

// Bounds the work in long chains.
constexpr size_t kMostTogether = 32;
// Work of the parts of a conjunction and of both orders of two tests, compared: estimates are not
// better than this.
constexpr double kClearly = 1.5;
constexpr double kClearlyOfTwo = 1.2;
// Handing the rows that are left to another operation.
constexpr double kNextFilter = 1;

bool IsQuietWalk(const Reach& reach) {
  const auto quiet = [](const ExpressionPtr& test) { return test == nullptr || IsQuiet(*test); };
  return quiet(reach.ends.filter) &&
         std::all_of(reach.hops.begin(), reach.hops.end(),
                     [&quiet](const Hop& hop) { return quiet(hop.filter); });
}

// Of a child whose rows are only counted: what is no error for any of them.
bool IsQuietOp(const Op& op) {
  if (const Reach* reach = As<Reach>(op)) return IsQuietWalk(*reach);
  if (const Reduce* reduce = As<Reduce>(op)) {
    return reduce->function == plan::Reduce::COUNT || reduce->function == plan::Reduce::COUNT_OF;
  }
  const bool listed = As<Expand>(op) != nullptr || As<EdgeEnd>(op) != nullptr ||
                      As<Filter>(op) != nullptr || As<Project>(op) != nullptr ||
                      As<Fetch>(op) != nullptr || As<Limit>(op) != nullptr ||
                      As<Dedup>(op) != nullptr || As<Scope>(op) != nullptr;
  bool quiet = listed;
  ForEachExpression(op, [&quiet](const Expression& part) { quiet = quiet && IsQuiet(part); });
  return quiet;
}

bool MayMove(const Op& op) {
  if (const Filter* filter = As<Filter>(op)) return IsQuiet(*filter->predicate);
  if (const Reach* reach = As<Reach>(op)) {
    const bool tests = reach->result == plan::Reach::PASS || reach->result == plan::Reach::STOP;
    return tests && IsQuietWalk(*reach);
  }
  const Scope* scope = As<Scope>(op);
  const bool tests =
      scope != nullptr && !scope->stops &&
      (scope->policy == plan::ScopeExit::EXISTS || scope->policy == plan::ScopeExit::NONE);
  return tests && !AnyOp(op, [](const Op& each) { return !IsQuietOp(each); });
}

// Whether there is anything to put into another order.
bool HasChoice(const Chain& chain) {
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    const Op& op = chain.ops[i];
    const Filter* filter = As<Filter>(op);
    if (filter != nullptr && IsCall(*filter->predicate, "and")) return true;
    if (i > 0 && MayMove(op) && MayMove(chain.ops[i - 1])) return true;
    const std::vector<Chain>* children = ChildrenOf(op);
    if (children != nullptr && std::any_of(children->begin(), children->end(), HasChoice)) {
      return true;
    }
  }
  return false;
}

// One of several that stand together.
struct Test {
  Op op;
  double share = 1;
  double work = 1;  // a row
};

// Of asking `first`, and `then` of those that it lets pass.
double WorkOfBoth(const Test& first, const Test& then) {
  return first.work + first.share * then.work;
}

class Ordering {
 public:
  explicit Ordering(const Chain& root) : model_(root) {}

  bool changed() const { return changed_; }

  // `times`: how often the chain runs.
  Passed Run(Chain* chain, Stream before, double times) {
    Passed passed{std::move(before), 0};
    for (size_t i = 0; i < chain->ops.size();) {
      const size_t end = EndOfTests(*chain, i);
      // Behind a seek there are few rows, and what it was asked for lets them all pass.
      if (end > i && passed.behind.sought >= 1) {
        i += RunTests(chain, i, end, times, &passed);
        continue;
      }
      Op& op = chain->ops[i++];
      const std::vector<Passed> children = RunChildren(&op, passed.behind, times);
      passed.work += model_.Pass(op, children, &passed.behind);
    }
    return passed;
  }

 private:
  static size_t EndOfTests(const Chain& chain, size_t begin) {
    size_t end = begin;
    while (end < chain.ops.size() && end - begin < kMostTogether && MayMove(chain.ops[end])) ++end;
    return end;
  }

  std::vector<Passed> RunChildren(Op* op, const Stream& before, double times) {
    std::vector<Passed> passed;
    std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) return passed;
    if (As<Scope>(*op)) times *= before.rows;
    for (Chain& child : *children) {
      passed.push_back(Run(&child, model_.Entering(*op, before), times));
    }
    return passed;
  }

  Test TestOf(Op op, const Stream& before, double times) {
    // What is done once for all rows counts little where there are many, as there may be behind a
    // loop.
    const double rows =
        std::max(before.known ? before.rows * times : model_.estimates().AllVertices(), 1.0);
    Stream passed = OneOf(before);
    const std::vector<Passed> children = RunChildren(&op, passed, rows);
    passed.Scale(rows);
    Test test;
    test.work = std::max(model_.Pass(op, children, &passed) / rows, 0.1);
    test.share = std::clamp(passed.rows / rows, 0.0, 1.0);
    test.op = std::move(op);
    return test;
  }

  // The parts of a conjunction, when asking one after the other is clearly less work.
  std::vector<Test> PartsOf(Test whole, const Stream& before, double times) {
    std::vector<Test> tests;
    const Filter* filter = As<Filter>(whole.op);
    if (filter == nullptr || !IsCall(*filter->predicate, "and") ||
        filter->predicate->args.size() > kMostTogether) {
      tests.push_back(std::move(whole));
      return tests;
    }
    for (const ExpressionPtr& part : filter->predicate->args) {
      Op op{Filter{part}, whole.op.span, whole.op.step};
      tests.push_back(TestOf(std::move(op), before, times));
    }
    Sort(&tests);
    double work = 0, share = 1;
    for (const Test& test : tests) {
      work += share * (test.work + kNextFilter);
      share *= test.share;
    }
    if (work * kClearly < whole.work) return tests;
    tests.clear();
    tests.push_back(std::move(whole));
    return tests;
  }

  // By insertion, as what is not clearly better stays where it was.
  static bool Sort(std::vector<Test>* tests) {
    bool moved = false;
    for (size_t i = 1; i < tests->size(); ++i) {
      for (size_t at = i; at > 0; --at) {
        Test& before = (*tests)[at - 1];
        Test& test = (*tests)[at];
        if (!(WorkOfBoth(before, test) > kClearlyOfTwo * WorkOfBoth(test, before))) break;
        std::swap(before, test);
        moved = true;
      }
    }
    return moved;
  }

  // Returns how many operations stand there now.
  size_t RunTests(Chain* chain, size_t begin, size_t end, double times, Passed* passed) {
    std::vector<Test> tests;
    for (size_t i = begin; i < end; ++i) {
      Test whole = TestOf(std::move(chain->ops[i]), passed->behind, times);
      for (Test& part : PartsOf(std::move(whole), passed->behind, times)) {
        tests.push_back(std::move(part));
      }
    }
    changed_ = Sort(&tests) || tests.size() != end - begin || changed_;
    const auto at = [chain](size_t i) {
      return chain->ops.begin() + static_cast<std::ptrdiff_t>(i);
    };
    chain->ops.erase(at(begin), at(end));
    for (size_t i = 0; i < tests.size(); ++i) {
      passed->work += passed->behind.rows * tests[i].work;
      Leave(tests[i], &passed->behind);
      chain->ops.insert(at(begin + i), std::move(tests[i].op));
    }
    return tests.size();
  }

  void Leave(const Test& test, Stream* stream) const {
    if (const Filter* filter = As<Filter>(test.op)) {
      model_.estimates().Filter(*filter->predicate, stream);
    } else {
      stream->Scale(test.share);
    }
  }

  const CostModel model_;
  bool changed_ = false;
};

}  // namespace

bool OrderFilters(Chain* root) {
  // Guards stand where something is looked at before it is changed.
  if (ChangesGraph(*root) || !HasChoice(*root)) return false;
  Ordering ordering(*root);
  ordering.Run(root, Stream(), 1);
  return ordering.changed();
}

}  // namespace koios::planner
