#include "engine/op/waiting_ops.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/account/call_work.h"
#include "engine/batch/instance_map.h"
#include "engine/op/collect_op.h"
#include "engine/op/state/distinct_keys.h"
#include "engine/op/state/merged_rows.h"
#include "engine/op/state/met_keys.h"
#include "engine/op/state/spilled_runs.h"

namespace koios::engine {
namespace {

// `repeat(out().dedup())`: the keys that have passed are those of all iterations that have fired;
// an iteration that waits keeps the first row of each other key (engine rule 39), and of those that
// have gone to disk some more, which do not pass. Iterations fire in their order, so that the
// earlier one's row passes.
class WaitingDedup : public CollectOp {
 public:
  WaitingDedup(std::vector<uint32_t> slots, uint32_t num_slots, OperatorHost* host)
      : CollectOp(host), keys_(std::move(slots)) {
    SpillBy(&kAsTheyCame, num_slots);
  }

  // Proceed() does.
  Status Absorb(const Batch&) override {
    absorbed_ = 0;
    return OkStatus();
  }
  StatusOr<bool> Proceed(const Batch& input) override {
    std::vector<uint32_t> fresh;
    std::vector<Run> runs;
    size_t end = 0;
    for (const Run& run : input.runs) {
      end += run.count;
      if (absorbed_ >= end) continue;
      DistinctKeys* waiting = waiting_.FindOrMake(run).first;
      const MetKeys* passed = passed_.Find(run.instance);
      const size_t before = fresh.size();
      ChargeAhead charge(host_, waiting->mutable_bytes());
      RETURN_IF_ERROR(waiting->AddRows(keys_, input, &absorbed_, end,
                                       passed == nullptr ? nullptr : &passed->in_memory(), &charge,
                                       &fresh));
      if (fresh.size() > before) {
        runs.push_back({run.instance, run.loops, static_cast<uint32_t>(fresh.size() - before), 0});
      }
      if (absorbed_ < end) break;  // as much as one call does
    }
    if (!fresh.empty()) {
      Batch kept;
      kept.AppendRows(input, fresh);
      kept.bulk.clear();
      kept.runs = std::move(runs);
      RETURN_IF_ERROR(CollectOp::Absorb(kept));
    }
    return absorbed_ < input.rows;
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    Forget(key);
    firing_ = passed_.FindOrMake(key.instance, host_).first;
    const bool sifts = sifted_.Find(key) != nullptr || HasSpilled(key);
    RETURN_IF_ERROR(sifts ? FireSifted(key, output, done) : CollectOp::Fire(key, output, done));
    if (firing_->SpillableBytes() >= host_->least_spill_bytes()) large_ = key.instance;
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    CollectOp::Release(instance);
    waiting_.Release(instance, [this](DistinctKeys& keys) { LeaveKeys(&keys, host_); });
    sifted_.Release(instance,
                    [this](const Sifted& one) { (void)host_->ChargeState(-one.charged); });
    passed_.Erase(instance);
  }
  size_t HeldBytes() const override {
    return CollectOp::HeldBytes() + passed_.ByteSize() + waiting_.ByteSize() + sifted_.ByteSize();
  }

  int64_t SpillableBytes() const override {
    return std::max(CollectOp::SpillableBytes(), KeyBytes());
  }
  bool must_spill() const override {
    const MetKeys* passed = passed_.Find(large_);
    return passed != nullptr && passed->must_spill();
  }
  // The keys that have passed, or rows; then who waits there forgets its keys, too.
  StatusOr<bool> Spill() override {
    if (!spills_keys_ && !spills_rows_) {
      const int64_t keys = KeyBytes();
      const bool is_worth_it = keys >= host_->least_spill_bytes();  // fewer stay where they are
      spills_keys_ = must_spill() || (is_worth_it && keys > CollectOp::SpillableBytes());
      spills_rows_ = !spills_keys_;
      if (spills_rows_) Forget(spilling());
    }
    MetKeys* passed = spills_keys_ ? passed_.Find(large_) : nullptr;
    bool done = true;
    if (spills_rows_) {
      ASSIGN_OR_RETURN(done, CollectOp::Spill());
    } else if (passed != nullptr) {
      ASSIGN_OR_RETURN(done, passed->Spill());
    }
    if (done) spills_keys_ = spills_rows_ = false;
    return done;
  }

