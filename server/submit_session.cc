#include "server/submit_session.h"

#include <algorithm>
#include <utility>

#include "engine/deadline.h"
#include "engine/query_account.h"
#include "engine/spill/spill_space.h"
#include "server/profile.h"

namespace koios::server {
namespace {

// What planning takes of a large text, and of values.
constexpr uint64_t kPlanNanosPerByte = 4'000;
constexpr uint64_t kPlanNanosPerByteOfValues = 200;

Status HeldTooMuch(size_t held, size_t limit) {
  return TooManyBytes(
      "The results of a request that changes the graph are held until it is committed; these are "
      "more than " +
          std::to_string(limit) + " bytes. Nothing was changed.",
      "TOO_MANY_RESULTS", held, limit,
      "Give what does not fit into memory room on disk (--spill-mb), end the traversal with "
      "iterate() or count(), or change less at once.",
      "held-results-mb");
}

uint64_t NumResults(const engine::ResultBatch& batch) {
  if (batch.bulk.empty()) return batch.column.size();
  uint64_t total = 0;
  for (const int64_t bulk : batch.bulk) total += static_cast<uint64_t>(bulk);
  return total;
}

}  // namespace

std::shared_ptr<SubmitSession> SubmitSession::Create(const SessionEnvironment& environment,
                                                     SubmitStream* stream,
                                                     const v1::SubmitRequest* request) {
  return std::shared_ptr<SubmitSession>(new SubmitSession(environment, stream, request));
}

void SubmitSession::Start() {
  Status listed = WithTime(Register());
  {
    MutexLock lock(&mutex_);
    finished_ = !listed.ok();
    beginning_ = listed.ok() ? 1 : 0;
  }
  if (!listed.ok()) {
    stream_->Fail(listed);
    return;
  }
  SetDeadline();
  const uint64_t nanos =
      request_->query().size() * kPlanNanosPerByte + request_bytes_ * kPlanNanosPerByteOfValues;
  line_ = environment_.pool->Open(client_.host, nanos);
  // The way to another thread is a large part of a short query. A long one would keep this thread
  // from all connections.
  const bool is_short = nanos < engine::FairTurns<int>::kShortNanos;
  if (is_short && environment_.begin_slots != nullptr && environment_.begin_slots->TryTake()) {
    Begin();
    environment_.begin_slots->GiveBack();
  } else {
    environment_.pool->Run(line_, [self = shared_from_this()] { self->Begin(); });
  }
}

Status SubmitSession::Register() {
  RETURN_IF_ERROR(CheckRequest());
  std::weak_ptr<SubmitSession> weak = weak_from_this();
  QueryControl control;
  control.cancel = [weak](const Status& why) {
    if (auto session = weak.lock()) session->Stop(why);
  };
  control.measure = [weak](RunningQuery* query) {
    if (auto session = weak.lock()) session->Measure(query);
  };
  const std::string graph = GraphOfSource(kDefaultGraph, request_->graph());
  client_ = stream_->Client();
  ASSIGN_OR_RETURN(ticket_, environment_.registry->Add(request_->query(), graph, client_.host,
                                                       std::move(control)));
  stream_->SetQueryId(ticket_.id());
  return OkStatus();
}

void SubmitSession::Begin() {
  int attempt = 0;
  {
    MutexLock lock(&mutex_);
    attempt = ++attempt_;
  }
  bool waits = false;
  StatusOr<std::shared_ptr<engine::QueryHandle>> handle = PlanAndLaunch(&waits);
  if (waits) return;  // another thread may have begun it again by now
  Status stopped;
  {
    MutexLock lock(&mutex_);
    --beginning_;
    if (attempt != attempt_) {
      // It was decided meanwhile, and the next one runs.
    } else if (!handle.ok()) {
      result_.emplace().status = handle.status();
    } else if (*handle == nullptr) {
      result_.emplace();  // explain: nothing runs
    } else if (!is_through_) {
      handle_ = *handle;
      stopped = stopped_;
    }
  }
  if (!stopped.ok()) (*handle)->Cancel(stopped);  // it came while there was no handle
  // It holds the query's account, which is not needed for what is left to do.
  handle = nullptr;
  Advance(/*can_encode=*/true);
}

void SubmitSession::Stop(const Status& why) {
  std::shared_ptr<engine::QueryHandle> handle;
  {
    MutexLock lock(&mutex_);
    // Where nothing was changed there is something to stop as long as results are being sent.
    if (!stopped_.ok() || finished_ || (result_.has_value() && transaction_ != nullptr)) return;
    stopped_ = why;
    DropUnwritten();
    if (!result_.has_value()) {
      handle = handle_;
    } else if (writing_) {
      WatchReader();
    }
  }
  if (handle != nullptr) handle->Cancel(why);
  GoOn();
}

size_t SubmitSession::Room() {
  MutexLock lock(&mutex_);
  const size_t used = batches_.size() + (writing_ || !messages_.empty() ? 1 : 0);
  const size_t window = environment_.limits.window_batches;
  paused_ = used >= window;
  return paused_ ? 0 : window - used;
}

void SubmitSession::Push(engine::ResultBatch batch) {
  rows_.fetch_add(NumResults(batch), std::memory_order_relaxed);
  if (mode_ == v1::PROFILE) return;  // it counts results and sends none
  if (transaction_ != nullptr) {
    const Status held = Hold(std::move(batch));
    if (!held.ok()) Stop(held);
    return;
  }
  {
    MutexLock lock(&mutex_);
    if (!stopped_.ok()) return;
    batches_.push_back(std::move(batch));
  }
  Advance();
}

// Where the rest can go to disk at most a part of the query's memory, which its operators do not
// miss.
size_t SubmitSession::MostHeld() const {
  constexpr int64_t kShare = 16;
  const size_t most = environment_.limits.held_bytes;
  const bool has_account = account_.ok() && *account_ != nullptr;
  if (environment_.engine->spill_space() == nullptr || !has_account) return most;
  return std::min(most, static_cast<size_t>((*account_)->limit() / kShare));
}

// On disk without the lock: others look at the session meanwhile.
Status SubmitSession::Hold(engine::ResultBatch batch) {
  std::shared_ptr<engine::SpilledResults> spilled;
  {
    MutexLock lock(&mutex_);
    if (!stopped_.ok()) return OkStatus();
    const size_t held = held_bytes_ + batch.ByteSize();
    if (spilled_ == nullptr && held <= MostHeld()) {
      held_bytes_ = held;
      held_.push_back(std::move(batch));
      return OkStatus();
    }
    engine::SpillSpace* space = environment_.engine->spill_space();
    if (space == nullptr) return HeldTooMuch(held, MostHeld());
    if (spilled_ == nullptr)
      spilled_ = std::make_shared<engine::SpilledResults>(space, disk_bytes_);
    spilled = spilled_;
  }
  return spilled->Append(batch);
}

bool SubmitSession::MustDecide(engine::QueryResult* result) {
  MutexLock lock(&mutex_);
  if (transaction_ == nullptr || !result->status.ok() || !stopped_.ok()) return false;
  pumping_ = true;
  undecided_ = std::move(*result);
  return true;
}

void SubmitSession::Done(engine::QueryResult result) {
  if (MustDecide(&result)) {
    environment_.commits->Run([self = shared_from_this()] { self->Decide(); });
    return;
  }
  // Nobody ends the call before there is a result. What failed is listed no more.
  if (!result.status.ok()) ticket_.End();
  LetOthersRun();
  bool has_failed = false;
  {
    MutexLock lock(&mutex_);
    result_ = std::move(result);
    has_failed = HasFailed() && !pumping_ && beginning_ == 0;
    if (HasFailed()) DropUnwritten();
    if (writing_) WatchReader();
  }
  if (has_failed) DropView();  // nobody encodes for it any more, however long a write takes
  Advance();
}

// What changed behind it need not be kept. Of a change its transaction has it.
void SubmitSession::DropView() {
  if (transaction_ != nullptr) return;
  encoder_.reset();
  view_ = nullptr;
}

// What ends a commit that is not applied yet, or results that are being written.
Status SubmitSession::WhyStop(std::string_view meanwhile) {
  const auto now_ns = static_cast<uint64_t>(environment_.engine->clock().NowNanos());
  if (deadline_ns_.has_value() && now_ns >= *deadline_ns_) {
    return engine::RanIntoDeadline(asked_ns_, *deadline_ns_, now_ns,
                                   "while " + std::string(meanwhile));
  }
  MutexLock lock(&mutex_);
  return stopped_;
}

StatusOr<storage::CommitResult> SubmitSession::Commit(storage::CommitTurn* turn) {
  const auto watch = [this] { return WhyStop("it was being committed"); };
  const auto parts = [this] {
    MutexLock lock(&mutex_);
    return std::exchange(undecided_->parts, {});
  }();
  if (!parts.empty()) transaction_->Absorb(parts);
  ASSIGN_OR_RETURN(storage::CommitRecord record, transaction_->TakeCommit(watch));
  return environment_.graphs->Commit(graph_, std::move(record), watch, turn);
}

// The query is complete: commits what it changed, then lets its results go.
void SubmitSession::Decide() {
  storage::CommitTurn turn;
  turn.ticket = place_;
  const StatusOr<storage::CommitResult> committed = Commit(&turn);
  bool again = false;
  std::shared_ptr<engine::SpilledResults> dropped;  // without the lock
  {
    MutexLock lock(&mutex_);
    again = committed.status().code() == StatusCode::kAborted && stopped_.ok() &&
            attempt_ < environment_.limits.max_attempts;
    if (again) {
      pumping_ = false;
      undecided_.reset();
      held_.clear();
      held_bytes_ = 0;
      dropped = std::move(spilled_);
      handle_ = nullptr;
      rows_.store(0, std::memory_order_relaxed);
      ++beginning_;
    }
  }
  dropped = nullptr;
  if (again) return WaitForTurn(turn);
  LetOthersRun();  // nobody ends the call before there is a result
  {
    MutexLock lock(&mutex_);
    pumping_ = false;
    engine::QueryResult result = *std::move(undecided_);
    undecided_.reset();
    // A request that was stopped and did not commit ends as what stopped it says.
    const bool gave_up = committed.status().code() == StatusCode::kAborted && !stopped_.ok();
    if (spilled_ != nullptr) result.numbers.spilled_bytes += spilled_->written_bytes();
    result.status = gave_up ? stopped_ : committed.status();
    if (committed.ok()) {
      committed_version_ = committed->version;
      reads_version_ = 0;     // it can't be ended
      stopped_ = OkStatus();  // too late: it is done
      batches_.swap(held_);
    } else {
      dropped = std::move(spilled_);
    }
    held_.clear();
    result_ = std::move(result);
  }
  dropped = nullptr;
  LeaveTurns();
  Advance();
}

void SubmitSession::WaitForTurn(const storage::CommitTurn& refused) {
  if (refused.conflicts.empty()) return Begin();
  encoder_.reset();  // nothing of the last attempt is held meanwhile, its view least of all
  transaction_ = nullptr;
  view_ = nullptr;
  if (turns_ == nullptr) {
    turns_ = refused.turns;
    place_ = turns_->Take();
  }
  {
    // The turns call nobody while they hold their lock, so that they may be entered with this one:
    // who stops the request from now on finds it waiting.
    MutexLock lock(&mutex_);
    reads_version_ = 0;
    const bool now =
        turns_->Enter(place_, refused.conflicts, [self = shared_from_this()] { self->GoOn(); });
    waiting_ = !now && stopped_.ok();
    if (waiting_ && deadline_ns_.has_value()) {
      const int64_t left =
          static_cast<int64_t>(*deadline_ns_) - environment_.engine->clock().NowNanos();
      alarm_ = environment_.pool->RunAfter(left, [self = shared_from_this()] { self->GoOn(); });
    }
    if (waiting_) return;
  }
  Begin();
}

// Its turn has come, or there is nothing to wait for any more: the engine sees the deadline.
void SubmitSession::GoOn() {
  {
    MutexLock lock(&mutex_);
    if (!std::exchange(waiting_, false)) return;
    environment_.pool->Forget(std::exchange(alarm_, 0));
  }
  environment_.pool->Run(line_, [self = shared_from_this()] { self->Begin(); });
}

void SubmitSession::LeaveTurns() {
  if (turns_ != nullptr) turns_->Leave(place_);
}

void SubmitSession::Advance(bool can_encode) {
  while (true) {
    bool write = false;
    std::optional<engine::QueryResult> end;
    {
      MutexLock lock(&mutex_);
      if (writing_ || pumping_ || beginning_ > 0 || finished_) return;
      const bool last = IsLastBatch();
      if (!messages_.empty()) {
        write = writing_ = !last;
        std::swap(current_, messages_.front());
        messages_.pop_front();
        if (write && result_.has_value()) WatchReader();
      } else if (!batches_.empty() || HasSpilled()) {
        pumping_ = true;
      } else if (!result_.has_value()) {
        return;
      }
      if (!pumping_ && !write) {
        finished_ = true;
        if (!last) current_ = Outgoing();
        WatchReader();
        end = std::move(result_);
        if (end->status.ok()) end->status = stopped_;
      }
    }
    // Outside the lock: the stream and the pool may run other members of this session at once.
    if (write) return stream_->Write(current_.encoded->message());
    if (end.has_value()) return End(*end);
    if (!can_encode) {
      environment_.pool->Run(line_, [self = shared_from_this()] {
        self->Pump();
        self->Advance();  // others have their turn before the next slice
      });
      return;
    }
    Pump();
    can_encode = false;
  }
}

// The client gets it with the summary.
bool SubmitSession::IsLastBatch() const {
  return request_->joins_summary() && messages_.size() == 1 && batches_.empty() && !HasSpilled() &&
         result_.has_value() && result_->status.ok() && stopped_.ok();
}

// Results on disk that may be given.
bool SubmitSession::HasSpilled() const {
  return result_.has_value() && spilled_ != nullptr && !spilled_->empty();
}

void SubmitSession::Pump() {
  std::optional<engine::ResultBatch> batch;
  std::shared_ptr<engine::QueryHandle> resume;
  std::shared_ptr<engine::SpilledResults> spilled;
  {
    MutexLock lock(&mutex_);
    if (!batches_.empty()) {
      batch = std::move(batches_.front());
      batches_.pop_front();
    } else if (HasSpilled()) {
      spilled = spilled_;
    }
    // The rest of a batch makes no room, but the last one must not leave the query paused.
    const bool makes_room = encoded_rows_ == 0 || batches_.empty();
    if (makes_room && std::exchange(paused_, false)) resume = handle_;
  }
  if (resume != nullptr) resume->Resume();
  if (spilled != nullptr) {
    StatusOr<engine::ResultBatch> taken = TakeSpilled(spilled.get());
    if (!taken.ok()) {
      MutexLock lock(&mutex_);
      pumping_ = false;
      return EndWith(taken.status());
    }
    batch = *std::move(taken);
  }
  if (batch.has_value()) {
    EncodeNext(*std::move(batch));
  } else {
    MutexLock lock(&mutex_);
    pumping_ = false;
  }
}

StatusOr<engine::ResultBatch> SubmitSession::TakeSpilled(engine::SpilledResults* spilled) const {
  StatusOr<engine::ResultBatch> batch =
      spilled->Take(engine::MakeQueryAccount(/*limit_bytes=*/0, &environment_.engine->memory()));
  if (batch.ok()) ChargeBeside(&*batch);
  return batch;
}

void SubmitSession::EndWith(const Status& status) {
  if (!stopped_.ok()) return;
  stopped_ = status;
  if (committed_version_ != 0) {
    stopped_ = MakeStatus(
        status.code(),
        "The change is committed, but not all of its results can be given. " + MessageOf(status),
        DetailOf(status).value_or(ErrorDetail()));
  }
  DropUnwritten();
}

void SubmitSession::EncodeNext(engine::ResultBatch batch) {
  const StatusOr<bool> encoded = encoder_->Encode(
      batch, &encoded_rows_, &made_, [this](size_t bytes) { return MayEncode(bytes); });
  const bool whole = encoded_rows_ >= batch.column.size();
  if (whole) encoded_rows_ = 0;
  std::vector<Outgoing> made;
  if (encoded.ok() && *encoded) made = TakeMade();
  if (!encoded.ok()) {
    DropMade();
    Stop(encoded.status());
  }
  MutexLock lock(&mutex_);
  pumping_ = false;
  if (!encoded.ok()) EndWith(encoded.status());
  if (HasFailed()) return made.clear();  // before anybody hears of the end
  if (!whole) {
    if (is_through_) ChargeBeside(&batch);
    batches_.push_front(std::move(batch));
  }
  for (Outgoing& outgoing : made) messages_.push_back(std::move(outgoing));
}

void SubmitSession::OnWriteDone(bool ok) {
  if (!ok) Stop(Cancelled("The client went away."));
  {
    MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) DropUnwritten();
  }
  Advance();
}

