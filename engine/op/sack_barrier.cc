#include "engine/op/sack_barrier.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/memory/charged_growth.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/free_room.h"
#include "engine/effect/fold_operator.h"
#include "engine/op/state/kept_rows.h"
#include "engine/op/state/spilled_sacks.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {
namespace {

// What decides whether two rows become one: their other slots.
using RowKey = std::vector<std::optional<Value>>;

struct RowKeyHash {
  size_t operator()(const RowKey& key) const {
    size_t hash = key.size();
    for (const std::optional<Value>& part : key) {
      hash = hash * 0x9E3779B97F4A7C15ull + (part ? ValueHash()(*part) : 1);
    }
    return hash;
  }
};

struct RowKeyEqual {
  bool operator()(const RowKey& a, const RowKey& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const std::optional<Value>& left, const std::optional<Value>& right) {
                        if (!left || !right) return left.has_value() == right.has_value();
                        return ValueEquivalent()(*left, *right);
                      });
  }
};

// Keeps one row of those that become one, as it came but for its sack, and its sack by itself; once
// one has gone to disk, all that come are kept as they are (SpilledSacks).
class SackBarrier : public BarrierOperator {
 public:
  SackBarrier(SackRule rule, Value initial, uint32_t num_slots, OperatorHost* host)
      : rule_(std::move(rule)), initial_(std::move(initial)), num_slots_(num_slots), host_(host) {}

