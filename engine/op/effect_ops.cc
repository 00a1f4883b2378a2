#include "engine/op/effect_ops.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/account/call_work.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/values_left.h"
#include "engine/op/collect_op.h"
#include "engine/op/group_op.h"
#include "engine/op/state/spilled_bag.h"

namespace koios::engine {
namespace {

bool IsThere(const Batch& rows, size_t row, uint32_t slot) {
  return rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
}

// A slice of what is to do before values are added to a bag; true: that is all.
template <typename Bag>
StatusOr<bool> CanGrow(Bag* bag, OperatorHost* host) {
  Value list;
  bool can_grow = false;
  {
    ChargeAhead charge(host, SideEffects::ChargedFor(bag));
    ASSIGN_OR_RETURN(can_grow, SideEffects::Unshare(bag, &charge, &list));
  }
  if (list.is_null()) return can_grow;
  const int64_t room = RoomOf(list.AsList());
  auto values = std::make_unique<ValuesLeft>();
  values->Add(ValueList{std::move(list)});
  host->Leave(std::move(values), room);
  return can_grow;
}

// What an operator adds to a bag, and puts on disk of it.
class BagWriter : public Spiller {
 public:
  BagWriter(const plan::Aggregate& op, OperatorHost* host)
      : name_(op.name()), value_slot_(op.value_slot()), host_(host) {}

  // Of a barrier, before the first of its rows.
  Status Start() { return host_->ChargeState(-host_->side_effects().StartBarrier(name_)); }
  // Of rows from *at to `end`: those that have a value. It stops early when a call has its share of
  // work, and when some of the bag must go to disk before there is room for more.
  Status AddRows(const Batch& rows, size_t end, RowPlace* at) {
    auto* const bag = host_->side_effects().Find(name_);
    ASSIGN_OR_RETURN(const bool can_grow, CanGrow(bag, host_));
    if (!can_grow) return OkStatus();
    ChargeAhead charge(host_, SideEffects::ChargedFor(bag));
    for (int64_t copies = 0; at->row < end && copies < kMostCopies; *at = {at->row + 1, 0}) {
      if (!IsThere(rows, at->row, value_slot_)) continue;
      const Value value = rows.slots[value_slot_].Get(at->row);
      const int64_t bulk = rows.BulkAt(at->row) - at->copy;
      const StatusOr<int64_t> added = AddSome(value, bulk, at->copy > 0, bag, &charge);
      must_spill_ = added.status().code() == StatusCode::kResourceExhausted && CanSpill();
      if (must_spill_) return OkStatus();
      RETURN_IF_ERROR(added.status());
      copies += *added;
      if (*added < bulk) {
        at->copy += *added;
        return OkStatus();
      }
    }
    return OkStatus();
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
  template <typename Bag>
  static StatusOr<int64_t> AddSome(const Value& value, int64_t bulk, bool again, Bag* bag,
                                   ChargeAhead* charge) {
    const bool of_members = SideEffects::IsOfMembers(*bag);
    if (of_members) {
      ASSIGN_OR_RETURN(bulk, CopiesOfStep(bulk, charge));
    }
    ASSIGN_OR_RETURN(const int64_t added, SideEffects::Add(bag, value, bulk, charge));
    if (again && of_members) ReturnShared(value, charge);
    return added;
  }
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
  // Rows from *at to `end`, or as many as there is room for now, and as one call takes.
  virtual Status Gather(const Batch& rows, size_t end, RowPlace* at) = 0;

  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      ASSIGN_OR_RETURN(const bool listed, ListAll(state));
      if (!listed) return false;
      RETURN_IF_ERROR(BeginWalk(state));
    }
    auto* const walk = static_cast<Walk*>(state->progress.get());
    const std::vector<Position>& all = state->order;
    if (walk->next < all.size()) {
      // Rows that stand together.
      const Position first = all[walk->next];
      const Batch& chunk = state->rows.ChunkAt(first);
      walk->at.row = first.row;
      RETURN_IF_ERROR(Gather(chunk, std::min(chunk.rows, first.row + kSliceRows), &walk->at));
      walk->next += walk->at.row - first.row;
    }
    if (walk->next < all.size()) return false;
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
      if (walk->charged == 0) {
        ASSIGN_OR_RETURN(walk->block, state->spilled->Read(walk->next, &walk->charged));
        state->bytes += walk->charged;
      }
      RETURN_IF_ERROR(Gather(walk->block, walk->block.rows, &walk->at));
      if (walk->at.row < walk->block.rows) return false;
      walk->at = {};
      walk->block = {};
      RETURN_IF_ERROR(Charge(-std::exchange(walk->charged, 0), state));
      ++walk->next;
      return false;
    }
    state->progress.reset();
    return true;
  }

