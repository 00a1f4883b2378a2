// The or() or the and() of conditions that are asked one after the other: TinkerPop asks no further
// once one has decided, and Koios asks all rows, but where a condition may raise.
#pragma once

#include <utility>
#include <vector>

#include "planner/op_table.h"
#include "planner/steps/builder.h"

namespace koios::planner {

class RunningFlag {
 public:
  explicit RunningFlag(plan::FunctionRef connective) : connective_(connective) {}

  void Add(ExpressionPtr flag) { fresh_.push_back(std::move(flag)); }

  // Of all so far, stored, so that it stays small; null: of none.
  ExpressionPtr Stored(Builder* builder) {
    if (fresh_.empty()) return stored_;
    if (stored_ != nullptr) fresh_.push_back(stored_);
    stored_ = Named(builder->Store(CallOf(connective_, std::exchange(fresh_, {}))));
    return stored_;
  }

 private:
  plan::FunctionRef connective_;
  std::vector<ExpressionPtr> fresh_;  // since it was stored
  ExpressionPtr stored_;
};

// Before the operations of a child that may raise: rows pass for which nothing in `any` holds yet,
// and all in `all` does.
inline void AskOnlyUndecided(RunningFlag* any, RunningFlag* all, Builder* builder, Chain* child) {
  if (!Raises(*child)) return;
  std::vector<ExpressionPtr> conditions;
  if (const ExpressionPtr decided = any->Stored(builder)) {
    conditions.push_back(CallOf("not", {decided}));
  }
  if (const ExpressionPtr holds = all->Stored(builder)) conditions.push_back(holds);
  if (conditions.empty()) return;
  const ExpressionPtr undecided =
      conditions.size() == 1 ? conditions[0] : CallOf("and", std::move(conditions));
  child->ops.insert(child->ops.begin(), builder->Place(Filter{undecided}));
}

}  // namespace koios::planner
