// The driver's side of OperatorHost: one per operator of a QueryRun. Private to query_run*.cc.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/memory.h"
#include "core/random.h"
#include "engine/sched/query_run.h"
#include "engine/spill/spill_space.h"

namespace koios::engine {

struct QueryRun::Host : public OperatorHost {
  Host(QueryRun* r, const plan::Operator* o)
      : run(r),
        op(o),
        rng(MixSeeds(r->spec_->options.seed, (uint64_t{r->worker_.index} << 32) | o->id())) {}

  const storage::GraphView& view() const override { return *run->view_; }
  storage::Transaction* transaction() const override { return run->changes_; }
  const Clock& clock() const override { return *run->worker_.clock; }
  Rng& random() override { return rng; }
  SideEffects& side_effects() override { return run->side_effects_; }
  PathLedger& paths() override { return *run->paths_; }
  TopBounds& top_bounds() override { return run->top_bounds_; }

  Status ChargeState(int64_t bytes) override {
    if (bytes <= 0) {
      run->spec_->account->Release(-bytes);
    } else if (!run->spec_->account->TryCharge(bytes)) {
      return run->OverLimit(*op, bytes);
    }
    CountState(bytes);
    return OkStatus();
  }
  void Leave(std::unique_ptr<Leftover> leftover, int64_t charged) override {
    CountState(-charged);
    run->Leave(std::move(leftover), MemoryCharge(run->spec_->account.get(), charged));
  }
  void Take(std::unique_ptr<Leftover> leftover, MemoryCharge charge) override {
    run->Leave(std::move(leftover), std::move(charge));
  }
  void CountState(int64_t bytes) {
    state_bytes += bytes;
    OperatorStats& stats = run->News(op->id());
    // Less than nothing where it gave back what another operator has charged, of a side-effect.
    const auto held = static_cast<uint64_t>(std::max<int64_t>(state_bytes, 0));
    stats.kept_bytes = held;
    stats.peak_bytes = std::max(stats.peak_bytes, held);
  }

  int64_t StateRoom() const override {
    const MemoryAccount& account = *run->spec_->account;
    return std::max<int64_t>(account.limit() - account.used(), 0);
  }

  const std::shared_ptr<MemoryAccount>& account() const override { return run->spec_->account; }
  bool may_spill() const override { return run->worker_.spill != nullptr; }
  StatusOr<SpillFile*> spill_file() override {
    if (spilled == nullptr) {
      ASSIGN_OR_RETURN(spilled, run->worker_.spill->Open(run->spec_->disk_bytes()));
    }
    return spilled.get();
  }
  bool may_rest() const override { return !run->has_loops_; }
  bool spills_early() const override { return run->worker_.bounds.spills_early; }
  int64_t least_spill_bytes() const override { return run->LeastSpillBytes(); }

  // Acted on when the operator has returned.
  void CloseUpstream(const StateKey& key) override { closings.push_back(key); }

  QueryRun* const run;
  const plan::Operator* const op;
  Rng rng;
  int64_t state_bytes = 0;
  std::vector<StateKey> closings;
  std::unique_ptr<SpillFile> spilled;
  uint64_t spilled_counted = 0;  // of what was written there
};

// What the bodies of scopes in place ask.
struct QueryRun::InPlaceHost : public BodyHost {
  explicit InPlaceHost(QueryRun* r) : run(r) {}

  OperatorHost* HostOf(uint32_t op) override { return run->nodes_[op].host.get(); }
  uint64_t NowNanos() override { return run->worker_.clock->NowNanos(); }
  uint64_t CountedNanos() const override { return counted_nanos; }

  void Count(uint32_t op, uint64_t rows_in, const Batch& given, uint64_t nanos) override {
    run->rows_seen_ += given.rows;
    run->News(op).rows_in += rows_in;
    ++run->News(op).batches;
    run->CountSlice(op);
    run->News(op).time_ns += nanos;
    run->CountOut(&run->nodes_[op], given);
    counted_nanos += nanos;
  }

  QueryRun* const run;
  uint64_t counted_nanos = 0;
};

}  // namespace koios::engine
