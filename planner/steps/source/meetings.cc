#include "planner/steps/source/meetings.h"

#include <algorithm>

#include "planner/plan_error.h"
#include "planner/steps/builder.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

using Calls = std::span<const parser::Call>;

// Ids that a source looks up before TinkerPop expects many traversers of it.
constexpr size_t kManyIds = 5;

bool Has(const parser::Call& call, StepFlag flag) {
  const StepSpec* spec = FindStep(call.name);
  return spec != nullptr && spec->Has(flag);
}

bool IsLocalScope(const parser::Call& call) {
  return !call.arguments.empty() && call.arguments[0].qualifier == "Scope" &&
         call.arguments[0].name == "local";
}

bool IsBarrierCall(const parser::Call& call) { return Has(call, kGathers) && !IsLocalScope(call); }

// TinkerPop's HasStep, which a source of elements takes in.
bool IsHasStep(const parser::Call& call) {
  if (call.name == "has") return call.arguments.size() > 1 && !call.arguments.back().traversal;
  return call.name == "hasLabel" || call.name == "hasId" || call.name == "hasKey" ||
         call.name == "hasValue";
}

// A filter behind which TinkerPop may look for a has(), to ask it first.
bool IsOtherFilter(const parser::Call& call) {
  static constexpr std::string_view kFilters[] = {"has",   "hasNot",     "where", "filter",
                                                  "not",   "and",        "or",    "is",
                                                  "dedup", "simplePath", "coin",  "cyclicPath"};
  return std::find(std::begin(kFilters), std::end(kFilters), call.name) != std::end(kFilters);
}

Status Refuse(const parser::Call& call, const std::string& what) {
  return NotThereYet(call.span, call.name,
                     what +
                         " is not there yet where traversers that meet become one, by "
                         "withBulk(false) or an operator of withSack()");
}

Status CheckArgument(const parser::Argument& argument, const SackSettings& sacks) {
  if (argument.traversal != nullptr) RETURN_IF_ERROR(CheckMeetings(*argument.traversal, sacks));
  for (const parser::Argument& item : argument.items) RETURN_IF_ERROR(CheckArgument(item, sacks));
  return OkStatus();
}

// What comes to the end of an iteration waits there for all others, and until then leads from one
// traverser to several at most once: whether TinkerPop unrolls the loop can't be seen.
bool MeetsAtEnd(const parser::Traversal& body) {
  const auto spreads = [](const parser::Call& call) {
    return Has(call, kSpreads) || Has(call, kStarts) || call.name == "otherV";
  };
  if (body.calls.empty()) return false;
  const parser::Call& last = body.calls.back();
  return last.name == "barrier" && last.arguments.empty() &&
         std::count_if(body.calls.begin(), body.calls.end(), spreads) <= 1;
}

bool HoldsCall(const parser::Traversal& traversal, bool (*test)(const parser::Call&));

bool HoldsCall(const parser::Argument& argument, bool (*test)(const parser::Call&)) {
  return (argument.traversal != nullptr && HoldsCall(*argument.traversal, test)) ||
         std::any_of(argument.items.begin(), argument.items.end(),
                     [test](const parser::Argument& item) { return HoldsCall(item, test); });
}

bool HoldsCall(const parser::Traversal& traversal, bool (*test)(const parser::Call&)) {
  return std::any_of(
      traversal.calls.begin(), traversal.calls.end(), [test](const parser::Call& call) {
        return test(call) || std::any_of(call.arguments.begin(), call.arguments.end(),
                                         [test](const parser::Argument& argument) {
                                           return HoldsCall(argument, test);
                                         });
      });
}

// The loop is its body so many times, for TinkerPop.
bool IsUnrolled(const StepCall& repeat) {
  const size_t num_tests = repeat.tests_before.size() + repeat.tests_behind.size();
  if (num_tests != 1) return false;
  const Modulator& test =
      repeat.tests_before.empty() ? repeat.tests_behind[0] : repeat.tests_before[0];
  return test.call->name == "times" &&
         !HoldsCall(*repeat.args.back().traversal, [](const parser::Call& call) {
           return call.name == "dedup" || call.name == "loops" ||
                  (call.name == "sack" && !call.arguments.empty()) ||
                  (call.name == "barrier" && !call.arguments.empty());
         });
}

