// CollectOp: what barriers that keep whole rows have in common: keeping and charging them, putting
// them on disk when memory is short, where the subclass allows that, and giving them again in an
// order that the subclass decides when the barrier fires.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/account/charge_ahead.h"
#include "engine/account/free_room.h"
#include "engine/op/operator.h"
#include "engine/op/state/kept_rows.h"
#include "engine/op/state/spilled_runs.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {

class CollectOp : public BarrierOperator {
 public:
  explicit CollectOp(OperatorHost* host) : host_(host) {}

  Status Absorb(const Batch& input) override {
    size_t row = 0;
    const size_t input_bytes = input.ByteSize();
    for (const Run& run : input.runs) {
      State* state = states_.FindOrMake(run).first;
      std::vector<uint32_t> picked;
      const size_t count =
          Select(*state, input, row, run.count, &picked) ? picked.size() : run.count;
      const auto share =
          static_cast<int64_t>(input_bytes * count / std::max<size_t>(input.rows, 1));
      RETURN_IF_ERROR(Charge(share, state));
      const int64_t before = state->rows.ByteSize();
      if (count == run.count) {
        state->rows.Add(input, row, row + run.count);
      } else if (count > 0) {
        Batch some;
        some.AppendRows(input, picked);
        state->rows.Add(some, 0, count);
      }
      RETURN_IF_ERROR(Charge(state->rows.ByteSize() - before - share, state));
      if (spills_ && state->rows.HeldBytes() >= host_->least_spill_bytes()) {
        large_ = {run.instance, run.loops};
      }
      row += run.count;
    }
    return OkStatus();
  }

  StatusOr<bool> Proceed(const Batch& input) override {
    for (const Run& run : input.runs) {
      State* state = states_.Find({run.instance, run.loops});
      if (state == nullptr) continue;
      ASSIGN_OR_RETURN(const bool more, Prune(state));
      if (more) return true;
    }
    return false;
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* found = states_.Find(key);
    if (found == nullptr) return OkStatus();
    State& state = *found;
    if (state.rest != nullptr && state.rest->runs != nullptr) {
      return GiveFrom(state.rest->runs.get(), key, &state, output, done);
    }
    if (state.spilled != nullptr) return FireSpilled(key, &state, output, done);
    if (!state.arranged) {
      *done = false;
      const StatusOr<bool> arranged = Arrange(&state);
      if (!arranged.ok()) return ArrangeOnDisk(arranged.status(), &state);
      state.arranged = *arranged;
      if (!state.arranged) return OkStatus();
    }
    if (state.next < state.order.size()) {
      const size_t rows_before = output->rows;
      state.rows.Take(state.order, &state.next, output);
      SetBulk(&state, rows_before, output);
      if (GiveMost(rows_before, &state, output)) state.next = state.order.size();
      if (spills_ && state.rows.HeldBytes() >= host_->least_spill_bytes()) giving_ = key;
    }
    *done = state.next == state.order.size() && FreeSome(&state);
    if (*done) {
      RETURN_IF_ERROR(host_->ChargeState(-state.bytes));
      states_.Erase(key);
    }
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    if (piece_ != nullptr && piece_->key.instance == instance) {
      (void)host_->ChargeState(-piece_->state.bytes);
      piece_.reset();
    }
    states_.Release(instance,
                    [this](const State& state) { (void)host_->ChargeState(-state.bytes); });
  }
  size_t HeldBytes() const override { return states_.ByteSize(); }

  // Rows that came last are of what grows.
  int64_t SpillableBytes() const override {
    if (piece_ != nullptr) return piece_->state.bytes;
    const State* state = spills_ ? states_.Find(large_) : nullptr;
    if (state == nullptr || state->arranged || state->progress != nullptr) return 0;
    return state->rows.HeldBytes();
  }
  int64_t GivingBytes() const override {
    const State* state = spills_ ? states_.Find(giving_) : nullptr;
    const bool gives = state != nullptr && state->arranged && state->spilled == nullptr &&
                       (state->rest == nullptr || !state->rest->stays) &&
                       state->next < state->order.size();
    return gives ? state->rows.HeldBytes() : 0;
  }
  StatusOr<bool> Spill() override;

