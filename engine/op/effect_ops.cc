#include "engine/op/effect_ops.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/account/charge_ahead.h"
#include "engine/op/collect_op.h"
#include "engine/op/group_op.h"

namespace koios::engine {
namespace {

bool IsThere(const Batch& rows, size_t row, uint32_t slot) {
  return rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
}

// Rows that a side-effect gathers, all of them before the first one goes on. Nobody sees half of
// it, in `aggregate('x')` half of a list: rows that could look come out after the last call, and of
// two barriers that fire at once the driver goes on with the one that it has begun.
class GatherOp : public CollectOp {
 public:
  explicit GatherOp(OperatorHost* host) : CollectOp(host) { SpillBy(&kAsTheyCame, 0); }

 protected:
  virtual Status Begin() { return OkStatus(); }
  virtual Status Gather(const Batch& rows, size_t begin, size_t end) = 0;

  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      RETURN_IF_ERROR(TakeAll(state));
      RETURN_IF_ERROR(BeginWalk(state));
    }
    size_t* next = &static_cast<Walk*>(state->progress.get())->next;
    const std::vector<Position>& all = state->order;
    for (size_t left = kSliceWork; left > 0 && *next < all.size();) {
      // Rows that stand together.
      const Position at = all[*next];
      const Batch& chunk = state->rows.ChunkAt(at);
      const size_t count = std::min(left, chunk.rows - at.row);
      RETURN_IF_ERROR(Gather(chunk, at.row, at.row + count));
      *next += count;
      left -= count;
    }
    if (*next < all.size()) return false;
    state->progress.reset();
    return true;
  }
  // What has been gathered stays.
  bool Abandon(State* state) override { return state->progress == nullptr && AbandonOrder(state); }
  // A block of them in each call.
  StatusOr<bool> LookAtSpilled(State* state) override {
    if (state->progress == nullptr) RETURN_IF_ERROR(BeginWalk(state));
    size_t* next = &static_cast<Walk*>(state->progress.get())->next;
    if (*next < state->spilled->num_blocks()) {
      int64_t charged = 0;
      ASSIGN_OR_RETURN(const Batch rows, state->spilled->Read((*next)++, &charged));
      const Status gathered = Gather(rows, 0, rows.rows);
      (void)host_->ChargeState(-charged);
      RETURN_IF_ERROR(gathered);
      return false;
    }
    state->progress.reset();
    return true;
  }

 private:
  struct Walk : Progress {
    size_t next = 0;  // row, or block
  };

  Status BeginWalk(State* state) {
    RETURN_IF_ERROR(Begin());
    state->progress = std::make_unique<Walk>();
    return OkStatus();
  }
};

// A row without a value (a by() that gave nothing) adds nothing and passes.
class AggregateOp : public GatherOp {
 public:
  AggregateOp(const plan::Aggregate& op, OperatorHost* host)
      : GatherOp(host), name_(op.name()), value_slot_(op.value_slot()) {}

 protected:
  Status Begin() override { return host_->ChargeState(-host_->side_effects().StartBarrier(name_)); }
  Status Gather(const Batch& rows, size_t begin, size_t end) override {
    auto* const bag = host_->side_effects().Find(name_);
    ChargeAhead charge(host_, SideEffects::ChargedFor(bag));
    for (size_t row = begin; row < end; ++row) {
      if (!IsThere(rows, row, value_slot_)) continue;
      const Value value = rows.slots[value_slot_].Get(row);
      RETURN_IF_ERROR(SideEffects::Add(bag, value, rows.BulkAt(row), &charge));
    }
    return OkStatus();
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
      if (!IsThere(input, row, value_slot_)) continue;
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

class GroupEffectOp : public GatherOp {
 public:
  GroupEffectOp(const plan::Group& op, OperatorHost* host) : GatherOp(host), op_(op) {}

 protected:
  Status Gather(const Batch& rows, size_t begin, size_t end) override {
    GroupTable* table = host_->side_effects().Group(op_.side_effect());
    int64_t bytes = 0;  // stays charged as long as the side-effect: to the query's end
    ChargeAhead charge(host_, &bytes);
    for (size_t row = begin; row < end; ++row) {
      if (!IsThere(rows, row, op_.key_slot())) continue;
      std::optional<Value> value;
      if (IsThere(rows, row, op_.value_slot())) value = rows.slots[op_.value_slot()].Get(row);
      RETURN_IF_ERROR(
          table->Add(rows.slots[op_.key_slot()].Get(row), value, rows.BulkAt(row), &charge));
    }
    return OkStatus();
  }

 private:
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
