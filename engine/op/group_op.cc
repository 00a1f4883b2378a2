#include "engine/op/group_op.h"

#include "core/arithmetic.h"
#include "core/value_compare.h"

namespace koios::engine {
namespace {

class GroupOp : public BarrierOperator {
 public:
  GroupOp(const plan::Group& op, OperatorHost* host)
      : key_slot_(op.key_slot()), value_slot_(op.value_slot()), kind_(op.value()), host_(host) {}

  Status Absorb(const Batch& input) override {
    size_t row = 0;
    for (const Run& run : input.runs) {
      State& state = states_[StateKey{run.instance, run.loops}];
      const int64_t before = state.bytes;
      for (const size_t end = row + run.count; row < end; ++row) {
        RETURN_IF_ERROR(Add(input, row, &state));
      }
      RETURN_IF_ERROR(host_->ChargeState(state.bytes - before));
    }
    return OkStatus();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    ValueMap map;
    const auto found = states_.find(key);
    if (found != states_.end()) {
      for (Entry& entry : found->second.entries) {
        ASSIGN_OR_RETURN(std::optional<Value> value, Finish(&entry));
        if (value.has_value()) map.emplace_back(std::move(entry.key), std::move(*value));
      }
      RETURN_IF_ERROR(host_->ChargeState(-found->second.bytes));
      states_.erase(found);
    }
    Value result = Value::Map(std::move(map));
    RETURN_IF_ERROR(CheckDepth(result.depth()));
    output->slots.resize(1);
    output->slots[0].Append(result);
    output->rows = 1;
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    absl::erase_if(states_, [&](const auto& entry) {
      if (entry.first.instance != instance) return false;
      (void)host_->ChargeState(-entry.second.bytes);
      return true;
    });
  }

 private:
  struct Entry {
    Value key;
    bool any = false;
    int64_t count = 0;
    Value one;       // FIRST, MIN, MAX
    NumberSum sum;   // SUM, MEAN
    ValueList list;  // LIST
  };
  struct State {
    std::vector<Entry> entries;  // in order of first appearance
    absl::flat_hash_map<Value, size_t, ValueHash, ValueEquivalent> index;
    int64_t bytes = 0;
  };

  Status Add(const Batch& input, size_t row, State* state) {
    if (!input.Has(key_slot_) || input.slots[key_slot_].IsAbsent(row)) return OkStatus();
    const Value key = input.slots[key_slot_].Get(row);
    const auto [found, fresh] = state->index.try_emplace(key, state->entries.size());
    if (fresh) {
      state->entries.emplace_back();
      state->entries.back().key = key;
      state->bytes += static_cast<int64_t>(sizeof(Entry) + 2 * key.ByteSize() + 64);
    }
    Entry& entry = state->entries[found->second];
    const int64_t bulk = input.BulkAt(row);
    entry.count += bulk;
    if (kind_ == plan::Group::COUNT) return OkStatus();
    if (!input.Has(value_slot_) || input.slots[value_slot_].IsAbsent(row)) return OkStatus();
    const Value value = input.slots[value_slot_].Get(row);
    switch (kind_) {
      case plan::Group::LIST:
        for (int64_t i = 0; i < bulk; ++i) entry.list.push_back(value);
        state->bytes +=
            bulk * static_cast<int64_t>(sizeof(Value)) + static_cast<int64_t>(value.ByteSize());
        return OkStatus();
      case plan::Group::FIRST:
        if (!entry.any) entry.one = value;
        entry.any = true;
        return OkStatus();
      case plan::Group::SUM:
      case plan::Group::MEAN:
        return value.is_null() ? OkStatus() : entry.sum.Add(value, bulk);
      case plan::Group::MIN:
      case plan::Group::MAX:
        return Extreme(value, &entry);
      default:
        return Internal("The plan has an unknown group.");
    }
  }

  Status Extreme(const Value& value, Entry* entry) const {
    if (value.is_null()) return OkStatus();
    if (!entry->any) {
      entry->one = value;
    } else {
      ASSIGN_OR_RETURN(entry->one,
                       kind_ == plan::Group::MIN ? Min(entry->one, value) : Max(entry->one, value));
    }
    entry->any = true;
    return OkStatus();
  }

  // nullopt: a group whose value gives nothing has no entry.
  StatusOr<std::optional<Value>> Finish(Entry* entry) const {
    switch (kind_) {
      case plan::Group::COUNT:
        return std::optional<Value>(Value::Long(entry->count));
      case plan::Group::LIST:
        return std::optional<Value>(Value::List(std::move(entry->list)));
      case plan::Group::SUM:
      case plan::Group::MEAN: {
        if (entry->sum.count() == 0) return std::optional<Value>();
        ASSIGN_OR_RETURN(Value value,
                         kind_ == plan::Group::SUM ? entry->sum.Sum() : entry->sum.Mean());
        return std::optional<Value>(std::move(value));
      }
      default:
        if (!entry->any) return std::optional<Value>();
        return std::optional<Value>(std::move(entry->one));
    }
  }

  const uint32_t key_slot_;
  const uint32_t value_slot_;
  const plan::Group::Value kind_;
  OperatorHost* const host_;
  absl::flat_hash_map<StateKey, State> states_;
};

}  // namespace

StatusOr<OperatorBundle> MakeGroup(const plan::Group& op, uint32_t num_slots, OperatorHost* host) {
  if (op.key_slot() >= num_slots || op.value_slot() >= num_slots) {
    return Internal("The plan groups by a slot that does not exist.");
  }
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<GroupOp>(op, host);
  return bundle;
}

}  // namespace koios::engine
