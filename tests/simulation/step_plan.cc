// Random traversals as plans, as the planner would make them of each step by itself.
#include <algorithm>

#include "core/value_codec.h"
#include "tests/simulation/step_tree.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

constexpr uint32_t kPathSlot = 1;
// Of a change: the vertex that the row stood at, and the one that it came to.
constexpr uint32_t kFromSlot = 1, kToSlot = 2;
constexpr uint32_t kKeySlot = 3;  // of groups

void SetConstant(const Value& value, plan::Expr* expr) {
  expr->add_nodes()->set_constant(EncodeValue(value));
}

void SetSlot(uint32_t slot, plan::Expr* expr) { expr->add_nodes()->set_slot(slot); }

class PlanBuilder {
 public:
  explicit PlanBuilder(bool isolated) : isolated_(isolated) {}

  plan::Plan Build(const RandomQuery& query) {
    plan_.set_format(1);
    paths_ = query.paths;
    plan_.set_num_slots(kKeySlot + 1);
    if (ChangesGraph(query)) {
      plan_.set_mutates(true);
      plan_.set_stays_home(!isolated_);
    }
    AddScan();
    reads_ = true;
    if (paths_) AddAppend();
    AddSteps(query.steps);
    if (paths_) {
      plan::Project* project = Add("path()")->mutable_project();
      project->mutable_expr()->add_nodes()->set_slot(kPathSlot);
      project->set_slot(0);
    }
    if (query.limit.has_value()) AddLimit(*query.limit);
    AddExchange(plan::Exchange::HOME);
    Add("sink")->mutable_sink();
    return plan_;
  }

 private:
  // A new operator behind all loose ends.
  plan::Operator* Add(const std::string& text) {
    const uint32_t id = static_cast<uint32_t>(plan_.operators_size());
    plan::Operator* op = plan_.add_operators();
    op->set_id(id);
    op->set_step(text);
    op->set_scope(scope_);
    op->set_loop(loop_);
    for (uint32_t end : ends_) plan_.mutable_operators(static_cast<int>(end))->add_next(id);
    ends_ = {id};
    return op;
  }

  void AddExchange(plan::Exchange::Key key) {
    if (!in_place_) Add("exchange")->mutable_exchange()->set_key(key);
  }

  void AddScan() {
    Add("V()")->mutable_partitions();
    AddExchange(plan::Exchange::PARTITION);
    Add("V()")->mutable_scan()->set_element(plan::VERTEX);
  }

  // `spread`: rows rest where they are, which only those of the whole traversal may.
  plan::Operator* AddBarrier(bool spread) {
    if (!spread) AddExchange(plan::Exchange::HOME);
    plan::Operator* const barrier = Add("barrier()");
    barrier->mutable_barrier();
    barrier->set_spread(spread);
    return barrier;
  }

  void AddStore(uint32_t from, uint32_t to) {
    plan::Project* const project = Add("as()")->mutable_project();
    SetSlot(from, project->mutable_expr());
    project->set_slot(to);
  }

  // The current value goes on in the path, with a label.
  void AddAppend() {
    plan::Project* project = Add("path")->mutable_project();
    project->set_slot(kPathSlot);
    plan::Expr* expr = project->mutable_expr();
    expr->add_nodes()->set_slot(kPathSlot);
    expr->add_nodes()->set_slot(0);
    expr->add_nodes()->set_constant(EncodeValue(Value::String(kPathLabel)));
    plan::Expr::Call* append = expr->add_nodes()->mutable_call();
    append->set_function("path_append");
    for (uint32_t arg = 0; arg < 3; ++arg) append->add_args(arg);
  }

  void AddSimplePath() {
    plan::Expr* expr = Add("simplePath()")->mutable_filter()->mutable_predicate();
    expr->add_nodes()->set_slot(kPathSlot);
    plan::Expr::Call* call = expr->add_nodes()->mutable_call();
    call->set_function("is_simple");
    call->add_args(0);
  }