 private:
  struct Walk : Progress {
    size_t next = 0;  // row, or block
    RowPlace at;      // in the batch, or in the block
    Batch block;      // that was read, while `charged` for it
    int64_t charged = 0;
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
  Status Gather(const Batch& rows, size_t end, RowPlace* at) override {
    return bag_.AddRows(rows, end, at);
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
      ASSIGN_OR_RETURN(*done, CanGrow(*bag, host_));
      if (!*done) return OkStatus();
    }
    ChargeAhead charge(host_, SideEffects::ChargedFor(effects.Find(name_)));
    for (size_t row = 0; row < input.rows; ++row) {
      if (!IsThere(input, row, value_slot_)) continue;
      const Value value = input.slots[value_slot_].Get(row);
      RETURN_IF_ERROR(bag.status());
      ASSIGN_OR_RETURN(const bool visited, effects.Contains(*bag, value));
      if (visited) continue;
      RETURN_IF_ERROR(SideEffects::Add(*bag, value, 1, &charge).status());
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
    RowPlace at = cursor == nullptr ? RowPlace() : cursor->at;
    const size_t begin = at.row;
    RETURN_IF_ERROR(bag_.AddRows(input, input.rows, &at));
    *done = at.row == input.rows;
    output->identity = begin == 0 && *done;
    for (size_t row = begin; !output->identity && row < at.row; ++row) {
      output->origin.push_back(static_cast<uint32_t>(row));
    }
    if (!*done) output->cursor = std::make_unique<Cursor>(at);
    return OkStatus();
  }

  bool keeps_cursor() const override { return false; }

  int64_t SpillableBytes() const override { return bag_.SpillableBytes(); }
  bool must_spill() const override { return bag_.must_spill(); }
  StatusOr<bool> Spill() override { return bag_.Spill(); }

 private:
  struct Cursor : StreamCursor {
    explicit Cursor(RowPlace a) : at(a) {}
    RowPlace at;
  };

  BagWriter bag_;
};

class GroupEffectOp : public GatherOp {
 public:
  GroupEffectOp(const plan::Group& op, OperatorHost* host) : GatherOp(host), op_(op) {}

 protected:
  Status Gather(const Batch& rows, size_t end, RowPlace* at) override {
    SideEffects& effects = host_->side_effects();
    ChargeAhead charge(host_, SideEffects::ChargedFor(effects.Find(op_.side_effect())));
    return effects.Group(op_.side_effect())
        ->AddRows(rows, at, end, op_.key_slot(), op_.value_slot(), &charge);
  }

 private:
  const plan::Group op_;
};

class CapOp : public BarrierOperator {
 public:
  CapOp(const plan::Cap& op, OperatorHost* host)
      : names_(op.names().begin(), op.names().end()), takes_(op.takes()), host_(host) {}

  Status Absorb(const Batch&) override { return OkStatus(); }

  // What is made is charged until it goes on as a row.
  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = false;
    if (making_ != nullptr && !(making_->key == key)) Forget();  // it was closed
    if (making_ == nullptr) making_ = std::make_unique<Making>(key);
    ValueList& values = making_->values;
    while (values.size() < names_.size()) {
      const size_t made = values.size();
      RETURN_IF_ERROR(MakeSome(names_[made]));
      if (values.size() == made) return OkStatus();
    }
    *done = true;
    Value value = std::move(values[0]);
    if (names_.size() > 1) {
      ValueMap map;
      map.emplace_back(Value::String(names_[0]), std::move(value));
      for (size_t i = 1; i < names_.size(); ++i) {
        map.emplace_back(Value::String(names_[i]), std::move(values[i]));
      }
      ASSIGN_OR_RETURN(value, Value::Map(std::move(map)));
    }
    output->AppendCurrent(value);
    Forget();
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    if (making_ != nullptr && making_->key.instance == instance) Forget();
  }

 private:
  // Of the firing that has begun.
  struct Making {
    explicit Making(StateKey k) : key(std::move(k)) {}

