// out().out(): many rows come to the same vertex, and before they are expanded again they become
// one with a bulk. Where it helps: rows that an expansion made, of which nothing but the current
// value is read further on. Where it must not be: before a limit or whatever else stops early, as
// merging holds rows back; where an operation treats each traverser by itself.
// On the way to a dedup() the first row is enough: the others are dropped wherever they would be
// read or walked from. That holds nothing back, and bulks mean nothing there.
#include <algorithm>
#include <optional>
#include <utility>

#include "planner/op_table.h"
#include "planner/rules/bulk/repeats.h"
#include "planner/rules/rules.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

using Names = std::set<std::string>;

// What comes behind an operation of a chain.
struct Behind {
  Names reads;         // of names stored before it
  bool stops = false;  // rows may stop being needed before all have come
  bool once = false;   // the first of equal rows is enough
};

bool TakesBulk(const Op& op) {
  return !AnyOp(op, [](const Op& each) { return !TraitsOf(each).takes_bulk; });
}

// Bulks may be added up in so many operations: where everything takes them so far, up to the last
// that makes new rows of all that have come. What is behind it can't tell: a count() that somebody
// aggregates is counted as any other.
size_t NumSummed(const Chain& root) {
  size_t end = 0;
  for (size_t i = 0; i < root.ops.size(); ++i) {
    if (!TakesBulk(root.ops[i])) return end;
    if (TraitsOf(root.ops[i]).waits && EndsHistory(root.ops[i])) end = i + 1;
  }
  return root.ops.size();
}

// Whether a scope looks at every row that leaves its body.
bool TakesAll(plan::ScopeExit::Policy policy) {
  return GivesBodyRows(policy) || policy == plan::ScopeExit::EFFECT;
}

bool HasLimit(const Op& op) {
  return AnyOp(op, [](const Op& each) { return As<Limit>(each) != nullptr; });
}

// Whether different rows may now be at the same vertex, given that they may (not) before the op.
bool Converge(const Op& op, bool before) {
  const Meeting meeting = TraitsOf(op).meeting;
  if (meeting != Meeting::kAsBefore) return meeting == Meeting::kMeets;
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return before;
  return before || std::any_of(children->begin(), children->end(), [](const Chain& child) {
           bool converge = false;
           for (const Op& inner : child.ops) converge = Converge(inner, converge);
           return converge;
         });
}

// What comes before a chain.
struct Before {
  bool converge = false;   // rows may be at the same vertex
  int hops = 0;            // expansions that rows have passed, about
  bool at_vertex = false;  // where they met, and not at something that was read of it
  bool counted = false;    // rows can tell the iteration of a loop around them
  bool in_child = false;   // of one traverser
  bool first = false;      // of it one row is enough
};

// In a child of one traverser few rows meet after so many hops; they are not worth the look-up.
constexpr int kHopsOfFew = 2;

bool AtVertex(const Op& op, bool before) {
  const OpTraits traits = TraitsOf(op);
  if (traits.meeting == Meeting::kMeets) return true;
  return ChildrenOf(op) != nullptr ? Converge(op, before) : before && !traits.new_value;
}

// Whether the op goes along the edges: a degree is looked up sooner than its row is merged.
bool IsWalked(const Op& op) {
  const Expand* expand = As<Expand>(op);
  return expand != nullptr && expand->to != plan::Expand::DEGREE;
}

// Whether less is done when equal rows are dropped before it. In a child they would not be worth
// that it is not done in place.
bool IsWorthDropping(const Op& op, const Before& before) {
  if (!before.at_vertex || before.first) return false;
  if (IsWalked(op)) return true;
  if (before.in_child || As<Split>(op) || As<Loop>(op)) return false;
  return As<Dedup>(op) != nullptr || ReadsGraph(op);
}

// Rows that were told apart and have gone nowhere since are distinct.
void RemoveSecondLooks(Chain* chain) {
  bool distinct = false;
  std::erase_if(chain->ops, [&distinct](const Op& op) {
    const Merge* merge = As<Merge>(op);
    if (merge == nullptr || !merge->once) {
      const OpTraits traits = TraitsOf(op);
      const bool same = ChildrenOf(op) == nullptr || traits.at_most_one;
      distinct = distinct && same && traits.meeting != Meeting::kMeets;
      return false;
    }
    return std::exchange(distinct, true);
  });
}

class Placing {
 public:
  bool changed() const { return changed_; }

  void RunRoot(Chain* root) {
    num_summed_ = NumSummed(*root);
    Run(root, {false, kHopsOfFew}, {}, /*is_root=*/true);
  }

 private:
  void Run(Chain* chain, Before before, Behind behind, bool is_root = false) {
    std::vector<Before> befores;
    for (const Op& op : chain->ops) {
      befores.push_back(before);
      before.converge = Converge(op, before.converge);
      before.at_vertex = AtVertex(op, before.at_vertex);
      before.hops += As<Expand>(op) ? 1 : 0;
    }
    std::vector<Op> ops;  // from the last to the first
    for (size_t i = chain->ops.size(); i-- > 0;) {
      Op& op = chain->ops[i];
      if (is_root) sums_ = i < num_summed_;
      RunChildren(&op, befores[i], behind);
      Pass(op, &behind);
      const std::optional<Merge> merge = MergeBefore(op, befores[i], behind);
      const SourceSpan span = op.span;
      const std::string step = op.step;
      ops.push_back(std::move(op));
      if (merge) ops.push_back({*merge, span, step});
      changed_ = changed_ || merge;
    }
    std::reverse(ops.begin(), ops.end());
    chain->ops = std::move(ops);
    RemoveSecondLooks(chain);
  }

