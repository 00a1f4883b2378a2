// BackwardWalk: from the ends of a walk towards its start, a hop at a time: the vertices from which
// the hops passed so far lead to an end. At depth d they stand at position k - d, and have passed
// the filter there. Whoever walks forward need come only so far, and look up.
// Rule: it is never needed. Where it would take more than its bound, or than the account has, it
// stays as deep as it is.
#pragma once

#include <optional>
#include <vector>

#include "engine/op/walk/vertex_bag.h"
#include "engine/op/walk/walk.h"

namespace koios::engine {

class BackwardWalk {
 public:
  // What it may keep at most; and of what the query had left when it began, which part.
  static constexpr int64_t kMostBytes = int64_t{64} << 20;
  static constexpr int64_t kShareOfRoom = 4;

  // `counts`: how many walks there are is asked for, too.
  BackwardWalk(Walk* walk, bool counts, OperatorHost* host)
      : walk_(walk), counts_(counts), host_(host), known_(counts), next_(counts) {}
  ~BackwardWalk() { Forget(); }
  BackwardWalk(const BackwardWalk&) = delete;
  BackwardWalk& operator=(const BackwardWalk&) = delete;

  // From this end; it has depth 0 then.
  Status Begin(VertexRef end);
  // From all ends, which are yet to be found.
  void BeginWithEnds();

  bool has_ends() const { return has_ends_; }
  size_t depth() const { return depth_; }
  // It goes no deeper.
  bool is_over() const { return over_; }
  // Edges that the next hop would walk along, about: 0 when there are none. REQUIRES: has_ends, not
  // is_over.
  StatusOr<int64_t> NextCost();
  // A batch's share of the way to the next depth, or of finding the ends.
  Status Proceed();
  // Vertices looked at and edges walked along so far.
  size_t work() const { return work_; }
  // What stopped it, when that was the account.
  const Status& refused() const { return refused_; }

  bool Contains(VertexRef vertex) const { return known_.Contains(vertex); }
  // Walks from it to the ends. REQUIRES: it counts.
  int64_t TimesOf(VertexRef vertex) const { return known_.TimesOf(vertex); }

 private:
  size_t hops() const { return walk_->hops.size(); }
  BoundHop& hop() const { return walk_->hops[hops() - 1 - depth_]; }
  void Start();
  Status FindEnds();
  Status BeginHop();
  Status WalkOn();
  Status ExpandSome(size_t at_once);
  Status Meet(const storage::Expansion& expansion);
  // What is asked about what comes next; null: nothing.
  VertexFilter* FilterBehind() const;
  // Adds what may stand at the next position. What is fresh goes to `fresh`.
  Status AddNext(std::vector<VertexRef> vertices, std::vector<int64_t> times,
                 std::vector<VertexRef>* fresh);
  void EndHop();
  // True: the status is none of the query, only of this walk.
  bool GivesUp(const Status& status);
  Status Charge(size_t vertices);
  void Forget();

  Walk* const walk_;
  const bool counts_;
  OperatorHost* const host_;
  VertexBag known_;                  // at this depth
  VertexBag next_;                   // and of the next one so far
  std::vector<VertexRef> frontier_;  // those of known_, each once
  std::vector<VertexRef> next_frontier_;
  std::vector<VertexRef> round_;   // being expanded
  std::vector<int64_t> times_;     // of round_, when it counts
  std::vector<VertexRef> behind_;  // of a hop that repeats: to be expanded next
  storage::ExpandCursor cursor_;
  CallSize expanded_ = ExpandedInACall();
  bool walking_ = false;  // a hop is under way
  bool has_ends_ = false;
  bool over_ = true;
  size_t depth_ = 0;
  size_t work_ = 0;
  std::optional<int64_t> next_cost_;
  int64_t charged_ = 0;  // for the lists
  int64_t most_bytes_ = kMostBytes;
  Status refused_;
};

}  // namespace koios::engine
