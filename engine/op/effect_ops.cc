#include "engine/op/effect_ops.h"

#include "engine/account/charge_ahead.h"
#include "engine/op/collect_op.h"
#include "engine/op/group_op.h"

namespace koios::engine {
namespace {

// A row without a value (a by() that gave nothing) adds nothing and passes.
class AggregateOp : public CollectOp {
 public:
  AggregateOp(const plan::Aggregate& op, OperatorHost* host)
      : CollectOp(host), name_(op.name()), value_slot_(op.value_slot()) {}

 protected:
  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      RETURN_IF_ERROR(host_->ChargeState(-host_->side_effects().StartBarrier(name_)));
    }
    auto* const bag = host_->side_effects().Find(name_);
    ChargeAhead charge(host_, SideEffects::ChargedFor(bag));
    return EachInSlices(state, [&](State* kept, const Position& at) -> Status {
      if (!kept->rows.Has(at, value_slot_) || kept->rows.IsAbsent(at, value_slot_)) {
        return OkStatus();
      }
      return SideEffects::Add(bag, kept->rows.Get(at, value_slot_), kept->rows.BulkAt(at), &charge);
    });
  }

 private:
  const std::string name_;
  const uint32_t value_slot_;
};

// `where(without('x')).local(aggregate('x'))`, a set of what was visited: of a new value one
// traverser passes, as it is in the set when the next one comes (engine rule 38).
class VisitOp : public StreamOperator {
 public:
  VisitOp(const plan::Aggregate& op, OperatorHost* host)
      : name_(op.name()), value_slot_(op.value_slot()), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    SideEffects& effects = host_->side_effects();
    const auto bag = effects.FindBag(name_);
    ChargeAhead charge(host_, SideEffects::ChargedFor(effects.Find(name_)));
    for (size_t row = 0; row < input.rows; ++row) {
      if (!input.Has(value_slot_) || input.slots[value_slot_].IsAbsent(row)) continue;
      const Value value = input.slots[value_slot_].Get(row);
      RETURN_IF_ERROR(bag.status());
      ASSIGN_OR_RETURN(const bool visited, effects.Contains(*bag, value));
      if (visited) continue;
      RETURN_IF_ERROR(SideEffects::Add(*bag, value, 1, &charge));
      output->origin.push_back(static_cast<uint32_t>(row));
    }
    output->has_bulk = true;
    output->bulk.assign(output->origin.size(), 1);
    return OkStatus();
  }

  bool keeps_cursor() const override { return false; }

 private:
  const std::string name_;
  const uint32_t value_slot_;
  OperatorHost* const host_;
};

// Row by row: `local(aggregate('x'))` where nobody can tell which rows came before.
class AddEachOp : public StreamOperator {
 public:
  AddEachOp(const plan::Aggregate& op, OperatorHost* host)
      : name_(op.name()), value_slot_(op.value_slot()), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    output->identity = true;
    if (!input.Has(value_slot_)) return OkStatus();
    auto* const bag = host_->side_effects().Find(name_);
    ChargeAhead charge(host_, SideEffects::ChargedFor(bag));
    for (size_t row = 0; row < input.rows; ++row) {
      if (input.slots[value_slot_].IsAbsent(row)) continue;
      const Value value = input.slots[value_slot_].Get(row);
      RETURN_IF_ERROR(SideEffects::Add(bag, value, input.BulkAt(row), &charge));
    }
    return OkStatus();
  }

  bool keeps_cursor() const override { return false; }

 private:
  const std::string name_;
  const uint32_t value_slot_;
  OperatorHost* const host_;
};

class GroupEffectOp : public CollectOp {
 public:
  GroupEffectOp(const plan::Group& op, OperatorHost* host) : CollectOp(host), op_(op) {}

 protected:
  StatusOr<bool> Arrange(State* state) override {
    GroupTable* table = host_->side_effects().Group(op_.side_effect());
    int64_t bytes = 0;  // stays charged as long as the side-effect: to the query's end
    ChargeAhead charge(host_, &bytes);
    return EachInSlices(state, [&](State* kept, const Position& at) -> Status {
      if (!Present(*kept, at, op_.key_slot())) return OkStatus();
      std::optional<Value> value;
      if (Present(*kept, at, op_.value_slot())) value = kept->rows.Get(at, op_.value_slot());
      return table->Add(kept->rows.Get(at, op_.key_slot()), value, kept->rows.BulkAt(at), &charge);
    });
  }

