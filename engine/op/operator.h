// Operators. Three small interfaces; queues, weights, accounting, statistics, cancellation and the
// copying of untouched slots are the driver's (sched/query_run.h), never an operator's.
// An operator belongs to one query on one worker: no synchronisation. It never blocks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "engine/account/leftover.h"
#include "engine/account/state_account.h"
#include "engine/batch/batch.h"
#include "engine/effect/side_effects.h"
#include "engine/expr/expression.h"
#include "engine/op/state/top_bound.h"
#include "proto/plan.pb.h"
#include "storage/graph_view.h"
#include "storage/transaction/transaction.h"

namespace koios::engine {

class SpillFile;  // engine/spill/spill_space.h

// State is kept per instance and iteration.
struct StateKey {
  InstanceId instance;
  Loops loops;
  bool operator==(const StateKey&) const = default;
};

// What an operator may ask of its driver.
class OperatorHost : public StateAccount, public LeftoverTaker {
 public:
  virtual const storage::GraphView& view() const = 0;
  // The view, when the query may change it; nullptr else.
  virtual storage::Transaction* transaction() const = 0;
  virtual const Clock& clock() const = 0;
  // Of this operator alone; the same for the same seed of the query.
  virtual Rng& random() = 0;
  virtual SideEffects& side_effects() = 0;
  // Of this worker, for the query.
  virtual PathLedger& paths() = 0;
  virtual TopBounds& top_bounds() = 0;
  EvalSources sources() {
    return {&view(), &side_effects(), &random(),       &paths(),
            nullptr, &clock(),        account().get(), this};
  }
  ChargeFunction charge() {
    return [this](int64_t bytes) { return ChargeState(bytes); };
  }
  // Rows of this instance and iteration need not come any more: what leads only here may stop.
  virtual void CloseUpstream(const StateKey& key) = 0;
  // What the query has charged, on all workers.
  virtual const std::shared_ptr<MemoryAccount>& account() const = 0;
  // Frees it before anything else of the query goes on here, and gives back what it has charged.
  virtual void Leave(std::unique_ptr<Leftover> leftover, int64_t charged) {
    leftover.reset();
    (void)ChargeState(-charged);
  }
  void Take(std::unique_ptr<Leftover> leftover, MemoryCharge charge) override {
    leftover.reset();
    charge.Reset();
  }
  // Whether there is a place on disk for what does not fit into memory.
  virtual bool may_spill() const = 0;
  // For rows that go to disk, of this operator alone. REQUIRES: the driver has asked it to spill.
  virtual StatusOr<SpillFile*> spill_file() = 0;
  // What is less is not worth it.
  virtual int64_t least_spill_bytes() const = 0;
  // Whether rows may rest until all have come (OpOutput::rests): not where a loop may be endless.
  virtual bool may_rest() const = 0;
  // All that can go to disk does, as soon as it is there: in tests.
  virtual bool spills_early() const = 0;
};

// Where a stream operator stands in a batch that takes it more than one call.
struct StreamCursor {
  virtual ~StreamCursor() = default;
};

// What a stream operator made of (a part of) one input batch.
struct OpOutput {
  // Set by the driver, for operators that make several rows of one: as many may come out in this
  // call. Fewer than kBatchRows when the slots that every row keeps are wide.
  size_t limit = kBatchRows;
  // The operator's own, kept by the driver from call to call until the batch is done: nothing at
  // the batch's first call.
  std::unique_ptr<StreamCursor> cursor;
  std::vector<uint32_t> origin;  // input row of each output row, ascending; unused when identity
  bool identity = false;         // every input row comes out once, in one call
  int slot = -1;                 // which slot `column` replaces; -1: none
  Column column;
  bool rests = false;     // some of the rows wait until all have come (StreamOperator::Fire)
  bool has_bulk = false;  // `bulk` replaces the input's bulk
  std::vector<int64_t> bulk;

  // Edge ends that were looked at and of which no rows were made: as many rows, when it is asked
  // whether the query has much to do.
  size_t looked_at = 0;