  void AddLimit(int64_t high) {
    if (scope_ == 0) {
      plan::Limit* partial = Add("limit()")->mutable_limit();
      partial->set_high(high);
      partial->set_stage(plan::PARTIAL);
    }
    AddExchange(plan::Exchange::HOME);
    Add("limit()")->mutable_limit()->set_high(high);
  }

  void AddReduce(plan::Reduce::Function function) {
    if (!in_place_) {
      plan::Reduce* partial = Add("reduce()")->mutable_reduce();
      partial->set_function(function);
      partial->set_stage(plan::PARTIAL);
    }
    AddExchange(plan::Exchange::HOME);
    plan::Reduce* reduce = Add("reduce()")->mutable_reduce();
    reduce->set_function(function);
    reduce->set_stage(in_place_ ? plan::WHOLE : plan::FINAL);
  }

  void AddOver(int64_t number, bool property) {
    if (property) AddExchange(plan::Exchange::OWNER);
    plan::Expr* expr = Add("filter")->mutable_filter()->mutable_predicate();
    expr->add_nodes()->set_slot(0);
    if (property) {
      expr->add_nodes()->set_constant(EncodeValue(Value::String("n")));
      plan::Expr::Call* call = expr->add_nodes()->mutable_call();
      call->set_function("property");
      call->add_args(0);
      call->add_args(1);
    }
    const uint32_t left = static_cast<uint32_t>(expr->nodes_size() - 1);
    expr->add_nodes()->set_constant(EncodeValue(Value::Int(static_cast<int32_t>(number))));
    plan::Expr::Call* gt = expr->add_nodes()->mutable_call();
    gt->set_function("gt");
    gt->add_args(left);
    gt->add_args(left + 1);
  }

  void AddExpand(plan::Direction direction) {
    AddExchange(plan::Exchange::OWNER);
    Add("expand")->mutable_expand()->set_direction(direction);
    if (paths_) AddAppend();
  }

  void AddUnion(const Step& step) {
    Add("union()")->mutable_split()->set_copy(true);
    const std::vector<uint32_t> split = ends_;
    std::vector<uint32_t> ends;
    for (const Traversal& child : step.children) {
      ends_ = split;
      AddSteps(child);
      ends.insert(ends.end(), ends_.begin(), ends_.end());
    }
    ends_ = ends;
  }

  // Whether a scope with this child may run in place. There it can't carry paths out.
  bool IsChain(const Step& scope) const {
    if (paths_ && scope.kind != Kind::kWhere && scope.kind != Kind::kNot) return false;
    return scope.children.size() == 1 &&
           std::all_of(scope.children[0].begin(), scope.children[0].end(), [&](const Step& step) {
             return step.kind != Kind::kMerge && step.kind != Kind::kUnion &&
                    step.kind != Kind::kGroup && step.kind != Kind::kRepeat &&
                    step.kind != Kind::kRepeatEmit && (step.children.empty() || IsChain(step));
           });
  }

  // And stay at the owner of the vertex that enters: only the first step reads anything.
  static bool StaysThere(const Step& scope) {
    const Traversal& child = scope.children[0];
    return std::all_of(child.begin(), child.end(), [&](const Step& step) {
      const bool reads = step.kind <= Kind::kHasOver || step.kind == Kind::kValues;
      return step.children.empty() && (!reads || &step == &child.front());
    });
  }

  void AddScope(const Step& step, plan::ScopeExit::Policy policy) {
    const uint32_t outer = scope_;
    const bool outer_in_place = in_place_;
    const bool in_place_here =
        step.number % 2 == 1 && IsChain(step) && (!isolated_ || StaysThere(step));
    if (isolated_ && in_place_here) AddExchange(plan::Exchange::OWNER);
    plan::Operator* op = Add("enter");
    in_place_ = in_place_ || in_place_here;
    const bool in_place = in_place_;
    op->mutable_scope_enter()->set_in_place(in_place);
    // Few instances at once, or as many as there is room for.
    op->mutable_scope_enter()->set_window(static_cast<uint32_t>(step.number % 4));
    const uint32_t enter = op->id();
    scope_ = enter + 1;
    std::vector<uint32_t> ends, alternatives;
    for (const Traversal& child : step.children) {
      ends_.clear();
      if (&child == &step.children.front()) {
        ends_ = {enter};
      } else {
        alternatives.push_back(static_cast<uint32_t>(plan_.operators_size()));
      }
      AddSteps(child);
      AddExchange(plan::Exchange::HOME);
      ends.insert(ends.end(), ends_.begin(), ends_.end());
    }
    ends_ = ends;
    scope_ = outer;
    in_place_ = outer_in_place;
    plan::ScopeExit* exit = Add("exit")->mutable_scope_exit();
    exit->set_enter(enter);
    exit->set_policy(policy);
    if (paths_ && !in_place) exit->add_carry_slots(kPathSlot);
    for (uint32_t first : alternatives) exit->add_alternatives(first);
  }

