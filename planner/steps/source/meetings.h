// Where TinkerPop makes one of traversers that are equal. With withBulk(false), and where sacks are
// put together, that can be seen in the answer: at barriers, and behind steps that lead from one
// traverser to several, where its LazyBarrierStrategy puts barriers of its own. Those take 2,500
// traversers at a time; here all of them meet.
// Rule: what can't be told of a traversal is refused.
#pragma once

#include <span>

#include "parser/ast.h"
#include "planner/logical.h"
#include "planner/steps/source/configuration.h"

namespace koios::planner {

struct StepCall;

// UNIMPLEMENTED for what may meet in other places than these. REQUIRES: meetings show.
Status CheckMeetings(const parser::Traversal& root, const SackSettings& sacks);

// Follows the steps of one traversal.
class Meetings {
 public:
  // `lazy`: as TinkerPop, which puts no barriers of its own into traversals that read paths.
  Meetings(const SackSettings& sacks, bool lazy, std::span<const parser::Call> calls);

  // The step is a barrier, but for barrier() itself, or a loop, which begins with all traversers.
  bool Before(const StepCall& step) const;
  // `first`: nothing stands before the step. `next`: null at the end.
  bool Behind(const StepCall& step, bool first, const parser::Call* next);

 private:
  const bool show_;
  bool lazy_;
  bool spread_ = false;
  bool both_edges_ = false;  // the step before was bothE()
};

Barrier MeetingOf(const SackSettings& sacks, bool normalise, bool by_path);

}  // namespace koios::planner
