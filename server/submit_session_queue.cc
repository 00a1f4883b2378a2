// Of a session: how it is let run, waits until it is, and makes place for others; what its request
// and its messages take.
#include <algorithm>
#include <utility>

#include "engine/query_account.h"
#include "server/admission/query_cost.h"
#include "server/submit_session.h"

namespace koios::server {
namespace {

constexpr uint64_t kMaxTimeoutMs = uint64_t{1} << 40;
constexpr int64_t kSmallRequestBytes = int64_t{256} << 10;
constexpr size_t kUnwatchedBytes = size_t{16} << 10;

}  // namespace

Status RequestTooLarge(size_t bytes, size_t limit) {
  return TooManyBytes("The request has " + std::to_string(bytes) + " bytes; the limit is " +
                          std::to_string(limit) + " bytes.",
                      "REQUEST_TOO_LARGE", bytes, limit,
                      "Send long lists in several requests; koios import loads large data.",
                      "request-mb");
}

MemoryAccount* RequestsIn(const SessionEnvironment& environment, int64_t bytes) {
  if (environment.small_requests != nullptr && bytes <= kSmallRequestBytes) {
    return environment.small_requests;
  }
  return environment.requests != nullptr ? environment.requests : &environment.engine->memory();
}

// The time of all attempts together, with the waiting.
void SubmitSession::SetDeadline() {
  uint64_t timeout_ms = request_->timeout_ms();
  if (timeout_ms == 0) timeout_ms = environment_.limits.default_timeout_ms;
  std::optional<uint64_t> left_ns = stream_->RemainingNs();
  if (timeout_ms > 0) {
    const uint64_t timeout_ns = std::min(timeout_ms, kMaxTimeoutMs) * 1'000'000;
    left_ns = std::min(left_ns.value_or(timeout_ns), timeout_ns);
  }
  if (!left_ns.has_value()) return;
  asked_ns_ = static_cast<uint64_t>(environment_.engine->clock().NowNanos());
  deadline_ns_ = asked_ns_ + *left_ns;
}

// What is refused as there is too much of it now says when there may be room.
Status SubmitSession::WithTime(const Status& status) const {
  if (status.ok()) return status;
  const std::optional<ErrorDetail> refused = DetailOf(status);
  if (!refused.has_value() || environment_.admission == nullptr) return status;
  ErrorDetail detail = *refused;
  const bool passes = detail.reason == kTooManyQueries || detail.reason == kRequestMemory ||
                      detail.reason == engine::kProcessMemory;
  if (!passes) return status;
  detail.hint = environment_.admission->WhenToTryAgain() + ". " + detail.hint;
  return MakeStatus(status.code(), MessageOf(status), detail);
}

Status SubmitSession::CheckRequest() {
  const size_t bytes = request_->ByteSizeLong();
  if (bytes > environment_.limits.max_request_bytes) {
    return RequestTooLarge(bytes, environment_.limits.max_request_bytes);
  }
  // Not by the message's own SpaceUsedLong(): what protobuf's library knows of a map is another
  // thing under the thread sanitizer.
  request_bytes_ = request_->query().size() + request_->graph().size();
  for (const auto& [name, value] : request_->parameters()) {
    request_bytes_ += name.size() + value.SpaceUsedLong();
  }
  return ChargeRequest(request_bytes_);
}

Status SubmitSession::ChargeRequest(size_t more_bytes) {
  const auto bytes = static_cast<int64_t>(request_bytes_ + more_bytes);
  MemoryAccount* const account = RequestsIn(environment_, bytes);
  if (account != RequestsIn(environment_, request_charge_.bytes())) {
    request_charge_ = MemoryCharge(account);
  }
  if (request_charge_.TryResize(bytes)) return OkStatus();
  return account->OverLimit(bytes - request_charge_.bytes());
}

// Its operators, of the memory that it was granted: as many as there are workers, so that those of
// a few queries would leave nothing to small requests. Who was granted none has them as a request.
Status SubmitSession::ChargeStanding(size_t bytes) {
  MutexLock lock(&mutex_);
  standing_charge_.Reset();  // of an attempt before
  const auto wanted = static_cast<int64_t>(bytes);
  const bool is_granted = account_.ok() && *account_ != nullptr;
  MemoryAccount* const account = is_granted ? account_->get() : RequestsIn(environment_, wanted);
  MemoryCharge charge(account);
  if (!charge.TryResize(wanted)) return account->OverLimit(wanted);
  standing_charge_ = std::move(charge);
  return OkStatus();
}

// Whether there is any sense in planning it: it was not stopped, nor did it wait in vain.
Status SubmitSession::MayGoOn() {
  bool waited = false;
  {
    MutexLock lock(&mutex_);
    if (!stopped_.ok()) return stopped_;
    RETURN_IF_ERROR(account_.status());
    waited = run_place_.taken() && *account_ == nullptr;
  }
  if (!waited) return WhyStop("it waited to be planned");
  Status why = WhyStop("it waited to be run");
  if (why.ok()) return environment_.admission->WaitedTooLong();
  if (why.code() != StatusCode::kDeadlineExceeded) return why;
  ErrorDetail detail = DetailOf(why).value_or(ErrorDetail());
  detail.hint = environment_.admission->WhenToTryAgain() + ", or give the query more time.";
  return MakeStatus(why.code(), MessageOf(why), detail);
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
      cost, client_,
      [self = shared_from_this()](StatusOr<std::shared_ptr<MemoryAccount>> granted) {
        self->OnGranted(std::move(granted));
      },
      &run_place_, &account));
  ticket_.SetHasPlace(true);
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
    if (!is_through_) account_ = std::move(account);
    queued_ns_ = static_cast<uint64_t>(environment_.engine->clock().NowNanos() - queued_since_);
  }
  GoOn();
}