    StateKey key;
    int64_t charged = 0;
    ValueList values;  // of the first of `names_`
    // Of the next one, where that is of groups.
    std::optional<ValueMap> map;
    MembersExtent extent;
    size_t next_group = 0;
    std::optional<GroupTable> taken;  // all of them are in the map
    ValuesLeft left;                  // of `taken`, and in the map as well
  };

  void Forget() {
    (void)host_->ChargeState(-making_->charged);
    making_.reset();
    for (const std::string& name : names_) host_->side_effects().ForgetMap(name);
  }
  // A slice of making the next value.
  Status MakeSome(const std::string& name) {
    SideEffects& effects = host_->side_effects();
    if (making_->taken.has_value()) return FreeTaken();
    const bool is_group = effects.Has(name) && effects.FindGroup(name) != nullptr;
    if (takes_ && is_group) return TakeMap(name);
    ASSIGN_OR_RETURN(const bool is_whole, effects.MakeWhole(name));
    if (!is_whole) return OkStatus();
    if (is_group || (takes_ && effects.FindBag(name).ok())) {
      making_->values.push_back(effects.TakeWhole(name, &making_->charged));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Value value, effects.Read(name));
    making_->values.push_back(std::move(value));
    return OkStatus();
  }
  Status TakeMap(const std::string& name) {
    GroupTable* const groups = host_->side_effects().FindGroup(name);
    int64_t* const charged = SideEffects::ChargedFor(host_->side_effects().Find(name));
    if (!making_->map.has_value()) {
      const int64_t bytes = groups->MapBytes(/*takes=*/true);
      RETURN_IF_ERROR(host_->ChargeState(bytes));
      making_->charged += bytes;
      making_->map.emplace();
      making_->extent = {};
      making_->next_group = 0;
    }
    {
      ChargeAhead charge(host_, charged);
      RETURN_IF_ERROR(
          groups->TakeSome(&making_->next_group, &*making_->map, &making_->extent, &charge));
    }
    if (making_->next_group < groups->size()) return OkStatus();
    making_->charged += std::exchange(*charged, 0);
    making_->taken = std::exchange(*groups, GroupTable(groups->kind()));
    return FreeTaken();
  }
  // The map has the keys and the values of the table, which stay charged.
  Status FreeTaken() {
    int64_t own = 0, values = 0;
    const bool all = making_->taken->FreeSome(&making_->left, &own, &values);
    own = std::min(own, making_->charged);
    making_->charged -= own;
    RETURN_IF_ERROR(host_->ChargeState(-own));
    if (!all) return OkStatus();
    making_->taken.reset();
    ASSIGN_OR_RETURN(Value map, Value::Map(*std::exchange(making_->map, {}), making_->extent));
    making_->values.push_back(std::move(map));
    return OkStatus();
  }

  const std::vector<std::string> names_;
  const bool takes_;
  OperatorHost* const host_;
  std::unique_ptr<Making> making_;
};

// What this worker has of a side-effect, as rows. Of the whole traversal, once.
class CapShareOp : public BarrierOperator {
 public:
  CapShareOp(const plan::Cap& op, OperatorHost* host) : op_(op), host_(host) {}

  Status Absorb(const Batch&) override { return OkStatus(); }

  Status Fire(const StateKey&, Batch* output, bool* done) override {
    SideEffects& effects = host_->side_effects();
    const std::string& name = op_.names(0);
    if (!effects.Has(name)) {
      return Internal("The plan gives shares of a side-effect that nothing gathers.");
    }
    GroupTable* const groups = effects.FindGroup(name);
    if (groups == nullptr) {
      return effects.GiveMembers(name, op_.takes(), &next_, output, done, host_);
    }
    {
      ChargeAhead charge(host_, SideEffects::ChargedFor(effects.Find(name)));
      RETURN_IF_ERROR(groups->GiveRows(op_.key_slot(), op_.takes(), &next_, output, &charge));
    }
    *done = next_ == groups->size();
    if (!*done || !op_.takes()) return OkStatus();
    // Nobody asks for them any more.
    int64_t* const charged = SideEffects::ChargedFor(effects.Find(name));
    const plan::Group::Value kind = groups->kind();
    host_->Leave(std::make_unique<GroupsLeft>(std::exchange(*groups, GroupTable(kind))),
                 std::exchange(*charged, 0));
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
