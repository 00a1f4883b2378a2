// Changes where no worker writes what another one owns: rows go to the owner of each part of a
// change. A vertex is added where its id is; an edge has its record and one end with its out
// vertex, the other end with its in vertex.
#include "core/plan/function_table.h"
#include "planner/physical/lowering.h"

namespace koios::planner {
namespace {

using Kind = Expression::Kind;

bool MaySpellAnInteger(const Value& id) {
  if (id.kind() != ValueKind::kString || id.AsString().empty()) return false;
  const char first = id.AsString()[0];
  return first == '-' || (first >= '0' && first <= '9');
}

}  // namespace

// What is read elsewhere is stored before the rows go to where the change is made.
void Lowering::StoreReads(ExpressionPtr* expression) {
  constexpr uint32_t kReads = plan::kReadsStored | plan::kReadsEffect | plan::kTakesTurn;
  if (*expression != nullptr && HasCallWith(**expression, kReads)) StoreIn(expression);
}

// The slot in which it is.
uint32_t Lowering::StoreIn(ExpressionPtr* expression) {
  if ((*expression)->kind == Kind::kNamed) return SlotOf((*expression)->name);
  const std::string name = FreshName();
  AddProject(Prepare(*expression, plan::Project::LEAVE_ABSENT), SlotOf(name),
             plan::Project::LEAVE_ABSENT);
  *expression = Named(name);
  return SlotOf(name);
}

void Lowering::LowerAtOwners(Mutate op) {
  for (ExpressionPtr* part : {&op.label, &op.id, &op.out, &op.in}) StoreReads(part);
  for (auto& [key, value] : op.properties) {
    StoreReads(&key);
    StoreReads(&value);
  }
  switch (op.kind) {
    case Mutate::Kind::kAddVertex:
      return AddVertexAtOwner(op);
    case Mutate::Kind::kAddEdge:
      return AddEdgeAtOwners(std::move(op));
    case Mutate::Kind::kDrop:
      return DropAtOwners(op);
    case Mutate::Kind::kSetProperty:
      ToOwner(0);
      return LowerChange(op);
    case Mutate::Kind::kGuard:
      if (op.in != nullptr && op.in->kind == Kind::kConstant) op.in = FindById(op.in, plan::VERTEX);
      return LowerChange(op);
  }
}

// Without an id any worker has one to give that is its own.
void Lowering::AddVertexAtOwner(const Mutate& op) {
  Mutate add = op;
  if (add.id != nullptr) AddExchange(plan::Exchange::ID, StoreIn(&add.id));
  LowerChange(add);
  flow_.here = {0};
}

void Lowering::AddEdgeAtOwners(Mutate op) {
  const uint32_t out = StoreIn(&op.out);
  const uint32_t in = StoreIn(&op.in);
  const uint32_t id = op.id == nullptr ? 0 : StoreIn(&op.id);
  ToOwner(out);
  LowerChange(op);
  plan_->mutable_operators()->rbegin()->mutable_add_edge()->set_part(plan::AddEdge::AT_OUT);
  ToOwner(in);
  Add()->mutable_add_edge()->set_part(plan::AddEdge::AT_IN);
  if (op.id == nullptr) return;
  AddExchange(plan::Exchange::ID, id);
  plan::AddEdge* const note = Add()->mutable_add_edge();
  note->set_part(plan::AddEdge::AT_ID);
  Encode(op.id, note->mutable_id());
}

// The edges that go with a vertex are hidden at their ends, too.
void Lowering::DropAtOwners(const Mutate& op) {
  const std::string of = FreshName();
  AddProject(Current(), SlotOf(of), plan::Project::LEAVE_ABSENT);
  ToOwner(0);
  const auto drop = [&](plan::Drop::Part part) {
    LowerChange(op);
    plan::Drop* const added = plan_->mutable_operators()->rbegin()->mutable_drop();
    added->set_part(part);
    if (part == plan::Drop::AT_OUT) added->set_of_slot(SlotOf(of));
  };
  drop(plan::Drop::AT_ELEMENT);
  AddExchange(plan::Exchange::OWNER);
  drop(plan::Drop::AT_OUT);
  AddExchange(plan::Exchange::IN_OWNER);
  drop(plan::Drop::AT_IN);
}

// The elements of these ids, looked up where they are, in a list.
ExpressionPtr Lowering::FindById(const ExpressionPtr& ids, plan::ElementKind element) {
  const auto op = [this](auto body) { return Op{std::move(body), op_->span, op_->step}; };
  Chain body;
  body.ops.push_back(op(Project{ids, "", plan::Project::DROP_ROW}));
  body.ops.push_back(op(Unfold{}));
  body.ops.push_back(op(Lookup{element}));
  body.ops.push_back(op(Reduce{plan::Reduce::FOLD}));
  Scope scope;
  scope.bodies.push_back(std::move(body));
  scope.policy = plan::ScopeExit::FIRST;
  scope.target = FreshName();
  scope.absent = plan::Project::LEAVE_ABSENT;
  const std::string found = scope.target;
  LowerOp(op(std::move(scope)));
  return Named(found);
}

// A string in has_id() finds the integer id that it spells where no vertex has it: looked up where
// that is known.
ExpressionPtr Lowering::WithIdsLookedUp(const ExpressionPtr& has_id) {
  ValueList spelled;
  for (const Value& id : has_id->args[1]->constant.AsList()) {
    if (MaySpellAnInteger(id)) spelled.push_back(id);
  }
  if (spelled.empty()) return has_id;
  const ExpressionPtr ids = Constant(Value::List(std::move(spelled)).value());
  std::vector<ExpressionPtr> tests = {CallOf("has_exact_id", has_id->args)};
  const ValueType type = TypeOf(*has_id->args[0], flow_.types);
  for (const plan::ElementKind element : {plan::VERTEX, plan::EDGE}) {
    const ValueType other = element == plan::VERTEX ? ValueType::kEdge : ValueType::kVertex;
    if (type == other) continue;
    tests.push_back(CallOf("within", {has_id->args[0], FindById(ids, element)}));
  }
  return CallOf("or", std::move(tests));
}

}  // namespace koios::planner
