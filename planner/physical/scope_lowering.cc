// Lowering of scopes, branches and loops.
#include <algorithm>

#include "planner/op_table.h"
#include "planner/physical/lowering.h"

namespace koios::planner {
namespace {

// Instances of a scope with a loop inside that goes in lock-step, at once: each may keep a
// frontier.
constexpr uint32_t kFrontiers = 64;

bool HasFrontier(const Chain& chain) {
  return AnyOp(chain, [](const Op& op) { return As<Loop>(op) && As<Loop>(op)->breadth_first; });
}

// Whether all rows of an iteration wait for each other somewhere in this part of a loop.
bool IsInLockStep(const Chain& part) {
  return std::any_of(part.ops.begin(), part.ops.end(),
                     [](const Op& op) { return TraitsOf(op).waits || TraitsOf(op).waits_in_loop; });
}

// Whether the first thing that is done needs the element that is there.
bool StartsAtElement(const Chain& chain) {
  return !chain.ops.empty() && TraitsOf(chain.ops.front()).reads_graph;
}

}  // namespace

// Where nobody reads what others own a body runs in place when no row of it would have to go
// elsewhere, which lowering it shows.
void Lowering::Lower(const Scope& op) {
  if (!op.in_place || !IsIsolated() || flow_.in_place) return LowerScope(op, op.in_place);
  if (IsDoneAtHome(op)) return LowerScope(op, /*in_place=*/false);
  const Flow before = flow_;
  const int begin = plan_->operators_size();
  leaves_owner_ = false;
  LowerScope(op, /*in_place=*/true);
  if (!leaves_owner_) return;
  flow_ = before;
  plan_->mutable_operators()->DeleteSubrange(begin, plan_->operators_size() - begin);
  ordered_.resize(static_cast<size_t>(begin));
  LowerScope(op, /*in_place=*/false);
}

// One traverser after the other, wherever the rows are: only at one place somebody knows. So home
// is the same for all that is nested.
bool Lowering::IsDoneAtHome(const Scope& op) const {
  return effects_at_home_ && AnyOp(Op{op, {}, ""}, [](const Op& inner) {
           return TraitsOf(inner).effect || ReadsEffects(inner);
         });
}

void Lowering::LowerScope(const Scope& op, bool in_place) {
  const bool serial = std::any_of(op.bodies.begin(), op.bodies.end(),
                                  [](const Chain& body) { return HasEffects(body); });
  // The rows stay where they are.
  if (in_place && StartsAtElement(op.bodies[0])) ToOwner(0);
  // One after the other in the order that they have: sorting behind would wait for all of them.
  if ((serial && flow_.ordered) || IsDoneAtHome(op)) ToHomeInOrder();
  const Flow before = flow_;
  plan::Operator* enter_operator = Add();
  enter_operator->mutable_scope_enter()->set_serial(serial);
  enter_operator->mutable_scope_enter()->set_in_place(in_place);
  if (!serial && std::any_of(op.bodies.begin(), op.bodies.end(), HasFrontier)) {
    enter_operator->mutable_scope_enter()->set_window(kFrontiers);
  }
  const uint32_t enter = enter_operator->id();
  Flow outside = before;
  outside.ends = flow_.ends;
  std::vector<OpenEnd> ends;
  std::vector<uint32_t> alternatives;
  for (const Chain& body : op.bodies) {
    outside.in_place = outside.in_place || in_place;
    const uint32_t first = LowerBody(body, outside, enter, &ends);
    if (&body != &op.bodies.front()) alternatives.push_back(first);
    outside.ends.clear();  // alternatives are entered from the exit
  }
  flow_ = before;
  flow_.ends = std::move(ends);
  plan::ScopeExit* exit = Add()->mutable_scope_exit();
  exit->set_enter(enter);
  exit->set_policy(op.policy);
  exit->set_slot(SlotOf(op.target));
  exit->set_absent(op.absent);
  for (uint32_t alternative : alternatives) exit->add_alternatives(alternative);
  for (const std::string& name : op.carried) exit->add_carry_slots(SlotOf(name));
  flow_.mixed = flow_.mixed || !(serial || in_place);  // instances are done in any order
  FinishScope(op, before);
}

uint32_t Lowering::LowerBody(const Chain& body, const Flow& outside, uint32_t enter,
                             std::vector<OpenEnd>* ends) {
  const uint32_t first = static_cast<uint32_t>(plan_->operators_size());
  flow_ = outside;
  flow_.scope = enter + 1;
  flow_.at_home = true;  // an instance's home is where its row parks
  flow_.one_row = true;
  flow_.ordered = false;
  flow_.reads = flow_.changes = false;
  LowerChain(body);
  EndAtHome();
  ends->insert(ends->end(), flow_.ends.begin(), flow_.ends.end());
  return first;
}

// The parked row leaves where it entered: it stands where it stood.
void Lowering::FinishScope(const Scope& op, const Flow& outside) {
  flow_.here = outside.here;
  for (const std::string& name : op.carried) flow_.here.erase(SlotOf(name));
  switch (op.policy) {
    case plan::ScopeExit::FIRST:
    case plan::ScopeExit::EXISTS_FLAG:
      flow_.here.erase(SlotOf(op.target));
      return;
    case plan::ScopeExit::ALL:
    case plan::ScopeExit::OPTIONAL:
      flow_.here.erase(0);
      return;
    default:
      return;
  }
}

void Lowering::Lower(const Split& op) {
  const std::vector<ExpressionPtr> tests = PrepareTests(op.tests);
  plan::Operator* added = Add();
  const uint32_t id = added->id();
  plan::Split* split = added->mutable_split();
  split->set_copy(op.tests.empty());
  for (const ExpressionPtr& test : tests) {
    Encode(test, split->add_options()->mutable_test());
  }
  added->clear_next();
  for (size_t i = 0; i < op.branches.size(); ++i) added->add_next(0);
  const Flow before = flow_;
  std::vector<Flow> branches;
  for (size_t i = 0; i < op.branches.size(); ++i) {
    flow_ = before;
    flow_.ends = {{id, static_cast<int>(i)}};
    LowerChain(op.branches[i]);
    branches.push_back(std::move(flow_));
  }
  flow_ = JoinFlows(std::move(branches));
}

void Lowering::AddLoopTests(const LoopTests& tests, std::vector<Flow>* exits) {
  if (tests.until == nullptr && tests.emit == nullptr) return;
  const auto leave = [this, exits](uint32_t id, int index) {
    exits->push_back(flow_);
    exits->back().ends = {{id, index}};
  };
  OpenEnd emitted;
  bool emits = false;
  if (tests.until != nullptr || !IsTrue(*tests.emit)) {
    std::vector<ExpressionPtr> options;
    for (const ExpressionPtr& test : {tests.until, tests.emit}) {
      if (test != nullptr) options.push_back(test);
    }
    options = PrepareTests(options);
    const bool always = tests.emit != nullptr && IsTrue(*tests.emit);
    if (!always) options.push_back(Constant(Value::Bool(true)));
    plan::Operator* added = Add();
    const uint32_t id = added->id();
    for (const ExpressionPtr& test : options) {
      Encode(test, added->mutable_split()->add_options()->mutable_test());
    }
    added->clear_next();
    for (size_t i = 0; i < options.size(); ++i) added->add_next(0);
    int index = 0;
    if (tests.until != nullptr) leave(id, index++);
    emits = tests.emit != nullptr;
    if (emits) emitted = {id, index++};
    flow_.ends.clear();
    if (!always) flow_.ends = {{id, index}};
    if (!emits) return;
  }
  const std::vector<OpenEnd> others = emits ? flow_.ends : std::vector<OpenEnd>();
  if (emits) flow_.ends = {emitted};
  plan::Operator* copy = Add();
  copy->mutable_split()->set_copy(true);
  copy->add_next(0);
  leave(copy->id(), 0);
  flow_.ends = {{copy->id(), 1}};
  flow_.ends.insert(flow_.ends.end(), others.begin(), others.end());
}

void Lowering::Lower(const Loop& op) {
  plan::Operator* enter_operator = Add();
  enter_operator->mutable_loop_enter();
  const uint32_t enter = enter_operator->id();
  const uint32_t outer_loop = flow_.loop;
  bool ordered = flow_.ordered;
  for (const Chain& part : op.parts) ordered = ordered && !EndsHistory(part);
  flow_.loop = enter + 1;  // from here on what holds at the start of every iteration
  flow_.here.clear();
  flow_.at_home = false;
  flow_.ordered = ordered;
  flow_.mixed = true;
  flow_.types = AtLoopStart(flow_.types, op);
  std::vector<Flow> exits;
  LowerChain(op.parts[0]);
  AddLoopTests(op.before, &exits);
  LowerChain(op.parts[1]);
  LowerChain(op.parts[2]);
  LoopTests behind = op.behind;
  const bool leaves = op.before.until || op.before.emit || behind.until || behind.emit;
  if (!leaves) behind.until = Constant(Value::Bool(false));
  AddLoopTests(behind, &exits);
  if (op.breadth_first && std::none_of(op.parts.begin(), op.parts.end(), IsInLockStep)) {
    AddBarrier(op.merges && !flow_.ordered);
  }
  plan::Operator* back = Add();
  back->mutable_loop_back()->set_enter(enter);
  back->set_next(0, enter + 1);
  flow_ = JoinFlows(std::move(exits));
  flow_.loop = outer_loop;
  Add()->mutable_loop_exit()->set_enter(enter);
}

}  // namespace koios::planner
