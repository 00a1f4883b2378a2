#include "engine/op/effect_ops.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/account/charge_ahead.h"
#include "engine/op/collect_op.h"
#include "engine/op/group_op.h"
#include "engine/op/state/spilled_bag.h"

namespace koios::engine {
namespace {

bool IsThere(const Batch& rows, size_t row, uint32_t slot) {
  return rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
}

// What an operator adds to a bag, and puts on disk of it.
class BagWriter : public Spiller {
 public:
  BagWriter(const plan::Aggregate& op, OperatorHost* host)
      : name_(op.name()), value_slot_(op.value_slot()), host_(host) {}

  // Of a barrier, before the first of its rows.
  Status Start() { return host_->ChargeState(-host_->side_effects().StartBarrier(name_)); }
  // Of rows [begin, end): those that have a value. It stops early, and gives the row, when some of
  // the bag must go to disk before there is room for more.
  StatusOr<size_t> AddRows(const Batch& rows, size_t begin, size_t end) {
    auto* const bag = host_->side_effects().Find(name_);
    ChargeAhead charge(host_, SideEffects::ChargedFor(bag));
    for (size_t row = begin; row < end; ++row) {
      if (!IsThere(rows, row, value_slot_)) continue;
      const Value value = rows.slots[value_slot_].Get(row);
      const Status added = SideEffects::Add(bag, value, rows.BulkAt(row), &charge);
      must_spill_ = added.code() == StatusCode::kResourceExhausted && CanSpill();
      if (must_spill_) return row;
      RETURN_IF_ERROR(added);
    }
    return end;
  }

  int64_t SpillableBytes() const override {
    return SideEffects::SpillableBytes(*host_->side_effects().Find(name_));
  }
  bool must_spill() const override { return must_spill_; }
  StatusOr<bool> Spill() override {
    SideEffects& effects = host_->side_effects();
    const auto make = [this] { return std::make_unique<SpilledBag>(host_); };
    ASSIGN_OR_RETURN(const bool done, SideEffects::Store(effects.Find(name_), make, host_));
    if (done) must_spill_ = false;
    return done;
  }

 private:
  bool CanSpill() const {
    return host_->may_spill() && SpillableBytes() >= host_->least_spill_bytes();
  }

  const std::string name_;
  const uint32_t value_slot_;
  OperatorHost* const host_;
  bool must_spill_ = false;
};

// Rows that a side-effect gathers, all of them before the first one goes on. Nobody sees half of
// it, in `aggregate('x')` half of a list: rows that could look come out after the last call, and of
// two barriers that fire at once the driver goes on with the one that it has begun.
class GatherOp : public CollectOp {
 public:
  explicit GatherOp(OperatorHost* host) : CollectOp(host) { SpillBy(&kAsTheyCame, 0); }

 protected:
  virtual Status Begin() { return OkStatus(); }
  // Rows [begin, end), or as many as there is room for now: until the row that it gives.
  virtual StatusOr<size_t> Gather(const Batch& rows, size_t begin, size_t end) = 0;

  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      ASSIGN_OR_RETURN(const bool listed, ListAll(state));
      if (!listed) return false;
      RETURN_IF_ERROR(BeginWalk(state));
    }
    size_t* next = &static_cast<Walk*>(state->progress.get())->next;
    const std::vector<Position>& all = state->order;
    for (size_t left = kSliceRows; left > 0 && *next < all.size();) {
      // Rows that stand together.
      const Position at = all[*next];
      const Batch& chunk = state->rows.ChunkAt(at);
      const size_t end = at.row + std::min(left, chunk.rows - at.row);
      ASSIGN_OR_RETURN(const size_t reached, Gather(chunk, at.row, end));
      *next += reached - at.row;
      if (reached < end) return false;
      left -= end - at.row;
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
    auto* const walk = static_cast<Walk*>(state->progress.get());
    if (walk->next < state->spilled->num_blocks()) {
      int64_t charged = 0;
      ASSIGN_OR_RETURN(const Batch rows, state->spilled->Read(walk->next, &charged));
      const StatusOr<size_t> reached = Gather(rows, walk->row, rows.rows);
      (void)host_->ChargeState(-charged);
      RETURN_IF_ERROR(reached.status());
      const bool is_whole = *reached == rows.rows;
      walk->row = is_whole ? 0 : *reached;
      if (is_whole) ++walk->next;
      return false;
    }
    state->progress.reset();
    return true;
  }

