#include "engine/op/group_op.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/account/charge_ahead.h"
#include "engine/effect/group_table.h"
#include "engine/op/state/spill_room.h"
#include "engine/op/state/spilled_groups.h"
#include "engine/op/state/state_table.h"
#include "engine/scope/weight.h"

namespace koios::engine {
namespace {

class GroupOp : public BarrierOperator {
 public:
  GroupOp(const plan::Group& op, OperatorHost* host) : op_(op), host_(host) {}

  // Proceed() does.
  Status Absorb(const Batch&) override {
    absorbed_ = {};
    refused_.reset();
    return OkStatus();
  }
  StatusOr<bool> Proceed(const Batch& input) override {
    if (!must_spill_ && absorbed_.row < input.rows) RETURN_IF_ERROR(AbsorbSome(input));
    return absorbed_.row < input.rows;
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (op_.rows()) {
      if (state == nullptr) return OkStatus();
      state->fires = true;
      if (state->spilled != nullptr) {
        RETURN_IF_ERROR(FireSpilled(state, output, done));
      } else {
        ASSIGN_OR_RETURN(*done, GiveRows(state, output));
      }
    } else if (state == nullptr) {
      output->AppendCurrent(Value::EmptyMap());
    } else {
      RETURN_IF_ERROR(FireMap(state, output, done));
    }
    if (*done && state != nullptr) states_.Erase(key);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance, [](const State&) {});
  }
  size_t HeldBytes() const override { return states_.ByteSize(); }

  // What becomes one map can't go to disk.
  int64_t SpillableBytes() const override {
    const State* state = op_.rows() ? states_.Find(large_) : nullptr;
    return state == nullptr || state->fires ? 0 : state->bytes + state->path_bytes;
  }
  // A list that is on its way out is whole first. Nobody has kept room for the way to disk.
  int64_t GivingBytes() const override {
    const State* state = op_.rows() ? states_.Find(large_) : nullptr;
    const bool gives = state != nullptr && state->fires && state->spilled == nullptr &&
                       !state->clears() && !state->table->is_gathering() &&
                       host_->StateRoom() >= SpilledGroups::WriteBytes(*host_);
    return gives ? state->bytes + state->path_bytes : 0;
  }
  bool must_spill() const override { return must_spill_; }
  StatusOr<bool> Spill() override {
    must_spill_ = false;
    State* state = states_.Find(large_);
    if (state == nullptr || !op_.rows()) return true;
    if (state->spilled == nullptr) {
      if (SpillableBytes() + GivingBytes() == 0) return true;
      state->spilled = std::make_unique<SpilledGroups>(op_.value(), host_);
    }
    return Write(state);
  }

