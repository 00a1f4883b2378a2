#include "engine/op/filter_state_ops.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "engine/batch/instance_map.h"
#include "engine/op/state/distinct_keys.h"
#include "engine/op/state/met_keys.h"
#include "engine/op/state/state_table.h"
#include "engine/op/waiting_ops.h"

namespace koios::engine {
namespace {

// Passes the traversers numbered [low, high) of each instance and iteration; splits a bulk at the
// edges; closes what leads here once `high` is reached.
class LimitOp : public StreamOperator {
 public:
  LimitOp(int64_t low, int64_t high, OperatorHost* host) : low_(low), high_(high), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    size_t row = 0;
    for (const Run& run : input.runs) {
      int64_t& seen = *seen_.FindOrMake(run, 0).first;
      const size_t end = row + run.count;
      for (; row < end && !Full(seen); ++row) {
        const int64_t from = seen;
        seen = Bounded(from, input.BulkAt(row));
        const int64_t first = std::max(from, low_);
        const int64_t last = high_ < 0 ? seen : std::min(seen, high_);
        if (first >= last) continue;
        output->origin.push_back(static_cast<uint32_t>(row));
        output->bulk.push_back(last - first);
      }
      row = end;
      if (Full(seen)) host_->CloseUpstream({run.instance, run.loops});
    }
    output->has_bulk = true;
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    seen_.Release(instance, [](int64_t) {});
  }
  size_t HeldBytes() const override { return seen_.ByteSize(); }

  bool keeps_cursor() const override { return false; }  // state of its own per instance

 private:
  bool Full(int64_t seen) const { return high_ >= 0 && seen >= high_; }
  static int64_t Bounded(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

  const int64_t low_;
  const int64_t high_;
  OperatorHost* const host_;
  StateTable<int64_t> seen_;
};

// An instance's time begins with its first row here, and is that of all its iterations. When it is
// over, what leads here is closed.
class TimeLimitOp : public StreamOperator {
 public:
  TimeLimitOp(int64_t milliseconds, OperatorHost* host)
      : nanos_(milliseconds > INT64_MAX / kNanos ? INT64_MAX : milliseconds * kNanos),
        host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    const int64_t now = host_->clock().NowNanos();
    size_t row = 0;
    for (const Run& run : input.runs) {
      const int64_t began = *began_.FindOrMake(run.instance, now).first;
      const size_t end = row + run.count;
      if (now - began >= nanos_) {
        host_->CloseUpstream({run.instance, run.loops});
      } else {
        for (; row < end; ++row) output->origin.push_back(static_cast<uint32_t>(row));
      }
      row = end;
    }
    return OkStatus();
  }

  void Release(const InstanceId& instance) override { began_.Erase(instance); }
  size_t HeldBytes() const override { return began_.ByteSize(); }

  bool keeps_cursor() const override { return false; }  // state of its own per instance

 private:
  static constexpr int64_t kNanos = 1'000'000;

  const int64_t nanos_;
  OperatorHost* const host_;
  InstanceMap<int64_t> began_;
};

// The first row of each distinct key passes, with bulk 1: at once, or where too many keys are on
// disk when all have come.
class DedupOp : public StreamOperator {
 public:
  DedupOp(std::vector<uint32_t> slots, OperatorHost* host) : keys_(std::move(slots)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    const auto* cursor = static_cast<const Cursor*>(output->cursor.get());
    size_t row = cursor == nullptr ? 0 : cursor->row;
    size_t end = 0;
    size_t looks = MetKeys::kLooks;
    *done = true;
    for (const Run& run : input.runs) {
      end += run.count;
      if (row >= end) continue;
      const auto [met, made] = met_.FindOrMake(run.instance, host_);
      if (made && run.instance.serial == 0) {
        met->ExpectMany();
        if (run.loops.empty() && host_->may_rest()) met->MayWait();
      }
      RETURN_IF_ERROR(met->AddRows(keys_, input, &row, end, &looks, &output->origin));
      output->rests = output->rests || met->is_waiting();
      if (met->SpillableBytes() >= host_->least_spill_bytes()) large_ = run.instance;
      if (row == end && looks > 0) continue;
      *done = row == input.rows;
      break;
    }
    if (!*done) output->cursor = std::make_unique<Cursor>(row);
    output->has_bulk = true;
    output->bulk.assign(output->origin.size(), 1);
    return OkStatus();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = false;
    if (output->rows > 0) return OkStatus();  // a batch of its own
    MetKeys* met = met_.Find(key.instance);
    if (met == nullptr || !met->is_waiting()) return Internal("No rows rest here.");
    return met->Fire(output, done);
  }

  bool SkipTo(size_t row, StreamCursor* cursor) override {
    if (cursor == nullptr) return false;
    size_t* at = &static_cast<Cursor*>(cursor)->row;
    *at = std::max(*at, row);
    return true;
  }

  void Release(const InstanceId& instance) override { met_.Erase(instance); }
  size_t HeldBytes() const override { return met_.ByteSize(); }

  bool keeps_cursor() const override { return false; }  // state of its own per instance

