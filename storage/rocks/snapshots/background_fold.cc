#include "storage/rocks/snapshots/background_fold.h"

#include <algorithm>

#include "core/clock.h"
#include "core/log.h"
#include "core/thread_priority.h"
#include "storage/rocks/snapshots/fold.h"

namespace koios::storage {
namespace {

// Of a delta on small snapshots.
constexpr size_t kLeastDeltaBytes = size_t{8} << 20;
constexpr uint64_t kBaseBytesPerDeltaByte = 20;
// Of the log, which opening replays.
constexpr uint64_t kMostLogBytes = uint64_t{16} << 20;
constexpr int64_t kFirstPauseNs = 1'000'000'000;
constexpr int64_t kLongestPauseNs = 600'000'000'000;
constexpr int64_t kTurnWaitNs = 20'000'000;

}  // namespace

bool IsFoldDue(const Readable& readable, const DeltaBudget& budget) {
  if (readable.base == nullptr || !readable.base->Damage().ok()) return true;
  const size_t bytes = readable.delta->bytes();
  return bytes > std::max<uint64_t>(kLeastDeltaBytes,
                                    readable.base->bytes() / kBaseBytesPerDeltaByte) ||
         readable.delta->record_bytes() > kMostLogBytes ||
         (budget.used_bytes() > budget.limit_bytes() / 2 && bytes >= budget.least_fold_bytes());
}

BackgroundFold::BackgroundFold(StoreState* state) : state_(state) { state_->deltas().Add(this); }

size_t BackgroundFold::DeltaBytes() const {
  const Readable readable = state_->CurrentReadable();
  return readable.delta == nullptr ? 0 : readable.delta->bytes();
}

void BackgroundFold::Look() {
  if (IsFoldDue(state_->CurrentReadable(), state_->deltas())) RequestFold();
}

void BackgroundFold::RequestFold() {
  MutexLock lock(&mutex_);
  if (requested_ || stopping_) return;
  requested_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.NotifyAll();
}

void BackgroundFold::Stop() {
  std::thread ending;
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
    ending.swap(thread_);
  }
  if (ending.joinable()) ending.join();
  state_->deltas().Remove(this);
}

bool BackgroundFold::IsStopping() {
  MutexLock lock(&mutex_);
  return stopping_;
}

void BackgroundFold::Run() {
  ComputesForLong();
  while (true) {
    {
      MutexLock lock(&mutex_);
      while (!stopping_) {
        const int64_t wait = not_before_ns_ - SteadyClock::Get()->NowNanos();
        if (requested_ && wait <= 0) break;
        if (requested_) {
          changed_.WaitFor(&mutex_, wait);
        } else {
          changed_.Wait(&mutex_);
        }
      }
      if (stopping_) return;
      requested_ = false;
    }
    NoteOutcome(Fold());
  }
}

// Of the folds of a data folder one runs at a time. Snapshots that somebody asked for are as good
// as a fold: they are waited for.
bool BackgroundFold::TakeTurn() {
  const auto others_build = [this] {
    MutexLock lock(&state_->queue_mutex);
    return state_->building_snapshots;
  };
  while (others_build() || state_->options.memory->folding.exchange(true)) {
    MutexLock lock(&mutex_);
    if (stopping_) return false;
    changed_.WaitFor(&mutex_, kTurnWaitNs);
  }
  return true;
}

Status BackgroundFold::Fold() {
  if (!TakeTurn()) return OkStatus();
  // What was asked for during a fold that one has done, as a rule.
  if (!IsFoldDue(state_->CurrentReadable(), state_->deltas())) {
    state_->options.memory->folding = false;
    return OkStatus();
  }
  SnapshotOptions options;
  options.memory_bytes = state_->options.fold_bytes;
  options.all_partitions = false;
  const auto report = storage::Fold(
      options,
      [this](const SnapshotProgress&) {
        return IsStopping() ? Cancelled("The graph is being closed.") : OkStatus();
      },
      state_);
  state_->options.memory->folding = false;
  RETURN_IF_ERROR(report.status());
  KLOG_INFO("{}: snapshots of version {}, {} files, {} bytes, {} s", state_->path, report->version,
            report->files, report->file_bytes, report->seconds);
  return OkStatus();
}

void BackgroundFold::NoteOutcome(const Status& status) {
  if (IsStopping()) return;
  failing_ = !status.ok();
  if (status.ok()) {
    {
      MutexLock lock(&mutex_);
      pause_ns_ = 0;
    }
    Look();
    return;
  }
  KLOG_WARNING("{}: no new snapshots: {}", state_->path, MessageOf(status));
  {
    MutexLock lock(&mutex_);
    requested_ = true;
    pause_ns_ = std::clamp(2 * pause_ns_, kFirstPauseNs, kLongestPauseNs);
    not_before_ns_ = SteadyClock::Get()->NowNanos() + pause_ns_;
  }
  if (state_->deltas().used_bytes() < state_->deltas().limit_bytes()) return;
  // Who commits must not wait for what does not come: the truth is read until it does.
  PendingCommit forgetting;
  forgetting.forgets = true;
  state_->RunInTurn(&forgetting);
}

}  // namespace koios::storage