  Status Absorb(const Batch& input) override {
    Batch rows = input;
    if (rows.slots.size() <= rule_.op.slot()) rows.slots.resize(rule_.op.slot() + 1);
    rows.slots[rule_.op.slot()].Clear();
    rows.bulk.clear();
    size_t row = 0;
    for (const Run& run : input.runs) {
      const size_t begin = row;
      row += run.count;
      State* state = states_.FindOrMake(run).first;
      if (state->is_spilled) {
        RETURN_IF_ERROR(AddSpilled(run, input, begin, row));
        continue;
      }
      ChargeAhead charge(host_, &state->bytes);
      ChargeAhead charge_places(host_, &state->place_bytes);
      for (size_t next = begin; next < row; ++next) {
        RETURN_IF_ERROR(AddRow(input, rows, next, state, &charge, &charge_places));
      }
      if (state->bytes + state->place_bytes >= host_->least_spill_bytes()) {
        large_ = {run.instance, run.loops};
      }
    }
    return OkStatus();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (state == nullptr) return OkStatus();
    if (state->is_spilled) {
      RETURN_IF_ERROR(spilled_->Fire(key, output, done));
      if (*done) states_.Erase(key);
      return OkStatus();
    }
    *done = false;
    if (state->order.empty()) {
      state->order = state->rows.All();
      if (rule_.op.normalise()) RETURN_IF_ERROR(FindTotal(state));
    }
    if (output->rows > 0) return OkStatus();  // they may be of another shape
    const size_t begin = state->next;
    state->rows.Take(state->order, &state->next, output);
    Column sacks;
    for (size_t i = begin; i < state->next; ++i) {
      Value sack = state->sacks[i];
      if (rule_.op.normalise()) {
        ASSIGN_OR_RETURN(const double weighed, SackRule::Weighed(sack, state->bulks[i]));
        sack = Value::Double(weighed / state->total);
      }
      sacks.Append(sack);
    }
    if (output->slots.size() <= rule_.op.slot()) output->slots.resize(rule_.op.slot() + 1);
    output->slots[rule_.op.slot()] = std::move(sacks);
    output->bulk.assign(state->bulks.begin() + static_cast<std::ptrdiff_t>(begin),
                        state->bulks.begin() + static_cast<std::ptrdiff_t>(state->next));
    if (state->next < state->order.size()) return OkStatus();
    *done = true;
    RETURN_IF_ERROR(host_->ChargeState(-state->bytes - state->place_bytes));
    states_.Erase(key);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance, [this](const State& state) {
      (void)host_->ChargeState(-state.bytes - state.place_bytes);
    });
    if (spilled_ != nullptr) spilled_->Release(instance);
  }
  size_t HeldBytes() const override {
    return states_.ByteSize() + (spilled_ == nullptr ? 0 : spilled_->HeldBytes());
  }

  int64_t SpillableBytes() const override { return std::max(OwnBytes(), SpilledBytes()); }
  // True when all of a state has moved: half of one can neither grow nor fire.
  StatusOr<bool> Spill() override {
    State* own = Own();
    const int64_t rest = SpilledBytes();
    if (own != nullptr && !spills_rest_ && (OwnBytes() > rest || rest == 0)) {
      RETURN_IF_ERROR(MoveSome(large_, own));
      return false;
    }
    if (spilled_ == nullptr) return true;
    ASSIGN_OR_RETURN(const bool done, spilled_->Spill());
    spills_rest_ = !done;
    return done && (own == nullptr || own->next == 0);
  }

 private:
  struct State {
    KeptRows rows;
    std::vector<Value> sacks;  // of the rows
    std::vector<int64_t> bulks;
    absl::flat_hash_map<RowKey, size_t, RowKeyHash, RowKeyEqual> places;  // of rows, by number
    int64_t bytes = 0;
    int64_t place_bytes = 0;
    bool is_spilled = false;  // what there is of it is in `spilled_`
    double total = 0;
    std::vector<KeptRows::Position> order;  // once firing
    size_t next = 0;                        // to be given, or moved
  };
  // What a row takes once it is given.
  static constexpr int64_t kRowBytes = static_cast<int64_t>(sizeof(KeptRows::Position));

  // `rows`: the input without sacks.
  Status AddRow(const Batch& input, const Batch& rows, size_t row, State* state,
                ChargeAhead* charge, ChargeAhead* charge_places) const {
    Value sack = SackAt(input, row);
    const int64_t bulk = input.BulkAt(row);
    if (rule_.Joins(sack)) {
      RowKey key = KeyOf(rows, row);
      auto bytes = static_cast<int64_t>(key.capacity() * sizeof(key[0]));
      for (const std::optional<Value>& part : key) {
        if (part) bytes += static_cast<int64_t>(part->ByteSize() - sizeof(Value));
      }
      RETURN_IF_ERROR(MakeRoom(&state->places, charge_places));
      RETURN_IF_ERROR(charge_places->Take(bytes));
      const auto [place, fresh] = state->places.try_emplace(std::move(key), state->sacks.size());
      if (!fresh) {
        charge_places->Return(bytes);
        return rule_.Join(sack, bulk, &state->sacks[place->second], &state->bulks[place->second],
                          charge);
      }
    }
    RETURN_IF_ERROR(MakeRoom(&state->sacks, 1, charge));
    RETURN_IF_ERROR(MakeRoom(&state->bulks, 1, charge));
    RETURN_IF_ERROR(charge->Take(kRowBytes + static_cast<int64_t>(sack.ByteSize() - sizeof(Value)) +
                                 static_cast<int64_t>(rows.RowBytes(row))));
    state->rows.Add(rows, row, row + 1);
    state->sacks.push_back(std::move(sack));
    state->bulks.push_back(rule_.op.one_bulk() ? 1 : bulk);
    return OkStatus();
  }

  Value SackAt(const Batch& input, size_t row) const {
    const uint32_t slot = rule_.op.slot();
    const bool has = input.Has(slot) && !input.slots[slot].IsAbsent(row);
    return has ? input.slots[slot].Get(row) : initial_;
  }

  RowKey KeyOf(const Batch& rows, size_t row) const {
    RowKey key;
    key.reserve(rows.slots.size() - 1);  // without the sack
    for (size_t slot = 0; slot < rows.slots.size(); ++slot) {
      if (rule_.IsBeside(slot)) continue;
      const bool there = rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
      key.push_back(there ? std::optional(rows.slots[slot].Get(row)) : std::nullopt);
    }
    return key;
  }

  static Status FindTotal(State* state) {
    for (size_t row = 0; row < state->sacks.size(); ++row) {
      ASSIGN_OR_RETURN(const double weighed,
                       SackRule::Weighed(state->sacks[row], state->bulks[row]));
      state->total += weighed;
    }
    return OkStatus();
  }

  Status AddSpilled(const Run& run, const Batch& input, size_t begin, size_t end) const {
    Batch rows = input.Slice(begin, end);
    if (rule_.op.one_bulk()) rows.bulk.clear();
    Column sacks;
    for (size_t row = begin; row < end; ++row) sacks.Append(SackAt(input, row));
    rows.slots.resize(num_slots_);
    rows.slots[rule_.op.slot()] = std::move(sacks);
    return spilled_->Add({run.instance, run.loops}, std::move(rows));
  }

  // The oldest rows go to `spilled_`, as if they had come as they are now. What finds them goes
  // first, and is most of what there is.
  Status MoveSome(const StateKey& key, State* state) {
    if (spilled_ == nullptr) {
      ASSIGN_OR_RETURN(spilled_, SpilledSacks::Make(&rule_, num_slots_, host_));
    }
    state->places = {};
    (void)host_->ChargeState(-std::exchange(state->place_bytes, 0));
    const KeptRows oldest = state->rows.TakeOldest(1);
    const std::vector<KeptRows::Position> order = oldest.All();
    Batch rows;
    size_t taken = 0;
    oldest.Take(order, &taken, &rows, SIZE_MAX);
    const size_t left = state->sacks.size() - state->next;
    const auto freed = static_cast<int64_t>(static_cast<double>(state->bytes) *
                                            static_cast<double>(taken) / static_cast<double>(left));
    (void)host_->ChargeState(-freed);
    state->bytes -= freed;
    rows.slots.resize(num_slots_);
    Column* sacks = &rows.slots[rule_.op.slot()];
    for (size_t i = 0; i < taken; ++i, ++state->next) {
      sacks->Append(std::exchange(state->sacks[state->next], Value()));
      rows.bulk.push_back(state->bulks[state->next]);
    }
    state->is_spilled = state->next == state->sacks.size();
    if (state->is_spilled) {
      FreeRoom(&state->sacks);
      FreeRoom(&state->bulks);
      (void)host_->ChargeState(-std::exchange(state->bytes, 0));
    }
    return spilled_->Add(key, std::move(rows));
  }

  // What could move.
  State* Own() {
    State* state = states_.Find(large_);
    return state == nullptr || state->is_spilled || !state->order.empty() ? nullptr : state;
  }
  int64_t OwnBytes() const {
    const State* own = const_cast<SackBarrier*>(this)->Own();  // which changes nothing
    return own == nullptr ? 0 : own->bytes + own->place_bytes;
  }
  int64_t SpilledBytes() const { return spilled_ == nullptr ? 0 : spilled_->SpillableBytes(); }

  const SackRule rule_;
  const Value initial_;
  const uint32_t num_slots_;
  OperatorHost* const host_;
  StateTable<State> states_;
  StateKey large_;  // whose rows are worth to be put on disk: those that grew last
  std::unique_ptr<SpilledSacks> spilled_;
  bool spills_rest_ = false;  // of `spilled_` a piece is under way to disk
};

}  // namespace

StatusOr<OperatorBundle> MakeSackBarrier(const plan::Sacks& op, uint32_t num_slots,
                                         OperatorHost* host) {
  if (op.slot() == 0 || op.slot() >= num_slots || op.ordinal_slot() >= num_slots) {
    return Internal("The plan has sacks in a slot that does not exist.");
  }
  ASSIGN_OR_RETURN(Value initial, DecodeWholeValue(op.initial()));
  const FoldOperator fold = op.operator_().empty() ? nullptr : FindSackOperator(op.operator_());
  if (fold == nullptr && !op.operator_().empty()) {
    return Internal("The plan puts sacks together with an unknown operator: " + op.operator_());
  }
  OperatorBundle bundle;
  bundle.barrier =
      std::make_unique<SackBarrier>(SackRule{op, fold}, std::move(initial), num_slots, host);
  return bundle;
}

}  // namespace koios::engine