  // `behind`: what comes from the op on.
  std::optional<Merge> MergeBefore(const Op& op, const Before& before, const Behind& behind) const {
    if (!before.converge || before.hops < kHopsOfFew || !MayMerge(behind.reads)) return {};
    if (behind.once && IsWorthDropping(op, before)) {
      return Merge{true, before.counted, As<Dedup>(op) == nullptr};
    }
    const bool sums = sums_ && IsWalked(op) && !behind.stops;
    return sums ? std::optional(Merge{}) : std::nullopt;
  }

  void RunChildren(Op* op, Before before, const Behind& behind) {
    if (Scope* scope = As<Scope>(op)) {
      const bool all = TakesAll(scope->policy);
      const Behind inside{scope->carried, behind.stops || !all,
                          all ? behind.once && GivesBodyRows(scope->policy) : true};
      Before at_start;
      at_start.in_child = true;
      at_start.first = !all;
      for (Chain& body : scope->bodies) Run(&body, at_start, inside);
    }
    if (Split* split = As<Split>(op)) {
      for (Chain& branch : split->branches) Run(&branch, before, behind);
    }
    if (Loop* loop = As<Loop>(op)) {
      const LoopReads reads = ReadsOfLoop(*loop, behind.reads);
      const bool stops = behind.stops || HasLimit(*op);
      const std::vector<bool> once = OneIsEnoughInLoop(*loop, behind.once);
      Before again{Converge(*op, before.converge), kHopsOfFew, AtVertex(*op, before.at_vertex)};
      again.counted = before.counted || CountsIterations(*op);
      again.in_child = before.in_child;
      for (size_t part = 0; part < loop->parts.size(); ++part) {
        Run(&loop->parts[part], again, {reads.behind_part[part], stops, once[part]});
      }
      if (!sums_ || !loop->breadth_first || loop->merges || !MayMerge(reads.at_start)) return;
      loop->merges = true;
      changed_ = true;
    }
  }

  // Names that are read behind the parts of a loop, and where it starts.
  struct LoopReads {
    std::vector<Names> behind_part;
    Names at_start;
  };

  // A row behind the loop's tests leaves, or starts again. What an iteration reads of the one
  // before it, it reads at its start: one walk through the parts finds that.
  static LoopReads ReadsOfLoop(const Loop& loop, const Names& behind) {
    Names again = behind;
    again.merge(ReadsAtStart(loop, behind, behind, nullptr));
    LoopReads reads;
    reads.at_start = ReadsAtStart(loop, behind, std::move(again), &reads.behind_part);
    return reads;
  }

  static Names ReadsAtStart(const Loop& loop, const Names& behind, Names again,
                            std::vector<Names>* behind_part) {
    const auto add_tests = [](const LoopTests& tests, Names* names) {
      for (const ExpressionPtr& test : {tests.until, tests.emit}) {
        if (test != nullptr) CollectNames(*test, names);
      }
    };
    if (behind_part != nullptr) behind_part->resize(loop.parts.size());
    Names names = std::move(again);
    for (size_t part = loop.parts.size(); part-- > 0;) {
      if (part == 0) names.insert(behind.begin(), behind.end());
      if (part != 1) add_tests(part == 0 ? loop.before : loop.behind, &names);
      if (behind_part != nullptr) (*behind_part)[part] = names;
      names = ReadsBefore(loop.parts[part], std::move(names));
    }
    return names;
  }

  static Names ReadsBefore(const Chain& chain, Names reads) {
    for (auto op = chain.ops.rbegin(); op != chain.ops.rend(); ++op) PassReads(*op, &reads);
    return reads;
  }

  static void PassReads(const Op& op, Names* reads) {
    if (EndsHistory(op)) reads->clear();
    reads->erase(StoredName(op));
    if (const Loop* loop = As<Loop>(op)) {
      const Names behind = *reads;
      *reads = ReadsAtStart(*loop, behind, behind, nullptr);
      return;
    }
    if (const Scope* scope = As<Scope>(op)) {
      for (const Chain& body : scope->bodies) reads->merge(ReadsBefore(body, scope->carried));
    } else if (const Split* split = As<Split>(op)) {
      const Names behind = *reads;
      for (const Chain& branch : split->branches) reads->merge(ReadsBefore(branch, behind));
    }
    CollectReads(op, reads);
  }

  // From behind the op to before it.
  static void Pass(const Op& op, Behind* behind) {
    PassReads(op, &behind->reads);
    behind->once = OneIsEnough(op, behind->once);
    if (TraitsOf(op).waits) {
      behind->stops = false;
    } else if (!As<Scope>(op) && HasLimit(op)) {
      behind->stops = true;
    }
  }

  size_t num_summed_ = 0;
  bool sums_ = false;  // bulks may be added up in the operation of the root that it is at
  bool changed_ = false;
};

}  // namespace

bool MergeBulk(Chain* root) {
  Placing placing;
  placing.RunRoot(root);
  return placing.changed();
}

}  // namespace koios::planner
