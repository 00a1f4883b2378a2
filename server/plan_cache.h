// PlanCache: the plans of requests, for requests of the same text and the same names and kinds of
// parameters. Shared by all connections; any thread. The least recently used goes first, when there
// are too many, or the memory of plans is full or needed by queries.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/memory.h"
#include "core/mutex.h"
#include "planner/planner.h"

namespace koios::server {

struct KeptPlan {
  std::string source;  // the first word of the text
  planner::PlannedQuery planned;
  size_t plan_bytes = 0;                      // of its plan, without what fills its holes
  std::map<std::string, std::string> values;  // encoded, of the parameters that were looked at

  // Planning with these would give the same plan. Statistics may be null.
  bool Fits(const Schema& schema, const GraphStatistics* statistics,
            const std::map<std::string, Value>& parameters) const;
  // Of these, where the text names one that it has named before.
  uint64_t BytesNamedAgain(const std::map<std::string, Value>& parameters) const;
};

struct PlanCacheLimits {
  size_t texts = 4096;
  size_t plans_per_text = 8;  // for other values of what was looked at
  size_t text_bytes = size_t{16} << 10;
  size_t value_bytes = size_t{16} << 10;  // of what was looked at
};

struct PlanCacheCounts {
  uint64_t texts = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
  uint64_t bytes = 0;  // charged
};

class PlanCache {
 public:
  using Test = std::function<bool(const KeptPlan&)>;

  // `account` bounds its bytes.
  explicit PlanCache(MemoryAccount* account, const PlanCacheLimits& limits = {})
      : limits_(limits), account_(account) {}
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // Empty: nothing is kept for such a text. whole_results: as in planner::PlanContext.
  std::string KeyOf(std::string_view graph, std::string_view text,
                    const std::map<std::string, Value>& parameters,
                    bool whole_results = false) const;
  // One that fits, asked without a lock; null: none.
  std::shared_ptr<const KeptPlan> Find(const std::string& key, const Test& fits);
  // `planned`: of the text, in this context. It takes the place of one for the same values.
  void Keep(const std::string& key, std::string_view source, const planner::PlanContext& context,
            const planner::PlannedQuery& planned);
  PlanCacheCounts counts() const;

 private:
  using Plans = std::vector<std::shared_ptr<const KeptPlan>>;
  struct Entry {
    std::string key;
    Plans plans;  // the newest first
    std::vector<int64_t> bytes;
  };
  using Entries = std::list<Entry>;  // the most recently used first

  // A copy of the context's schema and statistics, charged as long as a plan has it; that of other
  // plans where they are the same. Null: there is no room.
  std::shared_ptr<const planner::GraphFacts> FactsOf(const planner::PlanContext& context)
      KOIOS_REQUIRES(mutex_);
  bool MakeRoom(int64_t bytes) KOIOS_REQUIRES(mutex_);
  void DropPlan(Entry* entry, size_t at) KOIOS_REQUIRES(mutex_);
  void DropEntry(Entries::iterator entry) KOIOS_REQUIRES(mutex_);

  const PlanCacheLimits limits_;
  MemoryAccount* const account_;
  mutable Mutex mutex_;
  Entries entries_ KOIOS_GUARDED_BY(mutex_);
  std::unordered_map<std::string_view, Entries::iterator> by_key_ KOIOS_GUARDED_BY(mutex_);
  // Of the graphs, and of their last versions that plans were made for; the newest first.
  std::deque<std::weak_ptr<const planner::GraphFacts>> facts_ KOIOS_GUARDED_BY(mutex_);
  PlanCacheCounts counts_ KOIOS_GUARDED_BY(mutex_);
};

}  // namespace koios::server
