// The driver's ways with each kind of operator: one batch, one invocation.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "engine/account/values_left.h"
#include "engine/batch/ordinal.h"
#include "engine/query_account.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// How long one call goes on to the next firing.
constexpr uint64_t kFiringNanos = 200'000;
// Rows that one call copies into branches.
constexpr size_t kMostSplit = 16 * 1024;

// A result that may be nobody's any more once its client has had it: then it is freed here, and its
// charge goes with it.
class ResultLeft final : public Leftover {
 public:
  explicit ResultLeft(const ResultBatch& result) : charge_(result.charge) {
    values_.Add(result.column);
  }
  bool FreeSome(int64_t*) override {
    int64_t freed = 0;
    const bool all = values_.FreeSome(&freed);
    if (all) charge_.reset();
    return all;
  }

 private:
  ValuesLeft values_;
  std::shared_ptr<const void> charge_;
};

}  // namespace

// As many rows as a batch has room for, by the slots of the input's rows that stay. Partitions come
// one after the other where the first may be enough: `V().limit(3)`.
size_t QueryRun::OutputLimit(const Node& node, const Batch& input) const {
  if (node.op->has_partitions() && shape_->IsCutShort(node.op->id())) return 1;
  // They give at most one row for each that comes.
  if (node.op->has_filter() || node.op->has_project()) return worker_.bounds.batch_rows;
  return std::min(OutputRoom(input, node.drops), worker_.bounds.batch_rows);
}

// Rows of the output, with the ordinals that they get here.
Batch QueryRun::MakeOutput(Node* node, const Input& input, OpOutput output) {
  Batch batch = OutputBatch(input.batch, node->drops, &output);
  if (node->out->ordinal_slot() != 0 && !output.identity) {
    AppendOrdinals(node, output.origin, &batch);
  }
  return batch;
}

// Numbers the output rows of each input row, over all the calls that one input batch takes. An
// unfold of the only row there is begins with this.
void QueryRun::AppendOrdinals(Node* node, const std::vector<uint32_t>& origin, Batch* batch) {
  const uint32_t slot = node->out->ordinal_slot();
  const bool carries = batch->Has(slot) && AreOrdinals(batch->slots[slot]);
  if (!carries && !node->op->has_unfold()) return;
  std::vector<uint64_t> numbers(batch->rows);
  for (size_t row = 0; row < batch->rows; ++row) {
    if (origin[row] != node->lane->ordinal_row) {
      node->lane->ordinal_row = origin[row];
      node->lane->ordinal_next = 0;
    }
    numbers[row] = node->lane->ordinal_next++;
  }
  if (!carries) batch->slots[slot].Clear();
  engine::AppendOrdinals(numbers, &batch->slots[slot]);
}

// Gives each output run its weight: of an input run that is through all that is left, else a piece.
// Of what is left one piece travels, the others go home; without output, as behind a filter, all
// do. A run is through when a later one has given rows, as operators take rows in order. With
// `last` all are. Where rows rest a piece goes home in any case, with the word that they do: what
// they wait for must not come before it.
void QueryRun::GiveWeights(const Node& node, const OpOutput& output, bool last, Batch* batch) {
  Input* input = &*node.lane->active;
  const size_t rows = output.rows(input->batch);
  size_t next = 0;  // first output row not yet covered
  while (input->run < input->batch.runs.size()) {
    const Run& run = input->batch.runs[input->run];
    const uint32_t end = input->run_begin + run.count;
    size_t until = next;
    if (output.identity) {
      until = end;
    } else if (input->run + 1 == input->batch.runs.size()) {
      until = rows;
    } else {
      while (until < rows && output.origin[until] < end) ++until;
    }
    const bool through = last || until < rows;
    const bool leaves = through && !output.rests;
    WeightPool& left = input->left[input->run];
    const uint32_t count = static_cast<uint32_t>(until - next);
    if (count > 0) {
      const uint32_t k = leaves ? left.k() : left.Take();
      batch->runs.push_back({run.instance, run.loops, count, k});
    }
    if (!through) return;
    const uint32_t home = left.left() - (count > 0 && leaves ? 1 : 0);
    if (output.rests) NoteRests(node);
    if (home > 0) ReturnWeight(run.instance, left.k(), home);
    next = until;
    input->run_begin = end;
    ++input->run;
  }
}

