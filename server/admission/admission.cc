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
      kept_for_short_(limits.max_queries / kShareForShort),
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

// Somebody waits who is before it.
bool Admission::MustWait(CostClass cost) const {
  for (size_t i = 0; i <= static_cast<size_t>(cost); ++i) {
    if (!queues_[i].by_client.empty()) return true;
  }
  return false;
}

// Null: there is no room for its reserve.
std::shared_ptr<MemoryAccount> Admission::TryGrant(const QueryCost& cost) {
  std::shared_ptr<MemoryAccount> account = engine::MakeQueryAccount(limits_.query_bytes, all_);
  if (!account->TryReserve(cost.reserve_bytes)) return nullptr;
  ++running_[static_cast<size_t>(cost.cost)];
  return account;
}

Status Admission::Enter(const QueryCost& cost, const std::string& client, Granted granted,
                        Place* place, std::shared_ptr<MemoryAccount>* account) {
  MutexLock lock(&mutex_);
  if (HasPlace(cost.cost) && !MustWait(cost.cost)) *account = TryGrant(cost);
  const uint64_t number = ++last_number_;
  if (*account == nullptr) {
    RETURN_IF_ERROR(MakeRoom(client));
    QueueOf(cost.cost).by_client[client].insert(number);
    ++waiting_of_[client];
    waiting_.emplace(number, Waiting{cost, client, std::move(granted)});
    num_waiting_ = waiting_.size();
    if (HasPlace(cost.cost)) LookAgain();
  }
  place->admission_ = this;
  place->number_ = number;
  place->cost_ = cost.cost;
  return OkStatus();
}

// Where the queue is full the client that has most of it loses its last, as long as it is not this
// one: so nobody's many keep out another one's few.
Status Admission::MakeRoom(const std::string& client) {
  if (waiting_.size() < limits_.max_queued) return OkStatus();
  const auto most =
      std::max_element(waiting_of_.begin(), waiting_of_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto mine = waiting_of_.find(client);
  const size_t others = mine == waiting_of_.end() ? 0 : mine->second;
  if (most == waiting_of_.end() || most->second <= others + 1) return QueueIsFull();
  const Status refused = QueueIsFull();
  for (size_t i = kNumCostClasses; i-- > 0;) {
    const auto found = queues_[i].by_client.find(most->first);
    if (found == queues_[i].by_client.end()) continue;
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
  Queue& queue = QueueOf(waiting.cost.cost);
  const auto mine = queue.by_client.find(waiting.client);
  mine->second.erase(number);
  if (mine->second.empty()) queue.by_client.erase(mine);
  const auto count = waiting_of_.find(waiting.client);
  if (--count->second == 0) waiting_of_.erase(count);
  return waiting;
}

// The first of the client whose turn it is; 0: nobody waits.
uint64_t Admission::NextOf(CostClass cost) {
  Queue& queue = QueueOf(cost);
  if (queue.by_client.empty()) return 0;
  auto next = queue.by_client.upper_bound(queue.last_client);
  if (next == queue.by_client.end()) next = queue.by_client.begin();
  return *next->second.begin();
}

// Who is let run next, when there is a place for it; 0: nobody.
uint64_t Admission::Next() {
  const uint64_t brief = NextOf(CostClass::kShort);
  if (brief != 0) return HasPlace(CostClass::kShort) ? brief : 0;
  if (waiting_.empty() || !HasPlace(CostClass::kLong)) return 0;
  if (num_turns_ % kTurnsToOldest == kTurnsToOldest - 1) return waiting_.begin()->first;
  const uint64_t medium = NextOf(CostClass::kMedium);
  return medium != 0 ? medium : NextOf(CostClass::kLong);
}

void Admission::GrantAll(std::vector<Told>* told) {
  while (const uint64_t number = Next()) {
    const Waiting& next = waiting_.find(number)->second;
    std::shared_ptr<MemoryAccount> account = TryGrant(next.cost);
    if (account == nullptr) {
      return LookAgain();  // nobody overtakes it: what others give back becomes its own
    }
    QueueOf(next.cost.cost).last_client = next.client;
    if (next.cost.cost != CostClass::kShort) ++num_turns_;
    told->push_back({Take(number).granted, std::move(account)});
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
      --running_[static_cast<size_t>(cost)];
      CountEnd();
    }
    if (!waiting_.empty()) GrantAll(&told);
  }
  Tell(&told);
}

void Admission::CountEnd() {
  constexpr int64_t kWeight = 8;  // of what was before
  const int64_t now = clock_->NowNanos();
  const int64_t since = std::max<int64_t>(now - std::exchange(last_end_, now), 1);
  between_ends_ = between_ends_ == 0 ? since : (between_ends_ * (kWeight - 1) + since) / kWeight;
}

// When all that wait now have had their turn, if queries go on ending as they lately did.
std::string Admission::WhenToTryAgain() const {
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
  detail.reason = "TOO_MANY_QUERIES";
  detail.limit = std::to_string(limits_.max_queries) + " running and " +
                 std::to_string(limits_.max_queued) + " waiting queries";
  detail.used = std::to_string(running_[0] + running_[1] + running_[2]) + " running and " +
                std::to_string(waiting_.size()) + " waiting";
  detail.setting = limits_.max_queued == 0 ? "max-queries" : "max-queued";
  detail.hint = WhenToTryAgain() + ", or raise max-queries or max-queued.";
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
  detail.hint = WhenToTryAgain() + ", or raise queue-timeout, max-queries or memory-mb.";
  return ResourceExhausted("The query waited for " + std::to_string(limits_.queue_timeout_ms) +
                               " ms (queue-timeout) and could not begin.",
                           detail);
}

size_t Admission::num_running() const {
  MutexLock lock(&mutex_);
  return running_[0] + running_[1] + running_[2];
}

}  // namespace koios::server
