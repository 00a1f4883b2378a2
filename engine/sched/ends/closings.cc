#include "engine/sched/ends/closings.h"

#include <algorithm>

#include "engine/sched/plan_shape.h"

namespace koios::engine {

Closings::Closings(const plan::Plan& plan)
    : plan_(plan),
      root_(static_cast<size_t>(plan.operators_size()), 0),
      is_closed_(root_.size(), 0),
      leads_only_to_(root_.size()) {}

bool Closings::Drops(uint32_t op, const Run& run) const {
  if (root_[op] != 0) return true;
  if (run.instance.serial == 0 || instances_.empty()) return false;
  const Operators* closed = instances_.Find(run.instance);
  return closed != nullptr && std::any_of(closed->begin(), closed->end(), [&](uint32_t end) {
           return end == op || leads_only_to_[end][op] != 0;
         });
}

bool Closings::Close(uint32_t op) {
  any_ = true;
  return std::exchange(is_closed_[op], 1) == 0;
}

bool Closings::Close(uint32_t op, const InstanceId& instance) {
  any_ = true;
  Operators* closed = instances_.FindOrMake(instance).first;
  if (std::find(closed->begin(), closed->end(), op) != closed->end()) return false;
  closed->push_back(op);
  LeadsOnlyTo(op);
  return true;
}

const std::vector<uint8_t>& Closings::LeadsOnlyTo(uint32_t op) {
  std::vector<uint8_t>& leads = leads_only_to_[op];
  if (leads.empty()) {
    leads = PlanShape::LeadsOnlyTo(plan_, op);
    ++num_marked_;
  }
  return leads;
}

}  // namespace koios::engine
