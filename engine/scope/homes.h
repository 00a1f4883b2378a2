// Home: the account of one instance at the worker where it began (DESIGN 5.2, 5.3), and, for a
// local scope's instance, the parked row that its results are combined with. Touched by that worker
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exchange/frame.h"
#include "engine/scope/weight.h"

namespace koios::engine {

// The rows that entered a scope together. They share the weights of the runs they came in.
struct Parked {
  struct OuterRun {
    InstanceId instance;
    Loops loops;
    WeightPool pool;
    uint32_t waiting = 0;       // rows not yet through with the scope
    uint64_t first_serial = 0;  // of the instances that its rows began, one after the other
  };
  Batch batch;
  std::vector<OuterRun> runs;
  int64_t charged = 0;
};

struct Home {
  InstanceId instance;
  WeightSum weight;                 // what has come back; 1: quiescent
  std::vector<BarrierKey> pending;  // armed, or holding rows

  // Of a local scope's instance.
  uint32_t enter = 0;  // the ScopeEnter
  std::shared_ptr<Parked> parked;
  uint32_t row = 0;          // in parked->batch
  uint32_t run = 0;          // in parked->runs
  uint32_t alternative = 0;  // which body runs
  uint32_t num_results = 0;  // rows that left the scope for it
  bool productive = false;   // the body gave something
  bool close_sent = false;   // others drop its rows until they are told of its end
  bool closed = false;       // nothing more is needed of it: a tombstone until the weight is whole
};

}  // namespace koios::engine