  size_t rows(const Batch& input) const { return identity ? input.rows : origin.size(); }
};

// The batch that comes of an output and its input: the written slot is the operator's, the others
// are the input's. drops[s]: nobody behind reads slot s; one for each slot of the plan. Without
// runs. `output` keeps its origins.
Batch OutputBatch(const Batch& input, const std::vector<bool>& drops, OpOutput* output);
// How many rows may come of an input in one call, by the bytes of the slots that stay. A path is as
// wide as what the rows do not share of it. As paths grow from hop to hop, a batch is not cut
// before it is twice too large, and then in equal parts: else each hop would leave a rest of a few
// rows.
size_t OutputRoom(const Batch& input, const std::vector<bool>& drops);

// The error's step and position, for a limit hit or a value that does not fit.
ErrorDetail DetailFor(const plan::Operator& op);

// What an operator keeps and could put on disk. The driver decides who does, and when.
class Spiller {
 public:
  virtual ~Spiller() = default;
  // Of what it keeps: could go to disk now.
  virtual int64_t SpillableBytes() const { return 0; }
  // Of what is coming out: could go there as well, which is of use only where nobody takes it.
  virtual int64_t GivingBytes() const { return 0; }
  // It has no room for what comes next, and goes on when some of that is there.
  virtual bool must_spill() const { return false; }
  // A slice of putting some there. True: some has gone, and its memory is free, or there is nothing
  // left to go. Called until then, before anything else but Release.
  virtual StatusOr<bool> Spill() { return true; }
};

// Rows in, rows out, batch by batch. Resumable: Process is called with the same batch until it says
// done; each call gives at most output->limit rows and about kBatchBytes, or a row per input row.
class StreamOperator : public Spiller {
 public:
  virtual Status Process(const Batch& input, OpOutput* output, bool* done) = 0;
  // In the middle of a batch: its rows before `row` need give nothing more. In `where(out().out())`
  // they are of instances that have had their answer. `cursor`: what the last call left in its
  // output. False: it can't skip now, and goes on as if it had not been asked.
  // REQUIRES: the batch has such a row.
  virtual bool SkipTo(size_t row, StreamCursor* cursor) {
    (void)row, (void)cursor;
    return false;
  }
  // Of an operator some of whose rows rest (plan::MayRest): as a barrier's.
  virtual Status Fire(const StateKey& key, Batch* output, bool* done) {
    (void)key, (void)output;
    *done = true;
    return Internal("No rows rest here.");
  }
  // Whether it keeps something between two calls with the same batch, but for the output's cursor.
  // In a loop each iteration then has one of its own; else they share one.
  virtual bool keeps_cursor() const { return true; }
  // The instance is over (complete or closed): its state may go.
  virtual void Release(const InstanceId& instance) { (void)instance; }
  // Bytes that it keeps and has not charged itself: its tables of instances.
  virtual size_t HeldBytes() const { return 0; }
};

// Keeps rows until its instance is quiescent, at the instance's home.
class BarrierOperator : public Spiller {
 public:
  virtual Status Absorb(const Batch& input) = 0;
  // Some of the work that the batch absorbed last has left to do; false: there is none. Called
  // until then, before another batch comes.
  virtual StatusOr<bool> Proceed(const Batch& input) {
    (void)input;
    return false;
  }
  // Appends the rows (without runs) of one instance and iteration, as long as `output` has fewer
  // than kBatchRows; it may hold those of others. May give none, and may be called often until it
  // does: one call does a bounded share of the work. Also called for barriers that were armed but
  // absorbed nothing.
  virtual Status Fire(const StateKey& key, Batch* output, bool* done) = 0;
  virtual void Release(const InstanceId& instance) { (void)instance; }
  virtual size_t HeldBytes() const { return 0; }
};

// Holds rows back to make fewer of them: a share of a barrier's work (Reduce), distinct rows
// (Merge). Keeps a weight per instance and iteration that it holds rows of.
class PartialOperator {
 public:
  virtual ~PartialOperator() = default;
  // `returned` gets the runs whose weight is not needed any more (count is ignored).
  virtual Status Absorb(const Batch& input, std::vector<Run>* returned) = 0;
  // Rows of this iteration must go before more of them come.
  virtual bool IsFull(const Loops& iteration) const = 0;
  // The first iteration that it holds rows of and that passes `may`; null: there is none.
  virtual const Loops* First(const std::function<bool(const Loops&)>& may) = 0;
  // At most kBatchRows rows of one iteration, with their runs; may give none.
  virtual Status Flush(const Loops& iteration, Batch* output, std::vector<Run>* returned) = 0;
  // When nothing else can run it goes before operators of which this is not true, and those nearer
  // to the source go first: what they lead to may be held back again further on.
  virtual bool flushes_first() const { return false; }
  virtual size_t HeldBytes() const { return 0; }
};

struct OperatorBundle {
  std::unique_ptr<StreamOperator> stream;
  std::unique_ptr<BarrierOperator> barrier;
  std::unique_ptr<PartialOperator> partial;

  // nullptr: it keeps nothing that could go to disk.
  Spiller* spiller() const {
    if (stream != nullptr) return stream.get();
    return barrier.get();
  }
  size_t HeldBytes() const {
    return (stream == nullptr ? 0 : stream->HeldBytes()) +
           (barrier == nullptr ? 0 : barrier->HeldBytes()) +
           (partial == nullptr ? 0 : partial->HeldBytes());
  }
};

// Makes the operator of one plan entry; all empty for those that the driver itself is (Exchange,
// Split, scopes, loops, Sink). UNIMPLEMENTED for one not there yet.
StatusOr<OperatorBundle> MakeOperator(const plan::Operator& op, uint32_t num_slots,
                                      OperatorHost* host);

}  // namespace koios::engine