  int64_t SpillableBytes() const override {
    const MetKeys* met = met_.Find(large_);
    return met == nullptr ? 0 : met->SpillableBytes();
  }
  bool must_spill() const override {
    const MetKeys* met = met_.Find(large_);
    return met != nullptr && met->must_spill();
  }
  StatusOr<bool> Spill() override {
    MetKeys* met = met_.Find(large_);
    if (met == nullptr) return true;
    return met->Spill();
  }

 private:
  struct Cursor : StreamCursor {
    explicit Cursor(size_t r) : row(r) {}
    size_t row;
  };

  const KeyReader keys_;
  OperatorHost* const host_;
  InstanceMap<MetKeys> met_;
  InstanceId large_;  // whose keys are worth to be put on disk: those that grew last
};

// Before hops to a dedup(): what has passed here need not come again. It is no more than that: rows
// that are no vertices pass, and what has no room is forgotten.
class DropMetOp : public StreamOperator {
 public:
  DropMetOp(bool each_iteration, OperatorHost* host)
      : each_iteration_(each_iteration), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    if (keys_.Vertices(input).empty()) {
      output->identity = true;
      return OkStatus();
    }
    if (bytes_ > host_->StateRoom() / kShareOfRoom) Forget();
    size_t row = 0;
    for (const Run& run : input.runs) {
      const size_t end = row + run.count;
      if (row < end) Drop(input, run, row, end, &output->origin);
      row = end;
    }
    output->has_bulk = true;  // none: all 1
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    met_->Release(instance,
                  [this](const DistinctKeys& met) { Discharge(met.bytes() + kSetBytes); });
  }

  bool keeps_cursor() const override { return false; }  // state of its own per instance

 private:
  static constexpr int64_t kSetBytes = 320;
  static constexpr int64_t kShareOfRoom = 8;

  void Drop(const Batch& input, const Run& run, size_t begin, size_t end,
            std::vector<uint32_t>* passing) {
    const size_t before = passing->size();
    if (AddRows(input, run, begin, end, passing).ok()) return;
    passing->resize(before);
    for (size_t row = begin; row < end; ++row) passing->push_back(static_cast<uint32_t>(row));
    Forget();
  }

  Status AddRows(const Batch& input, const Run& run, size_t begin, size_t end,
                 std::vector<uint32_t>* passing) {
    const Run of{run.instance, each_iteration_ ? run.loops : Loops(), 0, 0};
    const auto [met, made] = met_->FindOrMake(of);
    if (made) {
      if (Status status = host_->ChargeState(kSetBytes); !status.ok()) {
        met_->Erase({of.instance, of.loops});
        return status;
      }
      bytes_ += kSetBytes;
      if (run.instance.serial == 0) met->ExpectMany();
    }
    const int64_t before = met->bytes();
    ChargeAhead charge(host_, met->mutable_bytes());
    // All of them, as they are vertices.
    Status status = met->AddRows(keys_, input, &begin, end, nullptr, &charge, passing);
    bytes_ += met->bytes() - before;
    return status;
  }

  void Discharge(int64_t bytes) {
    bytes_ -= bytes;
    (void)host_->ChargeState(-bytes);
  }
  void Forget() {
    Discharge(bytes_);
    met_.emplace();
  }

  const bool each_iteration_;
  const KeyReader keys_{{0}};
  OperatorHost* const host_;
  std::optional<StateTable<DistinctKeys>> met_{std::in_place};
  int64_t bytes_ = 0;  // of all that is kept
};

}  // namespace

StatusOr<OperatorBundle> MakeLimit(const plan::Limit& op, OperatorHost* host) {
  if (op.low() < 0 || (op.high() >= 0 && op.high() < op.low())) {
    return InvalidArgument("Not a legal range: [" + std::to_string(op.low()) + ", " +
                           std::to_string(op.high()) + "].");
  }
  OperatorBundle bundle;
  // A worker's share cannot know which traversers come first over all workers: it only caps.
  const int64_t low = op.stage() == plan::PARTIAL ? 0 : op.low();
  bundle.stream = std::make_unique<LimitOp>(low, op.high(), host);
  return bundle;
}

StatusOr<OperatorBundle> MakeTimeLimit(const plan::TimeLimit& op, OperatorHost* host) {
  OperatorBundle bundle;
  bundle.stream = std::make_unique<TimeLimitOp>(op.milliseconds(), host);
  return bundle;
}

StatusOr<OperatorBundle> MakeDedup(const plan::Dedup& op, uint32_t num_slots, OperatorHost* host) {
  std::vector<uint32_t> slots;
  for (uint32_t slot : op.key_slots()) {
    if (slot >= num_slots) return Internal("The plan reads a slot that does not exist.");
    slots.push_back(slot);
  }
  if (slots.empty()) slots = {0};
  if (op.waits()) return MakeWaitingDedup(std::move(slots), num_slots, host);
  OperatorBundle bundle;
  if (op.stage() == plan::PARTIAL) {
    if (slots != std::vector<uint32_t>{0})
      return Internal("Only current values are dropped early.");
    bundle.stream = std::make_unique<DropMetOp>(op.each_iteration(), host);
    return bundle;
  }
  bundle.stream = std::make_unique<DedupOp>(std::move(slots), host);
  return bundle;
}

}  // namespace koios::engine
