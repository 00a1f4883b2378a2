// Lowering of order(): rows of a top-k that can't be among the first are dropped by each worker, as
// early as their first key is known.
#include <algorithm>
#include <utility>

#include "planner/op_table.h"
#include "planner/physical/lowering.h"

namespace koios::planner {
namespace {

// So many of the first rows a worker knows to be better than others.
constexpr int64_t kFewFirst = 1024;

}  // namespace

const Order* Lowering::OrderFedFrom(const std::vector<Op>& ops, size_t at) {
  const auto* const first = As<Project>(ops[at]);
  size_t behind = at + 1;
  while (first != nullptr && behind < ops.size() && As<Project>(ops[behind])) ++behind;
  if (first == nullptr || behind == at + 1 || behind == ops.size()) return nullptr;
  const auto* const order = As<Order>(ops[behind]);
  const bool feeds =
      order != nullptr && !order->keys.empty() && order->keys.front().name == first->target;
  return feeds ? order : nullptr;
}

// Whether it orders by elements, whose ids may have to be read elsewhere.
bool Lowering::HoldsElements(const OrderKey& key) const {
  if (!IsIsolated()) return false;
  const ExpressionPtr value = key.name.empty() ? Current() : Named(key.name);
  return TypeOf(*value, flow_.types) != ValueType::kScalar;
}

bool Lowering::DropsWorse(const Order& op) const {
  const auto orders_alone = [this](const OrderKey& key) { return !HoldsElements(key); };
  return std::all_of(op.keys.begin(), op.keys.end(), orders_alone) && op.limit > 0 &&
         op.limit <= kFewFirst && !op.keys.empty() && !Shuffles(op) && !flow_.at_home &&
         !flow_.in_place && flow_.scope == 0 && flow_.loop == 0;
}

void Lowering::EncodeOrder(const Order& op, plan::Order* out) {
  for (const OrderKey& key : op.keys) {
    plan::SortKey* sort_key = out->add_keys();
    sort_key->set_slot(SlotOf(key.name));
    sort_key->set_direction(key.direction);
  }
  out->set_limit(op.limit);
}

// In front of what reads the later keys: a row that is worse by the first one is dropped there.
void Lowering::LookAtBound(const Op& first_key, const Order& op) {
  if (!DropsWorse(op)) return;
  const Op* const outer = std::exchange(op_, &first_key);
  plan::Order* const looks = Add()->mutable_order();
  op_ = outer;
  EncodeOrder(op, looks);
  looks->mutable_keys()->DeleteSubrange(1, looks->keys_size() - 1);
  looks->set_stage(plan::PARTIAL);
  looks->set_looks(true);
  looks->set_bound(++bound_);
  bound_is_open_ = true;
}

void Lowering::Lower(const Order& given) {
  Order op = given;
  for (OrderKey& key : op.keys) {
    if (!HoldsElements(key) || Shuffles(op)) continue;
    const ExpressionPtr value = key.name.empty() ? Current() : Named(key.name);
    key.name = StoreDetached(value, "as_ordered")->name;
  }
  if (DropsWorse(op)) {
    plan::Order* partial = Add()->mutable_order();
    EncodeOrder(op, partial);
    partial->set_stage(plan::PARTIAL);
    if (bound_is_open_) partial->set_bound(bound_);
  }
  bound_is_open_ = false;
  plan::Order order;
  EncodeOrder(op, &order);
  if (Shuffles(op)) ToHome();
  if (flow_.ordered && flow_.mixed) AddOrdinalKey(&order);  // equal rows stay as they were
  AddSorted(order);
}

void Lowering::AddOrdinalKey(plan::Order* order) {
  plan::SortKey* const key = order->add_keys();
  key->set_slot(SlotOf(kOrdinalName));
  key->set_ordinal(true);
}

// Rows of the whole traversal are sorted where they are, and merged as they come home.
void Lowering::AddSorted(const plan::Order& order) {
  const bool spread = !flow_.at_home && !flow_.in_place && flow_.scope == 0 && !plan_->stays_home();
  if (spread) {
    plan::Operator* const sorts = Add();
    *sorts->mutable_order() = order;
    sorts->set_spread(true);
  }
  ToHome();
  plan::Operator* const added = Add();
  *added->mutable_order() = order;
  if (spread) added->mutable_order()->set_stage(plan::MERGED);
  added->set_ordinal_slot(SlotOf(kOrdinalName));
  flow_.ordered = true;
  flow_.mixed = false;
}

}  // namespace koios::planner
