#include "server/query_registry.h"

#include <chrono>
#include <utility>

#include "server/admission/admission.h"
#include "server/rpc/text_bounds.h"

namespace koios::server {
namespace {

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

QueryRegistry::Ticket& QueryRegistry::Ticket::operator=(Ticket&& other) noexcept {
  if (this == &other) return *this;
  Release();
  registry_ = std::exchange(other.registry_, nullptr);
  number_ = other.number_;
  id_ = std::move(other.id_);
  return *this;
}

void QueryRegistry::Ticket::SetHasPlace(bool has_place) {
  if (registry_ == nullptr) return;
  MutexLock lock(&registry_->mutex_);
  const auto found = registry_->entries_.find(number_);
  if (found != registry_->entries_.end()) registry_->SetHasPlace(&found->second, has_place);
}

void QueryRegistry::Ticket::End() {
  if (registry_ == nullptr) return;
  MutexLock lock(&registry_->mutex_);
  registry_->Erase(number_);
}

void QueryRegistry::Ticket::Release() {
  if (registry_ == nullptr) return;
  MutexLock lock(&registry_->mutex_);
  registry_->Erase(number_);
  --registry_->num_tickets_;
  registry_ = nullptr;
}

void QueryRegistry::SetHasPlace(Entry* entry, bool has_place) {
  if (std::exchange(entry->has_place, has_place) == has_place || entry->host.empty()) return;
  size_t& beside = beside_[entry->host];
  beside += has_place ? -1 : 1;
  if (beside == 0) beside_.erase(entry->host);
}

void QueryRegistry::Erase(uint64_t number) {
  const auto found = entries_.find(number);
  if (found == entries_.end()) return;
  SetHasPlace(&found->second, true);  // it is beside no more
  entries_.erase(found);
}

// Where there are only places left beside those that run and wait, a host has its share of them.
Status QueryRegistry::HasRoom(const std::string& host) const {
  const auto found = beside_.find(host);
  const size_t beside = found == beside_.end() ? 0 : found->second;
  const bool shares = entries_.size() >= most_ - kBeside;
  if (entries_.size() < most_ && !(shares && beside >= kBesideOfHost)) return OkStatus();
  ErrorDetail detail;
  detail.reason = kTooManyQueries;
  detail.limit = std::to_string(most_) + " queries";
  detail.used = std::to_string(entries_.size()) + ", of this client's address " +
                std::to_string(beside) + " that neither run nor wait";
  detail.setting = "max-queued";
  detail.hint = "Raise max-queued or max-queries to let in more.";
  return ResourceExhausted("The server has " + std::to_string(entries_.size()) +
                               " queries that run, wait, are being planned or read: what "
                               "max-queries and max-queued allow.",
                           detail);
}

StatusOr<QueryRegistry::Ticket> QueryRegistry::Add(std::string_view text, std::string_view graph,
                                                   const std::string& host, QueryControl control) {
  MutexLock lock(&mutex_);
  if (closed_) return Unavailable("The server is shutting down.");
  RETURN_IF_ERROR(HasRoom(host));
  if (!host.empty()) ++beside_[host];
  Entry entry;
  entry.host = host;
  const uint64_t number = next_number_++;
  entry.query.id = "q" + std::to_string(number);
  entry.query.text = BoundedText(text, kMaxListedText);
  entry.query.graph = std::string(graph);
  entry.started_ns = NowNs();
  entry.control = std::make_shared<const QueryControl>(std::move(control));
  Ticket ticket;
  ticket.registry_ = this;
  ticket.number_ = number;
  ticket.id_ = entry.query.id;
  entries_.emplace(number, std::move(entry));
  ++num_tickets_;
  return ticket;
}

std::vector<RunningQuery> QueryRegistry::List() const {
  std::vector<RunningQuery> queries;
  std::vector<std::shared_ptr<const QueryControl>> controls;
  const uint64_t now_ns = NowNs();
  {
    MutexLock lock(&mutex_);
    for (const auto& [number, entry] : entries_) {
      queries.push_back(entry.query);
      queries.back().elapsed_us = (now_ns - entry.started_ns) / 1000;
      controls.push_back(entry.control);
    }
  }
  for (size_t i = 0; i < queries.size(); ++i) {
    if (controls[i]->measure) controls[i]->measure(&queries[i]);
  }
  return queries;
}

StatusOr<QueryRegistry::Entry> QueryRegistry::EntryOf(std::string_view id) const {
  MutexLock lock(&mutex_);
  for (const auto& [number, entry] : entries_) {
    if (entry.query.id == id) return entry;
  }
  return NotFound("No query '" + BoundedText(id, 100) + "' is running.");
}

StatusOr<RunningQuery> QueryRegistry::Find(std::string_view id) const {
  ASSIGN_OR_RETURN(Entry entry, EntryOf(id));
  entry.query.elapsed_us = (NowNs() - entry.started_ns) / 1000;
  entry.query.wants_operators = true;
  if (entry.control->measure) entry.control->measure(&entry.query);
  return std::move(entry.query);
}

Status QueryRegistry::Cancel(std::string_view id, const Status& why) {
  ASSIGN_OR_RETURN(const Entry entry, EntryOf(id));
  if (entry.control->cancel) entry.control->cancel(why);
  return OkStatus();
}

void QueryRegistry::Close() {
  MutexLock lock(&mutex_);
  closed_ = true;
}

void QueryRegistry::CancelAll(const Status& why) {
  std::vector<std::shared_ptr<const QueryControl>> controls;
  {
    MutexLock lock(&mutex_);
    for (const auto& [number, entry] : entries_) controls.push_back(entry.control);
  }
  for (const auto& control : controls) {
    if (control->cancel) control->cancel(why);
  }
}

size_t QueryRegistry::num_tickets() const {
  MutexLock lock(&mutex_);
  return num_tickets_;
}

}  // namespace koios::server
