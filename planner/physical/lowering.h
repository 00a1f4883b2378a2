// Lowering: the logical chain becomes the physical plan. Operators are added in topological order;
// names become slots; exchanges are put before an operator that reads an element's stored data
// unless the rows stand at its owner already, and before what runs at the instance's home.
// Rule: each function adds the operators of one logical operation and keeps `flow_` true.
#pragma once

#include <map>
#include <set>
#include <string>

#include "planner/logical.h"
#include "planner/physical/effect_places.h"
#include "planner/physical/flow.h"
#include "proto/plan.pb.h"

namespace koios::planner {

inline constexpr uint32_t kMaxSlots = 1000;

// For workers that read no partition but their own.
struct Isolation {
  bool isolated = false;
  bool whole_results = false;        // elements of results come with their properties
  std::set<std::string> begun = {};  // side-effects that begin with a value
};

// The whole plan, from the seed to the sink. RESOURCE_EXHAUSTED past kMaxSlots.
StatusOr<plan::Plan> LowerToPlan(const Chain& root, const Isolation& isolation);

inline constexpr char kOrdinalName[] = "~ordinal";

class Lowering {
 public:
  Lowering(plan::Plan* plan, const Isolation& isolation);

  void LowerRoot(const Chain& root);
  uint32_t num_slots() const { return static_cast<uint32_t>(plan_->slot_names_size()); }

 private:
  // No worker reads what another one owns.
  bool IsIsolated() const { return isolation_.isolated; }
  // The results as clients see them, where their elements are.
  void ShowResults();
  void LowerChain(const Chain& chain);
  void LowerOp(const Op& op);
  void Lower(const Source& op);
  void Lower(const Lookup& op);
  void Lower(const Inject& op);
  void Lower(const Expand& op);
  void Lower(const EdgeEnd& op);
  void Lower(const Fetch& op);
  void Lower(const Filter& op);
  void Lower(const Project& op);
  void Lower(const Unfold& op);
  void Lower(const Merge& op);
  void Lower(const Limit& op);
  void Lower(const Tail& op);
  void Lower(const Sample& op);
  void Lower(const Order& op);
  void Lower(const Barrier& op);
  void Lower(const TimeLimit& op);
  void Lower(const Coin& op);
  void Lower(const Dedup& op);
  void Lower(const Reduce& op);
  void Lower(const Group& op);
  void Lower(const Mutate& op);
  void Lower(const Aggregate& op);
  void Lower(const Cap& op);
  void Lower(const Scope& op);
  void Lower(const Split& op);
  void Lower(const Loop& op);
  void Lower(const Reach& op);
  void Lower(const ShortestPath& op);

  void LowerLookupSteps(const Lookup& op);
  // A change where the rows are, and each part of it where it belongs (change_lowering.cc).
  void LowerChange(const Mutate& op);
  void LowerAtOwners(Mutate op);
  void AddVertexAtOwner(const Mutate& op);
  void AddEdgeAtOwners(Mutate op);
  void DropAtOwners(const Mutate& op);
  void StoreReads(ExpressionPtr* expression);
  uint32_t StoreIn(ExpressionPtr* expression);
  ExpressionPtr WithIdsLookedUp(const ExpressionPtr& has_id);
  ExpressionPtr FindById(const ExpressionPtr& ids, plan::ElementKind element);
  // A change and a read that could see it, or miss it, must not run side by side.
  void SeparateChanges(const Op& op);
  void KeepUnseparated(const Op& op);
  void EncodeProperty(const std::pair<ExpressionPtr, ExpressionPtr>& property,
                      plan::PropertyExpr* out);
  // Adds an operator behind all open ends; its own end is then the only open one.
  plan::Operator* Add();
  // Null in place, where rows stay.
  plan::Exchange* AddExchange(plan::Exchange::Key key, uint32_t slot = 0);
  // Rows that are equal in these slots come to one worker: of elements to the owner.
  void MeetEqual(const std::vector<uint32_t>& slots);
  ExpressionPtr ValueIn(uint32_t slot) const;
  bool HoldsElements(uint32_t slot) const;  // wherever there is something
  void AddProject(const ExpressionPtr& value, uint32_t slot, plan::Project::Absent absent);
  void ToOwner(uint32_t slot);
  void ToHome();
  // Before what cares for the order of its input: restores it, when there is one.
  void ToHomeInOrder();
  // Gives the slot of the ordinals to the operators that append to them.
  void NumberRows();
  void ToHomeAlways();
  void AddBarrier(bool merge);
  plan::Operator* AddGroup(const Group& op, plan::Stage stage);
  void GroupShares(Group* op);
  void KeepKey(Group* op);
  void GroupAtOwners(Group op, plan::Stage stage);
  // Side-effects where nothing is shared (effect_lowering.cc).
  EffectPlace PlaceOf(const std::string& name) const;
  bool Takes(const Cap& op) const;
  void ToShareOf(const Aggregate& op);
  void GroupInShares(const Group& op);
  void CapShares(const Cap& op);
  void UnfoldWhole();
  // Where the value in the slot has its place among side-effects; an element's is its owner.
  void ToPlaceOf(uint32_t slot);
  ExpressionPtr StoreMemberTests(const ExpressionPtr& expression);
  // What this worker has seen pass goes no further.
  void DropMet(bool each_iteration);
  // The end of a scope or of the plan.
  void EndAtHome();
  void LowerScope(const Scope& op, bool in_place);
  bool IsDoneAtHome(const Scope& op) const;
  uint32_t LowerBody(const Chain& body, const Flow& outside, uint32_t enter,
                     std::vector<OpenEnd>* ends);
  // Lets rows leave the loop as the tests say: adds where they stand to `exits`.
  void AddLoopTests(const LoopTests& tests, std::vector<Flow>* exits);
  void FinishScope(const Scope& op, const Flow& outside);

