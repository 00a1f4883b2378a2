#include "server/admission/admission.h"

#include <algorithm>
#include <optional>

#include "engine/query_account.h"

namespace koios::server {
namespace {

constexpr size_t kShareForShort = 8;
// Of so many turns one is the oldest's.
constexpr uint64_t kTurnsToOldest = 4;
// Who releases memory tells nobody: as long as somebody waits for it, it is looked at so often.
constexpr int64_t kLookNanos = 20'000'000;
constexpr int64_t kNanosPerMs = 1'000'000;
// Nobody knows what a long query will need before it has run for a while; more than so much it
// can't have taken by then.
constexpr int64_t kYoungNanos = 500'000'000;
constexpr int64_t kYoungShare = 16;
constexpr int64_t kYoungBytes = int64_t{64} << 20;
constexpr int64_t kLongShare = 2;  // of all memory, for those that run when another one begins
// So often one begins all the same: a few that keep much for long do not keep out everybody else.
constexpr int64_t kBetweenLongNanos = 1'000'000'000;

// At least one, as soon as there are two.
size_t KeptForShort(size_t max_queries) {
  return max_queries < 2 ? 0 : std::max<size_t>(1, max_queries / kShareForShort);
}

// What is left of them for other hosts is as much. Of a few places each is anybody's.
constexpr size_t kShareOfOthers = 8;
constexpr int64_t kMemoryOfOthers = 4;  // of that of reserves
constexpr size_t MostOf(size_t all) { return all - all / kShareOfOthers; }

// The one behind `last`, the first behind the last one. REQUIRES: there are some.
template <typename T>
typename std::map<std::string, T>::const_iterator After(const std::map<std::string, T>& by_name,
                                                        const std::string& last) {
  const auto next = by_name.upper_bound(last);
  return next == by_name.end() ? by_name.begin() : next;
}

}  // namespace

Admission::Place& Admission::Place::operator=(Place&& other) noexcept {
  if (this == &other) return *this;
  Leave();
  admission_ = std::exchange(other.admission_, nullptr);
  number_ = other.number_;
  cost_ = other.cost_;
  return *this;
}

void Admission::Place::Leave() {
  if (Admission* admission = std::exchange(admission_, nullptr)) admission->Leave(number_, cost_);
}

Admission::Admission(const AdmissionLimits& limits, MemoryAccount* all, const Clock* clock,
                     TaskPool* pool)
    : limits_(limits),
      kept_for_short_(KeptForShort(limits.max_queries)),
      all_(all),
      clock_(clock),
      pool_(pool),
      alive_(std::make_shared<const bool>(true)),
      last_end_(clock->NowNanos()) {}

Admission::~Admission() = default;

bool Admission::HasPlace(CostClass cost) const {
  const size_t shorts = running_[0];
  const size_t others = running_[1] + running_[2];
  if (shorts + others >= limits_.max_queries) return false;
  return cost == CostClass::kShort || others < limits_.max_queries - kept_for_short_;
}

bool Admission::IsFull(const std::string& host, const QueryCost& cost) const {
  const auto found = of_host_.find(host);
  if (found == of_host_.end()) return false;
  const Share& share = found->second;
  // Of those for the short as well.
  if (share.queries >= limits_.max_queries - kept_for_short_ / kShareOfOthers) return true;
  if (cost.cost != CostClass::kShort &&
      share.not_short >= MostOf(limits_.max_queries - kept_for_short_)) {
    return true;
  }
  // What is left has room for the largest reserve there is beside that of requests.
  const int64_t all = all_->limit();
  return all != kNoMemoryLimit &&
         share.reserve_bytes + cost.reserve_bytes > all - all / kMemoryOfOthers;
}

// Somebody who could be let run, were there a place.
bool Admission::Waits(CostClass cost) const { return NextOf(cost) != 0; }

// Somebody waits who is before it: nobody but a short query goes past another one, and a medium
// one past those for which there is no room as they are long.
bool Admission::MustWait(CostClass cost) const {
  if (waiting_.empty()) return false;
  if (cost == CostClass::kShort) return Waits(CostClass::kShort);
  const bool waits = Waits(CostClass::kShort) || Waits(CostClass::kMedium);
  const bool may_be_long = cost == CostClass::kLong || IsRoomForLong();
  return waits || (may_be_long && Waits(CostClass::kLong));
}

bool Admission::IsRoomForLong() const {
  if (running_[static_cast<size_t>(CostClass::kLong)] == 0) return true;
  if (all_->limit() == kNoMemoryLimit) return true;
  const int64_t now = clock_->NowNanos();
  if (now - last_long_ >= kBetweenLongNanos) return true;
  const int64_t of_young = std::min(all_->limit() / kYoungShare, kYoungBytes);
  int64_t taken = of_young;
  for (const auto& [number, running] : that_run_) {
    if (running.cost != CostClass::kLong) continue;
    const std::shared_ptr<MemoryAccount> account = running.account.lock();
    if (account == nullptr) continue;
    const bool is_young = now - running.since < kYoungNanos;
    taken += std::max(account->used(), is_young ? of_young : 0);
  }
  return taken <= all_->limit() / kLongShare;
}

// Null: there is no room for its reserve.
std::shared_ptr<MemoryAccount> Admission::TryGrant(uint64_t number, const QueryCost& cost,
                                                   const std::string& host) {
  std::shared_ptr<MemoryAccount> account = engine::MakeQueryAccount(limits_.query_bytes, all_);
  if (!account->TryReserve(cost.reserve_bytes)) return nullptr;
  ++running_[static_cast<size_t>(cost.cost)];
  const int64_t now = clock_->NowNanos();
  if (cost.cost == CostClass::kLong) last_long_ = now;
  that_run_.emplace(number, Running{account, cost.cost, now, host, cost.reserve_bytes});
  Share& share = of_host_[host];
  ++share.queries;
  share.not_short += cost.cost == CostClass::kShort ? 0 : 1;
  share.reserve_bytes += cost.reserve_bytes;
  return account;
}

void Admission::EndRun(uint64_t number, CostClass cost) {
  --running_[static_cast<size_t>(cost)];
  const auto found = that_run_.find(number);
  const auto of_host = of_host_.find(found->second.host);
  Share& share = of_host->second;
  share.reserve_bytes -= found->second.reserve_bytes;
  share.not_short -= cost == CostClass::kShort ? 0 : 1;
  if (--share.queries == 0) of_host_.erase(of_host);
  that_run_.erase(found);
}

Status Admission::Enter(const QueryCost& cost, const ClientName& client, Granted granted,
                        Place* place, std::shared_ptr<MemoryAccount>* account) {
  MutexLock lock(&mutex_);
  const uint64_t number = ++last_number_;
  const bool may_run = HasPlace(cost.cost) && !IsFull(client.host, cost) && !MustWait(cost.cost) &&
                       (cost.cost != CostClass::kLong || IsRoomForLong());
  if (may_run) *account = TryGrant(number, cost, client.host);
  if (*account == nullptr) {
    RETURN_IF_ERROR(MakeRoom(client));
    QueueOf(cost.cost).by_host[client.host].by_name[client.name].insert(number);
    if (cost.cost != CostClass::kShort) not_short_.insert(number);
    waiting_of_.Add(client);
    waiting_.emplace(number, Waiting{cost, client, std::move(granted)});
    num_waiting_ = waiting_.size();
    if (HasPlace(cost.cost)) LookAgain();
  }
  place->admission_ = this;
  place->number_ = number;
  place->cost_ = cost.cost;
  return OkStatus();
}

// The host that has most, and of its clients the one that has most; where no host has more than
// this one's would, one of the same host. nullopt: there is none either.
std::optional<ClientName> Admission::WhoGivesWay(const ClientName& client) const {
  if (waiting_of_.hosts.empty()) return std::nullopt;
  const std::string& most = waiting_of_.hosts.Most();
  if (waiting_of_.hosts.Of(most) > waiting_of_.hosts.Of(client.host) + 1) {
    return ClientName{most, waiting_of_.names.at(most).Most()};
  }
  const auto own = waiting_of_.names.find(client.host);
  if (own == waiting_of_.names.end()) return std::nullopt;
  const std::string& name = own->second.Most();
  if (own->second.Of(name) <= own->second.Of(client.name) + 1) return std::nullopt;
  return ClientName{client.host, name};
}

// Where the queue is full the client that has most of it loses its last, as long as it is not this
// one: so nobody's many keep out another one's few.
Status Admission::MakeRoom(const ClientName& client) {
  if (waiting_.size() < limits_.max_queued) return OkStatus();
  Status refused = QueueIsFull();
  const std::optional<ClientName> most = WhoGivesWay(client);
  if (!most.has_value()) return refused;
  for (size_t i = kNumCostClasses; i-- > 0;) {
    const auto host = queues_[i].by_host.find(most->host);
    if (host == queues_[i].by_host.end()) continue;
    const auto found = host->second.by_name.find(most->name);
    if (found == host->second.by_name.end()) continue;
    const uint64_t last = *found->second.rbegin();
    refused_.insert(last);
    pool_->Run([granted = Take(last).granted, refused] { granted(refused); });
    return OkStatus();
  }
  return refused;
}

Admission::Waiting Admission::Take(uint64_t number) {
  const auto found = waiting_.find(number);
  Waiting waiting = std::move(found->second);
  waiting_.erase(found);
  num_waiting_ = waiting_.size();
  not_short_.erase(number);
  waiting_of_.Remove(waiting.client);
  Queue& queue = QueueOf(waiting.cost.cost);
  const auto host = queue.by_host.find(waiting.client.host);
  const auto mine = host->second.by_name.find(waiting.client.name);
  mine->second.erase(number);
  if (mine->second.empty()) host->second.by_name.erase(mine);
  if (host->second.by_name.empty()) queue.by_host.erase(host);
  return waiting;
}

// The first of the client whose turn it is: hosts take turns, but for those that have all that one
// may have, then the clients of each. 0: nobody waits, or has a turn.
uint64_t Admission::NextOf(CostClass cost) const {
  const Queue& queue = queues_[static_cast<size_t>(cost)];
  if (queue.by_host.empty()) return 0;
  auto host = After(queue.by_host, queue.last_host);
  for (size_t i = 0; i < queue.by_host.size(); ++i) {
    const uint64_t number = *After(host->second.by_name, host->second.last_name)->second.begin();
    if (!IsFull(host->first, waiting_.find(number)->second.cost)) return number;
    host = After(queue.by_host, host->first);
  }
  return 0;
}

// Of those that are not short and whose host may have more. 0: there is none.
uint64_t Admission::Oldest() const {
  for (const uint64_t number : not_short_) {
    const Waiting& waiting = waiting_.find(number)->second;
    if (!IsFull(waiting.client.host, waiting.cost)) return number;
  }
  return 0;
}

// Who is let run next, when there is a place for it; 0: nobody. While there is no room for long
// ones the medium go past them, too.
uint64_t Admission::Next() {
  const bool may_be_others = !not_short_.empty() && HasPlace(CostClass::kLong);
  const bool may_be_long = may_be_others && IsRoomForLong();
  if (may_be_others && num_turns_ % kTurnsToOldest == kTurnsToOldest - 1) {
    const uint64_t oldest = Oldest();
    if (oldest != 0 &&
        (may_be_long || waiting_.find(oldest)->second.cost.cost != CostClass::kLong)) {
      return oldest;
    }
  }
  const uint64_t brief = NextOf(CostClass::kShort);
  if (brief != 0) return HasPlace(CostClass::kShort) ? brief : 0;
  if (!may_be_others) return 0;
  const uint64_t medium = NextOf(CostClass::kMedium);
  if (medium != 0) return medium;
  if (!may_be_long) LookAgain();
  return may_be_long ? NextOf(CostClass::kLong) : 0;
}

bool Admission::Grant(uint64_t number, std::vector<Told>* told) {
  const Waiting& next = waiting_.find(number)->second;
  std::shared_ptr<MemoryAccount> account = TryGrant(number, next.cost, next.client.host);
  if (account == nullptr) return false;
  Queue& queue = QueueOf(next.cost.cost);
  queue.last_host = next.client.host;
  queue.by_host.find(next.client.host)->second.last_name = next.client.name;
  told->push_back({Take(number).granted, std::move(account)});
  return true;
}

void Admission::GrantAll(std::vector<Told>* told) {
  while (const uint64_t number = Next()) {
    if (Grant(number, told)) {
      ++num_turns_;
      continue;
    }
    // Nobody but the short overtakes it, and its turn remains its own: what others give back
    // becomes its reserve.
    LookAgain();
    const uint64_t brief = NextOf(CostClass::kShort);
    if (brief == 0 || !Grant(brief, told)) return;
  }
}

void Admission::LookAgain() {
  if (std::exchange(is_waiting_for_memory_, true)) return;
  pool_->RunAfter(kLookNanos, [this, alive = std::weak_ptr<const bool>(alive_)] {
    if (alive.expired()) return;
    {
      MutexLock lock(&mutex_);
      is_waiting_for_memory_ = false;
    }
    Look();
  });
}

void Admission::Tell(std::vector<Told>* told) {
  for (Told& one : *told) one.granted(std::move(one.account));
}

void Admission::Look() {
  if (num_waiting() == 0) return;
  std::vector<Told> told;
  {
    MutexLock lock(&mutex_);
    GrantAll(&told);
  }
  Tell(&told);
}

void Admission::Leave(uint64_t number, CostClass cost) {
  std::vector<Told> told;
  std::optional<Waiting> left;  // what its callback holds goes outside the lock
  {
    MutexLock lock(&mutex_);
    if (waiting_.contains(number)) {
      left = Take(number);
    } else if (refused_.erase(number) == 0) {
      EndRun(number, cost);
      CountEnd();
    }
    if (!waiting_.empty()) GrantAll(&told);
  }
  Tell(&told);
}

void Admission::CountEnd() {
  constexpr int64_t kWeight = 8;                // of what was before
  constexpr int64_t kMostIdle = 1'000'000'000;  // between two that nobody waited for
  const int64_t now = clock_->NowNanos();
  int64_t since = std::max<int64_t>(now - std::exchange(last_end_, now), 1);
  if (waiting_.empty()) since = std::min(since, kMostIdle);
  between_ends_ = between_ends_ == 0 ? since : (between_ends_ * (kWeight - 1) + since) / kWeight;
}

std::string Admission::WhenToTryAgain() const {
  MutexLock lock(&mutex_);
  return TryAgain();
}

std::string Admission::TryAgain() const {
  constexpr int64_t kLeastMs = 10;
  constexpr int64_t kMostMs = 60'000;
  constexpr int64_t kUnknownNanos = 100'000'000;
  const int64_t since = clock_->NowNanos() - last_end_;
  const int64_t each = between_ends_ == 0 ? kUnknownNanos : std::max(between_ends_, since / 8);
  const auto ahead = static_cast<int64_t>(waiting_.size()) + 1;
  const int64_t ms = std::min(each, kMostMs * kNanosPerMs) * ahead / kNanosPerMs;
  return "Try again in " + std::to_string(std::clamp(ms, kLeastMs, kMostMs)) + " ms";
}

Status Admission::QueueIsFull() const {
  const std::string runs = std::to_string(limits_.max_queries) + " queries run (max-queries)";
  const std::string waits = std::to_string(limits_.max_queued) + " wait (max-queued)";
  ErrorDetail detail;
  detail.reason = kTooManyQueries;
  detail.limit = std::to_string(limits_.max_queries) + " running and " +
                 std::to_string(limits_.max_queued) + " waiting queries";
  detail.used = std::to_string(running_[0] + running_[1] + running_[2]) + " running and " +
                std::to_string(waiting_.size()) + " waiting";
  detail.setting = limits_.max_queued == 0 ? "max-queries" : "max-queued";
  detail.hint = TryAgain() + ", or raise max-queries or max-queued.";
  return ResourceExhausted(
      "There is no place for the query: at most " + runs + " and " + waits + ".", detail);
}

Status Admission::WaitedTooLong() const {
  MutexLock lock(&mutex_);
  ErrorDetail detail;
  detail.reason = "QUEUE_TIMEOUT";
  detail.limit = std::to_string(limits_.queue_timeout_ms) + " ms in the queue";
  detail.used = std::to_string(running_[0] + running_[1] + running_[2]) + " running and " +
                std::to_string(waiting_.size()) + " waiting";
  detail.setting = "queue-timeout";
  detail.hint = TryAgain() + ", or raise queue-timeout, max-queries or memory-mb.";
  return ResourceExhausted("The query waited for " + std::to_string(limits_.queue_timeout_ms) +
                               " ms (queue-timeout) and could not begin.",
                           detail);
}

int64_t Admission::UnusedReserves() const {
  MutexLock lock(&mutex_);
  int64_t unused = 0;
  for (const auto& [number, running] : that_run_) {
    const std::shared_ptr<MemoryAccount> account = running.account.lock();
    if (account == nullptr) continue;
    unused += std::max<int64_t>(0, account->reserved() - account->used());
  }
  return unused;
}

size_t Admission::num_running() const {
  MutexLock lock(&mutex_);
  return running_[0] + running_[1] + running_[2];
}

}  // namespace koios::server
