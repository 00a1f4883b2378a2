#include "planner/logical.h"

#include <algorithm>

#include "core/value_codec.h"
#include "planner/traverser.h"

namespace koios::planner {

std::string AbsentText(plan::Project::Absent absent) {
  return absent == plan::Project::DROP_ROW ? "" : ", " + plan::Project::Absent_Name(absent);
}

namespace {

const std::string kNothingStored;

std::string BracketedNames(const std::vector<std::string>& names) {
  std::string text = "[";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  return text + "]";
}

std::string TargetText(const std::string& name) { return name.empty() ? "_" : name; }

std::string SourceOpText(const Source& op) {
  std::string text = op.element == plan::VERTEX ? "Source(vertex" : "Source(edge";
  if (!op.labels.empty()) text += ", labels=" + BracketedNames(op.labels);
  if (op.ids) text += ", ids=" + ConstantsText(*op.ids);
  if (op.seek) text += ", seek " + SeekText(op.labels, *op.seek);
  if (op.counted) {
    text += ", counting " + plan::Direction_Name(op.counted->direction) + " " +
            BracketedNames(op.counted->labels);
  }
  if (!op.value_key.empty()) text += ", values of " + op.value_key;
  return text + ")";
}

std::string BoundText(const std::string& key, const plan::KeyBound& bound) {
  const StatusOr<Value> value = DecodeWholeValue(bound.value());
  const std::string text = value.ok() ? ConstantText(*value) : "<damaged>";
  switch (bound.op()) {
    case plan::KeyBound::GREATER:
      return key + ">" + text;
    case plan::KeyBound::AT_LEAST:
      return key + ">=" + text;
    case plan::KeyBound::LESS:
      return key + "<" + text;
    case plan::KeyBound::AT_MOST:
      return key + "<=" + text;
    case plan::KeyBound::STARTS_WITH:
      return key + " starts with " + text;
    default:
      return key + "?" + text;
  }
}

std::string OrderOpText(const Order& op) {
  std::string text = "Order(";
  for (size_t i = 0; i < op.keys.size(); ++i) {
    if (i > 0) text += ", ";
    text += TargetText(op.keys[i].name) + " " + plan::SortKey::Direction_Name(op.keys[i].direction);
  }
  if (op.limit > 0) text += ", limit=" + std::to_string(op.limit);
  return text + ")";
}

std::string DedupOpText(const Dedup& op) {
  std::string text = "Dedup(";
  for (size_t i = 0; i < op.keys.size(); ++i) {
    text += (i > 0 ? ", " : "") + TargetText(op.keys[i]);
  }
  return text + ")";
}

std::string BarrierOpText(const Barrier& op) {
  if (!op.sacks) return "Barrier()";
  std::string text = op.sacks->name + " from " + ConstantText(op.sacks->initial);
  if (!op.sacks->operator_.empty()) text += ", " + op.sacks->operator_;
  if (op.sacks->one_bulk) text += ", one bulk";
  if (op.sacks->normalise) text += ", normalised";
  if (op.sacks->by_path) text += ", by path";
  return "Barrier(" + text + ")";
}

std::string ScopeOpText(const Scope& op) {
  std::string text = "Scope(" + plan::ScopeExit::Policy_Name(op.policy);
  if (!op.carried.empty()) {
    text += ", carry " + BracketedNames({op.carried.begin(), op.carried.end()});
  }
  if (op.policy == plan::ScopeExit::FIRST || op.policy == plan::ScopeExit::EXISTS_FLAG) {
    text += ", " + TargetText(op.target) + AbsentText(op.absent);
  }
  if (op.in_place) text += ", in place";
  return text + ")";
}

std::string SplitOpText(const Split& op) {
  if (op.tests.empty()) return "Split(copy)";
  std::string text = "Split(";
  for (size_t i = 0; i < op.tests.size(); ++i) {
    text += (i > 0 ? ", " : "") + ExpressionText(*op.tests[i]);
  }
  return text + ")";
}

void AppendTest(const char* name, const ExpressionPtr& test, std::string* text) {
  if (test != nullptr) *text += std::string(name) + ExpressionText(*test);
}

std::string LoopOpText(const Loop& op) {
  std::string text;
  AppendTest(", before until ", op.before.until, &text);
  AppendTest(", before emit ", op.before.emit, &text);
  AppendTest(", behind until ", op.behind.until, &text);
  AppendTest(", behind emit ", op.behind.emit, &text);
  if (op.breadth_first) text += op.merges ? ", breadth first, merging" : ", breadth first";
  return "Loop(" + (text.empty() ? text : text.substr(2)) + ")";
}

// The expressions of a change, with what each of them is.
void ForEachPart(const Mutate& op,
                 const std::function<void(const char*, const Expression&)>& part) {
  if (op.label != nullptr) part("label", *op.label);
  if (op.id != nullptr) part("id", *op.id);
  if (op.out != nullptr) part("out", *op.out);
  if (op.in != nullptr) part("in", *op.in);
  for (const auto& [key, value] : op.properties) {
    part("key", *key);
    part("value", *value);
  }
}

std::string MutateOpText(const Mutate& op) {
  static constexpr const char* kNames[] = {"AddVertex", "AddEdge", "SetProperty", "Drop", "Guard"};
  std::string text;
  if (op.look != plan::Guard::VALUE) text = plan::Guard::Look_Name(op.look);
  if (op.look == plan::Guard::ADJACENCY) text += ", " + plan::Direction_Name(op.direction);
  if (op.look != plan::Guard::VALUE) text += ", " + BracketedNames(op.labels);
  ForEachPart(op, [&text](const char* what, const Expression& value) {
    text += (text.empty() ? "" : ", ") + std::string(what) + "=" + ExpressionText(value);
  });
  return std::string(kNames[static_cast<size_t>(op.kind)]) + "(" + text + ")";
}

std::string ReachOpText(const Reach& op) {
  return "Reach(" + plan::Reach::Result_Name(op.result) +
         (op.target.empty() ? "" : ", " + op.target) + ", " + WalkText(op.hops, op.ends) + ")";
}

std::string ShortestPathOpText(const ShortestPath& op) {
  return "ShortestPath(" + WalkText({op.hop}, op.ends) + (op.may_stay ? ", may stay" : "") +
         (op.simple ? ", simple" : "") + (op.gives_path ? ", path" : "") + ")";
}

std::string GroupOpText(const Group& op) {
  return "Group(" + TargetText(op.key) + ", " + TargetText(op.value) + ", " +
         plan::Group::Value_Name(op.kind) + (op.rows ? ", rows" : "") +
         (op.side_effect.empty() ? "" : ", in " + op.side_effect) + ")";
}

std::string CapOpText(const Cap& op) {
  return "Cap(" + BracketedNames(op.names) + (op.rows ? ", rows)" : ")");
}

std::string OperationText(const Operation& operation) {
  return std::visit(
      Overloaded{
          [](const Source& op) { return SourceOpText(op); },
          [](const Lookup& op) {
            return std::string(op.element == plan::VERTEX ? "Lookup(vertex)" : "Lookup(edge)");
          },
          [](const Inject& op) { return "Inject(" + ConstantsText(op.values) + ")"; },
          [](const Expand& op) {
            return "Expand(" + plan::Direction_Name(op.direction) + ", " +
                   BracketedNames(op.labels) + ", " + plan::Expand::To_Name(op.to) +
                   (op.other_than.empty() ? "" : ", not to " + op.other_than) +
                   (op.neighbour_labels.empty() ? ""
                                                : " of " + BracketedNames(op.neighbour_labels)) +
                   (op.most == 0 ? "" : ", first " + std::to_string(op.most)) + ")";
          },
          [](const EdgeEnd& op) { return "EdgeEnd(" + plan::EdgeEnd::End_Name(op.end) + ")"; },
          [](const Fetch& op) {
            return "Fetch(" + BracketedNames(op.keys) + (op.as_properties ? ", properties)" : ")");
          },
          [](const Filter& op) { return "Filter(" + ExpressionText(*op.predicate) + ")"; },
          [](const Project& op) {
            return "Project(" + TargetText(op.target) + " = " + ExpressionText(*op.value) +
                   AbsentText(op.absent) + ")";
          },
          [](const Unfold&) { return std::string("Unfold()"); },
          [](const Merge& op) -> std::string {
            if (!op.once) return "Merge()";
            return op.each_iteration ? "Merge(once in each iteration)" : "Merge(once)";
          },
          [](const Limit& op) {
            return "Limit(" + std::to_string(op.low) + ", " + std::to_string(op.high) + ")";
          },
          [](const Tail& op) { return "Tail(" + std::to_string(op.count) + ")"; },
          [](const Sample& op) {
            return "Sample(" + std::to_string(op.count) +
                   (op.weight.empty() ? "" : ", " + op.weight) + ")";
          },
          [](const Order& op) { return OrderOpText(op); },
          [](const Barrier& op) { return BarrierOpText(op); },
          [](const TimeLimit& op) {
            return "TimeLimit(" + std::to_string(op.milliseconds) + " ms)";
          },
          [](const Coin& op) {
            return "Coin(" + ConstantText(Value::Double(op.probability)) + ")";
          },
          [](const Dedup& op) { return DedupOpText(op); },
          [](const Reduce& op) {
            return "Reduce(" + plan::Reduce::Function_Name(op.function) +
                   (op.operator_.empty() ? ""
                                         : ", " + ConstantText(op.seed) + ", " + op.operator_) +
                   ")";
          },
          [](const Group& op) { return GroupOpText(op); },
          [](const Aggregate& op) {
            return "Aggregate(" + op.name + ", " + TargetText(op.value) +
                   (op.distinct ? ", distinct)"
                    : op.each   ? ", each)"
                                : ")");
          },
          [](const Cap& op) { return CapOpText(op); },
          [](const Mutate& op) { return MutateOpText(op); },
          [](const Scope& op) { return ScopeOpText(op); },
          [](const Split& op) { return SplitOpText(op); },
          [](const Loop& op) { return LoopOpText(op); },
          [](const Reach& op) { return ReachOpText(op); },
          [](const ShortestPath& op) { return ShortestPathOpText(op); },
      },
      operation);
}

}  // namespace

Scope ScopeOf(plan::ScopeExit::Policy policy, std::string target, plan::Project::Absent absent,
              Chain body) {
  Scope scope;
  scope.policy = policy;
  scope.target = std::move(target);
  scope.absent = absent;
  scope.bodies.push_back(std::move(body));
  return scope;
}

std::vector<Chain>* ChildrenOf(Op* op) {
  if (Scope* scope = As<Scope>(op)) return &scope->bodies;
  if (Split* split = As<Split>(op)) return &split->branches;
  if (Loop* loop = As<Loop>(op)) return &loop->parts;
  return nullptr;
}

const std::vector<Chain>* ChildrenOf(const Op& op) {
  if (const Scope* scope = As<Scope>(op)) return &scope->bodies;
  if (const Split* split = As<Split>(op)) return &split->branches;
  if (const Loop* loop = As<Loop>(op)) return &loop->parts;
  return nullptr;
}

void ForEachExpression(const Op& op, const std::function<void(const Expression&)>& visit) {
  if (const Filter* filter = As<Filter>(op)) visit(*filter->predicate);
  if (const Project* project = As<Project>(op)) visit(*project->value);
  if (const Split* split = As<Split>(op)) {
    for (const ExpressionPtr& test : split->tests) visit(*test);
  }
  if (const Loop* loop = As<Loop>(op)) {
    for (const ExpressionPtr& test :
         {loop->before.until, loop->before.emit, loop->behind.until, loop->behind.emit}) {
      if (test != nullptr) visit(*test);
    }
  }
  if (const Mutate* mutate = As<Mutate>(op)) {
    ForEachPart(*mutate, [&visit](const char*, const Expression& part) { visit(part); });
  }
}

Source SourceOfAll(const Chain& root) {
  Source all;
  AnyOp(root, [&all](const Op& op) {
    if (const Source* source = As<Source>(op)) {
      all.graph = source->graph;
    }
    return all.graph.knows_schema();
  });
  return all;
}

plan::Direction Backwards(plan::Direction direction) {
  if (direction == plan::OUT) return plan::IN;
  return direction == plan::IN ? plan::OUT : direction;
}

void CollectReads(const Op& op, std::set<std::string>* names) {
  auto add = [names](const std::string& name) {
    if (!name.empty()) names->insert(name);
  };
  ForEachExpression(op, [names](const Expression& part) { CollectNames(part, names); });
  if (const Sample* sample = As<Sample>(op)) add(sample->weight);
  if (const Order* order = As<Order>(op)) {
    for (const OrderKey& key : order->keys) add(key.name);
  }
  if (const Dedup* dedup = As<Dedup>(op)) {
    for (const std::string& key : dedup->keys) add(key);
  }
  if (const Group* group = As<Group>(op)) {
    add(group->key);
    add(group->value);
  }
  if (const Aggregate* aggregate = As<Aggregate>(op)) add(aggregate->value);
  if (const Barrier* barrier = As<Barrier>(op); barrier && barrier->sacks) {
    add(barrier->sacks->name);
    if (barrier->sacks->by_path) CollectNames(*CarriedPath(), names);
  }
  if (const Expand* expand = As<Expand>(op)) add(expand->other_than);
  if (const Reach* reach = As<Reach>(op)) add(reach->ends.name);
  if (const ShortestPath* path = As<ShortestPath>(op)) {
    add(path->ends.name);
    if (path->gives_path) CollectNames(*CarriedPath(), names);
  }
  if (const EdgeEnd* end = As<EdgeEnd>(op); end && end->end == plan::EdgeEnd::OTHER) {
    names->insert(FromName());
  }
}

const std::string& StoredName(const Op& op) {
  if (const Project* project = As<Project>(op)) return project->target;
  if (const Scope* scope = As<Scope>(op)) return scope->target;
  if (const Reach* reach = As<Reach>(op)) return reach->target;
  const Barrier* barrier = As<Barrier>(op);
  if (barrier != nullptr && barrier->sacks) return barrier->sacks->name;
  return kNothingStored;
}

void CollectStores(const Chain& chain, std::set<std::string>* names) {
  for (const Op& op : chain.ops) {
    if (!StoredName(op).empty()) names->insert(StoredName(op));
    if (const std::vector<Chain>* children = ChildrenOf(op)) {
      for (const Chain& child : *children) CollectStores(child, names);
    }
  }
}

void CollectAllReads(const Op& op, std::set<std::string>* names) {
  CollectReads(op, names);
  const std::vector<Chain>* children = ChildrenOf(op);
  if (children == nullptr) return;
  for (const Chain& child : *children) {
    for (const Op& inner : child.ops) CollectAllReads(inner, names);
  }
}

std::string WalkText(const std::vector<Hop>& hops, const WalkEnds& ends) {
  std::string text;
  for (const Hop& hop : hops) {
    text += plan::Direction_Name(hop.direction) + " " + BracketedNames(hop.labels);
    if (hop.repeats) text += "*";
    if (hop.filter != nullptr) text += " where " + ExpressionText(*hop.filter);
    text += ", ";
  }
  text += "to ";
  if (ends.ids) {
    text += ConstantsText(*ends.ids);
  } else if (!ends.name.empty()) {
    text += ends.name;
  } else {
    text += BracketedNames(ends.scan.labels);
    if (!ends.keys.empty()) text += " with " + BracketedNames(ends.keys);
    if (ends.scan.seek) text += " by seek " + SeekText(ends.scan.labels, *ends.scan.seek);
  }
  if (ends.filter != nullptr) text += " where " + ExpressionText(*ends.filter);
  return text;
}

std::string SeekText(const std::vector<std::string>& labels, const plan::Seek& seek) {
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : "|") + label;
  text = IndexName(text, std::vector<std::string>(seek.keys().begin(), seek.keys().end())) + ":";
  for (int i = 0; i < std::min(seek.sought_size(), seek.keys_size()); ++i) {
    const plan::SoughtKey& sought = seek.sought(i);
    if (i > 0) text += ",";
    for (int k = 0; k < sought.bounds_size(); ++k) {
      text += (k > 0 ? ", " : " ") + BoundText(seek.keys(i), sought.bounds(k));
    }
    if (sought.bounds_size() > 0) continue;
    ValueList values;
    for (const std::string& bytes : sought.any_of()) {
      StatusOr<Value> value = DecodeWholeValue(bytes);
      values.push_back(value.ok() ? *std::move(value) : Value());
    }
    text += " " + seek.keys(i) + "=" + ConstantsText(values);
  }
  return text;
}

std::string ChainText(const Chain& chain, int indent,
                      const std::function<std::string(const Op&)>& note) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string text;
  for (const Op& op : chain.ops) {
    text += margin + OperationText(op.body) + (note ? note(op) : "") + "\n";
    const std::vector<Chain>* children = ChildrenOf(op);
    if (children == nullptr) continue;
    for (size_t i = 0; i < children->size(); ++i) {
      if (children->size() > 1) text += margin + " -" + std::to_string(i + 1) + "\n";
      text += ChainText((*children)[i], indent + 4, note);
    }
  }
  return text;
}

}  // namespace koios::planner