  // loops(1) >= times, or its opposite.
  static void SetTimesTest(plan::Expr* expr, int64_t times, bool reached) {
    expr->add_nodes()->set_constant(EncodeValue(Value::Int(1)));
    plan::Expr::Call* loops = expr->add_nodes()->mutable_call();
    loops->set_function("loops");
    loops->add_args(0);
    expr->add_nodes()->set_constant(EncodeValue(Value::Long(times)));
    plan::Expr::Call* test = expr->add_nodes()->mutable_call();
    test->set_function(reached ? "gte" : "lt");
    test->add_args(1);
    test->add_args(2);
  }

  void AddRepeat(const Step& step) {
    const uint32_t outer = loop_;
    plan::Operator* op = Add("repeat()");
    op->mutable_loop_enter();
    const uint32_t enter = op->id();
    loop_ = enter + 1;
    // Each iteration behind what the one before it has done, and what is behind behind all of them.
    const bool changes = ChangesGraph(step);
    reads_ = reads_ || changes;
    changes_ = changes_ || changes;
    follows_change_ = false;
    AddSteps(step.children[0]);
    reads_ = reads_ || changes;
    changes_ = changes_ || changes;
    plan::Operator* tests = Add("times()");
    const int split = static_cast<int>(tests->id());
    tests->mutable_split()->set_copy(true);
    const bool emit = step.kind == Kind::kRepeatEmit;
    SetTimesTest(tests->mutable_split()->add_options()->mutable_test(), step.number, true);
    if (emit)
      SetTimesTest(tests->mutable_split()->add_options()->mutable_test(), step.number, false);
    SetTimesTest(tests->mutable_split()->add_options()->mutable_test(), step.number, false);
    ends_.clear();
    const auto back_id = static_cast<uint32_t>(plan_.operators_size());
    if (step.lock_step != LockStep::kNone) {
      plan::Operator* const barrier = AddBarrier(scope_ == 0 && step.number % 2 == 0);
      barrier->mutable_barrier()->set_merge(step.lock_step == LockStep::kMerging);
    }
    plan::Operator* back = Add("repeat()");
    back->mutable_loop_back()->set_enter(enter);
    back->add_next(enter + 1);
    loop_ = outer;
    ends_.clear();
    plan::Operator* exit = Add("repeat()");
    exit->mutable_loop_exit()->set_enter(enter);
    plan_.mutable_operators(split)->add_next(exit->id());
    if (emit) plan_.mutable_operators(split)->add_next(exit->id());
    plan_.mutable_operators(split)->add_next(back_id);
  }