  // The order() whose first key `ops[at]` makes, when others are made behind it; null: none.
  static const Order* OrderFedFrom(const std::vector<Op>& ops, size_t at);
  bool HoldsElements(const OrderKey& key) const;
  bool DropsWorse(const Order& op) const;
  void EncodeOrder(const Order& op, plan::Order* out);
  void AddOrdinalKey(plan::Order* order);
  void AddSorted(const plan::Order& order);
  void LookAtBound(const Op& first_key, const Order& op);

  // The slot of a name; a new one when it is not known yet. "" is slot 0.
  uint32_t SlotOf(const std::string& name);
  std::string FreshName();

  // Moves the rows to where `expression` can be evaluated and returns what is then to be
  // evaluated: parts that need another owner were stored in slots on the way. `absent`: what the
  // reader does with an absent result.
  ExpressionPtr Prepare(ExpressionPtr expression, plan::Project::Absent absent);
  std::vector<ExpressionPtr> PrepareTests(const std::vector<ExpressionPtr>& tests);
  ExpressionPtr StoreDetached(ExpressionPtr value, plan::FunctionRef with, bool whole = false);
  ExpressionPtr StoreSeen(const ExpressionPtr& expression);
  ExpressionPtr StoreComputedOwners(const ExpressionPtr& expression, plan::Project::Absent absent);
  ExpressionPtr StoreReadsOf(const ExpressionPtr& expression, uint32_t slot,
                             plan::Project::Absent absent,
                             std::map<const Expression*, ExpressionPtr>* done);
  void CollectOwners(const Expression& expression, std::map<uint32_t, size_t>* slots);
  bool NeedsOwner(const Expression& call) const;
  void Encode(const ExpressionPtr& expression, plan::Expr* out);
  void EncodeHop(const Hop& hop, plan::Hop* out);
  void EncodeEnds(const WalkEnds& ends, plan::WalkEnds* out);

  plan::Plan* const plan_;
  const Isolation isolation_;
  bool effects_at_home_ = false;  // side-effects are at the home of the whole traversal, but for
  std::map<std::string, EffectPlace> effect_places_;  // those with another place here
  std::set<std::string> capped_once_;
  std::set<std::string> ordered_effects_;  // what they have is in the order of the traversal
  bool leaves_owner_ = false;  // in place, something was asked of a place where no row goes
  Flow flow_;
  std::map<std::string, uint32_t> slots_;
  std::vector<bool> ordered_;  // by operator: its rows have ordinals
  uint32_t next_fresh_ = 1;
  const Op* op_ = nullptr;      // being lowered: for positions
  uint32_t bound_ = 0;          // the last bound of a top-k
  bool bound_is_open_ = false;  // its order() is still to come
};

}  // namespace koios::planner