 protected:
  using Position = KeptRows::Position;
  // What a subclass has done so far of pruning or arranging rows.
  struct Progress {
    virtual ~Progress() = default;
    // Frees some of it, and adds the bytes. True: that was all.
    virtual bool FreeSome(int64_t* freed) {
      (void)freed;
      return true;
    }
  };
  struct Rest {
    Position looked_at;                 // chunks before this have been looked at,
    size_t flat_bytes = 0;              // and are as large on disk
    bool stays = false;                 // all would be larger there than they are
    std::unique_ptr<SpilledRuns> runs;  // rows in their order; there are no others then
  };
  struct State {
    KeptRows rows;
    int64_t bytes = 0;
    bool arranged = false;
    std::unique_ptr<Progress> progress;
    std::vector<Position> order;  // what comes out, once firing
    std::vector<int64_t> bulk;    // of `order`; empty: as kept
    size_t next = 0;
    int64_t skip = 0;                      // of the bulk of the first one that comes out
    bool is_over = false;                  // all have been given, and are freed
    std::unique_ptr<SpilledRuns> spilled;  // the rows that came before `rows`
    std::unique_ptr<Rest> rest;            // of what comes out, once nobody takes it
    int64_t given = 0;                     // of all, with their bulk
    // A top-k: the first key of the worst row that was kept, once there are enough rows, and what
    // these took.
    Value worst;
    int64_t pruned_bytes = 0;
  };

  // Rows to look at, or comparisons, in one call of what follows.
  static constexpr size_t kSliceRows = kBatchRows;
  static constexpr size_t kSliceWork = 2048;

  // Picks rows [begin, begin + count) of `input` that may come out. False: all of them may.
  virtual bool Select(const State&, const Batch&, size_t, uint32_t, std::vector<uint32_t>*) {
    return false;
  }
  // Called after each addition: drops rows that can't come out any more. True: not done yet.
  virtual StatusOr<bool> Prune(State*) { return false; }
  // Fills `order`, and `bulk` where it differs from what was kept. False: not done yet.
  virtual StatusOr<bool> Arrange(State* state) = 0;

  // Rows go to disk when memory is short: sorted by `keys`, which outlive this, each behind its
  // slots; as they came when there are none (kAsTheyCame).
  void SpillBy(const std::vector<plan::SortKey>* keys, uint32_t num_slots) {
    spills_ = true;
    spill_keys_ = keys;
    num_slots_ = num_slots;
  }
  // Gives up arranging for which there was no memory: the rows are as they came. False: it can't.
  virtual bool Abandon(State* state) {
    (void)state;
    return false;
  }
  // Of a state that has arranged no more than `order`.
  bool AbandonOrder(State* state) const {
    // It was charged for all rows.
    const size_t listed = state->order.capacity() == 0 ? 0 : state->rows.size();
    FreeRoom(&state->order);
    return Charge(-BytesOfMany(static_cast<int64_t>(listed), sizeof(Position)), state).ok();
  }
  // All rows of the state are on disk, and none of them has come out. False: not done yet.
  virtual StatusOr<bool> LookAtSpilled(State* state) {
    (void)state;
    return true;
  }
  // Fills the `order` in which rows of a piece go to disk. False: not done yet.
  virtual StatusOr<bool> SortPiece(State* piece) { return ListAll(piece); }
  // The keys of rows [begin, piece.next) of `order`, behind the slots of `rows`.
  virtual void AppendKeys(const State& piece, size_t begin, Batch* rows) const {
    (void)piece, (void)begin, (void)rows;
  }
  // Of whose state rows would go to disk next.
  const StateKey& spilling() const { return piece_ != nullptr ? piece_->key : large_; }
  bool HasSpilled(const StateKey& key) const {
    const State* state = states_.Find(key);
    return state != nullptr && state->spilled != nullptr;
  }
  // Of all rows, with their bulk; the rest is not asked for. The first ones; of rows from disk the
  // last.
  virtual int64_t most() const { return INT64_MAX; }
  virtual int64_t newest() const { return INT64_MAX; }

