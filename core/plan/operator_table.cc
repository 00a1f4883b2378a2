#include "core/plan/operator_table.h"

#include <iterator>

namespace koios::plan {
namespace {

using Test = bool (*)(const Operator& op);

bool No(const Operator&) { return false; }
bool Yes(const Operator&) { return true; }

void Read(uint32_t slot, SlotUse* use) { use->read.push_back(slot); }

void Read(const Expr& expr, SlotUse* use) {
  for (const Expr::Node& node : expr.nodes()) {
    if (node.kind_case() == Expr::Node::kSlot) Read(node.slot(), use);
  }
}

void Read(const PropertyExpr& property, SlotUse* use) {
  Read(property.key(), use);
  Read(property.value(), use);
}

template <typename Items>
void ReadAll(const Items& items, SlotUse* use) {
  for (const auto& item : items) Read(item, use);
}

void NoSlots(const Operator&, SlotUse*) {}
void NeedsCurrent(const Operator&, SlotUse* use) { use->needed.push_back(0); }

void SlotsOfAddVertex(const Operator& op, SlotUse* use) {
  Read(op.add_vertex().label(), use);
  Read(op.add_vertex().id(), use);
  ReadAll(op.add_vertex().properties(), use);
}

void SlotsOfAddEdge(const Operator& op, SlotUse* use) {
  if (op.add_edge().part() == AddEdge::AT_IN || op.add_edge().part() == AddEdge::AT_ID) {
    use->needed.push_back(0);
  }
  Read(op.add_edge().label(), use);
  Read(op.add_edge().id(), use);
  Read(op.add_edge().out_vertex(), use);
  Read(op.add_edge().in_vertex(), use);
  ReadAll(op.add_edge().properties(), use);
}

void SlotsOfExchange(const Operator& op, SlotUse* use) {
  const Exchange& exchange = op.exchange();
  if (exchange.key() == Exchange::PARTITION) use->needed.push_back(0);
  if (exchange.key() == Exchange::ID) use->needed.push_back(exchange.slot());
  Read(exchange.slot(), use);
  ReadAll(exchange.hash_slots(), use);
  use->keys.assign(exchange.hash_slots().begin(), exchange.hash_slots().end());
  if (exchange.key() == Exchange::VALUE) use->keys.push_back(exchange.slot());
}

bool IsGroupEffect(const Operator& op) { return !op.group().side_effect().empty(); }
bool IsAll(const Operator& op) { return !op.aggregate().distinct() && !op.aggregate().each(); }

// Rows are counted, not looked at; what comes to the final stage are counts.
bool CountsRows(const Reduce& reduce) {
  return reduce.function() == Reduce::COUNT && reduce.stage() != FINAL;
}

struct Row {
  Operator::KindCase kind = Operator::KIND_NOT_SET;
  Test barrier = No;
  Test rests = No;
  Test state = No;  // other than a barrier's
  Test effect = No;
  Test early = No;
  Test everywhere = No;
  Test new_rows = No;
  bool ordinals = false;
  void (*slots)(const Operator& op, SlotUse* use) = NoSlots;
};

// In the order of the numbers in the proto, which have no gaps.
constexpr Row kRows[] = {
    {.kind = Operator::kInject, .ordinals = true},
    {.kind = Operator::kPartitions},
    {.kind = Operator::kScan, .ordinals = true, .slots = NeedsCurrent},
    {.kind = Operator::kLookup, .ordinals = true, .slots = NeedsCurrent},
    {.kind = Operator::kExpand,
     .ordinals = true,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           if (op.expand().other_than_slot() != 0) Read(op.expand().other_than_slot(), use);
         }},
    {.kind = Operator::kEdgeEnd,
     .ordinals = true,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           Read(op.edge_end().from_slot(), use);
         }},
    {.kind = Operator::kFetch, .ordinals = true, .slots = NeedsCurrent},
    {.kind = Operator::kFilter,
     .slots = [](const Operator& op, SlotUse* use) { Read(op.filter().predicate(), use); }},
    {.kind = Operator::kProject,
     .slots =
         [](const Operator& op, SlotUse* use) {
           Read(op.project().expr(), use);
           use->written = op.project().slot();
         }},
    {.kind = Operator::kUnfold, .ordinals = true, .slots = NeedsCurrent},
    {.kind = Operator::kLimit,
     .state = Yes,
     .early = [](const Operator& op) { return op.limit().high() >= 0; }},
    {.kind = Operator::kTail,
     .barrier = [](const Operator& op) { return op.tail().stage() == FINAL; }},
    {.kind = Operator::kSample,
     .barrier = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           if (op.sample().weight_slot() != 0) use->needed.push_back(op.sample().weight_slot());
         }},
    {.kind = Operator::kOrder,
     .barrier = [](const Operator& op) { return op.order().stage() == FINAL; },
     .slots =
         [](const Operator& op, SlotUse* use) {
           for (const SortKey& key : op.order().keys()) Read(key.slot(), use);
           use->keys = use->read;
           use->written = op.ordinal_slot();
         }},
    {.kind = Operator::kDedup,
     .barrier = [](const Operator& op) { return op.dedup().waits(); },
     .rests =
         [](const Operator& op) {
           return op.scope() == 0 && op.loop() == 0 && !op.dedup().waits() &&
                  op.dedup().stage() != PARTIAL;
         },
     .state = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           ReadAll(op.dedup().key_slots(), use);
           use->keys = use->read;
         }},
    {.kind = Operator::kReduce,
     .barrier = [](const Operator& op) { return op.reduce().stage() != PARTIAL; },
     .new_rows = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           if (!CountsRows(op.reduce())) use->needed.push_back(0);
         }},
    {.kind = Operator::kGroup,
     .barrier = [](const Operator& op) { return op.group().stage() != PARTIAL; },
     .effect = IsGroupEffect,
     .new_rows = [](const Operator& op) { return !IsGroupEffect(op); },
     .slots =
         [](const Operator& op, SlotUse* use) {
           Read(op.group().key_slot(), use);
           use->keys = use->read;
           Read(op.group().value_slot(), use);
           const bool keeps = op.group().rows() || op.group().stage() == PARTIAL;
           if (keeps) use->kept = op.group().key_slot();
         }},
    {.kind = Operator::kSplit,
     .ordinals = true,
     .slots =
         [](const Operator& op, SlotUse* use) {
           for (const Split::Option& option : op.split().options()) Read(option.test(), use);
         }},
    {.kind = Operator::kScopeEnter},
    {.kind = Operator::kScopeExit,
     .ordinals = true,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           use->written = op.scope_exit().slot();
         }},
    {.kind = Operator::kLoopEnter, .ordinals = true},
    {.kind = Operator::kLoopBack, .ordinals = true},
    {.kind = Operator::kBarrier,
     .barrier = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           if (!op.barrier().has_sacks()) return;
           use->read = {op.barrier().sacks().slot(), op.barrier().sacks().path_slot()};
           use->written = op.barrier().sacks().slot();
           use->whole_rows = true;
         }},
    {.kind = Operator::kAggregate,
     .barrier = IsAll,
     .effect = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           Read(op.aggregate().value_slot(), use);
           if (op.aggregate().distinct()) use->keys = use->read;
         }},
    {.kind = Operator::kCap,
     .barrier = Yes,
     .everywhere = [](const Operator& op) { return op.cap().stage() == PARTIAL; },
     .new_rows = Yes,
     .slots = [](const Operator& op, SlotUse* use) { use->kept = op.cap().key_slot(); }},
    {.kind = Operator::kExchange, .slots = SlotsOfExchange},
    {.kind = Operator::kSink, .slots = NeedsCurrent},
    {.kind = Operator::kLoopExit, .ordinals = true},
    {.kind = Operator::kMerge,
     .slots = [](const Operator&, SlotUse* use) { use->whole_rows = true; }},
    {.kind = Operator::kAddVertex, .effect = Yes, .slots = SlotsOfAddVertex},
    {.kind = Operator::kAddEdge, .effect = Yes, .slots = SlotsOfAddEdge},
    {.kind = Operator::kSetProperty,
     .effect = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           Read(op.set_property().property(), use);
         }},
    {.kind = Operator::kDrop,
     .effect = Yes,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           if (op.drop().part() == Drop::AT_OUT) Read(op.drop().of_slot(), use);
         }},
    {.kind = Operator::kGuard,
     .slots =
         [](const Operator& op, SlotUse* use) {
           Read(op.guard().value(), use);
           Read(op.guard().vertex(), use);
           Read(op.guard().neighbour(), use);
         }},
    {.kind = Operator::kReach,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           if (op.reach().ends().has_at_slot()) Read(op.reach().ends().at_slot(), use);
           use->written = op.reach().flag_slot();
         }},
    {.kind = Operator::kShortestPath,
     .slots =
         [](const Operator& op, SlotUse* use) {
           use->needed.push_back(0);
           if (op.shortest_path().ends().has_at_slot()) {
             Read(op.shortest_path().ends().at_slot(), use);
           }
           Read(op.shortest_path().path_slot(), use);
         }},
    {.kind = Operator::kTimeLimit, .state = Yes, .early = Yes},
};

