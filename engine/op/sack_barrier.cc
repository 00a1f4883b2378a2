#include "engine/op/sack_barrier.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/account/call_work.h"
#include "engine/account/charge_ahead.h"
#include "engine/account/free_room.h"
#include "core/memory/paged_list.h"
#include "core/memory/parted_table.h"
#include "engine/effect/fold_operator.h"
#include "engine/op/state/kept_rows.h"
#include "engine/op/state/spilled_sacks.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {
namespace {

// What decides whether two rows become one: their other slots.
struct RowKey {
  std::vector<std::optional<Value>> parts;
  size_t hash = 0;

  int64_t ByteSize() const {
    auto bytes = static_cast<int64_t>(parts.capacity() * sizeof(parts[0]));
    for (const std::optional<Value>& part : parts) {
      if (part) bytes += static_cast<int64_t>(part->ByteSize() - sizeof(Value));
    }
    return bytes;
  }

  struct Hash {
    size_t operator()(const RowKey& key) const { return key.hash; }
  };
  struct Same {
    bool operator()(const RowKey& a, const RowKey& b) const {
      return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                        [](const std::optional<Value>& left, const std::optional<Value>& right) {
                          if (!left || !right) return left.has_value() == right.has_value();
                          return ValueEquivalent()(*left, *right);
                        });
    }
  };
};

// Keeps one row of those that become one, as it came but for its sack, and its sack by itself; once
// one has gone to disk, all that come are kept as they are (SpilledSacks).
class SackBarrier : public BarrierOperator {
 public:
  SackBarrier(SackRule rule, Value initial, uint32_t num_slots, OperatorHost* host)
      : rule_(std::move(rule)), initial_(std::move(initial)), num_slots_(num_slots), host_(host) {}

  // Proceed() does.
  Status Absorb(const Batch&) override {
    absorbed_ = 0;
    return OkStatus();
  }
  StatusOr<bool> Proceed(const Batch& input) override {
    size_t end = 0;
    for (const Run& run : input.runs) {
      end += run.count;
      if (absorbed_ >= end) continue;
      State* state = states_.FindOrMake(run).first;
      if (state->is_spilled) {
        RETURN_IF_ERROR(AddSpilled(run, input, std::exchange(absorbed_, end), end));
        continue;
      }
      for (CallWork work(&state->moved); absorbed_ < end && !work.is_over();) {
        const size_t begin = std::exchange(absorbed_, std::min(absorbed_ + kAddedRows, end));
        RETURN_IF_ERROR(AddRows(input, begin, absorbed_, state));
        work.Add((absorbed_ - begin) * kRowWork);
      }
      if (state->bytes + state->place_bytes >= host_->least_spill_bytes()) {
        large_ = {run.instance, run.loops};
      }
      if (absorbed_ < end) return true;
    }
    return false;
  }