// It runs no more, whatever its client still reads: its place and its reserve are others'. What
// waits for the client is held beside the query from now on, as its account has the reserve.
void SubmitSession::LetOthersRun() {
  {
    MutexLock lock(&mutex_);
    if (std::exchange(is_through_, true)) return;
    for (engine::ResultBatch& batch : batches_) ChargeBeside(&batch);
    for (engine::ResultBatch& batch : held_) ChargeBeside(&batch);
    handle_ = nullptr;
    standing_charge_.Reset();
    account_ = nullptr;
  }
  run_place_.Leave();
  ticket_.SetHasPlace(false);
}

void SubmitSession::ChargeBeside(engine::ResultBatch* batch) const {
  batch->charge = nullptr;
  auto charge = std::make_shared<MemoryCharge>(&environment_.engine->memory());
  charge->Resize(static_cast<int64_t>(batch->ByteSize()));
  batch->charge = std::move(charge);
}

// A message may be made whatever others have; more only if there is memory for it, and as if it
// were the query's.
Status SubmitSession::MayEncode(size_t bytes) {
  // What was changed and committed is told, however late it is.
  if (transaction_ == nullptr) RETURN_IF_ERROR(WhyStop("its results were written"));
  const auto needed = static_cast<int64_t>(bytes);
  // Messages of many small rows take as much, whatever a query may have.
  constexpr uint64_t kLeast = 64 * kMaxMessageBytes;
  const uint64_t limit = environment_.engine->options().query_memory_bytes;
  const uint64_t most = limit == 0 ? UINT64_MAX : std::max(limit, kLeast);
  if (bytes > most) return engine::MakeQueryAccount(most)->OverLimit(needed);
  if (bytes <= 2 * kMaxMessageBytes) {
    made_charge_.Resize(needed);
  } else if (!made_charge_.TryResize(needed)) {
    return environment_.engine->memory().OverLimit(needed - made_charge_.bytes());
  }
  return OkStatus();
}

void SubmitSession::DropMade() {
  made_.clear();
  made_charge_.Reset();
}

