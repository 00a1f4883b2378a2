// CostModel: how many rows are expected behind each operation of a logical traversal, and how much
// work it is. A unit of work is about that of handing on one row; it is good for comparing two ways
// to the same answer, and for nothing else. Pure; any thread.
#pragma once

#include <span>
#include <vector>

#include "planner/cost/estimates.h"
#include "planner/cost/stream.h"
#include "planner/logical.h"

namespace koios::planner {

// What became of a child chain: of one entering row each, in a local scope; else of all of them.
struct Passed {
  Stream behind;
  double work = 0;
};

class CostModel {
 public:
  // Of schema and statistics of the graph that the traversal reads.
  explicit CostModel(const Chain& root);

  const Estimates& estimates() const { return estimates_; }

  // What enters a child of the op when this enters the op.
  Stream Entering(const Op& op, const Stream& before) const;
  // From before the op to behind it; `children`: of each child, in order. Returns the work.
  double Pass(const Op& op, std::span<const Passed> children, Stream* stream) const;
  // The same with all that is in it.
  double Pass(const Op& op, Stream* stream) const;
  Passed PassAll(const Chain& chain, Stream before) const;
  std::vector<Passed> PassChildren(const Op& op, const Stream& before) const;

 private:
  explicit CostModel(const Source& all);

  Estimates estimates_;
};

// The share of rows that a child which is asked whether it gives anything lets pass.
double ShareThatGive(const Passed& body);

}  // namespace koios::planner