 protected:
  // In nested loops a key may have passed since its row came.
  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      const size_t all = state->rows.size();
      RETURN_IF_ERROR(Charge(BytesOfMany(static_cast<int64_t>(all), sizeof(Position)), state));
      state->order.reserve(all);
      state->progress = std::make_unique<Passing>();
    }
    Position& at = static_cast<Passing*>(state->progress.get())->at;
    size_t looks = MetKeys::kLooks;
    for (size_t left = kSliceWork; left > 0 && looks > 0;) {
      if (!state->rows.HasRowAt(&at)) {
        state->progress.reset();
        return true;
      }
      const Batch& chunk = state->rows.ChunkAt(at);
      const size_t end = std::min(chunk.rows, at.row + left);
      size_t row = at.row;
      std::vector<uint32_t> fresh;
      RETURN_IF_ERROR(firing_->AddRows(keys_, chunk, &row, end, &looks, &fresh));
      for (const uint32_t passes : fresh) state->order.push_back({at.chunk, passes});
      left -= row - at.row;
      at.row = static_cast<uint32_t>(row);
      if (row < end) break;  // as much as one call does
    }
    return false;
  }
  bool Abandon(State* state) override { return state->progress == nullptr && AbandonOrder(state); }

 private:
  struct Passing : Progress {
    Position at;  // the next row to look at
  };
  // Rows that have come from disk.
  struct Sifted {
    Batch rows;
    int64_t charged = 0;  // for them
    size_t next = 0;
    bool is_last = false;
  };

  Status FireSifted(const StateKey& key, Batch* output, bool* done) {
    *done = false;
    if (output->rows > 0) return OkStatus();  // a batch of its own
    Sifted* sifted = sifted_.FindOrMake({key.instance, key.loops, 0, 0}).first;
    if (sifted->next == sifted->rows.rows && !sifted->is_last) {
      sifted->rows = {};
      sifted->next = 0;
      RETURN_IF_ERROR(CollectOp::Fire(key, &sifted->rows, &sifted->is_last));
      return ChargeSifted(sifted);
    }
    size_t looks = MetKeys::kLooks;
    std::vector<uint32_t> fresh;
    RETURN_IF_ERROR(
        firing_->AddRows(keys_, sifted->rows, &sifted->next, sifted->rows.rows, &looks, &fresh));
    if (!fresh.empty()) output->AppendRows(sifted->rows, fresh);
    *done = sifted->is_last && sifted->next == sifted->rows.rows;
    if (!*done) return OkStatus();
    sifted->rows = {};
    RETURN_IF_ERROR(ChargeSifted(sifted));
    sifted_.Erase(key);
    return OkStatus();
  }

  Status ChargeSifted(Sifted* sifted) {
    const Batch& rows = sifted->rows;
    const int64_t bytes = rows.rows == 0 ? 0 : static_cast<int64_t>(rows.ByteSize());
    RETURN_IF_ERROR(host_->ChargeState(bytes - sifted->charged));
    sifted->charged = bytes;
    return OkStatus();
  }

  void Forget(const StateKey& key) {
    DistinctKeys* const waiting = waiting_.Find(key);
    if (waiting == nullptr) return;
    LeaveKeys(waiting, host_);
    waiting_.Erase(key);
  }
  int64_t KeyBytes() const {
    const MetKeys* passed = passed_.Find(large_);
    return passed == nullptr ? 0 : passed->SpillableBytes();
  }

  const KeyReader keys_;
  InstanceMap<MetKeys> passed_;
  StateTable<DistinctKeys> waiting_;
  StateTable<Sifted> sifted_;  // by what fires from disk
  MetKeys* firing_ = nullptr;  // of `passed_`, during Fire
  size_t absorbed_ = 0;        // rows of the batch that came last
  InstanceId large_;           // whose passed keys are worth to be put on disk
  bool spills_keys_ = false;   // what is under way to disk
  bool spills_rows_ = false;
};