// The node's operator, or in loops one of its iteration when it keeps a cursor.
StatusOr<StreamOperator*> QueryRun::CodeOf(Node* node) {
  StreamOperator* code = node->code.stream.get();
  if (node->iteration.empty() || !code->keeps_cursor()) return code;
  std::unique_ptr<StreamOperator>& own = node->lane->stream;
  if (own == nullptr) {
    ASSIGN_OR_RETURN(OperatorBundle fresh, MakeCode(*node));
    own = std::move(fresh.stream);
  }
  return own.get();
}

// Passes over the runs of the active batch that nobody needs any more, as far as the cursor is at
// them: in `where(out().out())` the rest of a hub once one neighbour has been enough. Their weight
// goes home. Runs that come later are passed over when it is their turn.
Status QueryRun::SkipClosed(Node* node) {
  Input& input = *node->lane->active;
  const std::vector<Run>& runs = input.batch.runs;
  size_t next = input.run;
  uint32_t begin = input.run_begin;
  while (next < runs.size() && closings_.Drops(node->op->id(), runs[next])) {
    begin += runs[next++].count;
  }
  if (next == input.run) return OkStatus();
  ASSIGN_OR_RETURN(StreamOperator * code, CodeOf(node));
  const bool all = next == runs.size();
  if (!all && !code->SkipTo(begin, node->lane->cursor.get())) return OkStatus();
  for (size_t r = input.run; r < next; ++r) {
    ReturnWeight(runs[r].instance, input.left[r].k(), input.left[r].left());
    News(node->op->id()).rows_dropped += runs[r].count;
  }
  input.run = next;
  input.run_begin = begin;
  if (!all) return OkStatus();
  FinishInput(node);
  if (!code->keeps_cursor()) return OkStatus();
  // It is in the middle of a batch: another one takes its place.
  if (!node->iteration.empty()) {
    node->lane->stream.reset();
    return OkStatus();
  }
  ASSIGN_OR_RETURN(node->code, MakeCode(*node));
  return OkStatus();
}

Status QueryRun::RunStream(Node* node) {
  if (!node->lane->active.has_value()) {
    node->lane->active = TakeInput(node);
    node->lane->active->Divide();
  } else if (closings_.any()) {
    RETURN_IF_ERROR(SkipClosed(node));
    if (!node->lane->active.has_value()) return OkStatus();
  }
  Input& input = *node->lane->active;
  if (input.batch.rows == 0) {
    FinishInput(node);
    return OkStatus();
  }
  OpOutput output;
  output.limit = OutputLimit(*node, input.batch);
  output.cursor = std::move(node->lane->cursor);
  bool done = false;
  ASSIGN_OR_RETURN(StreamOperator * code, CodeOf(node));
  RETURN_IF_ERROR(code->Process(input.batch, &output, &done));
  if (!done) node->lane->cursor = std::move(output.cursor);
  const size_t rows = output.rows(input.batch);
  rows_seen_ += rows + output.looked_at;
  if (rows_seen_ >= worker_.spread_after_rows) spread_ = true;
  Batch weights;
  GiveWeights(*node, output, done, &weights);
  if (rows > 0) {
    Batch batch = MakeOutput(node, input, std::move(output));
    batch.runs = std::move(weights.runs);
    CountOut(node, batch);
    if (node->out != node->op) CountOut(&nodes_[node->out->id()], batch);
    // What the rows share with the input is charged once.
    if (done) FinishInput(node);
    Enqueue(node->out->next(0), std::move(batch));
  } else if (done) {
    FinishInput(node);
  }
  return OkStatus();
}

// Some rows of the root instance rest here, without a weight, as a barrier's do.
void QueryRun::NoteRests(const Node& node) {
  const BarrierKey key{node.op->id(), {}};
  AddPending({spec_->id.coordinator, 0}, key);
  if (is_coordinator()) NoteResting(key, worker_.index);
}

