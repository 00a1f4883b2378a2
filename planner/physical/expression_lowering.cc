// Expressions: where they can be evaluated, and their plan form.
#include <algorithm>
#include <utility>

#include "core/value_codec.h"
#include "planner/physical/lowering.h"

namespace koios::planner {
namespace {

using Kind = Expression::Kind;

uint32_t AddNode(plan::Expr* out, const plan::Expr::Node& node) {
  *out->add_nodes() = node;
  return static_cast<uint32_t>(out->nodes_size()) - 1;
}

// Shared nodes are encoded once.
class Encoder {
 public:
  Encoder(plan::Expr* out, const std::function<uint32_t(const std::string&)>& slot_of)
      : out_(out), slot_of_(slot_of) {}

  uint32_t Encode(const Expression& expression) {
    auto known = done_.find(&expression);
    if (known != done_.end()) return known->second;
    plan::Expr::Node node;
    switch (expression.kind) {
      case Kind::kConstant:
        node.set_constant(Encoded(expression.constant));
        break;
      case Kind::kCurrent:
        node.set_slot(0);
        break;
      case Kind::kNamed:
        node.set_slot(slot_of_(expression.name));
        break;
      case Kind::kCall:
        node.mutable_call()->set_function(std::string(expression.function->name));
        for (const ExpressionPtr& arg : expression.args) {
          node.mutable_call()->add_args(Encode(*arg));
        }
        break;
    }
    const uint32_t index = AddNode(out_, node);
    done_[&expression] = index;
    return index;
  }