  // What finds rows goes first, then, where their shares are wanted, all are added up.
  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (state == nullptr) return OkStatus();
    if (state->is_spilled) {
      RETURN_IF_ERROR(spilled_->Fire(key, output, done));
      if (*done) states_.Erase(key);
      return OkStatus();
    }
    state->fires = true;
    *done = false;
    if (!FreePlaces(state)) return OkStatus();
    if (rule_.op.normalise() && state->num_added < state->sacks.size()) return AddSome(state);
    if (output->rows > 0) return OkStatus();  // they may be of another shape
    RETURN_IF_ERROR(TakeChunk(state, output));
    if (rule_.op.normalise()) RETURN_IF_ERROR(rule_.MakeShares(state->total, output));
    if (state->next < state->sacks.size()) return OkStatus();
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
    return done && (own == nullptr || !own->moves);
  }

 private:
  using Places = PartedTable<absl::flat_hash_map<RowKey, size_t, RowKey::Hash, RowKey::Same>>;
  struct State {
    KeptRows rows;
    PagedList<Value> sacks;  // of the rows
    PagedList<int64_t> bulks;
    Places places;     // of rows, by number
    size_t moved = 0;  // entries of it, as it grew
    int64_t bytes = 0;
    int64_t place_bytes = 0;
    bool is_spilled = false;  // what there is of it is in `spilled_`
    bool moves = false;       // there
    bool fires = false;
    size_t num_added = 0;  // of the sacks, to the total
    double total = 0;
    size_t next = 0;  // to be given, or moved
  };

  static constexpr size_t kAddedRows = 64;  // that are charged together
  static constexpr size_t kRowWork = 4;     // what its key is made of, its place, its sack
  static constexpr size_t kSliceWork = 2048;

  // Rows [begin, end).
  Status AddRows(const Batch& input, size_t begin, size_t end, State* state) const {
    ChargeAhead charge(host_, &state->bytes);
    ChargeAhead charge_places(host_, &state->place_bytes);
    Batch rows = input.Slice(begin, end);
    if (rows.slots.size() <= rule_.op.slot()) rows.slots.resize(rule_.op.slot() + 1);
    rows.slots[rule_.op.slot()].Clear();
    rows.bulk.clear();
    std::vector<uint32_t> fresh;
    for (size_t row = begin; row < end; ++row) {
      const size_t before = state->sacks.size();
      RETURN_IF_ERROR(AddRow(rows, row - begin, SackAt(input, row), input.BulkAt(row), state,
                             &charge, &charge_places));
      if (state->sacks.size() > before) fresh.push_back(static_cast<uint32_t>(row - begin));
    }
    if (fresh.empty()) return OkStatus();
    Batch kept;
    kept.AppendRows(rows, fresh);
    state->rows.Add(kept, 0, kept.rows);
    return OkStatus();
  }

  // Of `rows`, without sacks; one that is fresh is charged, and the caller's to keep.
  Status AddRow(const Batch& rows, size_t row, Value sack, int64_t bulk, State* state,
                ChargeAhead* charge, ChargeAhead* charge_places) const {
    if (rule_.Joins(sack)) {
      RowKey key = KeyOf(rows, row);
      if (const auto* place = state->places.Find(key)) {
        return rule_.Join(sack, bulk, &state->sacks[place->second], &state->bulks[place->second],
                          charge);
      }
      ASSIGN_OR_RETURN(const size_t moved, state->places.MakeRoom(key, charge_places));
      state->moved += moved;
      RETURN_IF_ERROR(charge_places->Take(key.ByteSize()));
      state->places.Emplace(std::move(key), state->sacks.size());
    }
    RETURN_IF_ERROR(state->sacks.MakeRoom(charge));
    RETURN_IF_ERROR(state->bulks.MakeRoom(charge));
    RETURN_IF_ERROR(charge->Take(static_cast<int64_t>(sack.ByteSize() - sizeof(Value)) +
                                 static_cast<int64_t>(rows.RowBytes(row))));
    state->sacks.EmplaceBack(std::move(sack));
    state->bulks.EmplaceBack(rule_.op.one_bulk() ? 1 : bulk);
    return OkStatus();
  }

  Value SackAt(const Batch& input, size_t row) const {
    const uint32_t slot = rule_.op.slot();
    const bool has = input.Has(slot) && !input.slots[slot].IsAbsent(row);
    return has ? input.slots[slot].Get(row) : initial_;
  }

  RowKey KeyOf(const Batch& rows, size_t row) const {
    RowKey key;
    key.parts.reserve(rows.slots.size() - 1);  // without the sack
    for (size_t slot = 0; slot < rows.slots.size(); ++slot) {
      if (rule_.IsBeside(slot)) continue;
      const bool there = rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
      key.parts.push_back(there ? std::optional(rows.slots[slot].Get(row)) : std::nullopt);
      key.hash = key.hash * 0x9E3779B97F4A7C15ull + (there ? ValueHash()(*key.parts.back()) : 1);
    }
    return key;
  }

  // A slice of it; true: that was all.
  bool FreePlaces(State* state) const {
    int64_t freed = 0;
    const bool all =
        state->places.FreeSome(&freed, [](const auto& entry) { return entry.first.ByteSize(); });
    if (all) freed = state->place_bytes;
    state->place_bytes -= freed;
    (void)host_->ChargeState(-freed);
    return all;
  }

  // To the total.
  static Status AddSome(State* state) {
    const size_t end = std::min(state->num_added + kSliceWork, state->sacks.size());
    for (; state->num_added < end; ++state->num_added) {
      ASSIGN_OR_RETURN(const double weighed, SackRule::Weighed(state->sacks[state->num_added],
                                                               state->bulks[state->num_added]));
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

  // The oldest rows, as they are now, to `taken`, which is empty.
  Status TakeChunk(State* state, Batch* taken) const {
    *taken = state->rows.TakeOldestChunk();
    const size_t count = taken->rows;
    const size_t left = state->sacks.size() - state->next;
    const auto freed = static_cast<int64_t>(static_cast<double>(state->bytes) *
                                            static_cast<double>(count) / static_cast<double>(left));
    state->bytes -= freed;
    if (taken->slots.size() <= rule_.op.slot()) taken->slots.resize(rule_.op.slot() + 1);
    Column* sacks = &taken->slots[rule_.op.slot()];
    for (size_t i = 0; i < count; ++i, ++state->next) {
      sacks->Append(std::exchange(state->sacks[state->next], Value()));
      taken->bulk.push_back(state->bulks[state->next]);
      constexpr size_t kPage = PagedList<Value>::kPage;
      if (state->next % kPage < kPage - 1) continue;
      FreeRoom(&state->sacks.page(state->next / kPage));
      FreeRoom(&state->bulks.page(state->next / kPage));
    }
    return host_->ChargeState(-freed);
  }

  // The oldest rows go to `spilled_`, as if they had come as they are now. What finds them goes
  // first, and is most of what there is.
  Status MoveSome(const StateKey& key, State* state) {
    if (spilled_ == nullptr) {
      ASSIGN_OR_RETURN(spilled_, SpilledSacks::Make(&rule_, num_slots_, host_));
    }
    state->moves = true;
    if (!FreePlaces(state)) return OkStatus();
    Batch rows;
    RETURN_IF_ERROR(TakeChunk(state, &rows));
    rows.slots.resize(num_slots_);
    state->is_spilled = state->next == state->sacks.size();
    if (state->is_spilled) {
      state->sacks = {};
      state->bulks = {};
      (void)host_->ChargeState(-std::exchange(state->bytes, 0));
    }
    return spilled_->Add(key, std::move(rows));
  }

  // What could move.
  State* Own() {
    State* state = states_.Find(large_);
    return state == nullptr || state->is_spilled || state->fires ? nullptr : state;
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
  size_t absorbed_ = 0;       // rows of the batch that came last
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