  void AddStep(const Step& step) {
    switch (step.kind) {
      case Kind::kRepeat:
      case Kind::kRepeatEmit:
        return AddRepeat(step);
      case Kind::kOut:
        return AddExpand(plan::OUT);
      case Kind::kIn:
        return AddExpand(plan::IN);
      case Kind::kBoth:
        return AddExpand(plan::BOTH);
      case Kind::kHasOver:
        return AddOver(step.number, true);
      case Kind::kOver:
        return AddOver(step.number, false);
      case Kind::kSimplePath:
        return AddSimplePath();
      case Kind::kDedup:
        return AddDedup(step.number);
      case Kind::kMerge: {
        plan::Merge* merge = Add("barrier()")->mutable_merge();
        merge->set_capacity(static_cast<uint32_t>(step.number) + 1);
        return;
      }
      case Kind::kValues: {
        AddExchange(plan::Exchange::OWNER);
        Add("values()")->mutable_fetch()->add_keys("n");
        return;
      }
      case Kind::kCount:
        return AddReduce(plan::Reduce::COUNT);
      case Kind::kSum:
        return AddReduce(plan::Reduce::SUM);
      case Kind::kMin:
        return AddReduce(plan::Reduce::MIN);
      case Kind::kMax:
        return AddReduce(plan::Reduce::MAX);
      case Kind::kLimitCount:
        AddLimit(step.number);
        return AddReduce(plan::Reduce::COUNT);
      case Kind::kGroup:
        return AddGroup(step.number);
      case Kind::kUnion:
        return AddUnion(step);
      case Kind::kWhere:
        return AddScope(step, plan::ScopeExit::EXISTS);
      case Kind::kNot:
        return AddScope(step, plan::ScopeExit::NONE);
      case Kind::kOptional:
        return AddScope(step, plan::ScopeExit::OPTIONAL);
      case Kind::kLocal:
      case Kind::kCoalesce:
        return AddScope(step, plan::ScopeExit::ALL);
      case Kind::kAggregate:
        return AddAggregate(step.number);
      case Kind::kWithout:
        return AddWithout(step.number);
      case Kind::kCapUnfold:
        return AddCap(step.number);
      case Kind::kSetNumber:
      case Kind::kAddVertex:
      case Kind::kAddVertexTo:
      case Kind::kAddEdge:
      case Kind::kDrop:
      case Kind::kCountScan:
        return AddChange(step);
    }
  }

  // A worker's share or the rows as they are; at the owners of keys, or at home.
  void AddGroup(int64_t number) {
    static constexpr plan::Group::Value kKinds[] = {plan::Group::COUNT, plan::Group::SUM,
                                                    plan::Group::MAX};
    const plan::Group::Value kind = kKinds[number % 3];
    const bool of_root = scope_ == 0 && loop_ == 0;
    const bool shares = of_root && number % 2 == 1, at_owners = of_root && number % 4 >= 2;
    AddStore(0, kKeySlot);
    const auto group = [&](plan::Stage stage) {
      plan::Operator* const op = Add("group()");
      op->mutable_group()->set_key_slot(kKeySlot);
      op->mutable_group()->set_value(kind);
      op->mutable_group()->set_stage(stage);
      return op;
    };
    if (shares) group(plan::PARTIAL);
    AddExchange(at_owners ? plan::Exchange::HASH : plan::Exchange::HOME);
    plan::Operator* const exchange = &*plan_.mutable_operators()->rbegin();
    if (at_owners) exchange->mutable_exchange()->add_hash_slots(kKeySlot);
    plan::Operator* const whole =
        group(shares && kind == plan::Group::SUM ? plan::MERGED : plan::FINAL);
    whole->mutable_group()->set_rows(true);
    whole->set_spread(at_owners);
    whole->add_drop_slots(kKeySlot);
  }

  void AddDedup(int64_t number) {
    if (loop_ > scope_) {  // the set spans the iterations, which must come in order
      AddExchange(plan::Exchange::HOME);
      plan::Dedup* dedup = Add("dedup()")->mutable_dedup();
      dedup->add_key_slots(0);
      dedup->set_waits(true);
      return;
    }
    if (number % 2 != 0) {  // each worker drops what it can before
      plan::Dedup* early = Add("dedup()")->mutable_dedup();
      early->add_key_slots(0);
      early->set_stage(plan::PARTIAL);
    }
    AddExchange(scope_ == 0 ? plan::Exchange::HASH : plan::Exchange::HOME);
    plan::Operator* exchange = plan_.mutable_operators(plan_.operators_size() - 1);
    if (scope_ == 0) exchange->mutable_exchange()->add_hash_slots(0);
    Add("dedup()")->mutable_dedup()->add_key_slots(0);
  }

  static std::string BagName(int64_t number) { return "x" + std::to_string(number); }

