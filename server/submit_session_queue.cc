// Of a session: how it is let run, waits until it is, and makes place for others.
#include <algorithm>
#include <utility>

#include "server/admission/query_cost.h"
#include "server/submit_session.h"

namespace koios::server {
namespace {

constexpr uint64_t kMaxTimeoutMs = uint64_t{1} << 40;

}  // namespace

// The time of all attempts together, with the waiting.
void SubmitSession::SetDeadline() {
  if (deadline_ns_.has_value()) return;
  uint64_t timeout_ms = request_->timeout_ms();
  if (timeout_ms == 0) timeout_ms = environment_.limits.default_timeout_ms;
  std::optional<uint64_t> left_ns = stream_->RemainingNs();
  if (timeout_ms > 0) {
    const uint64_t timeout_ns = std::min(timeout_ms, kMaxTimeoutMs) * 1'000'000;
    left_ns = std::min(left_ns.value_or(timeout_ns), timeout_ns);
  }
  if (!left_ns.has_value()) return;
  deadline_ns_ = static_cast<uint64_t>(environment_.engine->clock().NowNanos()) + *left_ns;
}

// Whether there is any sense in planning it: it was not stopped, nor did it wait in vain.
Status SubmitSession::MayGoOn() {
  {
    MutexLock lock(&mutex_);
    if (!stopped_.ok()) return stopped_;
    RETURN_IF_ERROR(account_.status());
    if (!run_place_.taken() || *account_ != nullptr) return OkStatus();
  }
  RETURN_IF_ERROR(WhyStop("it waited to be run"));
  return environment_.admission->WaitedTooLong();
}

// Nothing of the query is held while it waits but its request: it is planned again, or its plan was
// kept.
Status SubmitSession::AskToRun(const plan::Plan& plan, bool* waits) {
  Admission* admission = environment_.admission;
  if (admission == nullptr || run_place_.taken()) return OkStatus();
  CostBounds bounds;
  bounds.num_workers = environment_.engine->options().num_workers;
  bounds.query_bytes = static_cast<int64_t>(admission->limits().query_bytes);
  bounds.all_bytes = environment_.engine->memory().limit();
  const QueryCost cost = CostOf(plan, bounds);
  const std::shared_ptr<const storage::GraphView> view = std::exchange(view_, nullptr);
  MutexLock lock(&mutex_);
  if (!stopped_.ok()) return stopped_;
  std::shared_ptr<MemoryAccount> account;
  // Who waits calls nobody back under its lock, so that it may be entered with this one: whoever
  // stops the query from now on finds it waiting.
  RETURN_IF_ERROR(admission->Enter(
      cost, stream_->Client(),
      [self = shared_from_this()](StatusOr<std::shared_ptr<MemoryAccount>> granted) {
        self->OnGranted(std::move(granted));
      },
      &run_place_, &account));
  if (account != nullptr) {
    account_ = std::move(account);
    view_ = view;
    return OkStatus();
  }
  *waits = waiting_ = true;
  --attempt_;
  const int64_t now = environment_.engine->clock().NowNanos();
  queued_since_ = now;
  const uint64_t queue_ms = admission->limits().queue_timeout_ms;
  auto most = static_cast<int64_t>(
      (queue_ms == 0 ? kMaxTimeoutMs : std::min(queue_ms, kMaxTimeoutMs)) * 1'000'000);
  if (deadline_ns_.has_value()) most = std::min(most, static_cast<int64_t>(*deadline_ns_) - now);
  alarm_ = environment_.pool->RunAfter(most, [self = shared_from_this()] { self->GoOn(); });
  return OkStatus();
}

void SubmitSession::OnGranted(StatusOr<std::shared_ptr<MemoryAccount>> account) {
  {
    MutexLock lock(&mutex_);
    account_ = std::move(account);
    queued_ns_ = static_cast<uint64_t>(environment_.engine->clock().NowNanos() - queued_since_);
  }
  GoOn();
}

// It runs no more, whatever its client still reads.
void SubmitSession::LetOthersRun() {
  ticket_.End();
  run_place_.Leave();
}

// It failed. A client that does not take what is being written does not hear of it, and is cut off
// after a while.
void SubmitSession::EndUnread() {
  batches_.clear();
  if (!writing_) return;
  const auto nanos = static_cast<int64_t>(environment_.limits.unread_ms * 1'000'000);
  alarm_ = environment_.pool->RunAfter(nanos, [self = shared_from_this()] {
    MutexLock lock(&self->mutex_);
    if (!self->writing_) return;
    self->messages_.clear();
    self->stream_->Abort();
  });
}

void SubmitSession::Measure(RunningQuery* query) {
  std::shared_ptr<engine::QueryHandle> handle;
  {
    MutexLock lock(&mutex_);
    handle = handle_;
    query->waits = waiting_ && queued_since_ != 0 && queued_ns_ == 0;
    query->queued_us = queued_ns_ / 1000;
    if (query->waits) {
      const int64_t since = environment_.engine->clock().NowNanos() - queued_since_;
      query->queued_us = static_cast<uint64_t>(since) / 1000;
    }
  }
  query->rows = rows_.load(std::memory_order_relaxed);
  if (handle != nullptr) query->numbers = handle->numbers();
}

}  // namespace koios::server