  // A slice of freeing what the state holds; true: that was all, and what is charged is what frees
  // itself.
  bool FreeSome(State* state) const {
    if (!state->is_over && state->bytes < Leftover::kLeastBytes) return true;
    state->is_over = true;
    int64_t freed = 0;
    const bool all = (state->progress == nullptr || state->progress->FreeSome(&freed)) &&
                     state->rows.FreeSome(&freed);
    (void)Charge(-std::min(freed, state->bytes), state);
    return all;
  }

  Status Charge(int64_t bytes, State* state) const {
    RETURN_IF_ERROR(host_->ChargeState(bytes));
    state->bytes += bytes;
    return OkStatus();
  }

  // All rows come out, as they came: a slice of listing them in `order`; true: all are there.
  StatusOr<bool> ListAll(State* state) const {
    constexpr size_t kListed = 4 * kSliceWork;
    const size_t all = state->rows.size();
    std::vector<Position>& order = state->order;
    if (order.size() == all) return true;
    if (order.capacity() == 0) {
      RETURN_IF_ERROR(Charge(BytesOfMany(static_cast<int64_t>(all), sizeof(Position)), state));
      order.reserve(all);
    }
    Position at = order.empty() ? Position() : Position{order.back().chunk, order.back().row + 1};
    for (size_t i = 0; i < kListed && state->rows.HasRowAt(&at); ++i, ++at.row) {
      order.push_back(at);
    }
    return order.size() == all;
  }

  OperatorHost* const host_;

 private:
  // Rows of one state on their way to disk.
  struct Piece {
    StateKey key;
    State state;
  };
  void BeginSpilling(State* state);
  Status ArrangeOnDisk(const Status& why, State* state);
  Status FireSpilled(const StateKey& key, State* state, Batch* output, bool* done);
  StatusOr<bool> SpillRest(State* state);
  static bool LookAtRest(const State& state, Rest* rest);
  Status GiveFrom(SpilledRuns* runs, const StateKey& key, State* state, Batch* output, bool* done);

  // Of the rows from `begin` on.
  static void SetBulk(State* state, size_t begin, Batch* output) {
    if (begin == output->rows) return;
    if (!state->bulk.empty()) {
      output->bulk.resize(begin, 1);
      const auto end = state->bulk.begin() + static_cast<std::ptrdiff_t>(state->next);
      output->bulk.insert(output->bulk.end(),
                          end - static_cast<std::ptrdiff_t>(output->rows - begin), end);
    }
    if (state->skip > 0) output->bulk[begin] -= std::exchange(state->skip, 0);
  }
  // Cuts the rows from `begin` on to what is left of most(). True: all of that has been given.
  bool GiveMost(size_t begin, State* state, Batch* output) const {
    const int64_t most = this->most();
    if (most == INT64_MAX) return false;
    size_t rows = begin;
    for (; rows < output->rows && state->given < most; ++rows) {
      const int64_t bulk = std::min(output->BulkAt(rows), most - state->given);
      if (bulk < output->BulkAt(rows)) output->bulk[rows] = bulk;
      state->given += bulk;
    }
    if (rows < output->rows) *output = output->Slice(0, rows);
    return state->given == most;
  }

  bool spills_ = false;
  const std::vector<plan::SortKey>* spill_keys_ = nullptr;
  uint32_t num_slots_ = 0;
  StateTable<State> states_;
  StateKey large_;   // a state that is worth to be put on disk: the one that grew last
  StateKey giving_;  // or that gave last
  std::unique_ptr<Piece> piece_;
};

}  // namespace koios::engine