// A filter between a source and its has() may change places with it.
Status CheckSource(Calls calls) {
  while (!calls.empty() && Has(calls[0], kConfigures)) calls = calls.subspan(1);
  if (calls.empty() || (calls[0].name != "V" && calls[0].name != "E") || calls.size() < 2 ||
      !calls[0].arguments.empty() || IsHasStep(calls[1])) {
    return OkStatus();
  }
  for (size_t i = 1; i < calls.size() && (IsHasStep(calls[i]) || IsOtherFilter(calls[i])); ++i) {
    if (IsHasStep(calls[i])) return Refuse(calls[i], calls[i].name + "() behind another filter");
  }
  return OkStatus();
}

}  // namespace

Status CheckMeetings(const parser::Traversal& traversal, const SackSettings& sacks) {
  bool behind_loop = false;
  bool behind_both = false;
  for (const parser::Call& call : traversal.calls) {
    if (call.name == "as") return Refuse(call, "as()");
    // TinkerPop needs the path for it, unless it makes both() of the two steps.
    if (call.name == "otherV" && (!behind_both || sacks.by_steps)) return Refuse(call, "otherV()");
    behind_both = call.name == "bothE";
    const bool tests = call.name == "emit" || call.name == "until";
    if (tests && !behind_loop) return Refuse(call, call.name + "() in front of repeat()");
    behind_loop = call.name == "repeat" || (behind_loop && (tests || call.name == "times"));
    const parser::Traversal* body =
        call.arguments.empty() ? nullptr : call.arguments.back().traversal.get();
    if (call.name == "repeat" && body != nullptr && !MeetsAtEnd(*body)) {
      return Refuse(call,
                    "repeat() that does not end with barrier(), or has several steps along "
                    "edges in front of it,");
    }
    if (call.name == "barrier" && !call.arguments.empty() &&
        call.arguments[0].qualifier != "Barrier") {
      return Refuse(call, "barrier() with a size");
    }
    const bool branches = call.name == "union" || call.name == "choose" || call.name == "option";
    if (branches &&
        std::any_of(call.arguments.begin(), call.arguments.end(),
                    [](const parser::Argument& each) { return HoldsCall(each, IsBarrierCall); })) {
      return Refuse(call, "a barrier in " + call.name + "()");
    }
    if ((call.name == "and" || call.name == "or") && call.arguments.empty()) {
      return Refuse(call, "infix " + call.name + "()");
    }
    for (const parser::Argument& argument : call.arguments) {
      RETURN_IF_ERROR(CheckArgument(argument, sacks));
    }
  }
  return CheckSource(traversal.calls);
}

Meetings::Meetings(const SackSettings& sacks, bool lazy, Calls calls)
    : show_(sacks.meetings_show()), lazy_(lazy) {
  for (const parser::Call& call : calls) {
    if (call.name == "drop" || call.name == "element") lazy_ = false;
  }
}

bool Meetings::Before(const StepCall& step) const {
  if (!show_) return false;
  if (step.name() == "repeat") return !IsUnrolled(step);
  const bool collects =
      step.name() == "order" || step.name() == "sample" || step.name() == "aggregate";
  return collects && !IsLocalScope(*step.call);
}

bool Meetings::Behind(const StepCall& step, bool first, const parser::Call* next) {
  const bool after_both = std::exchange(both_edges_, step.name() == "bothE");
  if (!show_ || !lazy_) return false;
  bool spreads = step.spec->Has(kSpreads) || (step.name() == "otherV" && after_both);
  if (step.name() == "V" || step.name() == "E") {
    const size_t ids = step.args.size();
    spreads = !first || ids >= kManyIds || (ids == 0 && !(next != nullptr && IsHasStep(*next)));
  }
  if (!spreads) return false;
  const bool ends = next == nullptr || IsBarrierCall(*next) || next->name == "discard";
  if (spread_ && !ends) return true;
  spread_ = true;
  return false;
}

Barrier MeetingOf(const SackSettings& sacks, bool normalise, bool by_path) {
  Sacks rule;
  rule.name = SackName();
  rule.initial = sacks.initial;
  rule.operator_ = sacks.operator_;
  rule.one_bulk = !sacks.bulks;
  rule.normalise = normalise;
  rule.by_path = by_path;
  Barrier barrier;
  barrier.sacks = std::move(rule);
  return barrier;
}

}  // namespace koios::planner