 private:
  static bool Present(const State& state, const Position& at, uint32_t slot) {
    return state.rows.Has(at, slot) && !state.rows.IsAbsent(at, slot);
  }

  const plan::Group op_;
};

class CapOp : public BarrierOperator {
 public:
  CapOp(const plan::Cap& op, OperatorHost* host)
      : names_(op.names().begin(), op.names().end()), host_(host) {}

  Status Absorb(const Batch&) override { return OkStatus(); }

  Status Fire(const StateKey&, Batch* output, bool* done) override {
    *done = true;
    int64_t bytes = 0;
    for (const std::string& name : names_) bytes += host_->side_effects().ReadBytes(name);
    RETURN_IF_ERROR(host_->ChargeState(bytes));
    StatusOr<Value> result = Read();
    RETURN_IF_ERROR(host_->ChargeState(-bytes));
    RETURN_IF_ERROR(result.status());
    output->AppendCurrent(*result);
    return OkStatus();
  }

 private:
  StatusOr<Value> Read() const {
    if (names_.size() == 1) return host_->side_effects().Read(names_[0]);
    ValueMap map;
    for (const std::string& name : names_) {
      ASSIGN_OR_RETURN(Value value, host_->side_effects().Read(name));
      map.emplace_back(Value::String(name), std::move(value));
    }
    return Value::Map(std::move(map));
  }

  const std::vector<std::string> names_;
  OperatorHost* const host_;
};

// What this worker has of a side-effect, as rows. Of the whole traversal, once.
class CapShareOp : public BarrierOperator {
 public:
  CapShareOp(const plan::Cap& op, OperatorHost* host) : op_(op), host_(host) {}

  Status Absorb(const Batch&) override { return OkStatus(); }

  Status Fire(const StateKey&, Batch* output, bool* done) override {
    if (!host_->side_effects().Has(op_.names(0))) {
      return Internal("The plan gives shares of a side-effect that nothing gathers.");
    }
    GroupTable* groups = host_->side_effects().FindGroup(op_.names(0));
    if (groups != nullptr) {
      RETURN_IF_ERROR(groups->GiveRows(op_.key_slot(), /*takes=*/false, &next_, output));
      *done = next_ == groups->size();
    } else {
      const ValueList& members = host_->side_effects().Members(op_.names(0));
      size_t bytes = 0;
      while (next_ < members.size() && output->rows < kBatchRows && bytes < kBatchBytes) {
        bytes += members[next_].ByteSize();
        output->AppendCurrent(members[next_++]);
      }
      *done = next_ == members.size();
    }
    return OkStatus();
  }

 private:
  const plan::Cap op_;
  OperatorHost* const host_;
  size_t next_ = 0;  // of the members or groups
};

}  // namespace

StatusOr<OperatorBundle> MakeAggregate(const plan::Aggregate& op, uint32_t num_slots,
                                       OperatorHost* host) {
  if (op.value_slot() >= num_slots) {
    return Internal("The plan aggregates a slot that does not exist.");
  }
  RETURN_IF_ERROR(host->side_effects().DeclareBag(op.name()));
  OperatorBundle bundle;
  if (op.distinct()) {
    bundle.stream = std::make_unique<VisitOp>(op, host);
  } else if (op.each()) {
    bundle.stream = std::make_unique<AddEachOp>(op, host);
  } else {
    bundle.barrier = std::make_unique<AggregateOp>(op, host);
  }
  return bundle;
}

StatusOr<OperatorBundle> MakeGroupEffect(const plan::Group& op, uint32_t num_slots,
                                         OperatorHost* host) {
  RETURN_IF_ERROR(CheckGroup(op, num_slots));
  RETURN_IF_ERROR(host->side_effects().DeclareGroup(op.side_effect(), op.value()));
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<GroupEffectOp>(op, host);
  return bundle;
}

StatusOr<OperatorBundle> MakeCap(const plan::Cap& op, uint32_t num_slots, OperatorHost* host) {
  OperatorBundle bundle;
  if (op.stage() != plan::PARTIAL) {
    bundle.barrier = std::make_unique<CapOp>(op, host);
    return bundle;
  }
  if (op.names_size() != 1 || op.key_slot() >= num_slots) {
    return Internal("The plan gives shares of something else than one side-effect.");
  }
  bundle.barrier = std::make_unique<CapShareOp>(op, host);
  return bundle;
}

}  // namespace koios::engine