 private:
  struct Making {
    ValueMap map;
    MembersExtent extent;
  };
  struct State {
    State(const plan::Group& o, OperatorHost* h) : op(o), host(h) { Begin(); }
    ~State() { (void)host->ChargeState(-bytes); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    // What `table` had has been given, or is on disk. A slice of freeing it; true: that was all.
    bool Clear() {
      if (clears() || bytes >= Leftover::kLeastBytes) {
        if (!clears()) left = std::make_unique<ValuesLeft>();
        int64_t own = 0, values = 0;
        const bool all = table->FreeSome(left.get(), &own, &values);
        // A map has the values.
        const int64_t freed = std::min(own + (making == nullptr ? values : 0), bytes);
        bytes -= freed;
        (void)host->ChargeState(-freed);
        if (!all) return false;
        left.reset();
      }
      Begin();
      next = 0;
      path_bytes = 0;
      (void)host->ChargeState(-std::exchange(bytes, 0));
      return true;
    }

    void Begin() { table.emplace(op.value(), op.stage() == plan::MERGED); }
    bool clears() const { return left != nullptr; }

    const plan::Group& op;
    OperatorHost* const host;
    std::optional<GroupTable> table;
    int64_t bytes = 0;
    int64_t path_bytes = 0;            // that rows hold, and that are charged by themselves, about
    size_t next = 0;                   // group to give, or to put on disk next (rows)
    std::unique_ptr<Making> making;    // of the groups before it, else
    std::unique_ptr<ValuesLeft> left;  // of `table`, while it is cleared
    bool fires = false;
    std::unique_ptr<SpilledGroups> spilled;  // what came before `table`
    bool reads = false;                      // parts of that
    bool is_whole = false;                   // `table` is all of a part
  };
  // What has no room waits until groups have gone to disk, where they can.
  Status AbsorbSome(const Batch& input) {
    size_t end = 0;
    for (const Run& run : input.runs) {
      end += run.count;
      if (absorbed_.row >= end) continue;
      State& state = *states_.FindOrMake(run, op_, host_).first;
      const Status added = AddRows(input, end, &state);
      const bool can_spill = CanSpill(state);
      if (can_spill) large_ = {run.instance, run.loops};
      if (added.ok() && absorbed_.row < end) return OkStatus();  // as much as one call does
      if (added.ok()) continue;
      // Once: what has no room beside nothing has none.
      const bool again = std::exchange(refused_, absorbed_) == absorbed_;
      must_spill_ = can_spill && !again && added.code() == StatusCode::kResourceExhausted;
      return must_spill_ ? OkStatus() : added;
    }
    return OkStatus();
  }
  Status AddRows(const Batch& input, size_t end, State* state) {
    const bool takes_room = op_.rows() && host_->may_spill() && state->spilled == nullptr;
    SpillRoom room(host_, takes_room ? SpilledGroups::WriteBytes(*host_) : 0);
    ChargeAhead charge(&room, &state->bytes);
    const size_t begin = absorbed_.row;
    Status added =
        state->table->AddRows(input, &absorbed_, end, op_.key_slot(), op_.value_slot(), &charge);
    const uint32_t slots[] = {op_.key_slot(), op_.value_slot()};
    if (op_.rows()) state->path_bytes += PathBytes(input, slots, absorbed_.row - begin);
    return added;
  }
  bool CanSpill(const State& state) const {
    return op_.rows() && host_->may_spill() &&
           state.bytes + state.path_bytes >= host_->least_spill_bytes();
  }

  // Of what is left of a query's memory, for a part that is read from disk.
  static constexpr int64_t kPartShare = 4;

  // True: all of the table has gone.
  static StatusOr<bool> Write(State* state) {
    if (state->clears()) return state->Clear();
    ASSIGN_OR_RETURN(const bool gone, state->spilled->Write(&*state->table, &state->next));
    return gone && state->Clear();
  }

  // True: all are given, and the table is free.
  StatusOr<bool> GiveRows(State* state, Batch* output) const {
    if (state->clears()) return state->Clear();
    {
      ChargeAhead charge(host_, &state->bytes);
      RETURN_IF_ERROR(
          state->table->GiveRows(op_.key_slot(), /*takes=*/true, &state->next, output, &charge));
    }
    return state->next == state->table->size() && state->Clear();
  }

  // A map of a million entries is made in many calls. What follows may take long: the table is free
  // before.
  Status FireMap(State* state, Batch* output, bool* done) const {
    *done = false;
    if (!state->clears()) {
      if (state->making == nullptr) {
        state->making = std::make_unique<Making>();
        const int64_t bytes = state->table->MapBytes(/*takes=*/true);
        RETURN_IF_ERROR(host_->ChargeState(bytes));
        state->bytes += bytes;
      }
      ChargeAhead charge(host_, &state->bytes);
      RETURN_IF_ERROR(state->table->TakeSome(&state->next, &state->making->map,
                                             &state->making->extent, &charge));
      if (state->next < state->table->size()) return OkStatus();
    }
    if (!state->Clear()) return OkStatus();
    *done = true;
    ASSIGN_OR_RETURN(const Value map,
                     Value::Map(std::move(state->making->map), state->making->extent));
    output->AppendCurrent(map);
    return OkStatus();
  }

