#include "tests/simulation/step_tree.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "core/value_codec.h"

namespace koios::simulation {
namespace {

using Kind = Step::Kind;

constexpr int kMaxDepth = 3;

// ---- generation
// ----------------------------------------------------------------------------------

// `vertices`: whether rows are vertices (else numbers); updated to what comes out.
Traversal MakeSteps(Rng* rng, bool paths, int depth, int length, bool* vertices);

Step MakeVertexStep(Rng* rng, bool paths, int depth, bool* vertices) {
  static constexpr Kind kWithPaths[] = {Kind::kOut,     Kind::kIn,    Kind::kBoth,
                                        Kind::kHasOver, Kind::kMerge, Kind::kSimplePath};
  static constexpr Kind kFlat[] = {Kind::kOut,     Kind::kIn,    Kind::kBoth,
                                   Kind::kHasOver, Kind::kDedup, Kind::kMerge,
                                   Kind::kValues,  Kind::kCount, Kind::kLimitCount};
  static constexpr Kind kNested[] = {Kind::kUnion,    Kind::kWhere,     Kind::kNot,
                                     Kind::kOptional, Kind::kLocal,     Kind::kCoalesce,
                                     Kind::kRepeat,   Kind::kRepeatEmit};
  Step step;
  const bool nested = depth < kMaxDepth && rng->Uniform(3) == 0;
  step.kind = nested  ? kNested[rng->Uniform(std::size(kNested))]
              : paths ? kWithPaths[rng->Uniform(std::size(kWithPaths))]
                      : kFlat[rng->Uniform(std::size(kFlat))];
  step.number = static_cast<int64_t>(rng->Uniform(10));
  if (step.kind == Kind::kValues || step.kind == Kind::kCount || step.kind == Kind::kLimitCount) {
    *vertices = false;
  }
  if (!nested) return step;
  if (step.kind == Kind::kRepeat || step.kind == Kind::kRepeatEmit) {
    step.number = static_cast<int64_t>(1 + rng->Uniform(3));
    step.lock_step = static_cast<LockStep>(rng->Uniform(3));
  }
  const bool filter = step.kind == Kind::kWhere || step.kind == Kind::kNot;
  const size_t children =
      step.kind == Kind::kUnion || step.kind == Kind::kCoalesce ? 2 + rng->Uniform(2) : 1;
  // All branches must give the same sort of rows; an optional gives its input too.
  std::optional<bool> gives;
  while (step.children.size() < children) {
    bool child = true;
    Traversal steps =
        MakeSteps(rng, paths, depth + 1, static_cast<int>(1 + rng->Uniform(3)), &child);
    if (!filter && gives.has_value() && *gives != child) continue;
    const bool again = step.kind == Kind::kRepeat || step.kind == Kind::kRepeatEmit;
    if ((again || step.kind == Kind::kOptional) && !child) continue;
    gives = child;
    step.children.push_back(std::move(steps));
  }
  if (!filter) *vertices = *gives;
  return step;
}

Step MakeNumberStep(Rng* rng) {
  static constexpr Kind kFlat[] = {Kind::kOver, Kind::kDedup, Kind::kMerge, Kind::kCount,
                                   Kind::kSum,  Kind::kMin,   Kind::kMax,   Kind::kLimitCount};
  Step step;
  step.kind = kFlat[rng->Uniform(std::size(kFlat))];
  step.number = static_cast<int64_t>(rng->Uniform(10));
  return step;
}

Traversal MakeSteps(Rng* rng, bool paths, int depth, int length, bool* vertices) {
  Traversal steps;
  for (int i = 0; i < length; ++i) {
    steps.push_back(*vertices ? MakeVertexStep(rng, paths, depth, vertices) : MakeNumberStep(rng));
  }
  return steps;
}

// ---- plan
// ----------------------------------------------------------------------------------------

constexpr uint32_t kPathSlot = 1;

class PlanBuilder {
 public:
  explicit PlanBuilder(bool isolated) : isolated_(isolated) {}

  plan::Plan Build(const RandomQuery& query) {
    plan_.set_format(1);
    paths_ = query.paths;
    plan_.set_num_slots(paths_ ? kPathSlot + 1 : 1);
    Add("V()")->mutable_partitions();
    AddExchange(plan::Exchange::PARTITION);
    Add("V()")->mutable_scan()->set_element(plan::VERTEX);
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
                    step.kind != Kind::kRepeat && step.kind != Kind::kRepeatEmit &&
                    (step.children.empty() || IsChain(step));
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
    AddSteps(step.children[0]);
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
      const bool spread = scope_ == 0 && step.number % 2 == 0;
      if (!spread) AddExchange(plan::Exchange::HOME);
      plan::Operator* const barrier = Add("barrier()");
      barrier->mutable_barrier()->set_merge(step.lock_step == LockStep::kMerging);
      barrier->set_spread(spread);
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
    }
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