 private:
  plan::Expr* out_;
  const std::function<uint32_t(const std::string&)>& slot_of_;
  std::map<const Expression*, uint32_t> done_;
};

}  // namespace

void Lowering::Encode(const ExpressionPtr& expression, plan::Expr* out) {
  const std::function<uint32_t(const std::string&)> slot_of = [this](const std::string& name) {
    return SlotOf(name);
  };
  Encoder(out, slot_of).Encode(*expression);
}

bool Lowering::NeedsOwner(const Expression& call) const {
  if (!IsCallWith(call, plan::kReadsStored)) return false;
  const ValueType type = TypeOf(*call.args[0], flow_.types);
  const bool travels = type == ValueType::kEdge && call.function->Has(plan::kKnownOfEdges);
  return MayBeElement(type) && !travels;
}

void Lowering::CollectOwners(const Expression& expression, std::map<uint32_t, size_t>* slots) {
  if (NeedsOwner(expression)) {
    const Expression& element = *expression.args[0];
    if (element.kind == Kind::kCurrent) ++(*slots)[0];
    if (element.kind == Kind::kNamed) ++(*slots)[SlotOf(element.name)];
  }
  for (const ExpressionPtr& arg : expression.args) CollectOwners(*arg, slots);
}

// `value` with the elements in it as they were read: each goes to its owner, and what was read
// there comes back.
ExpressionPtr Lowering::StoreDetached(ExpressionPtr value, plan::FunctionRef with, bool whole) {
  constexpr plan::Project::Absent kLeave = plan::Project::LEAVE_ABSENT;
  const auto store = [this](const ExpressionPtr& stored) {
    const std::string name = FreshName();
    AddProject(stored, SlotOf(name), kLeave);
    return Named(name);
  };
  if (value->kind == Kind::kCall) value = store(Prepare(value, kLeave));
  const auto op = [this](auto body) { return Op{std::move(body), op_->span, op_->step}; };
  Chain body;
  body.ops.push_back(op(Project{CallOf("elements_in", {value}), "", plan::Project::DROP_ROW}));
  body.ops.push_back(op(Unfold{}));
  body.ops.push_back(op(Project{CallOf("detached", {Current(), Constant(Value::Bool(whole))}), "",
                                plan::Project::DROP_ROW}));
  body.ops.push_back(op(Reduce{plan::Reduce::FOLD}));
  Scope scope;
  scope.bodies.push_back(std::move(body));
  scope.policy = plan::ScopeExit::FIRST;
  scope.target = FreshName();
  scope.absent = kLeave;
  const std::string detached = scope.target;
  LowerOp(op(std::move(scope)));
  return store(CallOf(with, {value, Named(detached)}));
}

// Where no worker reads what another one owns: what asString([v, e]) reads is at several owners.
ExpressionPtr Lowering::StoreSeen(const ExpressionPtr& expression) {
  if (expression->kind != Kind::kCall) return expression;
  std::vector<ExpressionPtr> args;
  for (const ExpressionPtr& arg : expression->args) args.push_back(StoreSeen(arg));
  if (IsCallWith(*expression, plan::kReadsInside)) {
    const ValueType type = TypeOf(*args[0], flow_.types);
    const bool is_one =
        type == ValueType::kScalar || type == ValueType::kProperty || type == ValueType::kVertex;
    const ExpressionPtr seen = is_one ? args[0] : StoreDetached(args[0], "as_seen");
    if (!is_one && IsCall(*expression, "element_map")) {
      args.insert(args.begin() + 1, seen);
      return CallOf("element_map_seen", std::move(args));
    }
    args[0] = seen;
  }
  const ExpressionPtr seen =
      args == expression->args ? expression : CallOf(*expression->function, std::move(args));
  return IsCall(*seen, "has_id") ? WithIdsLookedUp(seen) : seen;
}

// property(map_get(_, 'a'), 'name'): the element must be in a slot before rows can go to its owner.
ExpressionPtr Lowering::StoreComputedOwners(const ExpressionPtr& expression,
                                            plan::Project::Absent absent) {
  if (expression->kind != Kind::kCall) return expression;
  std::vector<ExpressionPtr> args;
  bool changed = false;
  for (const ExpressionPtr& arg : expression->args) {
    args.push_back(StoreComputedOwners(arg, absent));
    changed = changed || args.back() != arg;
  }
  if (NeedsOwner(*expression) && args[0]->kind == Kind::kCall) {
    const std::string name = FreshName();
    AddProject(Prepare(args[0], absent), SlotOf(name), absent);
    args[0] = Named(name);
    changed = true;
  }
  return changed ? CallOf(*expression->function, std::move(args)) : expression;
}

// Replaces what reads the element in `slot` by slots that hold the results.
ExpressionPtr Lowering::StoreReadsOf(const ExpressionPtr& expression, uint32_t slot,
                                     plan::Project::Absent absent,
                                     std::map<const Expression*, ExpressionPtr>* done) {
  if (expression->kind != Kind::kCall) return expression;
  auto known = done->find(expression.get());
  if (known != done->end()) return known->second;
  std::map<uint32_t, size_t> owners;
  if (NeedsOwner(*expression)) CollectOwners(*expression, &owners);
  ExpressionPtr result = expression;
  if (owners.size() == 1 && owners.contains(slot)) {
    const std::string name = FreshName();
    AddProject(expression, SlotOf(name), absent);
    result = Named(name);
  } else {
    std::vector<ExpressionPtr> args;
    for (const ExpressionPtr& arg : expression->args) {
      args.push_back(StoreReadsOf(arg, slot, absent, done));
    }
    if (args != expression->args) result = CallOf(*expression->function, std::move(args));
  }
  (*done)[expression.get()] = result;
  return result;
}

ExpressionPtr Lowering::Prepare(ExpressionPtr expression, plan::Project::Absent absent) {
  // An absent part drops the row at once only when it makes the whole absent.
  if (!IsStrict(*expression)) absent = plan::Project::LEAVE_ABSENT;
  if (IsIsolated()) expression = StoreSeen(expression);
  if (effects_at_home_) expression = StoreMemberTests(expression);
  expression = StoreComputedOwners(expression, absent);
  std::map<uint32_t, size_t> owners;
  CollectOwners(*expression, &owners);
  const bool at_home =
      effects_at_home_ && HasCallWith(*expression, plan::kReadsEffect | plan::kTakesTurn);
  while (owners.size() > (at_home ? 0 : 1)) {
    // Who rows are with, or of whom least is read: the last one's reads are made together, in the
    // expression itself.
    const auto rank = [this](const auto& owner) {
      return std::pair(!flow_.here.contains(owner.first), owner.second);
    };
    const uint32_t first =
        std::min_element(owners.begin(), owners.end(), [&rank](const auto& a, const auto& b) {
          return rank(a) < rank(b);
        })->first;
    ToOwner(first);
    std::map<const Expression*, ExpressionPtr> done;  // what reads another owner's is as it was
    expression = StoreReadsOf(expression, first, absent, &done);
    owners.erase(first);
  }
  if (at_home) ToHome();
  if (!owners.empty()) ToOwner(owners.begin()->first);
  return expression;
}

// Tests that are asked in one place: where each could be asked in another, the answers are stored.
std::vector<ExpressionPtr> Lowering::PrepareTests(const std::vector<ExpressionPtr>& tests) {
  constexpr uint32_t kReads = plan::kReadsStored | plan::kReadsEffect | plan::kTakesTurn;
  std::vector<ExpressionPtr> prepared;
  for (const ExpressionPtr& test : tests) {
    prepared.push_back(Prepare(test, plan::Project::LEAVE_ABSENT));
    if (!IsIsolated() || tests.size() == 1 || !HasCallWith(*prepared.back(), kReads)) continue;
    const std::string name = FreshName();
    AddProject(prepared.back(), SlotOf(name), plan::Project::LEAVE_ABSENT);
    prepared.back() = Named(name);
  }
  return prepared;
}

}  // namespace koios::planner