  // What is still in memory goes to disk as well, so that there is one way to go on: part by part.
  Status FireSpilled(State* state, Batch* output, bool* done) const {
    SpilledGroups& spilled = *state->spilled;
    *done = false;
    if (state->is_whole) {
      ASSIGN_OR_RETURN(const bool given, GiveRows(state, output));
      if (!given) return OkStatus();
      state->is_whole = false;
      return NextPart(state, done);
    }
    const bool is_large = state->bytes > host_->StateRoom() / kPartShare;
    const bool writes = !state->reads || state->next > 0 || spilled.is_in_list() ||
                        (is_large && spilled.may_divide()) ||
                        (spilled.is_divided() && !spilled.has_more());
    if (state->clears() || (writes && state->table->size() > 0)) return Write(state).status();
    if (!state->reads) {
      state->reads = true;
      return NextPart(state, done);
    }
    if (spilled.has_more()) {
      ChargeAhead charge(host_, &state->bytes);
      return spilled.ReadSome(&*state->table, &charge);
    }
    if (spilled.is_divided()) return NextPart(state, done);
    state->is_whole = true;
    return OkStatus();
  }
  static Status NextPart(State* state, bool* done) {
    ASSIGN_OR_RETURN(const bool is_one, state->spilled->NextPart());
    *done = !is_one;
    return OkStatus();
  }

  const plan::Group op_;
  OperatorHost* const host_;
  StateTable<State> states_;
  StateKey large_;     // whose groups are worth to be put on disk: those that grew last
  RowPlace absorbed_;  // of the batch that came last
  std::optional<RowPlace> refused_;  // the last one that had no room
  bool must_spill_ = false;
};

// A worker's share of groups of the root instance: a row for each key, in the order in which they
// came, with the count as its bulk, or with what was added up, or the extreme, as current. Where
// hardly any key comes twice, and where there is no room, rows go on as they are.
class GroupPartialOp : public PartialOperator {
 public:
  GroupPartialOp(const plan::Group& op, OperatorHost* host)
      : kind_(op.value()),
        key_slot_(op.key_slot()),
        value_slot_(op.value_slot()),
        host_(host),
        taking_(kind_) {}

  Status Absorb(const Batch& input, std::vector<Run>* returned) override {
    for (const Run& run : input.runs) {
      if (run.instance.serial != 0 || !run.loops.empty()) {
        return Internal("The plan groups shares inside a scope.");
      }
    }
    RETURN_IF_ERROR(Take(input));
    for (const Run& run : input.runs) {
      if (run_.has_value() || !HoldsAny()) {
        returned->push_back(run);
      } else {
        run_ = run;
        pool_ = WeightPool(run.k);
      }
    }
    is_full_ = giving_.has_value() || passing_.rows > 0 || taking_.table.size() > kMostKeys ||
               taking_.bytes > kMostBytes;
    return OkStatus();
  }

  bool IsFull(const Loops&) const override { return is_full_; }

  const Loops* First(const std::function<bool(const Loops&)>& may) override {
    return run_.has_value() && may(run_->loops) ? &run_->loops : nullptr;
  }

  // What passes goes, then what a table has that shall go: memory is short, else nothing passed.
  Status Flush(const Loops&, Batch* output, std::vector<Run>* returned) override {
    is_full_ = passing_.rows > 0 && giving_.has_value();
    if (!run_.has_value()) return OkStatus();
    if (passing_.rows > 0) {
      *output = std::exchange(passing_, Batch());
    } else {
      RETURN_IF_ERROR(Give(output));
    }
    Run run = *run_;
    run.count = static_cast<uint32_t>(output->rows);
    const bool last = !HoldsAny();
    run.k = last ? pool_.k() : pool_.Take();
    output->runs.push_back(run);
    if (!last) return OkStatus();
    for (uint32_t i = 1; i < pool_.left(); ++i) returned->push_back(run);
    run_.reset();
    return OkStatus();
  }

 private:
  // A table that fits the processor's cache; each batch that comes while one is given lets go as
  // many keys as it may bring.
  static constexpr size_t kMostKeys = 16 * 1024;
  static constexpr int64_t kMostBytes = 4 << 20;
  static constexpr size_t kRowsOfAKey = 2;
  static constexpr size_t kTellingRows = 4 * kBatchRows;  // fewer don't tell how often keys come

  struct Share {
    explicit Share(plan::Group::Value kind) : table(kind) {}

    GroupTable table;
    int64_t bytes = 0;  // charged
    size_t rows = 0;
    size_t next = 0;  // key to give next
  };

  bool HoldsAny() const {
    return taking_.table.size() > 0 || giving_.has_value() || passing_.rows > 0;
  }

