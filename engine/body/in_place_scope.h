// A scope in place: its body runs for many rows at once, as a stream operator of its own, instead
// of as an instance per row. Of `where(out().has('x', 1))` a batch of vertices becomes a batch of
// neighbours that knows which vertex each came from; nothing parks, no weight is split, nothing is
// sent. The planner says where (ScopeEnter.in_place): bodies that are chains of operators that
// neither hold rows of others back nor leave the worker.
//
// Rows go deepest first, so that what waits is a batch per operator of the body. They stay in the
// order of the rows that they came from: as soon as a result of one row is there, all rows before
// it have had theirs. Barriers in the body keep their state by instance; the instances are
// numbered here, and nobody else knows of them.
#pragma once

#include <cstdint>
#include <memory>

#include "core/status.h"
#include "engine/op/operator.h"
#include "proto/plan.pb.h"

namespace koios::engine {

// What the body asks of the driver.
class BodyHost {
 public:
  virtual ~BodyHost() = default;
  // Of an operator of the plan.
  virtual OperatorHost* HostOf(uint32_t op) = 0;
  virtual uint64_t NowNanos() = 0;
  // An operator of the body has been called once, which took so long.
  virtual void Count(uint32_t op, uint64_t rows_in, const Batch& given, uint64_t nanos) = 0;
  // What all these calls have taken so far.
  virtual uint64_t CountedNanos() const = 0;
  // Work of all bodies so far, in rows. A call of a scope ends when it and the scopes inside it
  // have done their share together.
  uint64_t work() const { return work_; }
  void AddWork(uint64_t rows) { work_ += rows; }

 private:
  uint64_t work_ = 0;
};

// The scope that begins with the operator `enter` and ends with its ScopeExit. A call gives at most
// `most_rows` rows. INTERNAL: the body has an operator that can't run in place. `plan` and `host`
// outlive it.
StatusOr<std::unique_ptr<StreamOperator>> MakeInPlaceScope(const plan::Plan& plan, uint32_t enter,
                                                           size_t most_rows, BodyHost* host);

}  // namespace koios::engine
