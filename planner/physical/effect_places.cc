#include "planner/physical/effect_places.h"

#include "planner/op_table.h"

namespace koios::planner {
namespace {

// What is known of one side-effect.
struct Use {
  int groups = 0;        // steps that gather groups in it
  bool asked = false;    // for members
  bool at_home = false;  // somebody needs all of it, or to come in turn
  int caps = 0;          // of the whole traversal's rows, once
  bool others = false;   // somebody else reads it, or more than once
};

class Uses {
 public:
  // Chains of the whole traversal's rows; a loop's may be capped more than once.
  void Visit(const Chain& chain, bool in_loop) {
    for (const Op& op : chain.ops) {
      if (As<Scope>(op) != nullptr) {
        KeepHome(op);
        continue;
      }
      VisitOne(op, in_loop);
      const std::vector<Chain>* children = ChildrenOf(op);
      if (children == nullptr) continue;
      for (const Chain& child : *children) Visit(child, in_loop || As<Loop>(op) != nullptr);
    }
  }

  const std::map<std::string, Use>& uses() const { return uses_; }

 private:
  // Instances write and read in turn.
  void KeepHome(const Op& op) {
    AnyOp(op, [this](const Op& inner) {
      Uses inside;
      inside.VisitOne(inner, /*in_loop=*/false);
      for (const auto& [name, use] : inside.uses_) {
        uses_[name].at_home = true;
        uses_[name].others |= use.caps > 0 || use.others;
      }
      return false;
    });
  }

  void VisitOne(const Op& op, bool in_loop) {
    if (const Aggregate* aggregate = As<Aggregate>(op)) {
      Use& use = uses_[aggregate->name];
      use.asked = use.asked || aggregate->distinct;
      use.others = use.others || aggregate->distinct;
    }
    if (const Group* group = As<Group>(op); group != nullptr && !group->side_effect.empty()) {
      ++uses_[group->side_effect].groups;
    }
    if (const Cap* cap = As<Cap>(op)) {
      const bool whole = in_loop || cap->began || cap->names.size() > 1;
      for (const std::string& name : cap->names) {
        uses_[name].at_home |= whole;
        uses_[name].others |= in_loop || cap->began;
        ++uses_[name].caps;
      }
    }
    ForEachExpression(op, [this](const Expression& part) { Read(part); });
  }

  void Read(const Expression& expression) {
    if (IsCallWith(expression, plan::kReadsEffect)) {
      const size_t argument = plan::EffectArgument(*expression.function);
      Use& use = uses_[expression.args[argument]->constant.AsString()];
      use.others = true;
      use.asked = use.asked || IsCall(expression, "in_side_effect");
      use.at_home = use.at_home || !IsCall(expression, "in_side_effect");
    }
    for (const ExpressionPtr& arg : expression.args) Read(*arg);
  }

  std::map<std::string, Use> uses_;
};

// Whether the order in which rows come may be a promise: then it is one of what a bag lists, too.
bool MayBeOrdered(const Op& op) {
  const Cap* cap = As<Cap>(op);
  return As<Order>(op) != nullptr || As<Unfold>(op) != nullptr || (cap != nullptr && cap->rows);
}

}  // namespace

std::map<std::string, EffectPlace> PlaceEffects(const Chain& root) {
  Uses uses;
  uses.Visit(root, /*in_loop=*/false);
  std::map<std::string, EffectPlace> places;
  for (const auto& [name, use] : uses.uses()) {
    const bool at_home = use.at_home || use.groups > 1 || (use.asked && AnyOp(root, MayBeOrdered));
    places[name] = at_home     ? EffectPlace::kHome
                   : use.asked ? EffectPlace::kByValue
                               : EffectPlace::kShares;
  }
  return places;
}

std::set<std::string> EffectsCappedOnce(const Chain& root) {
  Uses uses;
  uses.Visit(root, /*in_loop=*/false);
  std::set<std::string> names;
  for (const auto& [name, use] : uses.uses()) {
    if (use.caps == 1 && !use.others) names.insert(name);
  }
  return names;
}

}  // namespace koios::planner