constexpr int kFirst = Operator::kInject;

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].kind != kFirst + static_cast<int>(i)) return false;
  }
  return true;
}
static_assert(RowsAreInOrder());

const Row& RowOf(const Operator& op) {
  static constexpr Row kNone;
  const int index = op.kind_case() - kFirst;
  return index >= 0 && index < static_cast<int>(std::size(kRows)) ? kRows[index] : kNone;
}

}  // namespace

bool IsBarrier(const Operator& op) { return RowOf(op).barrier(op); }
bool MayRest(const Operator& op) { return RowOf(op).rests(op); }
bool KeepsState(const Operator& op) { return IsBarrier(op) || RowOf(op).state(op); }
bool HasEffect(const Operator& op) { return RowOf(op).effect(op); }
bool StopsEarly(const Operator& op) { return RowOf(op).early(op); }
bool FiresEverywhere(const Operator& op) { return RowOf(op).everywhere(op); }
bool MakesNewRows(const Operator& op) { return RowOf(op).new_rows(op); }
bool AppendsOrdinals(const Operator& op) { return RowOf(op).ordinals; }

SlotUse SlotsOf(const Operator& op) {
  SlotUse use;
  RowOf(op).slots(op, &use);
  return use;
}

std::string_view NameOf(const Operator& op) {
  const auto* field = Operator::descriptor()->FindFieldByNumber(op.kind_case());
  return field == nullptr ? "?" : std::string_view(field->message_type()->name());
}

bool IsKnown(const Operator& op) { return RowOf(op).kind != Operator::KIND_NOT_SET; }

}  // namespace koios::plan