  Status Take(const Batch& input) {
    RowPlace at;
    if (!passes_) {
      ChargeAhead charge(host_, &taking_.bytes);
      Status added;
      while (added.ok() && at.row < input.rows) {
        added = taking_.table.AddRows(input, &at, input.rows, key_slot_, value_slot_, &charge);
      }
      taking_.rows += at.row;
      if (added.ok() || added.code() != StatusCode::kResourceExhausted) return added;
      if (taking_.table.size() == 0) {
        RETURN_IF_ERROR(host_->ChargeState(-std::exchange(taking_, Share(kind_)).bytes));
      } else if (!giving_.has_value()) {
        BeginGiving();
      }
    }
    return Pass(input, at.row);
  }

  // Rows from `begin` on, as they came.
  Status Pass(const Batch& input, size_t begin) {
    if (!input.Has(key_slot_) || begin == input.rows) return OkStatus();
    const Batch rest = input.Slice(begin, input.rows);
    const bool has_values = kind_ != plan::Group::COUNT && rest.Has(value_slot_);
    if (has_values && IsTotal()) RETURN_IF_ERROR(CheckNumbers(rest.slots[value_slot_]));
    passing_.slots.resize(key_slot_ + 1);
    if (has_values) passing_.slots[0] = rest.slots[value_slot_];
    passing_.slots[key_slot_] = rest.slots[key_slot_];
    passing_.bulk = rest.bulk;
    passing_.rows = rest.rows;
    return OkStatus();
  }

  bool IsTotal() const { return kind_ == plan::Group::SUM || kind_ == plan::Group::MEAN; }

  // A list would be taken for what shares have added up.
  static Status CheckNumbers(const Column& values) {
    if (values.kind() == Column::Kind::kInt || values.kind() == Column::Kind::kLong ||
        values.kind() == Column::Kind::kDouble) {
      return OkStatus();
    }
    for (size_t row = 0; row < values.size(); ++row) {
      if (!values.IsAbsent(row)) RETURN_IF_ERROR(NumberSum().Add(values.Get(row)));
    }
    return OkStatus();
  }

  void BeginGiving() {
    passes_ = taking_.rows >= kTellingRows && taking_.rows < kRowsOfAKey * taking_.table.size();
    giving_ = std::exchange(taking_, Share(kind_));
  }

  Status Give(Batch* output) {
    if (!giving_.has_value()) BeginGiving();
    Share& share = *giving_;
    output->slots.resize(key_slot_ + 1);
    size_t bytes = 0;
    for (; share.next < share.table.size() && output->rows < kBatchRows && bytes < kBatchBytes;
         ++share.next) {
      const Value& key = share.table.KeyAt(share.next);
      bytes += key.ByteSize();
      output->slots[key_slot_].Append(key);
      if (kind_ == plan::Group::COUNT) {
        output->bulk.push_back(share.table.CountAt(share.next));
      } else {
        ASSIGN_OR_RETURN(const std::optional<Value> value, share.table.SaveAt(share.next));
        bytes += value.has_value() ? value->ByteSize() : 0;
        Column& values = output->slots[0];
        value.has_value() ? values.Append(*value) : values.AppendAbsent();
      }
      ++output->rows;
    }
    if (share.next < share.table.size()) return OkStatus();
    const int64_t charged = share.bytes;
    if (charged >= Leftover::kLeastBytes) {
      host_->Leave(std::make_unique<GroupsLeft>(std::move(share.table)), charged);
      giving_.reset();
      return OkStatus();
    }
    giving_.reset();
    return host_->ChargeState(-charged);
  }

  const plan::Group::Value kind_;
  const uint32_t key_slot_;
  const uint32_t value_slot_;  // not of COUNT
  OperatorHost* const host_;
  Share taking_;
  std::optional<Share> giving_;
  bool passes_ = false;
  Batch passing_;
  bool is_full_ = false;
  std::optional<Run> run_;  // whose weight is kept; its count says nothing
  WeightPool pool_;
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
  if (op.stage() == plan::PARTIAL) {
    const bool counts = op.value() == plan::Group::COUNT;
    if (op.value() == plan::Group::LIST || op.value() == plan::Group::LAST ||
        (!counts && op.key_slot() == 0)) {
      return Internal(
          "Lists and last values have no partial stage, nor values without a slot for their keys.");
    }
    bundle.partial = std::make_unique<GroupPartialOp>(op, host);
    return bundle;
  }
  bundle.barrier = std::make_unique<GroupOp>(op, host);
  return bundle;
}

}  // namespace koios::engine