Status QueryRun::RunBarrier(Node* node) {
  const bool fresh = !node->lane->active.has_value();
  if (fresh) node->lane->active = TakeInput(node);
  Input& input = *node->lane->active;
  node->absorbing.reset();
  if (input.batch.rows > 0) {
    if (fresh) RETURN_IF_ERROR(node->code.barrier->Absorb(input.batch));
    ASSIGN_OR_RETURN(const bool more, node->code.barrier->Proceed(input.batch));
    if (more) {
      node->absorbing = node->iteration;
      return OkStatus();
    }
    for (const Run& run : input.batch.runs) {
      AddPending(run.instance, {node->op->id(), run.loops});
      if (run.instance.home == worker_.index)
        NoteResting({node->op->id(), run.loops}, worker_.index);
    }
    ReturnRuns(input.batch.runs);
  }
  FinishInput(node);
  return OkStatus();
}

Status QueryRun::RunPartial(Node* node) {
  node->lane->active = TakeInput(node);
  Input& input = *node->lane->active;
  if (input.batch.rows > 0) {
    std::vector<Run> returned;
    RETURN_IF_ERROR(node->code.partial->Absorb(input.batch, &returned));
    ReturnRuns(returned);
  }
  FinishInput(node);
  while (node->code.partial->IsFull(node->iteration)) {
    RETURN_IF_ERROR(FlushPartial(node, node->iteration));
  }
  return OkStatus();
}

void QueryRun::CountOut(Node* node, const Batch& batch) {
  OperatorStats& stats = News(node->op->id());
  stats.rows_out += batch.rows;
  stats.bulk_out += batch.bulk.empty() ? batch.rows : 0;
  for (const int64_t bulk : batch.bulk) stats.bulk_out += static_cast<uint64_t>(bulk);
}

// Fires barriers of one iteration into one batch, as long as it has room and the call has not taken
// long. In `local(out().count())` each instance's makes one row.
Status QueryRun::RunFiring(Node* node) {
  const uint64_t begin = worker_.clock->NowNanos();
  const int64_t kept = node->host->state_bytes;
  Fifo<Firing>* firings = node->firings.Find(node->iteration);
  Batch batch;
  batch.slots.resize(spec_->plan.num_slots());
  bool done = true;
  do {
    RETURN_IF_ERROR(FireNext(node, &firings->front(), &batch, &done));
    if (done) {
      TellSorted(*node, firings->front());
      firings->pop_front();
    }
  } while (done && !firings->empty() && batch.rows < worker_.bounds.batch_rows && !IsCrowded() &&
           kept - node->host->state_bytes < static_cast<int64_t>(kBatchBytes) &&
           worker_.clock->NowNanos() - begin < kFiringNanos);
  node->firings.Trim(node->iteration);
  return GiveFired(node, std::move(batch));
}

// Rows that a barrier gives are in order, and numbered where somebody asks for it.
Status QueryRun::GiveFired(Node* node, Batch batch) {
  if (batch.rows == 0) return OkStatus();
  if (node->op->ordinal_slot() != 0) {
    std::vector<uint64_t> numbers(batch.rows);
    std::iota(numbers.begin(), numbers.end(), node->ordinal_fired);
    node->ordinal_fired += batch.rows;
    Column* ordinals = &batch.slots[node->op->ordinal_slot()];
    ordinals->Clear();
    engine::AppendOrdinals(numbers, ordinals);
  }
  for (uint32_t slot : node->op->drop_slots()) batch.slots[slot].Clear();
  CountOut(node, batch);
  Enqueue(node->op->next(0), std::move(batch));
  return OkStatus();
}

Status QueryRun::FireNext(Node* node, Firing* firing, Batch* batch, bool* done) {
  const InstanceId instance = firing->key.instance;
  const size_t rows_before = batch->rows;
  *done = true;
  const Run run{instance, firing->key.loops, 0, 0};
  if (!closings_.any() || !closings_.Drops(node->op->id(), run)) {
    RETURN_IF_ERROR(node->code.barrier != nullptr
                        ? node->code.barrier->Fire(firing->key, batch, done)
                        : node->code.stream->Fire(firing->key, batch, done));
  }
  const auto count = static_cast<uint32_t>(batch->rows - rows_before);
  firing->rows += count;
  if (count > 0) {
    const uint32_t k = *done ? firing->pool.k() : firing->pool.Take();
    batch->runs.push_back({instance, firing->key.loops, count, k});
    if (*done && firing->pool.left() > 1) ReturnWeight(instance, k, firing->pool.left() - 1);
  } else if (*done) {
    ReturnWeight(instance, firing->pool.k(), firing->pool.left());
  }
  return OkStatus();
}

