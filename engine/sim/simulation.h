// Simulation: the same workers in one thread, under a schedule drawn from a seed. Frames are
// serialised (by default) and wait in one queue per (from, to, channel); which worker steps and
// which queue delivers next is random, so pairs overtake each other as they would on a network. A
// hang is a state where nobody can move and the query is not over.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/random.h"
#include "engine/engine.h"
#include "engine/sched/worker.h"

namespace koios::engine {

// What the simulated network may do wrong, from the `fault_at`th frame on that it can be done to:
// to show that the promises below do not hold then.
enum class NetworkFault {
  kNone,
  kDropReport,      // weight is lost
  kDoubleReport,    // weight comes home twice
  kForgetBarriers,  // a report without the barriers that wait
  kDropData,        // rows are lost, and their weight
  kDropAck,         // a place in the sender's window is lost
};

struct SimulationOptions {
  uint64_t seed = 1;
  uint32_t num_workers = 4;
  bool serialize = true;
  bool shared_view = false;  // rows stay at a worker, which reads what others own
  bool isolated = false;     // no worker can
  uint64_t spread_after_rows = 0;
  WorkerBounds bounds;
  uint32_t deliver_percent =
      50;  // how often a turn delivers a frame rather than lets a worker step
  uint64_t memory_limit_bytes = 0;   // 0: none
  bool has_disk = false;             // for what does not fit
  bool spills = false;               // and what can goes there as soon as it is there
  uint64_t fail_from_spill = 0;      // from that write on the disk is full; 0: never
  uint64_t damage_from_read = 0;     // from that read on it is damaged; 0: never
  uint64_t refuse_from_charge = 0;   // from that one on charges are refused; 0: never
  uint64_t refused_charges = 0;      // so many, and no other; 0: all
  uint64_t max_turns = 20'000'000;   // past it the query counts as never ending
  uint32_t sink_window = 4;          // batches the client takes before it pauses for a while
  uint64_t stall_after_batches = 0;  // then it does not read at all for so many turns; 0: it reads
  uint64_t stall_turns = 0;          // 0: never again, so that a cancel or a deadline is needed
  uint64_t turn_ns = 1000;           // what the clock goes on by in a turn
  uint64_t deadline_ns = 0;          // of the query, on that clock; 0: none
  uint64_t lease_ns = 0;             // of a part without a word from its coordinator; 0: none
  uint32_t slow_workers = 0;         // the first so many miss most of their turns
  uint64_t cancel_after_turns = 0;   // 0: never
  std::function<void()> beside;      // called before each turn: what else happens to the graph
  std::function<void(int64_t charged)> watch;  // likewise, with what the query has charged
  uint64_t first_turn_slices = 0;  // so many run before a worker has the query (first_turn.h)
  bool profile = false;
  NetworkFault fault = NetworkFault::kNone;
  uint64_t fault_at = 1;
  // Of a plan that changes the graph; also its view.
  std::shared_ptr<storage::Transaction> transaction;
};

struct SimulationResult {
  Status status;            // of the query; INTERNAL for a broken promise, with what was broken
  std::vector<Value> rows;  // bulk unrolled, in order of arrival
  uint64_t turns = 0;
  uint64_t frames = 0;
  // Encoded, and the rows in them: what a network between processes would carry, but for what
  // stays at its worker. 0 where nothing is serialised.
  uint64_t wire_bytes = 0;
  uint64_t wire_rows = 0;
  uint64_t charges = 0;  // how often memory was asked for, on all workers
  uint64_t peak_bytes = 0;
  std::vector<uint64_t> peaks;  // of each worker, as its own accounts have it; where serialised
  uint64_t peak_in_flight = 0;  // of frames of rows, sent to one worker, that it was not done with
  std::vector<OperatorStats> operators;
  // With `profile`: the same of each worker, and which one coordinated.
  std::vector<std::vector<OperatorStats>> workers;
  uint32_t coordinator = 0;
};

// Runs one query to its end. Promises checked on the way: Done comes exactly once; afterwards no
// worker keeps anything of the query, and no byte stays charged.
SimulationResult Simulate(const plan::Plan& plan, std::shared_ptr<const storage::GraphView> view,
                          const SimulationOptions& options);

}  // namespace koios::engine
