#include "engine/op/waiting_ops.h"

#include <utility>

#include "engine/batch/instance_map.h"
#include "engine/op/collect_op.h"
#include "engine/op/state/distinct_keys.h"
#include "engine/op/state/merged_rows.h"

namespace koios::engine {
namespace {

// `repeat(out().dedup())`: the keys that have passed are those of all iterations that have fired;
// an iteration that waits keeps the first row of each other key (engine rule 39). Iterations fire
// in their order, so that the earlier one's row passes.
class WaitingDedup : public CollectOp {
 public:
  WaitingDedup(std::vector<uint32_t> slots, OperatorHost* host)
      : CollectOp(host), keys_(std::move(slots)) {}

  Status Absorb(const Batch& input) override {
    std::vector<uint32_t> fresh;
    std::vector<Run> runs;
    size_t row = 0;
    for (const Run& run : input.runs) {
      const size_t end = row + run.count;
      DistinctKeys* waiting = waiting_.FindOrMake(run).first;
      const size_t before = fresh.size();
      ChargeAhead charge(host_, waiting->mutable_bytes());
      RETURN_IF_ERROR(
          waiting->AddRows(keys_, input, row, end, passed_.Find(run.instance), &charge, &fresh));
      runs.push_back({run.instance, run.loops, static_cast<uint32_t>(fresh.size() - before), 0});
      row = end;
    }
    if (fresh.empty()) return OkStatus();
    Batch kept;
    kept.AppendRows(input, fresh);
    kept.bulk.clear();
    kept.runs = std::move(runs);
    return CollectOp::Absorb(kept);
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    if (DistinctKeys* waiting = waiting_.Find(key)) {
      RETURN_IF_ERROR(host_->ChargeState(-waiting->bytes()));
      waiting_.Erase(key);
    }
    firing_ = passed_.FindOrMake(key.instance).first;
    return CollectOp::Fire(key, output, done);
  }

  void Release(const InstanceId& instance) override {
    CollectOp::Release(instance);
    waiting_.Release(instance, [this](const DistinctKeys& keys) { Discharge(keys); });
    const DistinctKeys* passed = passed_.Find(instance);
    if (passed == nullptr) return;
    Discharge(*passed);
    passed_.Erase(instance);
  }
  size_t HeldBytes() const override {
    return CollectOp::HeldBytes() + passed_.ByteSize() + waiting_.ByteSize();
  }

 protected:
  // In nested loops a key may have passed since its row came.
  StatusOr<bool> Arrange(State* state) override {
    if (state->progress == nullptr) {
      auto passing = std::make_unique<Passing>();
      passing->all = state->rows.All();
      state->progress = std::move(passing);
    }
    auto* passing = static_cast<Passing*>(state->progress.get());
    ChargeAhead charge(host_, firing_->mutable_bytes());
    const size_t end = std::min(passing->all.size(), passing->next + kSliceWork);
    for (; passing->next < end; ++passing->next) {
      const Position at = passing->all[passing->next];
      ASSIGN_OR_RETURN(const bool fresh,
                       firing_->AddRow(keys_, state->rows.ChunkAt(at), at.row, &charge));
      if (fresh) state->order.push_back(at);
    }
    if (passing->next < passing->all.size()) return false;
    state->progress.reset();
    return true;
  }

 private:
  struct Passing : Progress {
    std::vector<Position> all;
    size_t next = 0;
  };

  void Discharge(const DistinctKeys& keys) { (void)host_->ChargeState(-keys.bytes()); }

  const KeyReader keys_;
  InstanceMap<DistinctKeys> passed_;
  StateTable<DistinctKeys> waiting_;
  DistinctKeys* firing_ = nullptr;  // of `passed_`, during Fire
};

// Rows of equal value wait as one (DESIGN 5.4).
class MergingBarrier : public BarrierOperator {
 public:
  explicit MergingBarrier(OperatorHost* host) : host_(host), dense_(*host, SIZE_MAX) {}

  Status Absorb(const Batch& input) override {
    size_t row = 0;
    for (const Run& run : input.runs) {
      State* state = states_.FindOrMake(run).first;
      size_t num_fresh = 0;
      int64_t bytes = state->rows.Add(input, row, row + run.count, 0, &num_fresh);
      if (!state->rows.is_dense() && dense_.IsWorth(state->rows.size())) {
        bytes += state->rows.MakeDense(0);
      }
      RETURN_IF_ERROR(host_->ChargeState(bytes));
      state->bytes += bytes;
      row += run.count;
    }
    return OkStatus();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (state == nullptr) return OkStatus();
    std::vector<uint32_t> groups;
    ASSIGN_OR_RETURN(const int64_t freed, state->rows.Take(output, &groups));
    state->bytes -= freed;
    *done = state->rows.size() == 0;
    if (*done) states_.Erase(key);
    return host_->ChargeState(-freed);
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance,
                    [this](const State& state) { (void)host_->ChargeState(-state.bytes); });
  }
  size_t HeldBytes() const override { return states_.ByteSize(); }

 private:
  struct State {
    MergedRows rows;
    int64_t bytes = 0;
  };

  OperatorHost* const host_;
  const DenseChoice dense_;
  StateTable<State> states_;
};

}  // namespace

OperatorBundle MakeWaitingDedup(std::vector<uint32_t> slots, OperatorHost* host) {
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<WaitingDedup>(std::move(slots), host);
  return bundle;
}

OperatorBundle MakeMergingBarrier(OperatorHost* host) {
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<MergingBarrier>(host);
  return bundle;
}

}  // namespace koios::engine