 private:
  struct Walk : Progress {
    size_t next = 0;  // row, or block
    size_t row = 0;   // of the block
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
  AggregateOp(const plan::Aggregate& op, OperatorHost* host) : GatherOp(host), bag_(op, host) {}

  int64_t SpillableBytes() const override {
    return std::max(CollectOp::SpillableBytes(), bag_.SpillableBytes());
  }
  bool must_spill() const override { return bag_.must_spill(); }
  // The bag, or rows.
  StatusOr<bool> Spill() override {
    if (!spills_bag_.has_value()) {
      spills_bag_ = must_spill() || bag_.SpillableBytes() > CollectOp::SpillableBytes();
    }
    ASSIGN_OR_RETURN(const bool done, *spills_bag_ ? bag_.Spill() : CollectOp::Spill());
    if (done) spills_bag_.reset();
    return done;
  }

 protected:
  Status Begin() override { return bag_.Start(); }
  StatusOr<size_t> Gather(const Batch& rows, size_t begin, size_t end) override {
    return bag_.AddRows(rows, begin, end);
  }

 private:
  BagWriter bag_;
  std::optional<bool> spills_bag_;  // what is under way to disk, else rows
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
    if (bag.ok()) {
      ASSIGN_OR_RETURN(*done, effects.LearnSome(*bag));
      if (!*done) return OkStatus();
    }
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
  AddEachOp(const plan::Aggregate& op, OperatorHost* host) : bag_(op, host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    const auto* cursor = static_cast<const Cursor*>(output->cursor.get());
    const size_t begin = cursor == nullptr ? 0 : cursor->row;
    ASSIGN_OR_RETURN(const size_t reached, bag_.AddRows(input, begin, input.rows));
    *done = reached == input.rows;
    output->identity = begin == 0 && *done;
    for (size_t row = begin; !output->identity && row < reached; ++row) {
      output->origin.push_back(static_cast<uint32_t>(row));
    }
    if (!*done) output->cursor = std::make_unique<Cursor>(reached);
    return OkStatus();
  }

  bool keeps_cursor() const override { return false; }

  int64_t SpillableBytes() const override { return bag_.SpillableBytes(); }
  bool must_spill() const override { return bag_.must_spill(); }
  StatusOr<bool> Spill() override { return bag_.Spill(); }

 private:
  struct Cursor : StreamCursor {
    explicit Cursor(size_t r) : row(r) {}
    size_t row;
  };

  BagWriter bag_;
};

class GroupEffectOp : public GatherOp {
 public:
  GroupEffectOp(const plan::Group& op, OperatorHost* host) : GatherOp(host), op_(op) {}

 protected:
  StatusOr<size_t> Gather(const Batch& rows, size_t begin, size_t end) override {
    GroupTable* table = host_->side_effects().Group(op_.side_effect());
    int64_t bytes = 0;  // stays charged as long as the side-effect: to the query's end
    ChargeAhead charge(host_, &bytes);
    size_t row = begin;
    RETURN_IF_ERROR(table->AddRows(rows, &row, end, op_.key_slot(), op_.value_slot(), &charge));
    return row;
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
    for (const std::string& name : names_) {
      ASSIGN_OR_RETURN(*done, host_->side_effects().MakeList(name));
      if (!*done) return OkStatus();
    }
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
    if (groups == nullptr) {
      return host_->side_effects().GiveMembers(op_.names(0), &next_, output, done);
    }
    RETURN_IF_ERROR(groups->GiveRows(op_.key_slot(), /*takes=*/false, &next_, output));
    *done = next_ == groups->size();
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