void SubmitSession::OnCancel() { Stop(Cancelled("The client cancelled the query.")); }

void SubmitSession::FillSummary(const engine::QueryResult& result, v1::Summary* summary) {
  summary->set_rows(result.rows);
  summary->set_elapsed_us(result.elapsed_ns / 1000);
  summary->set_memory_bytes(result.numbers.memory_bytes);
  summary->set_peak_bytes(result.numbers.peak_bytes);
  {
    MutexLock lock(&mutex_);
    summary->set_queued_us(queued_ns_ / 1000);
  }
  summary->set_slices(result.numbers.slices);
  summary->set_credit_waits(result.numbers.credit_waits);
  summary->set_credit_wait_us(result.numbers.credit_wait_ns / 1000);
  summary->set_spilled_bytes(result.numbers.spilled_bytes);
  summary->set_rows_dropped(result.numbers.rows_dropped);
  summary->set_query_id(ticket_.id());
  summary->set_mode(mode_);
  if (view_ != nullptr) summary->set_version(view_->version());
  if (committed_version_ != 0) summary->set_version(committed_version_);
  if (mode_ == v1::EXPLAIN) summary->set_text(explain_);
  if (mode_ == v1::PROFILE) {
    FillProfile(plan_, result.operators, summary->mutable_profile());
    summary->set_text(ProfileText(*summary));
  }
}

void SubmitSession::End(const engine::QueryResult& result) {
  DropMade();  // of what was stopped
  LeaveTurns();
  ticket_.End();
  LetOthersRun();
  if (!result.status.ok()) {
    DropView();
    stream_->Fail(result.status);
    return;
  }
  if (!current_.encoded) current_.encoded.emplace();
  v1::SubmitResponse* message = current_.encoded->message();
  if (message->has_batch()) {
    v1::ResultBatch* batch = message->unsafe_arena_release_batch();
    message->mutable_end()->unsafe_arena_set_allocated_batch(batch);
    FillSummary(result, message->mutable_end()->mutable_summary());
  } else {
    FillSummary(result, message->mutable_summary());
  }
  DropView();
  stream_->WriteLast(message);
}

void SubmitSession::OnDone() {
  {
    MutexLock lock(&mutex_);
    is_over_ = true;
    environment_.pool->Forget(std::exchange(alarm_, 0));
    current_ = Outgoing();
    request_charge_.Reset();
  }
  environment_.pool->Close(line_);
  LetOthersRun();
  if (environment_.admission != nullptr) environment_.admission->Look();  // its reserve is back
  ticket_.Release();
}

}  // namespace koios::server
