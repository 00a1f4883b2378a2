#include "planner/explain.h"

#include <numeric>

#include "core/plan/operator_table.h"
#include "core/value_codec.h"
#include "planner/expression.h"
#include "planner/logical.h"

namespace koios::planner {
namespace {

using plan::Operator;

std::string SlotText(uint32_t slot, const plan::Plan& plan) {
  if (slot == 0) return "_";
  if (slot < static_cast<uint32_t>(plan.slot_names_size())) {
    return plan.slot_names(static_cast<int>(slot));
  }
  return "$" + std::to_string(slot);
}

template <typename Items, typename Text>
std::string Joined(const Items& items, const Text& text) {
  std::string joined;
  for (const auto& item : items) {
    if (!joined.empty()) joined += ", ";
    joined += text(item);
  }
  return joined;
}

template <typename Names>
std::string NamesText(const Names& names) {
  return "[" + Joined(names, [](const std::string& name) { return name; }) + "]";
}

std::string BytesText(const std::string& bytes) {
  StatusOr<Value> value = DecodeWholeValue(bytes);
  return value.ok() ? ConstantText(*value) : "<damaged>";
}

std::string StageText(plan::Stage stage) { return plan::Stage_Name(stage); }

std::string SlotsText(const google::protobuf::RepeatedField<uint32_t>& slots,
                      const plan::Plan& plan) {
  return "[" + Joined(slots, [&](uint32_t slot) { return SlotText(slot, plan); }) + "]";
}

std::string ExitText(const plan::ScopeExit& exit, const plan::Plan& plan) {
  std::string text = "ScopeExit(#" + std::to_string(exit.enter()) + ", " +
                     plan::ScopeExit::Policy_Name(exit.policy());
  if (exit.policy() == plan::ScopeExit::FIRST || exit.policy() == plan::ScopeExit::EXISTS_FLAG) {
    text += ", " + SlotText(exit.slot(), plan) + AbsentText(exit.absent());
  }
  if (exit.carry_slots_size() > 0) text += ", carry " + SlotsText(exit.carry_slots(), plan);
  for (uint32_t first : exit.alternatives()) text += ", else #" + std::to_string(first);
  return text + ")";
}

std::string OrderText(const plan::Order& order, const plan::Plan& plan) {
  std::string text =
      "Order(" + Joined(order.keys(), [&](const plan::SortKey& key) {
        return SlotText(key.slot(), plan) + " " + plan::SortKey::Direction_Name(key.direction());
      });
  if (order.limit() > 0) text += ", limit=" + std::to_string(order.limit());
  if (order.bound() > 0)
    text += (order.looks() ? ", by bound " : ", sets bound ") + std::to_string(order.bound());
  return text + ", " + StageText(order.stage()) + ")";
}

std::string SplitText(const plan::Split& split, const plan::Plan& plan) {
  if (split.copy()) return "Split(copy)";
  return "Split(" +
         Joined(split.options(),
                [&](const plan::Split::Option& option) { return ExprText(option.test(), plan); }) +
         ")";
}

std::string ExchangeText(const plan::Exchange& exchange, const plan::Plan& plan) {
  std::string text = "Exchange(" + plan::Exchange::Key_Name(exchange.key());
  const bool shows_slot = exchange.key() == plan::Exchange::OWNER ||
                          exchange.key() == plan::Exchange::VALUE ||
                          exchange.key() == plan::Exchange::IN_OWNER ||
                          (exchange.key() == plan::Exchange::ID && exchange.slot() != 0);
  if (shows_slot) text += ", " + SlotText(exchange.slot(), plan);
  if (exchange.key() == plan::Exchange::HASH) {
    text += ", " + SlotsText(exchange.hash_slots(), plan);
  }
  if (exchange.expected() > 0) text += ", ~" + std::to_string(exchange.expected());
  return text + ")";
}

std::string GroupText(const plan::Group& group, const plan::Plan& plan) {
  return "Group(" + SlotText(group.key_slot(), plan) + ", " + SlotText(group.value_slot(), plan) +
         ", " + plan::Group::Value_Name(group.value()) + ", " + StageText(group.stage()) +
         (group.rows() ? ", rows" : "") +
         (group.side_effect().empty() ? "" : ", in " + group.side_effect()) + ")";
}

std::string CapText(const plan::Cap& cap, const plan::Plan& plan) {
  return "Cap(" + NamesText(cap.names()) +
         (cap.key_slot() == 0 ? "" : ", " + SlotText(cap.key_slot(), plan)) +
         (cap.stage() == plan::PARTIAL ? ", PARTIAL" : "") + (cap.takes() ? ", takes)" : ")");
}

std::string EdgeEndText(const plan::EdgeEnd& end, const plan::Plan& plan) {
  std::string text = "EdgeEnd(" + plan::EdgeEnd::End_Name(end.end());
  if (end.end() == plan::EdgeEnd::OTHER) text += ", " + SlotText(end.from_slot(), plan);
  return text + ")";
}

std::string ScanText(const plan::Scan& scan) {
  std::string text =
      "Scan(" + plan::ElementKind_Name(scan.element()) + ", " + NamesText(scan.labels());
  if (scan.has_seek()) {
    text += ", seek " + SeekText({scan.labels().begin(), scan.labels().end()}, scan.seek());
  }
  if (scan.has_ends()) {
    text += ", counting " + plan::Direction_Name(scan.ends().direction()) + " " +
            NamesText(scan.ends().labels());
  }
  if (!scan.value_key().empty()) text += ", values of " + scan.value_key();
  return text + ")";
}

std::string ExpandText(const plan::Expand& expand, const plan::Plan& plan) {
  std::string text = "Expand(" + plan::Direction_Name(expand.direction()) + ", " +
                     NamesText(expand.labels()) + ", " + plan::Expand::To_Name(expand.to());
  if (expand.other_than_slot() != 0) {
    text += ", not to " + SlotText(expand.other_than_slot(), plan);
  }
  if (expand.neighbour_labels_size() > 0) text += " of " + NamesText(expand.neighbour_labels());
  if (expand.most() != 0) text += ", first " + std::to_string(expand.most());
  return text + ")";
}

std::string ReduceText(const plan::Reduce& reduce) {
  std::string text =
      "Reduce(" + plan::Reduce::Function_Name(reduce.function()) + ", " + StageText(reduce.stage());
  if (!reduce.operator_().empty()) {
    text += ", " + BytesText(reduce.seed()) + ", " + reduce.operator_();
  }
  return text + ")";
}

std::string BarrierText(const plan::Barrier& barrier, const plan::Plan& plan) {
  if (!barrier.has_sacks()) return barrier.merge() ? "Barrier(merge)" : "Barrier()";
  const plan::Sacks& sacks = barrier.sacks();
  std::string text = SlotText(sacks.slot(), plan) + " from " + BytesText(sacks.initial());
  if (!sacks.operator_().empty()) text += ", " + sacks.operator_();
  if (sacks.one_bulk()) text += ", one bulk";
  if (sacks.normalise()) text += ", normalised";
  if (sacks.path_slot() != 0) text += ", by " + SlotText(sacks.path_slot(), plan);
  return "Barrier(" + text + ")";
}

std::string EnterText(const plan::ScopeEnter& enter) {
  if (enter.in_place()) return "ScopeEnter(in place)";
  if (enter.serial()) return "ScopeEnter(serial)";
  if (enter.window() == 0) return "ScopeEnter()";
  return "ScopeEnter(" + std::to_string(enter.window()) + " at once)";
}

std::string PropertyText(const plan::PropertyExpr& property, const plan::Plan& plan) {
  return ExprText(property.key(), plan) + "=" + ExprText(property.value(), plan);
}

std::string MutateText(const Operator& op, const plan::Plan& plan) {
  if (op.has_set_property()) {
    return "SetProperty(" + PropertyText(op.set_property().property(), plan) + ")";
  }
  if (op.has_guard() && op.guard().look() != plan::Guard::VALUE) {
    const plan::Guard& guard = op.guard();
    std::string text = plan::Guard::Look_Name(guard.look());
    if (guard.has_vertex()) {
      text +=
          ", " + ExprText(guard.vertex(), plan) + ", " + plan::Direction_Name(guard.direction());
    }
    text += ", " + NamesText(guard.labels());
    if (guard.has_neighbour()) text += ", " + ExprText(guard.neighbour(), plan);
    return "Guard(" + text + ")";
  }
  if (op.has_guard()) {
    return "Guard(" + op.guard().label() + ", " + op.guard().key() + ", " +
           ExprText(op.guard().value(), plan) + ")";
  }
  const plan::AddEdge::Part part = op.add_edge().part();
  if (op.has_add_edge() && (part == plan::AddEdge::AT_IN || part == plan::AddEdge::AT_ID)) {
    const bool at_id = part == plan::AddEdge::AT_ID;
    return "AddEdge(" + plan::AddEdge::Part_Name(part) +
           (at_id ? ", " + ExprText(op.add_edge().id(), plan) : "") + ")";
  }
  const plan::Expr& label = op.has_add_vertex() ? op.add_vertex().label() : op.add_edge().label();
  const plan::Expr& id = op.has_add_vertex() ? op.add_vertex().id() : op.add_edge().id();
  std::string text = ExprText(label, plan);
  if (op.has_add_edge()) {
    text += ", " + ExprText(op.add_edge().out_vertex(), plan) + " -> " +
            ExprText(op.add_edge().in_vertex(), plan);
  }
  if (id.nodes_size() > 0) text += ", id=" + ExprText(id, plan);
  const auto& properties =
      op.has_add_vertex() ? op.add_vertex().properties() : op.add_edge().properties();
  for (const plan::PropertyExpr& property : properties) text += ", " + PropertyText(property, plan);
  if (part != plan::AddEdge::WHOLE) text += ", " + plan::AddEdge::Part_Name(part);
  return (op.has_add_vertex() ? "AddVertex(" : "AddEdge(") + text + ")";
}

std::string WhereText(const plan::Expr& filter, const plan::Plan& plan) {
  return filter.nodes_size() == 0 ? "" : " where " + ExprText(filter, plan);
}

std::string HopText(const plan::Hop& hop, const plan::Plan& plan) {
  return plan::Direction_Name(hop.direction()) + " " + NamesText(hop.labels()) +
         (hop.repeat() ? "*" : "") + WhereText(hop.filter(), plan) + ", ";
}

std::string EndsText(const plan::WalkEnds& ends, const plan::Plan& plan) {
  std::string text = "to ";
  if (ends.has_ids()) text += "[" + Joined(ends.ids().values(), BytesText) + "]";
  if (ends.has_at_slot()) text += SlotText(ends.at_slot(), plan);
  if (ends.has_scan()) {
    const auto& labels = ends.scan().labels();
    text += NamesText(labels);
    if (ends.keys_size() > 0) text += " with " + NamesText(ends.keys());
    if (ends.scan().has_seek()) {
      text += " by seek " + SeekText({labels.begin(), labels.end()}, ends.scan().seek());
    }
  }
  return text + WhereText(ends.filter(), plan);
}

std::string ReachText(const plan::Reach& reach, const plan::Plan& plan) {
  std::string text = "Reach(" + plan::Reach::Result_Name(reach.result()) + ", ";
  if (reach.result() == plan::Reach::FLAG) text += SlotText(reach.flag_slot(), plan) + ", ";
  for (const plan::Hop& hop : reach.hops()) text += HopText(hop, plan);
  return text + EndsText(reach.ends(), plan) + ")";
}

std::string ShortestPathText(const plan::ShortestPath& path, const plan::Plan& plan) {
  return "ShortestPath(" + HopText(path.hop(), plan) + EndsText(path.ends(), plan) +
         (path.may_stay() ? ", may stay" : "") + (path.simple() ? ", simple" : "") +
         (path.path_slot() == 0 ? "" : ", " + SlotText(path.path_slot(), plan)) + ")";
}

using Field = google::protobuf::FieldDescriptor;

// One value of a field; `at` -1: of one that is not repeated.
std::string ValueText(const google::protobuf::Message& message, const Field& field, int at,
                      const plan::Plan& plan) {
  const google::protobuf::Reflection& read = *message.GetReflection();
  const bool one = at < 0;
  switch (field.cpp_type()) {
    case Field::CPPTYPE_ENUM:
      return (one ? read.GetEnum(message, &field) : read.GetRepeatedEnum(message, &field, at))
          ->name();
    case Field::CPPTYPE_STRING: {
      const std::string text =
          one ? read.GetString(message, &field) : read.GetRepeatedString(message, &field, at);
      return field.type() == Field::TYPE_BYTES ? BytesText(text) : text;
    }
    case Field::CPPTYPE_UINT32: {
      const uint32_t number =
          one ? read.GetUInt32(message, &field) : read.GetRepeatedUInt32(message, &field, at);
      const std::string_view name = field.name();
      const bool slot = name.ends_with("_slot") || name.ends_with("_slots");
      return slot ? SlotText(number, plan) : std::to_string(number);
    }
    case Field::CPPTYPE_INT64:
      return std::to_string(read.GetInt64(message, &field));
    case Field::CPPTYPE_MESSAGE: {
      const auto* expr = google::protobuf::DynamicCastToGenerated<plan::Expr>(
          one ? &read.GetMessage(message, &field) : &read.GetRepeatedMessage(message, &field, at));
      return expr != nullptr ? ExprText(*expr, plan) : "?";
    }
    default:
      return "?";
  }
}

// What an operator is called and the fields of its message, in their order. A flag is its name
// where it is set.
std::string PlainText(const Operator& op, const plan::Plan& plan) {
  const Field* kind = Operator::descriptor()->FindFieldByNumber(op.kind_case());
  if (kind == nullptr) return "?()";
  const google::protobuf::Message& message = op.GetReflection()->GetMessage(op, kind);
  std::string text;
  for (int i = 0; i < kind->message_type()->field_count(); ++i) {
    const Field& field = *kind->message_type()->field(i);
    std::string part;
    if (field.is_repeated()) {
      std::vector<int> all(message.GetReflection()->FieldSize(message, &field));
      std::iota(all.begin(), all.end(), 0);
      part = "[" + Joined(all, [&](int at) { return ValueText(message, field, at, plan); }) + "]";
    } else if (field.has_optional_keyword() &&
               !message.GetReflection()->HasField(message, &field)) {
      continue;
    } else if (field.cpp_type() == Field::CPPTYPE_BOOL) {
      if (!message.GetReflection()->GetBool(message, &field)) continue;
      part = field.name();
    } else {
      part = ValueText(message, field, -1, plan);
    }
    text += (text.empty() ? "" : ", ") + part;
  }
  return std::string(plan::NameOf(op)) + "(" + text + ")";
}

// What is told otherwise than field by field.
std::string OperatorText(const Operator& op, const plan::Plan& plan) {
  switch (op.kind_case()) {
    case Operator::kScan:
      return ScanText(op.scan());
    case Operator::kExpand:
      return ExpandText(op.expand(), plan);
    case Operator::kEdgeEnd:
      return EdgeEndText(op.edge_end(), plan);
    case Operator::kFetch:
      return "Fetch(" + NamesText(op.fetch().keys()) +
             (op.fetch().as_properties() ? ", properties)" : ")");
    case Operator::kProject:
      return "Project(" + SlotText(op.project().slot(), plan) + " = " +
             ExprText(op.project().expr(), plan) + AbsentText(op.project().absent()) + ")";
    case Operator::kSample: {
      const uint32_t weight = op.sample().weight_slot();
      return "Sample(" + std::to_string(op.sample().count()) +
             (weight == 0 ? "" : ", " + SlotText(weight, plan)) + ")";
    }
    case Operator::kReduce:
      return ReduceText(op.reduce());
    case Operator::kOrder:
      return OrderText(op.order(), plan);
    case Operator::kBarrier:
      return BarrierText(op.barrier(), plan);
    case Operator::kGroup:
      return GroupText(op.group(), plan);
    case Operator::kCap:
      return CapText(op.cap(), plan);
    case Operator::kSplit:
      return SplitText(op.split(), plan);
    case Operator::kAddVertex:
    case Operator::kAddEdge:
    case Operator::kSetProperty:
    case Operator::kGuard:
      return MutateText(op, plan);
    case Operator::kDrop:
      return op.drop().part() == plan::Drop::WHOLE
                 ? "drop()"
                 : "Drop(" + plan::Drop::Part_Name(op.drop().part()) + ")";
    case Operator::kLoopBack:
      return "LoopBack(#" + std::to_string(op.loop_back().enter()) + ")";
    case Operator::kLoopExit:
      return "LoopExit(#" + std::to_string(op.loop_exit().enter()) + ")";
    case Operator::kScopeEnter:
      return EnterText(op.scope_enter());
    case Operator::kScopeExit:
      return ExitText(op.scope_exit(), plan);
    case Operator::kExchange:
      return ExchangeText(op.exchange(), plan);
    case Operator::kReach:
      return ReachText(op.reach(), plan);
    case Operator::kShortestPath:
      return ShortestPathText(op.shortest_path(), plan);
    default:
      return PlainText(op, plan);
  }
}

std::string NoteText(const Operator& op, const plan::Plan& plan) {
  std::string note;
  if (op.scope() != 0) note += "scope " + std::to_string(op.scope());
  if (op.loop() != 0) note += (note.empty() ? "loop " : ", loop ") + std::to_string(op.loop());
  if (op.spread()) note += note.empty() ? "where rows are" : ", where rows are";
  if (op.drop_slots_size() > 0) {
    note += (note.empty() ? "drop " : ", drop ") +
            Joined(op.drop_slots(), [&](uint32_t slot) { return SlotText(slot, plan); });
  }
  return note.empty() ? "" : "  [" + note + "]";
}

}  // namespace

std::string ExprText(const plan::Expr& expr, const plan::Plan& plan) {
  std::vector<std::string> texts;  // of the nodes so far
  for (const plan::Expr::Node& node : expr.nodes()) {
    switch (node.kind_case()) {
      case plan::Expr::Node::kConstant:
        texts.push_back(BytesText(node.constant()));
        break;
      case plan::Expr::Node::kSlot:
        texts.push_back(SlotText(node.slot(), plan));
        break;
      case plan::Expr::Node::kCall:
        texts.push_back(node.call().function() + "(" +
                        Joined(node.call().args(),
                               [&texts](uint32_t arg) {
                                 return arg < texts.size() ? texts[arg] : std::string("?");
                               }) +
                        ")");
        break;
      case plan::Expr::Node::KIND_NOT_SET:
        texts.push_back("?");
        break;
    }
  }
  return texts.empty() ? "" : texts.back();
}

std::string PhysicalText(const plan::Plan& plan) {
  std::string text;
  if (plan.stays_home()) text += "stays at its home\n";
  if (plan.at_owners()) text += "at the owners of what it reads\n";
  for (const plan::InitialEffect& initial : plan.initial_effects()) {
    text += initial.name() + " begins with " + BytesText(initial.value()) +
            (initial.operator_().empty() ? "" : ", " + initial.operator_()) + "\n";
  }
  for (const Operator& op : plan.operators()) {
    text += "#" + std::to_string(op.id()) + " " + OperatorText(op, plan);
    if (op.next_size() > 0) {
      text += " → " + Joined(op.next(), [](uint32_t next) { return "#" + std::to_string(next); });
    }
    text += NoteText(op, plan) + "\n";
  }
  return text;
}

}  // namespace koios::planner