// Copies rows into every branch of a `union()`, or sends each into the first option of a `choose()`
// whose test fits.
Status QueryRun::RunSplit(Node* node) {
  if (!node->lane->active.has_value()) node->lane->active = TakeInput(node);
  if (node->tests == nullptr) return CopyToBranches(node);
  PickedRows picked;
  ASSIGN_OR_RETURN(const bool done,
                   node->tests->Pick(node->lane->active->batch, node->host->sources(),
                                     &node->lane->cursor, &picked));
  if (!done) return OkStatus();
  picked.resize(node->branch_barriers.size());
  DistributeRuns(node, picked);
  FinishInput(node);
  return OkStatus();
}

// Some branches a call, whole batches: of thousands none is charged before it is queued. All that
// there are arm their barriers before the last part of a run's weight goes home.
Status QueryRun::CopyToBranches(Node* node) {
  Input& input = *node->lane->active;
  const Batch& batch = input.batch;
  const auto branches = static_cast<uint32_t>(node->branch_barriers.size());
  uint32_t& next = input.cursor.row;  // branch
  const uint32_t begin = next;
  const size_t most = std::max<size_t>(1, kMostSplit / std::max<size_t>(1, batch.rows));
  next += static_cast<uint32_t>(std::min<size_t>(most, branches - begin));
  std::vector<ExactSplit> splits;
  for (const Run& run : batch.runs) splits.push_back(SplitWeight(run.k, branches + 1));
  const auto part_of = [&](size_t run, uint32_t part) {
    return splits[run].low_k + (part < splits[run].num_low ? 0 : 1);
  };
  for (uint32_t b = begin; b < next && batch.rows > 0; ++b) {
    const std::optional<uint32_t>& barrier = node->branch_barriers[b];
    Batch output;
    output.rows = batch.rows;
    output.slots = batch.slots;
    output.slots.resize(spec_->plan.num_slots());
    output.bulk = batch.bulk;
    for (size_t r = 0; r < batch.runs.size(); ++r) {
      const Run& run = batch.runs[r];
      if (run.count == 0) continue;
      output.runs.push_back({run.instance, run.loops, run.count, part_of(r, b)});
      if (barrier.has_value()) AddPending(run.instance, {*barrier, run.loops});
    }
    SendToBranch(node, b, std::move(output));
  }
  if (next < branches) return OkStatus();
  for (size_t r = 0; r < batch.runs.size(); ++r) {
    const Run& run = batch.runs[r];
    ReturnWeight(run.instance, run.count == 0 ? run.k : part_of(r, branches));
  }
  FinishInput(node);
  return OkStatus();
}

void QueryRun::SendToBranch(Node* node, size_t branch, Batch batch) {
  const uint32_t ordinal_slot = node->op->ordinal_slot();
  if (ordinal_slot != 0 && batch.Has(ordinal_slot)) {
    AppendOrdinal(branch, &batch.slots[ordinal_slot]);
  }
  News(node->op->id()).rows_out += batch.rows;
  Enqueue(node->op->next(static_cast<int>(branch)), std::move(batch));
}