std::vector<SubmitSession::Outgoing> SubmitSession::TakeMade() {
  made_charge_.Reset();  // each has its own from now on
  std::vector<Outgoing> taken;
  for (EncodedMessage& message : made_) {
    Outgoing& outgoing = taken.emplace_back();
    outgoing.charge = MemoryCharge(&environment_.engine->memory());
    outgoing.charge.Resize(static_cast<int64_t>(message.bytes()));
    outgoing.encoded = std::move(message);
  }
  made_.clear();
  return taken;
}

bool SubmitSession::HasFailed() const {
  return !stopped_.ok() || (result_.has_value() && !result_->status.ok());
}

void SubmitSession::DropUnwritten() {
  batches_.clear();
  messages_.clear();
  if (spilled_ == nullptr || undecided_.has_value()) return;  // it may be committed yet
  environment_.pool->Run(line_,
                         [dropped = std::move(spilled_)] {});  // the file's end takes a while
}

// The query is through, and something is being written. A client that does not take it is cut off:
// at its deadline, or after a while when that is over or the query failed. One without a deadline
// may take its time, and is cut off when its query is cancelled, unless that has changed the graph.
void SubmitSession::WatchReader() {
  environment_.pool->Forget(std::exchange(alarm_, 0));
  const bool failed = HasFailed();
  if (!failed && !deadline_ns_.has_value()) return;
  if (finished_) {
    if (failed) return;  // a status waits for nobody
    // An alarm costs a short query more than the little that this would hold.
    const size_t bytes = current_.encoded ? current_.encoded->bytes() : 0;
    if (bytes + static_cast<size_t>(request_charge_.bytes()) <= kUnwatchedBytes) return;
  }
  auto nanos = static_cast<int64_t>(environment_.limits.unread_ms * 1'000'000);
  if (!failed) {
    const int64_t now = environment_.engine->clock().NowNanos();
    nanos = std::max(nanos, static_cast<int64_t>(*deadline_ns_) - now);
  }
  alarm_ = environment_.pool->RunAfter(nanos, [self = shared_from_this()] { self->CutOff(); });
}

void SubmitSession::CutOff() {
  MutexLock lock(&mutex_);
  if (is_over_ || (!writing_ && !finished_)) return;
  if (stopped_.ok()) stopped_ = DeadlineExceeded("The client did not take its results in time.");
  DropUnwritten();
  stream_->Abort();
}

// What it still has for its client, when it is through.
uint64_t SubmitSession::WaitingBytes() const {
  uint64_t bytes = 0;
  for (const engine::ResultBatch& batch : batches_) bytes += batch.ByteSize();
  for (const Outgoing& outgoing : messages_) {
    bytes += static_cast<uint64_t>(outgoing.charge.bytes());
  }
  return bytes;
}

void SubmitSession::Measure(RunningQuery* query) {
  std::shared_ptr<engine::QueryHandle> handle;
  uint64_t held_on_disk = 0;
  {
    MutexLock lock(&mutex_);
    handle = handle_;
    if (result_.has_value()) {
      query->numbers = result_->numbers;
      query->numbers.memory_bytes = WaitingBytes();
    } else if (spilled_ != nullptr) {
      held_on_disk = spilled_->written_bytes();
    }
    if (reads_version_ != 0) {
      query->graph = reads_graph_;
      query->version = reads_version_;
      query->reads_us =
          static_cast<uint64_t>(environment_.engine->clock().NowNanos() - reads_since_) / 1000;
    }
    query->waits = waiting_ && queued_since_ != 0 && queued_ns_ == 0;
    query->queued_us = queued_ns_ / 1000;
    if (query->waits) {
      const int64_t since = environment_.engine->clock().NowNanos() - queued_since_;
      query->queued_us = static_cast<uint64_t>(since) / 1000;
    }
  }
  query->rows = rows_.load(std::memory_order_relaxed);
  if (handle == nullptr) return;
  query->numbers = handle->numbers();
  query->numbers.spilled_bytes += held_on_disk;
  if (!query->wants_operators || handle->plan() == nullptr) return;
  FillProfile(*handle->plan(), handle->operators(), &query->operators);
}

}  // namespace koios::server