  // Each value at its place. Who asks behind it asks when all workers have added theirs.
  void AddAggregate(int64_t number) {
    AddExchange(plan::Exchange::VALUE);
    plan::Operator* const aggregate = Add("aggregate()");
    aggregate->mutable_aggregate()->set_name(BagName(number));
    aggregate->set_spread(true);
    plan::Operator* const barrier = Add("aggregate()");
    barrier->mutable_barrier();
    barrier->set_spread(true);
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
    plan::Operator* const share = Add("cap()");
    share->mutable_cap()->add_names(BagName(number));
    share->mutable_cap()->set_stage(plan::PARTIAL);
    share->set_spread(true);
    AddExchange(plan::Exchange::HOME);
    Add("cap()")->mutable_reduce()->set_function(plan::Reduce::FOLD);
    Add("unfold()")->mutable_unfold();
  }

  void AddSteps(const Traversal& steps) {
    for (const Step& step : steps) AddStep(step);
  }

  const bool isolated_;
  plan::Plan plan_;
  bool paths_ = false;
  uint32_t scope_ = 0;
  uint32_t loop_ = 0;
  bool in_place_ = false;
  std::vector<uint32_t> ends_;
};

}  // namespace

void AddEffects(Rng* rng, RandomQuery* query) {
  query->limit.reset();
  // What a limit would have spared may be added or not.
  const std::function<void(Traversal*)> lift = [&lift](Traversal* steps) {
    for (Step& step : *steps) {
      if (step.kind == Kind::kLimitCount) step.kind = Kind::kCount;
      for (Traversal& child : step.children) lift(&child);
    }
  };
  lift(&query->steps);
  const int64_t bags = static_cast<int64_t>(1 + rng->Uniform(2));
  const auto put = [&](Traversal* steps, Kind kind, int64_t bag) {
    const auto at = static_cast<std::ptrdiff_t>(rng->Uniform(steps->size() + 1));
    steps->insert(steps->begin() + at, Step{kind, bag, {}});
  };
  for (int64_t bag = 0; bag < bags; ++bag) {
    Traversal* steps = &query->steps;
    for (Step& step : query->steps) {
      const bool loops = step.kind == Kind::kRepeat || step.kind == Kind::kRepeatEmit;
      if (loops && rng->Uniform(2) == 0) steps = &step.children[0];
    }
    put(steps, Kind::kAggregate, bag);
    if (rng->Uniform(3) != 0) put(steps, Kind::kWithout, bag);
    if (rng->Uniform(3) == 0) put(&query->steps, Kind::kWithout, bag);
  }
  if (rng->Uniform(2) == 0) {
    const auto bag = static_cast<int64_t>(rng->Uniform(static_cast<uint64_t>(bags)));
    query->steps.push_back({Kind::kCapUnfold, bag, {}});
  }
}

RandomQuery MakeQuery(Rng* rng, bool paths) {
  RandomQuery query;
  query.paths = paths;
  bool vertices = true;
  query.steps = MakeSteps(rng, paths, 0, static_cast<int>(1 + rng->Uniform(5)), &vertices);
  if (rng->Uniform(4) == 0) query.limit = static_cast<int64_t>(1 + rng->Uniform(20));
  return query;
}

plan::Plan ToPlan(const RandomQuery& query, bool isolated) {
  return PlanBuilder(isolated).Build(query);
}

std::shared_ptr<const storage::MemoryGraph> BuildGraph(const GraphData& data) {
  auto graph = std::make_shared<storage::MemoryGraph>(data.partitions);
  std::vector<VertexRef> vertices;
  for (const std::optional<int64_t>& number : data.vertices) {
    storage::PropertyList properties;
    if (number.has_value()) properties.emplace_back("n", Value::Long(*number));
    const Value id = Value::Long(static_cast<int64_t>(vertices.size()));
    auto vertex = graph->AddVertex(id, "v", properties);
    CHECK(vertex.ok());
    vertices.push_back(*vertex);
  }
  for (const GraphData::Edge& edge : data.edges) {
    CHECK(graph->AddEdge(vertices.at(edge.from), vertices.at(edge.to), "e").ok());
  }
  return graph;
}

GraphData MakeGraphData(Rng* rng) {
  GraphData data;
  data.partitions = static_cast<uint32_t>(1 + rng->Uniform(8));
  const uint64_t num_vertices = rng->Uniform(30);
  for (uint64_t i = 0; i < num_vertices; ++i) {
    std::optional<int64_t> number;
    if (rng->Uniform(5) != 0) number = static_cast<int64_t>(rng->Uniform(12));
    data.vertices.push_back(number);
  }
  const uint64_t num_edges = num_vertices == 0 ? 0 : rng->Uniform(num_vertices * 3);
  for (uint64_t i = 0; i < num_edges; ++i) {
    // The smaller of two draws: low numbers become hubs.
    const auto pick = [&] {
      const uint64_t one = rng->Uniform(num_vertices);
      return static_cast<uint32_t>(std::min(one, rng->Uniform(num_vertices)));
    };
    const uint32_t to = pick();
    data.edges.push_back({pick(), to});
  }
  return data;
}

std::shared_ptr<const storage::MemoryGraph> MakeGraph(Rng* rng) {
  return BuildGraph(MakeGraphData(rng));
}

}  // namespace koios::simulation
