#include "engine/op/group_op.h"

#include "engine/effect/group_table.h"
#include "engine/account/charge_ahead.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {
namespace {

class GroupOp : public BarrierOperator {
 public:
  GroupOp(const plan::Group& op, OperatorHost* host) : op_(op), host_(host) {}

  Status Absorb(const Batch& input) override {
    size_t row = 0;
    for (const Run& run : input.runs) {
      State& state = *states_.FindOrMake(run, op_.value()).first;
      ChargeAhead charge(host_, &state.bytes);
      for (const size_t end = row + run.count; row < end; ++row) {
        RETURN_IF_ERROR(state.table.Add(input, row, op_.key_slot(), op_.value_slot(), &charge));
      }
    }
    return OkStatus();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (op_.rows()) {
      if (state == nullptr) return OkStatus();
      RETURN_IF_ERROR(FireRows(state, output));
      *done = state->next == state->table.size();
    } else {
      Value map = Value::EmptyMap();
      if (state != nullptr) {
        const int64_t bytes = state->table.MapBytes();
        RETURN_IF_ERROR(host_->ChargeState(bytes));
        state->bytes += bytes;
        ASSIGN_OR_RETURN(map, state->table.TakeMap());
      }
      output->AppendCurrent(map);
    }
    if (!*done || state == nullptr) return OkStatus();
    RETURN_IF_ERROR(host_->ChargeState(-state->bytes));
    states_.Erase(key);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance,
                    [this](const State& state) { (void)host_->ChargeState(-state.bytes); });
  }

 private:
  struct State {
    explicit State(plan::Group::Value kind) : table(kind) {}
    GroupTable table;
    int64_t bytes = 0;
    size_t next = 0;  // group to give next (rows)
  };

  Status FireRows(State* state, Batch* output) const {
    output->slots.resize(std::max<size_t>(output->slots.size(), op_.key_slot() + 1));
    size_t bytes = 0;
    while (state->next < state->table.size() && output->rows < kBatchRows && bytes < kBatchBytes) {
      const size_t i = state->next++;
      ASSIGN_OR_RETURN(const std::optional<Value> value, state->table.TakeValueAt(i));
      if (!value.has_value()) continue;
      bytes += value->ByteSize();
      output->slots[0].Append(*value);
      output->slots[op_.key_slot()].Append(state->table.KeyAt(i));
      ++output->rows;
    }
    return OkStatus();
  }

  const plan::Group op_;
  OperatorHost* const host_;
  StateTable<State> states_;
};

}  // namespace

Status CheckGroup(const plan::Group& op, uint32_t num_slots) {
  if (op.key_slot() >= num_slots || op.value_slot() >= num_slots) {
    return Internal("The plan groups by a slot that does not exist.");
  }
  if (op.rows() && (op.key_slot() == 0 || !op.side_effect().empty())) {
    return Internal("The plan wants groups as rows without a slot for their keys.");
  }
  return OkStatus();
}

StatusOr<OperatorBundle> MakeGroup(const plan::Group& op, uint32_t num_slots, OperatorHost* host) {
  RETURN_IF_ERROR(CheckGroup(op, num_slots));
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<GroupOp>(op, host);
  return bundle;
}

}  // namespace koios::engine
