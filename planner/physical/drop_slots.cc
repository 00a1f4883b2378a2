#include "planner/physical/drop_slots.h"

#include <map>
#include <set>
#include <vector>

#include "core/plan/operator_table.h"

namespace koios::planner {
namespace {

using Slots = std::set<uint32_t>;

// Slots other than 0 that the operator itself reads.
Slots ReadsOf(const plan::Operator& op) {
  const plan::SlotUse use = plan::SlotsOf(op);
  Slots reads(use.needed.begin(), use.needed.end());
  reads.insert(use.read.begin(), use.read.end());
  reads.erase(0);
  return reads;
}

uint32_t WriteOf(const plan::Operator& op) { return plan::SlotsOf(op).written; }

// The slots of `wanted` that come from the body's rows.
Slots CarriedBy(const plan::ScopeExit& exit, const Slots& wanted) {
  Slots carried;
  for (uint32_t slot : exit.carry_slots()) {
    if (wanted.contains(slot)) carried.insert(slot);
  }
  return carried;
}

class Liveness {
 public:
  explicit Liveness(plan::Plan* plan)
      : plan_(plan), before_(Size()), behind_(Size()), present_(Size()) {}

  void Run() {
    for (const plan::Operator& op : plan_->operators()) {
      if (op.has_scope_exit()) exits_[op.scope_exit().enter()] = op.id();
    }
    do {  // until nothing more is read behind the ends of loops
      grown_ = false;
      for (size_t i = Size(); i-- > 0;) Backward(i);
    } while (grown_);
    for (size_t i = 0; i < Size(); ++i) Forward(i);
  }

 private:
  size_t Size() const { return static_cast<size_t>(plan_->operators_size()); }
  const plan::Operator& At(size_t i) const { return plan_->operators(static_cast<int>(i)); }

  void Backward(size_t i) {
    const size_t known = before_[i].size();
    Visit(i);
    grown_ = grown_ || before_[i].size() > known;
  }

  void Visit(size_t i) {
    const plan::Operator& op = At(i);
    for (uint32_t next : op.next()) behind_[i].insert(before_[next].begin(), before_[next].end());
    if (op.has_scope_exit()) {  // the body's row ends here, but for what it carries
      before_[i] = CarriedBy(op.scope_exit(), behind_[i]);
      return;
    }
    if (op.has_scope_enter()) {
      const uint32_t exit = exits_[op.id()];
      Slots body = before_[op.next(0)];
      for (uint32_t first : At(exit).scope_exit().alternatives()) {
        body.insert(before_[first].begin(), before_[first].end());
      }
      behind_[i].insert(body.begin(), body.end());
      body_[op.id()] = std::move(body);
      Slots parked = behind_[exit];
      parked.erase(WriteOf(At(exit)));
      if (At(exit).scope_exit().policy() == plan::ScopeExit::ALL) {
        for (uint32_t slot : before_[exit]) parked.erase(slot);
      }
      behind_[i].merge(parked);
    }
    Slots& before = before_[i];
    if (!plan::MakesNewRows(op)) before = behind_[i];
    before.erase(WriteOf(op));
    before.merge(ReadsOf(op));
  }

  void Forward(size_t i) {
    plan::Operator* op = plan_->mutable_operators(static_cast<int>(i));
    if (!behind_[i].contains(op->ordinal_slot())) op->set_ordinal_slot(0);  // nobody sorts by it
    Slots present = present_[i];
    if (plan::MakesNewRows(*op)) {
      present.clear();
      if (const uint32_t kept = plan::SlotsOf(*op).kept; kept != 0) present.insert(kept);
    }
    if (op->has_scope_exit()) {
      const Slots carried = before_[i];
      present = parked_[op->scope_exit().enter()];
      present.insert(carried.begin(), carried.end());
    }
    if (const uint32_t written = WriteOf(*op); written != 0) present.insert(written);
    if (op->ordinal_slot() != 0) present.insert(op->ordinal_slot());
    if (op->has_scope_enter()) parked_[op->id()] = present;
    const Slots& wanted = op->has_scope_enter() ? body_[op->id()] : behind_[i];
    for (uint32_t slot : present) {
      if (!wanted.contains(slot)) op->add_drop_slots(slot);
    }
    std::erase_if(present, [&](uint32_t slot) { return !wanted.contains(slot); });
    for (uint32_t next : op->next()) present_[next].insert(present.begin(), present.end());
    if (!op->has_scope_enter()) return;
    for (uint32_t first : At(exits_[op->id()]).scope_exit().alternatives()) {
      present_[first].insert(present.begin(), present.end());
    }
  }

  plan::Plan* plan_;
  bool grown_ = false;
  std::vector<Slots> before_;           // read at or behind the operator
  std::vector<Slots> behind_;           // read behind it
  std::vector<Slots> present_;          // may be in its input rows
  std::map<uint32_t, uint32_t> exits_;  // by the enter's id
  std::map<uint32_t, Slots> parked_;    // slots of the parked rows, by the enter's id
  std::map<uint32_t, Slots> body_;      // read by the bodies, by the enter's id
};

}  // namespace

void DropDeadSlots(plan::Plan* plan) { Liveness(plan).Run(); }

}  // namespace koios::planner
