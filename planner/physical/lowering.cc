#include "planner/physical/lowering.h"

#include <algorithm>

#include "core/plan/operator_table.h"
#include "core/value_codec.h"
#include "planner/op_table.h"
#include "planner/physical/drop_slots.h"
#include "planner/traverser.h"

namespace koios::planner {
namespace {

// Distinct rows that a worker holds back to merge others into: some megabytes.
constexpr uint32_t kMergedRows = 64 * 1024;

void SetPosition(const SourceSpan& span, plan::Position* out) {
  out->set_line(span.line);
  out->set_column(span.column);
  out->set_length(span.length);
}

template <typename Names>
void CopyNames(const std::vector<std::string>& names, Names* out) {
  for (const std::string& name : names) out->Add(std::string(name));
}

}  // namespace

StatusOr<plan::Plan> LowerToPlan(const Chain& root, const Isolation& isolation) {
  plan::Plan plan;
  plan.set_format(1);
  plan.set_mutates(ChangesGraph(root));
  Lowering lowering(&plan, isolation);
  lowering.LowerRoot(root);
  if (lowering.num_slots() > kMaxSlots) {
    ErrorDetail detail;
    detail.reason = "TOO_MANY_SLOTS";
    detail.limit = std::to_string(kMaxSlots);
    detail.used = std::to_string(lowering.num_slots());
    return ResourceExhausted(
        "the traversal remembers more than " + std::to_string(kMaxSlots) + " values at once",
        detail);
  }
  plan.set_num_slots(lowering.num_slots());
  DropDeadSlots(&plan);
  return plan;
}

Lowering::Lowering(plan::Plan* plan, const Isolation& isolation)
    : plan_(plan), isolation_(isolation) {
  plan_->add_slot_names("current");
}

void Lowering::LowerRoot(const Chain& root) {
  plan_->set_stays_home(HasEffects(root) && !isolation_.isolated);
  plan_->set_at_owners(isolation_.isolated);
  effects_at_home_ = HasEffects(root) && isolation_.isolated;
  if (HasEffects(root)) capped_once_ = EffectsCappedOnce(root);
  if (effects_at_home_) effect_places_ = PlaceEffects(root);
  for (const std::string& name : isolation_.begun) effect_places_[name] = EffectPlace::kHome;
  LowerChain(root);
  static const Op kEnd{Unfold{}, {}, ""};
  op_ = &kEnd;
  if (IsIsolated()) ShowResults();
  EndAtHome();
  plan::Operator* sink = Add();
  sink->mutable_sink();
  sink->clear_next();
  NumberRows();
}

void Lowering::ShowResults() {
  if (flow_.types.current == ValueType::kScalar) return;
  AddProject(StoreDetached(Current(), "as_seen", isolation_.whole_results), 0,
             plan::Project::DROP_ROW);
}

void Lowering::LowerChain(const Chain& chain) {
  for (size_t i = 0; i < chain.ops.size(); ++i) {
    LowerOp(chain.ops[i]);
    if (const Order* const order = OrderFedFrom(chain.ops, i)) LookAtBound(chain.ops[i], *order);
  }
}

void Lowering::LowerOp(const Op& op) {
  if (num_slots() > kMaxSlots) return;  // LowerToPlan tells
  const Op* outer = op_;
  op_ = &op;
  const ValueType current = flow_.types.current;
  SeparateChanges(op);
  const bool one_row = flow_.one_row;
  if (As<Split>(op) || As<Loop>(op)) flow_.one_row = false;
  std::visit([this](const auto& body) { Lower(body); }, op.body);
  if (As<Split>(op) || As<Loop>(op)) KeepUnseparated(op);
  flow_.one_row = LeavesOneRow(op, one_row) && flow_.loop <= flow_.scope;
  flow_.types.current = current;
  Advance(op, &flow_.types);
  op_ = outer;
}

// A barrier stands between what has changed the graph and what reads it behind, and between what
// has read it and what changes it behind. A scope or split is seen as a whole.
void Lowering::SeparateChanges(const Op& op) {
  if (!plan_->mutates()) return;
  if (As<Barrier>(op)) flow_.reads = flow_.changes = false;
  const bool changes = ChangesGraph(op);
  const bool reads = ReadsGraph(op);
  if ((reads && flow_.changes) || (changes && flow_.reads)) {
    AddBarrier(/*merge=*/false);
    flow_.reads = flow_.changes = false;
  }
  // In a loop every iteration comes behind the one before it; branches see to themselves.
  if (As<Split>(op)) return;
  flow_.reads = flow_.reads || reads;
  flow_.changes = flow_.changes || changes;
}

// A barrier in one branch, or in an iteration, holds back no rows of the others.
void Lowering::KeepUnseparated(const Op& op) {
  if (!plan_->mutates()) return;
  flow_.reads = flow_.reads || ReadsGraph(op);
  flow_.changes = flow_.changes || ChangesGraph(op);
}

void Lowering::EncodeProperty(const std::pair<ExpressionPtr, ExpressionPtr>& property,
                              plan::PropertyExpr* out) {
  Encode(property.first, out->mutable_key());
  Encode(property.second, out->mutable_value());
}

plan::Operator* Lowering::Add() {
  const uint32_t id = static_cast<uint32_t>(plan_->operators_size());
  for (const OpenEnd& end : flow_.ends) {
    plan_->mutable_operators(static_cast<int>(end.id))->set_next(end.index, id);
  }
  plan::Operator* added = plan_->add_operators();
  added->set_id(id);
  ordered_.push_back(flow_.ordered);
  added->set_scope(flow_.scope);
  added->set_loop(flow_.loop);
  if (op_ != nullptr) {
    added->set_step(op_->step);
    if (op_->span.line != 0) SetPosition(op_->span, added->mutable_position());
  }
  added->add_next(0);
  flow_.ends = {{id, 0}};
  return added;
}

plan::Exchange* Lowering::AddExchange(plan::Exchange::Key key, uint32_t slot) {
  if (flow_.in_place) {
    leaves_owner_ = leaves_owner_ || key != plan::Exchange::HOME;
    return nullptr;
  }
  plan::Exchange* exchange = Add()->mutable_exchange();
  exchange->set_key(key);
  exchange->set_slot(slot);
  flow_.here.clear();
  flow_.at_home = key == plan::Exchange::HOME;
  flow_.mixed = flow_.mixed || (key != plan::Exchange::HOME && !plan_->stays_home());
  if (key == plan::Exchange::OWNER) flow_.here.insert(slot);
  return exchange;
}

ExpressionPtr Lowering::ValueIn(uint32_t slot) const {
  return slot == 0 ? Current() : Named(plan_->slot_names(static_cast<int>(slot)));
}

bool Lowering::HoldsElements(uint32_t slot) const {
  const ValueType type = TypeOf(*ValueIn(slot), flow_.types);
  return type == ValueType::kVertex || type == ValueType::kEdge;
}

void Lowering::MeetEqual(const std::vector<uint32_t>& slots) {
  if (slots.size() == 1 && HoldsElements(slots[0]) &&
      IsAlwaysThere(*ValueIn(slots[0]), flow_.types)) {
    if (IsIsolated() && flow_.here.contains(slots[0])) return;
    if (AddExchange(plan::Exchange::VALUE, slots[0]) != nullptr) flow_.here.insert(slots[0]);
    return;
  }
  plan::Exchange* exchange = AddExchange(plan::Exchange::HASH);
  if (exchange == nullptr) return;
  for (uint32_t slot : slots) exchange->add_hash_slots(slot);
}

void Lowering::AddProject(const ExpressionPtr& value, uint32_t slot, plan::Project::Absent absent) {
  const bool copies_here =
      value->kind == Expression::Kind::kCurrent
          ? flow_.here.contains(0)
          : value->kind == Expression::Kind::kNamed && flow_.here.contains(SlotOf(value->name));
  const ValueType type = TypeOf(*value, flow_.types);
  plan::Project* project = Add()->mutable_project();
  Encode(value, project->mutable_expr());
  project->set_slot(slot);
  project->set_absent(absent);
  if (copies_here) {
    flow_.here.insert(slot);
  } else {
    flow_.here.erase(slot);
  }
  if (slot == 0) {
    flow_.types.current = type;
  } else {
    flow_.types.names[plan_->slot_names(static_cast<int>(slot))] = {type, false, false};
  }
}

void Lowering::ToOwner(uint32_t slot) {
  if (!flow_.here.contains(slot)) AddExchange(plan::Exchange::OWNER, slot);
}

void Lowering::ToHome() {
  if (!flow_.at_home) ToHomeAlways();
}

void Lowering::ToHomeInOrder() {
  if (!flow_.ordered || !flow_.mixed) return ToHome();
  plan::Order order;
  AddOrdinalKey(&order);
  AddSorted(order);
}

void Lowering::NumberRows() {
  for (plan::Operator& op : *plan_->mutable_operators()) {
    if (ordered_[op.id()] && plan::AppendsOrdinals(op)) op.set_ordinal_slot(SlotOf(kOrdinalName));
  }
}

void Lowering::EndAtHome() {
  if (flow_.ordered && flow_.mixed) ToHomeInOrder();
  ToHomeAlways();
}

void Lowering::ToHomeAlways() { AddExchange(plan::Exchange::HOME); }

uint32_t Lowering::SlotOf(const std::string& name) {
  if (name.empty()) return 0;
  auto [entry, added] = slots_.insert({name, static_cast<uint32_t>(plan_->slot_names_size())});
  if (added) plan_->add_slot_names(name);
  return entry->second;
}

std::string Lowering::FreshName() { return "~s" + std::to_string(next_fresh_++); }

void Lowering::Lower(const Source& op) {
  if (!op.ids) {
    Add()->mutable_partitions();
    plan::Exchange* exchange = AddExchange(plan::Exchange::PARTITION);
    if (exchange != nullptr) exchange->set_expected(op.expected);
    plan::Scan* scan = Add()->mutable_scan();
    scan->set_element(op.element);
    CopyNames(op.labels, scan->mutable_labels());
    if (op.seek) *scan->mutable_seek() = *op.seek;
    flow_.here = {0};
    if (op.counted) {
      scan->mutable_ends()->set_direction(op.counted->direction);
      CopyNames(op.counted->labels, scan->mutable_ends()->mutable_labels());
      flow_.here.clear();
    }
    if (!op.value_key.empty()) {
      scan->set_value_key(op.value_key);
      flow_.here.clear();
    }
    return;
  }
  plan::Inject* inject = Add()->mutable_inject();
  for (const PlanValue& id : *op.ids) inject->add_values(Encoded(id, /*as_id=*/true));
  Lower(Lookup{op.element});
  flow_.types.current = op.element == plan::VERTEX ? ValueType::kVertex : ValueType::kEdge;
  if (!op.labels.empty()) Lower(Filter{HasLabel(op.labels)});
}

void Lowering::Lower(const Lookup& op) {
  if (IsIsolated()) return LowerLookupSteps(op);
  AddExchange(plan::Exchange::ID);
  Add()->mutable_lookup()->set_element(op.element);
  // An edge's properties are at its out vertex, which its id need not tell.
  if (op.element == plan::VERTEX) flow_.here.insert(0);
}

// Each place is read where it is: that of the id, of the integer that a string spells, of the edge.
void Lowering::LowerLookupSteps(const Lookup& op) {
  const auto look = [&](plan::Exchange::Key key, uint32_t step) {
    AddExchange(key);
    plan::Lookup* lookup = Add()->mutable_lookup();
    lookup->set_element(op.element);
    lookup->set_step(step);
  };
  look(plan::Exchange::ID, 1);
  look(plan::Exchange::ID, 2);
  if (op.element == plan::EDGE) look(plan::Exchange::OWNER, 3);
  flow_.here = {0};
}

void Lowering::Lower(const Inject& op) {
  plan::Inject* inject = Add()->mutable_inject();
  for (const PlanValue& value : op.values) inject->add_values(Encoded(value));
  flow_.here.clear();
}

void Lowering::Lower(const Expand& op) {
  ToOwner(0);
  plan::Expand* expand = Add()->mutable_expand();
  expand->set_direction(op.direction);
  expand->set_to(op.to);
  CopyNames(op.labels, expand->mutable_labels());
  CopyNames(op.neighbour_labels, expand->mutable_neighbour_labels());
  expand->set_other_than_slot(SlotOf(op.other_than));
  expand->set_most(op.most);
  // An outgoing edge lives with its out vertex, where the row stands.
  const bool stays = op.to == plan::Expand::ARRIVALS ||
                     (op.to == plan::Expand::INCIDENT && op.direction == plan::OUT);
  if (!stays) flow_.here.erase(0);
}

void Lowering::Lower(const EdgeEnd& op) {
  plan::EdgeEnd* end = Add()->mutable_edge_end();
  end->set_end(op.end);
  if (op.end == plan::EdgeEnd::OTHER) end->set_from_slot(SlotOf(FromName()));
  if (op.end != plan::EdgeEnd::OUT_VERTEX) flow_.here.erase(0);
}

void Lowering::Lower(const Fetch& op) {
  if (MayBeElement(flow_.types.current)) ToOwner(0);
  plan::Fetch* fetch = Add()->mutable_fetch();
  CopyNames(op.keys, fetch->mutable_keys());
  fetch->set_as_properties(op.as_properties);
  flow_.here.erase(0);
}

void Lowering::Lower(const Filter& op) {
  const ExpressionPtr predicate = Prepare(op.predicate, plan::Project::DROP_ROW);
  Encode(predicate, Add()->mutable_filter()->mutable_predicate());
}

void Lowering::Lower(const Project& op) {
  const ExpressionPtr value = Prepare(op.value, op.absent);
  AddProject(value, SlotOf(op.target), op.absent);
}

void Lowering::Lower(const Unfold&) {
  if (!flow_.ordered && flow_.one_row &&
      !flow_.in_place) {  // the order of the one list is the traversal's
    SlotOf(kOrdinalName);
    flow_.ordered = true;
    flow_.mixed = false;
  }
  Add()->mutable_unfold();
  flow_.here.erase(0);
}

void Lowering::Lower(const Merge& op) {
  if (flow_.ordered) return;  // rows that differ in their ordinals only
  if (op.once) {
    DropMet(op.each_iteration);
    if (!op.at_owner || flow_.here.contains(0)) return;
    ToOwner(0);
    DropMet(op.each_iteration);  // what came from several workers
    return;
  }
  ToOwner(0);
  Add()->mutable_merge()->set_capacity(kMergedRows);
}

void Lowering::DropMet(bool each_iteration) {
  plan::Dedup* dedup = Add()->mutable_dedup();
  dedup->add_key_slots(0);
  dedup->set_stage(plan::PARTIAL);
  dedup->set_each_iteration(each_iteration);
}

void Lowering::Lower(const Limit& op) {
  if (op.high != -1 && !flow_.at_home && !flow_.ordered && flow_.scope == 0 && flow_.loop == 0) {
    plan::Limit* partial = Add()->mutable_limit();
    partial->set_high(op.high);
    partial->set_stage(plan::PARTIAL);
  }
  ToHomeInOrder();
  plan::Limit* limit = Add()->mutable_limit();
  limit->set_low(op.low);
  limit->set_high(op.high);
  limit->set_stage(plan::FINAL);
}

void Lowering::Lower(const TimeLimit& op) {
  Add()->mutable_time_limit()->set_milliseconds(op.milliseconds);
}

void Lowering::Lower(const Tail& op) {
  ToHomeInOrder();
  Add()->mutable_tail()->set_count(op.count);
}

void Lowering::Lower(const Sample& op) {
  ToHome();
  plan::Sample* sample = Add()->mutable_sample();
  sample->set_count(op.count);
  sample->set_weight_slot(SlotOf(op.weight));
}

// Rows of the whole traversal stay where they are; to be merged equal ones must meet, which they do
// not have to for what is read at their owner where every worker reads everything. Those of an
// instance are few, and what is kept of it must be let go with it: at its home.
void Lowering::AddBarrier(bool merge) {
  const bool spread = flow_.scope == 0;
  if (!spread) ToHome();
  if (spread && merge && !IsIsolated()) flow_.here.erase(0);
  if (spread && merge) ToOwner(0);
  plan::Operator* const added = Add();
  added->mutable_barrier()->set_merge(merge);
  added->set_spread(spread);
}

void Lowering::Lower(const Barrier& op) {
  if (!op.sacks) {
    AddBarrier(/*merge=*/false);
    return;
  }
  ToHomeInOrder();
  plan::Sacks* sacks = Add()->mutable_barrier()->mutable_sacks();
  sacks->set_slot(SlotOf(op.sacks->name));
  sacks->set_initial(EncodeValue(op.sacks->initial));
  sacks->set_operator_(op.sacks->operator_);
  sacks->set_one_bulk(op.sacks->one_bulk);
  sacks->set_normalise(op.sacks->normalise);
  if (flow_.ordered) sacks->set_ordinal_slot(SlotOf(kOrdinalName));
  if (op.sacks->by_path) sacks->set_path_slot(SlotOf(CarriedPath()->name));
  flow_.here.erase(sacks->slot());
}

void Lowering::Lower(const Coin& op) {
  const ExpressionPtr passing = CallOf("coin", {Constant(Value::Double(op.probability))});
  Encode(passing, Add()->mutable_filter()->mutable_predicate());
}

void Lowering::Lower(const Dedup& op) {
  std::vector<uint32_t> slots;
  for (const std::string& key : op.keys) slots.push_back(SlotOf(key));
  // In a loop the set spans the iterations: an earlier one must be through before a later one asks.
  const bool waits = flow_.loop != 0 && flow_.loop > flow_.scope;
  const bool spread = flow_.scope == 0 && (!waits || IsIsolated());
  if (spread) {
    MeetEqual(slots);
  } else {
    ToHome();  // an instance's set is kept where it can be let go with the instance
  }
  plan::Operator* const added = Add();
  added->set_spread(spread && waits);
  plan::Dedup* dedup = added->mutable_dedup();
  for (uint32_t slot : slots) dedup->add_key_slots(slot);
  dedup->set_waits(waits);
}

void Lowering::Lower(const Reduce& op) {
  const bool folds = op.function == plan::Reduce::FOLD || op.function == plan::Reduce::FOLD_WITH;
  if (!folds && !flow_.in_place) {  // shares are put together at home
    plan::Reduce* partial = Add()->mutable_reduce();
    partial->set_function(op.function);
    partial->set_stage(plan::PARTIAL);
    flow_.at_home = false;
    ToHome();
  } else {
    ToHomeInOrder();
  }
  flow_.ordered = false;
  plan::Reduce* reduce = Add()->mutable_reduce();
  reduce->set_function(op.function);
  reduce->set_stage(flow_.in_place && !folds ? plan::WHOLE : plan::FINAL);
  if (!op.operator_.empty()) {
    reduce->set_seed(EncodeValue(op.seed));
    reduce->set_operator_(op.operator_);
  }
  flow_.here.clear();
}

void Lowering::Lower(const Group& op) {
  const bool effect = !op.side_effect.empty();
  if (effect && PlaceOf(op.side_effect) != EffectPlace::kHome) return GroupInShares(op);
  const bool of_root = !effect && !flow_.ordered && flow_.scope == 0 && flow_.loop == 0;
  const bool shares = of_root && !flow_.at_home && !flow_.in_place &&
                      op.kind != plan::Group::LIST && op.kind != plan::Group::LAST;
  Group at = op;
  if (shares) GroupShares(&at);
  const plan::Stage stage = shares && (op.kind == plan::Group::SUM || op.kind == plan::Group::MEAN)
                                ? plan::MERGED
                                : plan::FINAL;
  if (IsIsolated() && of_root) return GroupAtOwners(at, stage);
  ToHomeInOrder();
  flow_.ordered = flow_.ordered && effect;
  plan::Group* group = AddGroup(at, stage)->mutable_group();
  group->set_rows(op.rows);
  group->set_side_effect(op.side_effect);
  if (!effect) flow_.here.clear();
}

plan::Operator* Lowering::AddGroup(const Group& op, plan::Stage stage) {
  plan::Operator* const added = Add();
  plan::Group* const group = added->mutable_group();
  group->set_key_slot(SlotOf(op.key));
  group->set_value_slot(SlotOf(op.value));
  group->set_value(op.kind);
  group->set_stage(stage);
  return added;
}

// What is counted, added up or compared a worker puts together before it goes home.
void Lowering::GroupShares(Group* op) {
  if (op->kind != plan::Group::COUNT && op->key.empty()) KeepKey(op);
  AddGroup(*op, plan::PARTIAL);
  if (op->kind != plan::Group::COUNT) op->value.clear();
}

// The current value as a key, beside what takes its place.
void Lowering::KeepKey(Group* op) {
  op->key = FreshName();
  AddProject(Current(), SlotOf(op->key), plan::Project::LEAVE_ABSENT);
}

// Each group at the owner of its key; home puts the map of all together, where somebody asks for
// it.
void Lowering::GroupAtOwners(Group op, plan::Stage stage) {
  if (op.key.empty()) KeepKey(&op);
  const uint32_t key = SlotOf(op.key);
  MeetEqual({key});
  plan::Operator* const added = AddGroup(op, stage);
  added->set_spread(true);
  added->mutable_group()->set_rows(true);
  flow_.here.clear();
  if (op.rows) return;
  ToHomeAlways();
  plan::Group* const all = Add()->mutable_group();
  all->set_key_slot(key);
  all->set_value(plan::Group::LAST);
}

void Lowering::Lower(const Aggregate& op) {
  const bool shares = PlaceOf(op.name) != EffectPlace::kHome;
  if (shares) {
    ToShareOf(op);
  } else {
    ToHomeInOrder();
  }
  plan::Operator* const added = Add();
  plan::Aggregate* aggregate = added->mutable_aggregate();
  aggregate->set_name(op.name);
  aggregate->set_value_slot(SlotOf(op.value));
  aggregate->set_distinct(op.distinct);
  aggregate->set_each(op.each);
  if (!shares || op.distinct || op.each) return;
  added->set_spread(true);
  // Who asks behind it asks when all workers have added what they have.
  if (PlaceOf(op.name) == EffectPlace::kByValue) AddBarrier(/*merge=*/false);
}

void Lowering::Lower(const Cap& op) {
  if (op.names.size() == 1 && PlaceOf(op.names[0]) != EffectPlace::kHome) return CapShares(op);
  ToHome();
  flow_.ordered = false;
  plan::Cap* const cap = Add()->mutable_cap();
  CopyNames(op.names, cap->mutable_names());
  cap->set_takes(Takes(op));
  flow_.here.clear();
  if (op.rows) UnfoldWhole();
}

void Lowering::Lower(const Mutate& op) {
  if (IsIsolated()) {
    LowerAtOwners(op);
  } else {
    LowerChange(op);
  }
}

void Lowering::LowerChange(const Mutate& op) {
  switch (op.kind) {
    case Mutate::Kind::kAddVertex: {
      plan::AddVertex* add = Add()->mutable_add_vertex();
      Encode(op.label, add->mutable_label());
      if (op.id != nullptr) Encode(op.id, add->mutable_id());
      for (const auto& property : op.properties) EncodeProperty(property, add->add_properties());
      flow_.here.erase(0);
      return;
    }
    case Mutate::Kind::kAddEdge: {
      plan::AddEdge* add = Add()->mutable_add_edge();
      Encode(op.label, add->mutable_label());
      Encode(op.out, add->mutable_out_vertex());
      Encode(op.in, add->mutable_in_vertex());
      if (op.id != nullptr) Encode(op.id, add->mutable_id());
      for (const auto& property : op.properties) EncodeProperty(property, add->add_properties());
      flow_.here.erase(0);
      return;
    }
    case Mutate::Kind::kSetProperty:
      EncodeProperty(op.properties[0], Add()->mutable_set_property()->mutable_property());
      return;
    case Mutate::Kind::kDrop:
      Add()->mutable_drop();
      return;
    case Mutate::Kind::kGuard: {
      plan::Guard* guard = Add()->mutable_guard();
      guard->set_look(op.look);
      guard->set_direction(op.direction);
      CopyNames(op.labels, guard->mutable_labels());
      if (op.out != nullptr) Encode(op.out, guard->mutable_vertex());
      if (op.in != nullptr) Encode(op.in, guard->mutable_neighbour());
      if (op.look != plan::Guard::VALUE) return;
      if (op.label != nullptr) guard->set_label(op.label->constant.AsString());
      guard->set_key(op.properties[0].first->constant.AsString());
      Encode(op.properties[0].second, guard->mutable_value());
      return;
    }
  }
}

}  // namespace koios::planner