// Sends rows picked[b] of the active batch to branch b, and splits each run's weight exactly. The
// first row in a branch arms its first barrier (engine rule 6): of
// `union(out().count(), in().count())` both give 0 for a vertex without edges. A run that arms
// barriers sends one part of its weight home with that report.
void QueryRun::DistributeRuns(Node* node, const PickedRows& picked) {
  const Batch& batch = node->lane->active->batch;
  const size_t branches = picked.size();
  std::vector<Batch> outputs(branches);
  std::vector<size_t> next(branches, 0);
  uint32_t begin = 0;
  for (const Run& run : batch.runs) {
    const uint32_t end = begin + run.count;
    std::vector<uint32_t> counts(branches, 0);
    std::vector<BarrierKey> armed;
    uint32_t parts = 0;
    for (size_t b = 0; b < branches; ++b) {
      while (next[b] < picked[b].size() && picked[b][next[b]] < end) ++next[b], ++counts[b];
      if (counts[b] == 0) continue;
      ++parts;
      const std::optional<uint32_t>& barrier = node->branch_barriers[b];
      if (barrier.has_value()) armed.push_back({*barrier, run.loops});
    }
    begin = end;
    if (parts == 0) {
      ReturnWeight(run.instance, run.k);
      continue;
    }
    const uint32_t total = parts + (armed.empty() ? 0 : 1);
    const ExactSplit split = SplitWeight(run.k, total);
    uint32_t part = 0;
    for (size_t b = 0; b < branches; ++b) {
      if (counts[b] == 0) continue;
      const uint32_t k = split.low_k + (part++ < split.num_low ? 0 : 1);
      outputs[b].runs.push_back({run.instance, run.loops, counts[b], k});
    }
    for (const BarrierKey& key : armed) AddPending(run.instance, key);
    if (!armed.empty()) {
      ReturnWeight(run.instance, split.low_k + (part < split.num_low ? 0 : 1));
    }
  }
  for (size_t b = 0; b < branches; ++b) {
    if (picked[b].empty()) continue;
    outputs[b].slots.resize(spec_->plan.num_slots());
    outputs[b].AppendRows(batch, picked[b]);
    SendToBranch(node, b, std::move(outputs[b]));
  }
}

// Entering a loop, counting up, leaving it: only the runs change. The first row of an iteration
// arms the body's first barrier (engine rule 6), in `repeat(out().fold().unfold())` the fold(). The
// run gives up half its weight for that report.
Status QueryRun::RunLoop(Node* node) {
  node->lane->active = TakeInput(node);
  Batch& batch = node->lane->active->batch;
  const bool leaves = node->op->has_loop_exit();
  const std::optional<uint32_t> barrier =
      leaves ? std::nullopt : shape_->FirstBarrier(node->op->next(0));
  const bool arms =
      barrier.has_value() && shape_->LoopOf(*barrier) == shape_->LoopOf(node->op->next(0));
  for (Run& run : batch.runs) {
    if (node->op->has_loop_enter()) {
      run.loops.push_back(0);
    } else if (run.loops.empty()) {
      return Internal("The plan leaves a loop that it did not enter.");
    } else if (leaves) {
      run.loops.pop_back();
    } else {
      ++run.loops.back();
    }
    if (!arms) continue;
    AddPending(run.instance, {*barrier, run.loops});
    ReturnWeight(run.instance, ++run.k);
  }
  if (batch.rows > 0) {
    CountOrdinals(*node->op, &batch);
    for (uint32_t slot : node->op->drop_slots()) batch.slots[slot].Clear();
    News(node->op->id()).rows_out += batch.rows;
  }
  Batch moved = std::move(batch);
  FinishInput(node);
  if (moved.rows > 0) Enqueue(node->op->next(0), std::move(moved));
  return OkStatus();
}

void QueryRun::CountOrdinals(const plan::Operator& op, Batch* batch) {
  const uint32_t slot = op.ordinal_slot();
  if (slot == 0 || !batch->Has(slot)) return;
  const auto count = op.has_loop_enter()  ? EnterLoops
                     : op.has_loop_back() ? CountLoops
                                          : LeaveLoops;
  count(&batch->slots[slot]);
}

Status QueryRun::RunSink(Node* node) {
  node->lane->active = TakeInput(node);
  Batch& batch = node->lane->active->batch;
  if (batch.rows > 0) {
    ResultBatch result;
    CountOut(node, batch);
    sink_rows_ = News(node->op->id()).bulk_out;
    ReturnRuns(batch.runs);
    result.column = std::move(batch.slots[0]);
    result.bulk = std::move(batch.bulk);
    const size_t bytes = result.ByteSize();
    node->lane->active->charged -= static_cast<int64_t>(bytes);
    result.charge = std::make_shared<HeldCharge>(spec_->account, bytes);
    std::unique_ptr<Leftover> left;
    if (bytes >= Leftover::kLeastBytes) left = std::make_unique<ResultLeft>(result);
    spec_->sink->Push(std::move(result));
    if (left != nullptr) Leave(std::move(left), {});
  }
  FinishInput(node);
  return OkStatus();
}

}  // namespace koios::engine