  // Each value at its place. Who asks behind it asks when all workers have added theirs. A plan
  // that stays at its home has all of it there.
  void AddAggregate(int64_t number) {
    if (plan_.stays_home()) {
      AddExchange(plan::Exchange::HOME);
      Add("aggregate()")->mutable_aggregate()->set_name(BagName(number));
      return;
    }
    AddExchange(plan::Exchange::VALUE);
    plan::Operator* const aggregate = Add("aggregate()");
    aggregate->mutable_aggregate()->set_name(BagName(number));
    aggregate->set_spread(true);
    AddBarrier(/*spread=*/true);
  }

  void AddWithout(int64_t number) {
    AddExchange(plan::Exchange::VALUE);
    plan::Expr* expr = Add("without()")->mutable_filter()->mutable_predicate();
    expr->add_nodes()->set_slot(0);
    expr->add_nodes()->set_constant(EncodeValue(Value::String(BagName(number))));
    plan::Expr::Call* in = expr->add_nodes()->mutable_call();
    in->set_function("in_side_effect");
    in->add_args(0);
    in->add_args(1);
    plan::Expr::Call* no = expr->add_nodes()->mutable_call();
    no->set_function("not");
    no->add_args(2);
  }

  void AddCap(int64_t number) {
    if (plan_.stays_home()) {
      AddExchange(plan::Exchange::HOME);
      Add("cap()")->mutable_cap()->add_names(BagName(number));
      Add("unfold()")->mutable_unfold();
      return;
    }
    plan::Operator* const share = Add("cap()");
    share->mutable_cap()->add_names(BagName(number));
    share->mutable_cap()->set_stage(plan::PARTIAL);
    share->set_spread(true);
    AddExchange(plan::Exchange::HOME);
    Add("cap()")->mutable_reduce()->set_function(plan::Reduce::FOLD);
    Add("unfold()")->mutable_unfold();
  }

  // A barrier stands between what has changed the graph and what reads or changes it behind, and
  // between what has read it and what changes it behind; a change right behind another one needs
  // none, as each row goes through both in turn. A count is a barrier, too. In a scope nothing
  // changes.
  void SeparateChanges(const Step& step) {
    const bool reads = ReadsGraph(step), changes = ChangesGraph(step);
    if (!plan_.mutates() || scope_ != 0 || (!reads && !changes)) return;
    const bool joins = follows_change_ && !reads && step.kind != Kind::kDrop;
    const bool counts = step.kind == Kind::kCountScan && step.number % 2 == 1;
    if ((reads && changes_) || (changes && reads_) || (changes && changes_ && !joins)) {
      if (!counts) AddBarrier(/*spread=*/step.number % 2 == 0);
      reads_ = changes_ = false;
    }
    reads_ = reads_ || reads;
    changes_ = changes_ || changes;
  }

  void AddChange(const Step& step) {
    if (step.kind == Kind::kSetNumber) return SetNumber(step.number);
    if (step.kind == Kind::kAddVertexTo) return AddVertexTo(step.number);
    if (step.kind == Kind::kAddEdge) return AddEdges(step.number);
    if (step.kind == Kind::kDrop) return AddDrop(step.number);
    if (step.kind == Kind::kCountScan) {
      AddReduce(plan::Reduce::COUNT);
      return AddScan();
    }
    const bool links = step.number % 2 == 1;
    if (links) AddStore(0, kFromSlot);
    AddVertex(step.number);
    if (links) AddEdge();
  }

  void SetNumber(int64_t number) {
    AddExchange(plan::Exchange::OWNER);
    plan::PropertyExpr* const property =
        Add("property()")->mutable_set_property()->mutable_property();
    SetConstant(Value::String("n"), property->mutable_key());
    SetConstant(number == 0 ? Value::Null() : Value::Long(number), property->mutable_value());
  }

  void AddVertex(int64_t number) {
    plan::AddVertex* const add = Add("addV()")->mutable_add_vertex();
    SetConstant(Value::String("v"), add->mutable_label());
    plan::PropertyExpr* const property = add->add_properties();
    SetConstant(Value::String("n"), property->mutable_key());
    if (number == kRowItself) return SetSlot(0, property->mutable_value());
    SetConstant(Value::Long(number), property->mutable_value());
  }

