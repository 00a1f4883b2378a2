// GraphLook: the schema and the statistics as the planner has them; GraphSeen: what planning has
// looked at of them, so that a plan can be kept as long as that is the same. Commits make new
// schemas all the time, whose counts are other ones, and folds new statistics.
// Rule: nobody who plans gets at either but through a look.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/schema.h"
#include "core/statistics/graph_statistics.h"

namespace koios::planner {

// A copy of both; many kept plans share one.
struct GraphFacts {
  bool has_schema = false;
  bool has_statistics = false;
  Schema schema;
  GraphStatistics statistics;

  bool AreOf(const Schema* of, const GraphStatistics* with) const;
  size_t ByteSize() const;
};
// Null: there are too many to be compared for each request.
std::shared_ptr<GraphFacts> FactsOf(const Schema* schema, const GraphStatistics* statistics);

class GraphSeen {
 public:
  // Facts() are missing: they are those that were planned with.
  bool NeedsFacts() const { return looked_at_all_; }
  void SetFacts(std::shared_ptr<const GraphFacts> facts) { facts_ = std::move(facts); }
  // The plan would be the same with these. REQUIRES: the facts are set, if they are needed.
  bool Holds(const Schema* schema, const GraphStatistics* statistics) const;
  // Without the facts.
  size_t ByteSize() const;

 private:
  friend class GraphLook;
  // Which of them there were, looked at or not.
  bool has_schema_ = false;
  bool has_statistics_ = false;
  bool looked_at_all_ = false;
  bool looked_at_indexes_ = false;
  // Whether there are so many elements; 0: nobody asked.
  uint64_t asked_elements_ = 0;
  bool has_elements_ = false;
  VertexIndexes indexes_;
  std::map<std::string, LabelId> labels_;
  std::map<KeyId, std::string> keys_;
  std::shared_ptr<const GraphFacts> facts_;
};

class GraphLook {
 public:
  GraphLook() = default;
  // Null: not known. `seen` outlives all copies.
  GraphLook(const Schema* schema, const GraphStatistics* statistics, GraphSeen* seen = nullptr);

  bool knows_schema() const { return schema_ != nullptr; }
  bool knows_statistics() const { return statistics_ != nullptr; }
  const Schema* schema() const {
    LookAtAll();
    return schema_;
  }
  const GraphStatistics* statistics() const {
    LookAtAll();
    return statistics_;
  }
  void LookAtAll() const {
    if (seen_ != nullptr) seen_->looked_at_all_ = true;
  }
  // Only of this may the caller's choice depend: which indexes there are, by which keys, and what
  // the ids of the labels are; `labels` are not empty. Null: there is no schema or no index.
  const Schema* Indexes(const std::vector<std::string>& labels) const;
  // So many vertices and edges, as far as is known. Asked with one number only.
  bool HasAtLeast(uint64_t elements) const;

 private:
  const Schema* schema_ = nullptr;
  const GraphStatistics* statistics_ = nullptr;
  GraphSeen* seen_ = nullptr;
};

}  // namespace koios::planner
