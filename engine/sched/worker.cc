#include "engine/sched/worker.h"

#include <algorithm>
#include <utility>

#include "core/thread_priority.h"
#include "engine/deadline.h"
#include "engine/sched/ends/reaper.h"
#include "engine/sched/first_turn.h"
#include "engine/sched/slice.h"

namespace koios::engine {
namespace {

// How often a coordinator says that it is there while others wait as long for a word.
constexpr uint64_t kRenewals = 3;

constexpr uint64_t kGiveBackNanos = 1'000'000'000;

}  // namespace

const QueryRun* Worker::Find(const QueryId& id) const {
  const auto found = queries_.find(id);
  return found == queries_.end() ? nullptr : found->second.run.get();
}

bool Worker::HasEnded(const QueryId& id) const {
  const auto found = ended_.find(id.coordinator);
  if (found == ended_.end()) return false;
  return id.serial < found->second.watermark || found->second.above.contains(id.serial);
}

void Worker::Begin(std::shared_ptr<const QuerySpec> spec) {
  const QueryId id = spec->id;
  std::shared_ptr<ResultSink> sink = id.coordinator == context_.index ? spec->sink : nullptr;
  StatusOr<std::unique_ptr<QueryRun>> run = QueryRun::Create(spec, context_);
  if (!run.ok()) {
    if (sink != nullptr) {
      QueryResult result;
      result.status = run.status();
      End(id);
      sink->Done(std::move(result));
      return;
    }
    Frame fail;
    fail.query = id;
    fail.kind = FrameKind::kFail;
    fail.from = context_.index;
    fail.status = run.status();
    fail.spec = spec;
    End(id);
    context_.transport->Send(id.coordinator, std::move(fail));
    return;
  }
  Running& running = queries_[id];
  running.run = std::move(run).value();
  running.started_ns = context_.clock->NowNanos();
  running.heard_ns = running.started_ns;
  turns_.Add(id);
  turns_.Wake(id);
  next_deadline_.reset();
}

void Worker::Adopt(const QueryId& id, BegunQuery* begun) {
  begun->run->MoveTo(context_);
  Running& running = queries_[id];
  running.run = std::move(begun->run);
  running.started_ns = begun->started_ns;
  running.heard_ns = running.started_ns;
  turns_.Add(id);
  turns_.Wake(id);
  next_deadline_.reset();
  for (auto& [to, frame] : begun->said) {
    frame.query = id;
    context_.transport->Send(to, std::move(frame));
  }
}

void Worker::Deliver(Frame frame) {
  const QueryId id = frame.query;
  if (frame.kind == FrameKind::kStart && frame.begun != nullptr) {
    return Adopt(id, frame.begun.get());
  }
  if (frame.kind == FrameKind::kStart) {
    Begin(frame.spec);
    const auto found = queries_.find(id);
    if (found != queries_.end()) found->second.run->Start();
    return;
  }
  if (frame.kind == FrameKind::kStats) return AddStats(frame);
  auto found = queries_.find(id);
  if (frame.kind == FrameKind::kEnd) {
    if (frame.wants_stats) {
      Frame answer;
      answer.query = id;
      answer.kind = FrameKind::kStats;
      answer.from = context_.index;
      if (found != queries_.end()) answer.stats = found->second.run->stats();
      context_.transport->Send(id.coordinator, std::move(answer));
    }
    Ended& ended = ended_[id.coordinator];
    ended.watermark = std::max(ended.watermark, frame.over_before);
    ended.above.erase(ended.above.begin(), ended.above.lower_bound(ended.watermark));
    return End(id);
  }
  if (found == queries_.end()) {
    // Control for a query that is over, or not yet known, has nothing to act on here.
    if (HasEnded(id) || frame.spec == nullptr || frame.kind == FrameKind::kFail ||
        id.coordinator == context_.index) {
      return;
    }
    Begin(frame.spec);
    found = queries_.find(id);
    if (found == queries_.end()) return;
  }
  if (context_.lease_ns > 0 && frame.from == id.coordinator && id.coordinator != context_.index) {
    found->second.heard_ns = context_.clock->NowNanos();
  }
  switch (frame.kind) {
    case FrameKind::kRenew:
      return;
    case FrameKind::kFail:
      found->second.failed_elsewhere = true;
      Finish(id, std::move(frame.status));
      return;
    case FrameKind::kCancel:
      Finish(id, std::move(frame.status));
      return;
    case FrameKind::kResume:
      turns_.Wake(id);  // the sink has room
      return;
    default: {
      turns_.Wake(id);
      const int64_t begin = context_.clock->NowNanos();
      found->second.run->Receive(std::move(frame));
      found->second.received_ns += static_cast<uint64_t>(context_.clock->NowNanos() - begin);
      SettleOutcome(id);
    }
  }
}

void Worker::End(const QueryId& id) {
  if (const auto found = queries_.find(id); found != queries_.end()) {
    std::unique_ptr<QueryRun> run = std::move(found->second.run);
    queries_.erase(found);
    // One that changes something may run again, on the same account.
    const QuerySpec& spec = run->spec();
    // Room on disk comes back block by block as well.
    const bool large = spec.account->used() >= Reaper::kLeastBytes ||
                       spec.disk_bytes()->load(std::memory_order_relaxed) >= Reaper::kLeastBytes;
    if (large && spec.options.transaction == nullptr && context_.reaper != nullptr) {
      context_.reaper->Take(std::move(run));
    }
  }
  turns_.Remove(id);
  next_deadline_.reset();
  Ended& ended = ended_[id.coordinator];
  // A query that failed here ends once more when its coordinator says so.
  if (id.serial >= ended.watermark) ended.above.insert(id.serial);
  while (ended.above.contains(ended.watermark)) ended.above.erase(ended.watermark++);
}

// Who heard of a query hears of its end. Numbers of queries that stayed here are missing there: all
// hear which are over by now, so that remembering them takes a watermark.
void Worker::TellEnd(const QueryId& id, bool wants_stats) {
  for (uint32_t to = 0; to < context_.num_workers; ++to) {
    if (to == context_.index) continue;
    Frame end;
    end.query = id;
    end.kind = FrameKind::kEnd;
    end.from = context_.index;
    end.wants_stats = wants_stats;
    end.over_before = ended_[context_.index].watermark;
    context_.transport->Send(to, std::move(end));
  }
}

size_t Worker::num_remembered() const {
  size_t count = 0;
  for (const auto& [coordinator, ended] : ended_) count += ended.above.size();
  return count;
}

// The status is the result's alone: whoever takes that is on another thread.
void Worker::Finish(const QueryId& id, Status status) {
  const auto found = queries_.find(id);
  if (found == queries_.end()) return;
  const std::shared_ptr<const QuerySpec> spec = found->second.run->spec_ptr();
  QueryResult result = ResultOf(*found->second.run, std::move(status), found->second.started_ns,
                                static_cast<uint64_t>(context_.clock->NowNanos()));
  const bool others_know = found->second.failed_elsewhere || found->second.run->has_sent();
  End(id);
  if (others_know) TellEnd(id, spec->options.profile);
  result.numbers = spec->Numbers();
  if (spec->options.profile && others_know) {
    finishing_[id] = {spec->sink, std::move(result), context_.num_workers - 1};
    return;
  }
  spec->sink->Done(std::move(result));
}

void Worker::AddStats(const Frame& frame) {
  const auto found = finishing_.find(frame.query);
  if (found == finishing_.end()) return;
  std::vector<OperatorStats>& sum = found->second.result.operators;
  for (size_t id = 0; id < std::min(sum.size(), frame.stats.size()); ++id) {
    sum[id].Add(frame.stats[id]);
  }
  if (--found->second.waiting > 0) return;
  const std::shared_ptr<ResultSink> sink = std::move(found->second.sink);
  QueryResult result = std::move(found->second.result);
  finishing_.erase(found);
  sink->Done(std::move(result));
}

// After anything that a query did: has it failed, or is it complete?
void Worker::SettleOutcome(const QueryId& id) {
  const auto found = queries_.find(id);
  if (found == queries_.end()) return;
  const QueryRun& run = *found->second.run;
  if (!run.failure().ok()) {
    if (run.is_coordinator()) return Finish(id, run.failure());
    Frame fail;
    fail.query = id;
    fail.kind = FrameKind::kFail;
    fail.from = context_.index;
    fail.status = run.failure();
    End(id);
    context_.transport->Send(id.coordinator, std::move(fail));
    return;
  }
  if (run.complete()) Finish(id, OkStatus());
}

bool Worker::HasLeases() const { return context_.lease_ns > 0 && context_.num_workers > 1; }

// When this worker has to look after the query by itself; 0: never.
uint64_t Worker::NextTime(const Running& running) const {
  uint64_t nearest = 0;
  const auto add = [&nearest](uint64_t time) {
    if (time != 0 && (nearest == 0 || time < nearest)) nearest = time;
  };
  add(running.run->spec().options.deadline_ns);
  add(running.gives_back_ns);
  if (HasLeases()) {
    const bool renews = running.run->is_coordinator();
    add(running.heard_ns + (renews ? context_.lease_ns / kRenewals : context_.lease_ns));
  }
  return nearest;
}

// Every worker sees to the ends of its parts, as nobody else may be there to tell it. The
// coordinator has the same deadline, and answers.
void Worker::CheckTimes(uint64_t now_ns) {
  const uint64_t nearest = NextDeadline();
  if (nearest == 0 || now_ns < nearest) return;
  std::vector<QueryId> due;
  for (const auto& [id, running] : queries_) {
    const uint64_t next = NextTime(running);
    if (next != 0 && now_ns >= next) due.push_back(id);
  }
  next_deadline_.reset();
  for (const QueryId& id : due) {
    Running& running = queries_.at(id);
    const bool mine = running.run->is_coordinator();
    const uint64_t deadline = running.run->spec().options.deadline_ns;
    if (deadline != 0 && now_ns >= deadline) {
      if (!mine) {
        End(id);
      } else {
        const uint64_t asked_ns = running.run->spec().options.asked_ns;
        Finish(id,
               RanIntoDeadline(asked_ns == 0 ? running.started_ns : asked_ns, deadline, now_ns));
      }
      continue;
    }
    if (running.gives_back_ns != 0 && now_ns >= running.gives_back_ns) {
      const bool may = running.run->MayGiveBack();  // who must go there needs it more
      running.gives_back_ns = may ? 0 : now_ns + kGiveBackNanos;
      if (may) running.run->GiveBack();
      if (may) turns_.Wake(id);
    }
    if (HasLeases()) Renew(id, &running, now_ns);
  }
}

// At the coordinator: says that it is there. At the others: ends what nobody has said that of.
void Worker::Renew(const QueryId& id, Running* running, uint64_t now_ns) {
  const uint64_t since = now_ns - std::min(now_ns, running->heard_ns);
  if (!running->run->is_coordinator()) {
    if (since >= context_.lease_ns) LoseCoordinator(id);
    return;
  }
  if (since < context_.lease_ns / kRenewals) return;
  running->heard_ns = now_ns;
  if (!running->run->has_sent()) return;  // nobody knows of it
  for (uint32_t to = 0; to < context_.num_workers; ++to) {
    if (to == context_.index) continue;
    Frame renew;
    renew.query = id;
    renew.kind = FrameKind::kRenew;
    renew.from = context_.index;
    context_.transport->Send(to, std::move(renew));
  }
}

// If it is there all the same, it waits for rows that are gone now: it is told.
void Worker::LoseCoordinator(const QueryId& id) {
  Frame fail;
  fail.query = id;
  fail.kind = FrameKind::kFail;
  fail.from = context_.index;
  fail.status = Unavailable("Worker " + std::to_string(context_.index) +
                            " has not heard of the query's coordinator for " +
                            std::to_string(context_.lease_ns / 1'000'000) +
                            " ms and has ended its part. Run the query again.");
  End(id);
  context_.transport->Send(id.coordinator, std::move(fail));
}

void Worker::CancelAll(const Status& why) {
  std::vector<QueryId> mine;
  for (const auto& [id, running] : queries_) {
    if (running.run->is_coordinator()) mine.push_back(id);
  }
  for (const QueryId& id : mine) Finish(id, why);
  // Nobody will answer any more: what is known must do.
  for (auto& [id, finishing] : finishing_) finishing.sink->Done(std::move(finishing.result));
  finishing_.clear();
}

uint64_t Worker::NextDeadline() const {
  if (next_deadline_.has_value()) return *next_deadline_;
  uint64_t nearest = 0;
  for (const auto& [id, running] : queries_) {
    const uint64_t next = NextTime(running);
    if (next != 0 && (nearest == 0 || next < nearest)) nearest = next;
  }
  next_deadline_ = nearest;
  return nearest;
}

bool Worker::Step(uint64_t now_ns) {
  CheckTimes(now_ns);
  while (const std::optional<QueryId> next = turns_.Take()) {
    at_long_ = turns_.Had(*next) >= ThreadWeight::kLongNanos;
    const int64_t begin = context_.clock->NowNanos();
    Running& running = queries_.find(*next)->second;
    const bool more = RunSlice(running.run.get(), *context_.clock);
    const auto nanos = static_cast<uint64_t>(context_.clock->NowNanos() - begin);
    turns_.Ran(*next, nanos + std::exchange(running.received_ns, 0), more);
    NoteIdle(&running, more, now_ns);
    SettleOutcome(*next);
    if (more) return true;
  }
  return false;
}

// A part that waits for long, as its client does not read or others are held up, keeps no rows in
// memory that can be elsewhere.
void Worker::NoteIdle(Running* running, bool runs, uint64_t now_ns) {
  const bool can = !runs && running->run->LeastToGiveBack() > 0;
  if (can == (running->gives_back_ns != 0)) return;
  running->gives_back_ns = can ? now_ns + kGiveBackNanos : 0;
  next_deadline_.reset();
}

}  // namespace koios::engine