  // One row after the other, at one place.
  void AddVertexTo(int64_t number) {
    AddExchange(plan::Exchange::HOME);
    plan::Operator* const op = Add("enter");
    op->mutable_scope_enter()->set_serial(true);
    const uint32_t enter = op->id();
    scope_ = enter + 1;
    AddVertex(number);
    AddExchange(plan::Exchange::HOME);
    scope_ = 0;
    plan::ScopeExit* const exit = Add("exit")->mutable_scope_exit();
    exit->set_enter(enter);
    exit->set_policy(plan::ScopeExit::EFFECT);
  }

  void AddEdges(int64_t number) {
    AddStore(0, kFromSlot);
    if (number % 3 != 0) {
      AddExpand(number % 3 == 1 ? plan::OUT : plan::IN);
      AddBarrier(/*spread=*/number % 2 == 0);
    }
    AddEdge();
  }

  // From where the row stood to where it is, which it then goes on from: in parts where each is
  // made at its owner.
  void AddEdge() {
    AddStore(0, kToSlot);
    const auto at_owner = [this](uint32_t slot) {
      if (!isolated_) return;
      AddExchange(plan::Exchange::OWNER);
      plan_.mutable_operators()->rbegin()->mutable_exchange()->set_slot(slot);
    };
    at_owner(kFromSlot);
    plan::AddEdge* const add = Add("addE()")->mutable_add_edge();
    SetConstant(Value::String("e"), add->mutable_label());
    SetSlot(kFromSlot, add->mutable_out_vertex());
    SetSlot(kToSlot, add->mutable_in_vertex());
    if (isolated_) {
      add->set_part(plan::AddEdge::AT_OUT);
      at_owner(kToSlot);
      Add("addE()")->mutable_add_edge()->set_part(plan::AddEdge::AT_IN);
    }
    AddStore(kToSlot, 0);
    for (const uint32_t slot : {kFromSlot, kToSlot}) {
      plan_.mutable_operators()->rbegin()->add_drop_slots(slot);
    }
  }

  void AddDrop(int64_t number) {
    if (number % 3 != 0) {
      AddExchange(plan::Exchange::OWNER);
      plan::Expand* const expand = Add("expand")->mutable_expand();
      expand->set_direction(number % 3 == 1 ? plan::OUT : plan::BOTH);
      expand->set_to(plan::Expand::INCIDENT);
      AddBarrier(/*spread=*/number % 2 == 0);
    }
    if (isolated_) AddStore(0, kFromSlot);
    AddExchange(plan::Exchange::OWNER);
    plan::Drop* const drop = Add("drop()")->mutable_drop();
    if (!isolated_) return;
    drop->set_part(plan::Drop::AT_ELEMENT);
    AddExchange(plan::Exchange::OWNER);
    plan::Drop* const at_out = Add("drop()")->mutable_drop();
    at_out->set_part(plan::Drop::AT_OUT);
    at_out->set_of_slot(kFromSlot);
    AddExchange(plan::Exchange::IN_OWNER);
    Add("drop()")->mutable_drop()->set_part(plan::Drop::AT_IN);
  }

  void AddSteps(const Traversal& steps) {
    for (const Step& step : steps) {
      SeparateChanges(step);
      AddStep(step);
      follows_change_ = step.kind >= Kind::kSetNumber && step.kind <= Kind::kAddEdge;
    }
  }

  const bool isolated_;
  plan::Plan plan_;
  bool paths_ = false;
  uint32_t scope_ = 0;
  uint32_t loop_ = 0;
  bool in_place_ = false;
  std::vector<uint32_t> ends_;
  // Since the last barrier, so far, rows have read the graph, or changed it; and just before.
  bool reads_ = false, changes_ = false, follows_change_ = false;
};

}  // namespace

plan::Plan ToPlan(const RandomQuery& query, bool isolated) {
  return PlanBuilder(isolated).Build(query);
}

}  // namespace koios::simulation