// Rows of equal value wait as one (DESIGN 5.4), but for those of which one has gone to disk.
class MergingBarrier : public BarrierOperator {
 public:
  MergingBarrier(uint32_t num_slots, OperatorHost* host)
      : num_slots_(num_slots), host_(host), dense_(*host, SIZE_MAX) {}

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
      if (state->rows.is_becoming_dense()) {
        RETURN_IF_ERROR(MakeDense(state));
        return true;
      }
      for (CallWork work(state->rows.moved()); absorbed_ < end && !work.is_over();) {
        const size_t begin = absorbed_;
        absorbed_ = std::min(begin + kAddedRows, end);
        RETURN_IF_ERROR(Add(input, begin, absorbed_, state));
        work.Add((absorbed_ - begin) * kRowWork);
      }
      if (!state->rows.is_dense() && dense_.IsWorth(state->rows.size())) {
        RETURN_IF_ERROR(MakeDense(state));
      }
      if (state->bytes >= host_->least_spill_bytes()) large_ = {run.instance, run.loops};
      if (absorbed_ < end) return true;
    }
    return false;
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (state == nullptr) return OkStatus();
    state->fires = true;
    if (state->spilled != nullptr) {
      *done = false;
      if (output->rows > 0) return OkStatus();  // a batch of its own
      if (state->rows.size() > 0) return SpillSome(state);
      RETURN_IF_ERROR(state->spilled->Merge(output, done));
    } else {
      RETURN_IF_ERROR(Take(state, output));
      *done = state->rows.size() == 0;
    }
    if (*done) states_.Erase(key);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance,
                    [this](const State& state) { (void)host_->ChargeState(-state.bytes); });
  }
  size_t HeldBytes() const override { return states_.ByteSize(); }

  int64_t SpillableBytes() const override {
    const State* state = states_.Find(large_);
    return state == nullptr || state->fires || state->rows.size() == 0 ? 0 : state->bytes;
  }
  // What has not come out is as it was.
  int64_t GivingBytes() const override {
    const State* state = states_.Find(large_);
    const bool gives = state != nullptr && state->fires && state->spilled == nullptr;
    return gives && state->rows.size() > 0 ? state->bytes : 0;
  }
  StatusOr<bool> Spill() override {
    State* state = states_.Find(large_);
    if (state == nullptr || state->rows.size() == 0) return true;
    if (state->spilled == nullptr) {
      state->spilled = std::make_unique<SpilledRuns>(&kAsTheyCame, num_slots_, host_);
    }
    RETURN_IF_ERROR(SpillSome(state));
    return state->rows.size() == 0;
  }

 private:
  struct State {
    MergedRows rows;
    int64_t bytes = 0;
    bool fires = false;
    std::unique_ptr<SpilledRuns> spilled;  // the rows that came before `rows`
  };

  static constexpr size_t kAddedRows = 64;  // that are charged together
  static constexpr size_t kRowWork = 2;     // its sum, and its place among all
  static constexpr size_t kMovedRows = 1024;

  Status Charge(int64_t bytes, State* state) const {
    RETURN_IF_ERROR(host_->ChargeState(bytes));
    state->bytes += bytes;
    return OkStatus();
  }
  Status Add(const Batch& input, size_t begin, size_t end, State* state) const {
    const int64_t most = MergedRows::MostBytes(input, begin, end);
    RETURN_IF_ERROR(Charge(most, state));
    size_t num_fresh = 0;
    return Charge(state->rows.Add(input, begin, end, 0, &num_fresh) - most, state);
  }
  Status MakeDense(State* state) const {
    return Charge(state->rows.MakeDense(0, kMovedRows), state);
  }
  Status Take(State* state, Batch* output) const {
    std::vector<uint32_t> groups;
    ASSIGN_OR_RETURN(const int64_t freed, state->rows.Take(output, &groups));
    state->bytes -= freed;
    return host_->ChargeState(-freed);
  }
  Status SpillSome(State* state) const {
    Batch some;
    RETURN_IF_ERROR(Take(state, &some));
    return state->spilled->Append(some);
  }

  const uint32_t num_slots_;
  OperatorHost* const host_;
  const DenseChoice dense_;
  StateTable<State> states_;
  StateKey large_;       // whose rows are worth to be put on disk: those that grew last
  size_t absorbed_ = 0;  // rows of the batch that came last
};

}  // namespace

OperatorBundle MakeWaitingDedup(std::vector<uint32_t> slots, uint32_t num_slots,
                                OperatorHost* host) {
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<WaitingDedup>(std::move(slots), num_slots, host);
  return bundle;
}

OperatorBundle MakeMergingBarrier(uint32_t num_slots, OperatorHost* host) {
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<MergingBarrier>(num_slots, host);
  return bundle;
}

}  // namespace koios::engine
