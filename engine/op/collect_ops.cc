#include "engine/op/collect_ops.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "core/value_compare.h"
#include "engine/op/collect_op.h"
#include "engine/op/element_ids.h"

namespace koios::engine {
namespace {

class OrderOp : public CollectOp {
 public:
  OrderOp(const plan::Order& op, OperatorHost* host)
      : CollectOp(host), keys_(op.keys().begin(), op.keys().end()), limit_(op.limit()) {
    if (keys_.empty()) keys_.emplace_back();
  }

 protected:
  // Top-k: once twice the limit is kept, the worse half goes.
  Status Prune(State* state) override {
    if (limit_ <= 0) return OkStatus();
    const size_t most = 2 * static_cast<size_t>(limit_) + kBatchRows;
    if (state->rows.size() < most) return OkStatus();
    ASSIGN_OR_RETURN(std::vector<Position> sorted, Sorted(state));
    sorted.resize(static_cast<size_t>(limit_));
    return Keep(state, sorted);
  }

  Status Arrange(State* state) override {
    ASSIGN_OR_RETURN(state->order, Sorted(state));
    if (limit_ > 0) Cut(state, limit_, /*from_front=*/true);
    return OkStatus();
  }

 private:
  // Elements order by their users' ids, not by where they are kept, also inside paths and lists.
  Status ElementsToIds(std::vector<Value>* keys) const {
    ElementIds ids(host_->view());
    bool any = false;
    for (const Value& key : *keys) any = ids.Collect(key) || any;
    if (!any) return OkStatus();
    RETURN_IF_ERROR(ids.Load());
    for (Value& key : *keys) key = ids.Replace(key);
    return OkStatus();
  }

  // Charged while it sorts: positions twice, an index, and the keys.
  StatusOr<std::vector<Position>> Sorted(State* state) {
    const auto per_row = static_cast<int64_t>(2 * sizeof(Position) + sizeof(uint32_t) +
                                              keys_.size() * sizeof(Value));
    const int64_t bytes = BytesOfMany(static_cast<int64_t>(state->rows.size()), per_row);
    RETURN_IF_ERROR(Charge(bytes, state));
    StatusOr<std::vector<Position>> sorted = Sort(*state);
    RETURN_IF_ERROR(Charge(-bytes, state));
    return sorted;
  }

  StatusOr<std::vector<Position>> Sort(const State& state) const {
    const std::vector<Position> all = state.rows.All();
    std::vector<Value> keys;
    keys.reserve(all.size() * keys_.size());
    for (const Position& at : all) {
      for (const plan::SortKey& key : keys_) {
        if (key.direction() == plan::SortKey::SHUFFLE) {
          keys.push_back(Value::Long(static_cast<int64_t>(host_->random().Next() >> 1)));
        } else {
          keys.push_back(state.rows.Has(at, key.slot()) ? state.rows.Get(at, key.slot()) : Value());
        }
      }
    }
    RETURN_IF_ERROR(ElementsToIds(&keys));
    std::vector<uint32_t> index(all.size());
    for (uint32_t i = 0; i < index.size(); ++i) index[i] = i;
    std::stable_sort(index.begin(), index.end(), [&](uint32_t a, uint32_t b) {
      for (size_t k = 0; k < keys_.size(); ++k) {
        const auto order = TotalOrder(keys[a * keys_.size() + k], keys[b * keys_.size() + k]);
        if (order == std::strong_ordering::equal) continue;
        return (order == std::strong_ordering::less) !=
               (keys_[k].direction() == plan::SortKey::DESC);
      }
      return false;
    });
    std::vector<Position> sorted;
    sorted.reserve(all.size());
    for (uint32_t i : index) sorted.push_back(all[i]);
    return sorted;
  }

  std::vector<plan::SortKey> keys_;
  const int64_t limit_;
};

class TailOp : public CollectOp {
 public:
  TailOp(int64_t count, OperatorHost* host) : CollectOp(host), count_(count) {}

 protected:
  Status Prune(State* state) override {
    const size_t most = 2 * static_cast<size_t>(std::max<int64_t>(count_, 0)) + kBatchRows;
    if (state->rows.size() < most) return OkStatus();
    const std::vector<Position> all = state->rows.All();
    return Keep(state, {all.end() - static_cast<std::ptrdiff_t>(count_), all.end()});
  }

  Status Arrange(State* state) override {
    state->order = state->rows.All();
    Cut(state, count_, /*from_front=*/false);
    return OkStatus();
  }

 private:
  const int64_t count_;
};

// Draws `count` traversers without replacement. Each gets the key u^(1/w) of its weight w; the
// largest keys win (Efraimidis and Spirakis, 2006).
class SampleOp : public CollectOp {
 public:
  SampleOp(const plan::Sample& op, OperatorHost* host)
      : CollectOp(host), count_(op.count()), weight_slot_(op.weight_slot()) {}

 protected:
  Status Arrange(State* state) override {
    struct Draw {
      double key;
      uint32_t index;
      bool operator>(const Draw& other) const { return key > other.key; }
    };
    const std::vector<Position> all = state->rows.All();
    std::priority_queue<Draw, std::vector<Draw>, std::greater<>> best;
    for (uint32_t i = 0; i < all.size() && count_ > 0; ++i) {
      double weight = 1.0;
      if (weight_slot_ != 0) {
        const Value value = state->rows.Get(all[i], weight_slot_);
        if (!value.is_number()) {
          return InvalidArgument("sample().by() needs numbers to weigh traversers with.");
        }
        weight = NumberOf(value);
      }
      for (int64_t copy = 0; copy < state->rows.BulkAt(all[i]); ++copy) {
        const double key = weight <= 0 ? 0 : std::pow(host_->random().Double(), 1.0 / weight);
        best.push({key, i});
        if (best.size() > static_cast<size_t>(count_)) best.pop();
      }
    }
    std::vector<int64_t> drawn(all.size(), 0);
    for (; !best.empty(); best.pop()) ++drawn[best.top().index];
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (drawn[i] == 0) continue;
      state->order.push_back(all[i]);
      state->bulk.push_back(drawn[i]);
    }
    return OkStatus();
  }

 private:
  static double NumberOf(const Value& value) {
    if (value.kind() == ValueKind::kDouble || value.kind() == ValueKind::kFloat) {
      return value.AsDouble();
    }
    return value.kind() <= ValueKind::kLong ? static_cast<double>(value.AsInteger()) : 1.0;
  }

  const int64_t count_;
  const uint32_t weight_slot_;
};

class BarrierOp : public CollectOp {
 public:
  using CollectOp::CollectOp;

 protected:
  Status Arrange(State* state) override {
    state->order = state->rows.All();
    return OkStatus();
  }
};

template <typename Op, typename... Args>
OperatorBundle Bundle(Args&&... args) {
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<Op>(std::forward<Args>(args)...);
  return bundle;
}

}  // namespace

StatusOr<OperatorBundle> MakeOrder(const plan::Order& op, uint32_t num_slots, OperatorHost* host) {
  for (const plan::SortKey& key : op.keys()) {
    if (key.slot() >= num_slots) return Internal("The plan sorts by a slot that does not exist.");
  }
  return Bundle<OrderOp>(op, host);
}

OperatorBundle MakeTail(const plan::Tail& op, OperatorHost* host) {
  return Bundle<TailOp>(op.count(), host);
}

OperatorBundle MakeSample(const plan::Sample& op, OperatorHost* host) {
  return Bundle<SampleOp>(op, host);
}

OperatorBundle MakeBarrier(OperatorHost* host) { return Bundle<BarrierOp>(host); }

}  // namespace koios::engine
