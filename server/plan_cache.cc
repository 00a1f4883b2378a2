#include "server/plan_cache.h"

#include <algorithm>
#include <utility>

#include "core/value_codec.h"

namespace koios::server {
namespace {

int64_t BytesOf(const std::string& key, const KeptPlan& kept) {
  size_t bytes = sizeof(KeptPlan) + 2 * key.size() + kept.plan_bytes + kept.planned.seen.ByteSize();
  for (const planner::PlanHole& hole : kept.planned.holes) {
    bytes += sizeof(hole) + hole.parameter.size() + hole.path.size() * sizeof(hole.path[0]);
  }
  for (const auto& [name, times] : kept.planned.named_again) bytes += name.size() + 96;
  for (const auto& [name, value] : kept.values) bytes += 2 * name.size() + value.size() + 128;
  return static_cast<int64_t>(bytes);
}

}  // namespace

bool KeptPlan::Fits(const Schema& schema, const GraphStatistics* statistics,
                    const std::map<std::string, Value>& parameters) const {
  for (const auto& [name, value] : values) {
    const auto found = parameters.find(name);
    if (found == parameters.end() || EncodeValue(found->second) != value) return false;
  }
  return planned.seen.Holds(&schema, statistics);
}

uint64_t KeptPlan::BytesNamedAgain(const std::map<std::string, Value>& parameters) const {
  uint64_t bytes = 0;
  for (const auto& [name, times] : planned.named_again) {
    const auto found = parameters.find(name);
    if (found != parameters.end()) bytes += times * found->second.FlatBytes();
  }
  return bytes;
}

PlanCache::~PlanCache() {
  MutexLock lock(&mutex_);
  while (!entries_.empty()) DropEntry(std::prev(entries_.end()));
}

std::string PlanCache::KeyOf(std::string_view graph, std::string_view text,
                             const std::map<std::string, Value>& parameters,
                             bool whole_results) const {
  std::string key;
  key.reserve(graph.size() + text.size() + 16 * parameters.size() + 16);
  const auto add = [&key](std::string_view part) {
    const auto size = static_cast<uint32_t>(part.size());
    key.append(reinterpret_cast<const char*>(&size), sizeof(size));
    key.append(part);
  };
  add(graph);
  add(text);
  key.push_back(whole_results ? 1 : 0);
  for (const auto& [name, value] : parameters) {
    add(name);
    key.push_back(static_cast<char>(value.kind()));
    if (key.size() > limits_.text_bytes) return "";
  }
  return key.size() > limits_.text_bytes ? "" : key;
}

std::shared_ptr<const KeptPlan> PlanCache::Find(const std::string& key, const Test& fits) {
  Plans plans;
  {
    MutexLock lock(&mutex_);
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      plans = found->second->plans;
      entries_.splice(entries_.begin(), entries_, found->second);
    }
  }
  const auto one =
      std::find_if(plans.begin(), plans.end(), [&fits](const auto& plan) { return fits(*plan); });
  MutexLock lock(&mutex_);
  ++(one == plans.end() ? counts_.misses : counts_.hits);
  return one == plans.end() ? nullptr : *one;
}

void PlanCache::Keep(const std::string& key, std::string_view source,
                     const planner::PlanContext& context, const planner::PlannedQuery& planned) {
  if (key.empty() || !planned.keeps) return;
  auto kept = std::make_shared<KeptPlan>();
  kept->source = source;
  kept->planned = planned;
  kept->plan_bytes = kept->planned.plan.SpaceUsedLong();
  size_t value_bytes = 0;
  for (const std::string& name : planned.looked_at) {
    std::string& value = kept->values[name] = EncodeValue(context.parameters.at(name));
    value_bytes += value.size();
  }
  if (value_bytes > limits_.value_bytes) return;
  const int64_t bytes = BytesOf(key, *kept);
  MutexLock lock(&mutex_);
  if (planned.seen.NeedsFacts()) {
    auto facts = FactsOf(context);
    if (facts == nullptr) return;
    kept->planned.seen.SetFacts(std::move(facts));
  }
  if (!MakeRoom(bytes)) return;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    entries_.push_front({key, {}, {}});
    by_key_[entries_.front().key] = entries_.begin();
  } else {
    entries_.splice(entries_.begin(), entries_, found->second);
  }
  Entry& entry = entries_.front();
  for (size_t i = entry.plans.size(); i-- > 0;) {
    if (entry.plans[i]->values == kept->values) DropPlan(&entry, i);
  }
  entry.plans.insert(entry.plans.begin(), std::move(kept));
  entry.bytes.insert(entry.bytes.begin(), bytes);
  if (entry.plans.size() > limits_.plans_per_text) DropPlan(&entry, entry.plans.size() - 1);
  if (entries_.size() > limits_.texts) DropEntry(std::prev(entries_.end()));
}

std::shared_ptr<const planner::GraphFacts> PlanCache::FactsOf(const planner::PlanContext& context) {
  constexpr size_t kMostKnown = 16;
  for (const auto& known : facts_) {
    auto facts = known.lock();
    if (facts != nullptr && facts->AreOf(context.schema, context.statistics)) return facts;
  }
  auto made = planner::FactsOf(context.schema, context.statistics);
  if (made == nullptr) return nullptr;
  const auto bytes = static_cast<int64_t>(made->ByteSize());
  if (!MakeRoom(bytes)) return nullptr;
  std::shared_ptr<const planner::GraphFacts> facts(
      made.get(), [made, bytes, account = account_](const planner::GraphFacts*) mutable {
        account->Release(bytes);
        made.reset();
      });
  if (facts_.size() == kMostKnown) facts_.pop_back();
  facts_.push_front(facts);
  return facts;
}

// Charges it when there is room, or can be.
bool PlanCache::MakeRoom(int64_t bytes) {
  if (bytes > account_->limit()) return false;
  while (!account_->TryCharge(bytes)) {
    if (entries_.empty()) return false;
    DropEntry(std::prev(entries_.end()));
  }
  return true;
}

void PlanCache::DropPlan(Entry* entry, size_t at) {
  account_->Release(entry->bytes[at]);
  entry->plans.erase(entry->plans.begin() + static_cast<std::ptrdiff_t>(at));
  entry->bytes.erase(entry->bytes.begin() + static_cast<std::ptrdiff_t>(at));
  ++counts_.evictions;
}

void PlanCache::DropEntry(Entries::iterator entry) {
  while (!entry->plans.empty()) DropPlan(&*entry, entry->plans.size() - 1);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

PlanCacheCounts PlanCache::counts() const {
  MutexLock lock(&mutex_);
  PlanCacheCounts counts = counts_;
  counts.texts = entries_.size();
  counts.bytes = static_cast<uint64_t>(account_->used());
  return counts;
}

}  // namespace koios::server
