// The driver's ways with each kind of operator: one batch, one invocation.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/value_compare.h"
#include "engine/batch/ordinal.h"
#include "engine/expr/element_functions.h"
#include "engine/sched/query_run.h"
#include "engine/sched/query_run_host.h"

namespace koios::engine {
namespace {

// How long one call goes on to the next firing.
constexpr uint64_t kFiringNanos = 200'000;

// Bytes of a result that has left the query, charged as long as somebody holds it.
class ResultCharge {
 public:
  ResultCharge(std::shared_ptr<MemoryAccount> account, int64_t bytes)
      : account_(std::move(account)), bytes_(bytes) {}
  ~ResultCharge() { account_->Release(bytes_); }
  ResultCharge(const ResultCharge&) = delete;
  ResultCharge& operator=(const ResultCharge&) = delete;

 private:
  const std::shared_ptr<MemoryAccount> account_;
  const int64_t bytes_;
};

}  // namespace

// As many rows as a batch has room for, of those slots of the input's rows that stay. A path is as
// wide as what the rows do not share of it. As paths grow from hop to hop, a batch is not cut
// before it is twice too large, and then in equal parts: else each hop would leave a rest of a few
// rows. Where the first may be enough, partitions come one after the other.
size_t QueryRun::OutputLimit(const Node& node, const Batch& input) const {
  if (node.op->has_partitions() && shape_->IsCutShort(node.op->id())) return 1;
  if (node.op->has_filter() || node.op->has_project()) return worker_.bounds.batch_rows;
  size_t bytes = 0, path_bytes = 0;
  for (size_t slot = 1; slot < input.slots.size(); ++slot) {
    const Column& column = input.slots[slot];
    if (column.empty() || node.drops[slot]) continue;
    bytes += column.ByteSize() - sizeof(Column);
    path_bytes += PathBytes(column);
  }
  size_t limit = RowLimit(bytes + path_bytes, input.rows);
  if (path_bytes > bytes && input.rows > limit) {
    const size_t parts = input.rows > 2 * limit ? (input.rows + limit - 1) / limit : 1;
    limit = (input.rows + parts - 1) / parts;
  }
  return std::min(limit, worker_.bounds.batch_rows);
}

// Rows of the output: the written slot from the operator, the others copied from the input.
Batch QueryRun::MakeOutput(Node* node, const Input& input, OpOutput output) {
  Batch batch;
  const Batch& in = input.batch;
  batch.rows = output.rows(in);
  batch.slots.resize(spec_->plan.num_slots());
  for (size_t slot = 0; slot < in.slots.size(); ++slot) {
    if (static_cast<int>(slot) == output.slot || in.slots[slot].empty()) continue;
    if (node->drops[slot]) continue;
    if (output.identity) {
      batch.slots[slot] = in.slots[slot];
    } else {
      batch.slots[slot].AppendGather(in.slots[slot], output.origin);
    }
  }
  if (output.slot >= 0 && !node->drops[static_cast<size_t>(output.slot)]) {
    batch.slots[output.slot] = std::move(output.column);
  }
  if (output.has_bulk) {
    batch.bulk = std::move(output.bulk);
  } else if (output.identity) {
    batch.bulk = in.bulk;
  } else if (!in.bulk.empty()) {
    batch.bulk.reserve(batch.rows);
    for (uint32_t row : output.origin) batch.bulk.push_back(in.bulk[row]);
  }
  if (node->op->ordinal_slot() != 0 && !output.identity) {
    AppendOrdinals(node, output.origin, &batch);
  }
  return batch;
}

// Numbers the output rows of each input row, over all the calls that one input batch takes. An
// unfold of the only row there is begins with this.
void QueryRun::AppendOrdinals(Node* node, const std::vector<uint32_t>& origin, Batch* batch) {
  const uint32_t slot = node->op->ordinal_slot();
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

// Gives each output run its weight: of an input run that is through all that is left (what cannot
// travel in one piece goes home), else a piece. A run is through when a later one has given rows,
// as operators take the rows in order, and with `last`; without output its weight goes home.
void QueryRun::GiveWeights(Input* input, const OpOutput& output, bool last, Batch* batch) {
  const size_t rows = output.rows(input->batch);
  size_t next = 0;  // first output row not yet covered
  while (input->run < input->batch.runs.size()) {
    const Run& run = input->batch.runs[input->run];
    const uint32_t end = input->run_begin + run.count;
    size_t until = next;
    if (output.identity) {
      until = end;
    } else {
      while (until < rows && output.origin[until] < end) ++until;
    }
    const bool through = last || until < rows;
    WeightPool& left = input->left[input->run];
    const uint32_t count = static_cast<uint32_t>(until - next);
    if (count > 0) {
      const uint32_t k = through ? left.k() : left.Take();
      batch->runs.push_back({run.instance, run.loops, count, k});
    }
    if (!through) return;
    const uint32_t home = left.left() - (count > 0 ? 1 : 0);
    if (home > 0) ReturnWeight(run.instance, left.k(), home);
    next = until;
    input->run_begin = end;
    ++input->run;
  }
}

Status QueryRun::RunStream(Node* node) {
  if (!node->lane->active.has_value()) node->lane->active = TakeInput(node);
  Input& input = *node->lane->active;
  if (input.batch.rows == 0) {
    FinishInput(node);
    return OkStatus();
  }
  // A cursor in the middle of a batch that nobody needs any more is dropped with its weight.
  if (any_closed_ && root_closed_[node->op->id()] != 0) {
    for (size_t r = input.run; r < input.batch.runs.size(); ++r) {
      ReturnWeight(input.batch.runs[r].instance, input.left[r].k(), input.left[r].left());
    }
    stats_[node->op->id()].rows_dropped += input.batch.rows - input.run_begin;
    FinishInput(node);
    node->lane->stream.reset();
    node->lane->cursor.reset();
    ASSIGN_OR_RETURN(node->code,
                     MakeOperator(*node->op, spec_->plan.num_slots(), node->host.get()));
    return OkStatus();
  }
  OpOutput output;
  output.limit = OutputLimit(*node, input.batch);
  bool done = false;
  StreamOperator* code = node->code.stream.get();
  if (!node->iteration.empty() && code->keeps_cursor()) {
    if (node->lane->stream == nullptr) {
      ASSIGN_OR_RETURN(OperatorBundle fresh,
                       MakeOperator(*node->op, spec_->plan.num_slots(), node->host.get()));
      node->lane->stream = std::move(fresh.stream);
    }
    code = node->lane->stream.get();
  }
  output.cursor = std::move(node->lane->cursor);
  RETURN_IF_ERROR(code->Process(input.batch, &output, &done));
  if (!done) node->lane->cursor = std::move(output.cursor);
  const size_t rows = output.rows(input.batch);
  rows_seen_ += rows;
  if (rows_seen_ >= worker_.spread_after_rows) spread_ = true;
  Batch weights;
  GiveWeights(&input, output, done, &weights);
  if (rows > 0) {
    Batch batch = MakeOutput(node, input, std::move(output));
    batch.runs = std::move(weights.runs);
    CountOut(node, batch);
    Enqueue(node->op->next(0), std::move(batch));
  }
  if (done) {
    node->lane->ordinal_row = UINT32_MAX;
    FinishInput(node);
  }
  return OkStatus();
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

Status QueryRun::FlushPartial(Node* node, const Loops& iteration) {
  Batch batch;
  std::vector<Run> returned;
  RETURN_IF_ERROR(node->code.partial->Flush(iteration, &batch, &returned));
  ReturnRuns(returned);
  if (batch.rows == 0) return OkStatus();
  batch.slots.resize(spec_->plan.num_slots());
  CountOut(node, batch);
  Enqueue(node->op->next(0), std::move(batch));
  return OkStatus();
}

void QueryRun::CountOut(Node* node, const Batch& batch) {
  OperatorStats& stats = stats_[node->op->id()];
  stats.rows_out += batch.rows;
  stats.bulk_out += batch.bulk.empty() ? batch.rows : 0;
  for (const int64_t bulk : batch.bulk) stats.bulk_out += static_cast<uint64_t>(bulk);
}

// Fires barriers of one iteration into one batch: those of many instances make few rows each. As
// long as it has room, and the call has not taken long.
Status QueryRun::RunFiring(Node* node) {
  const uint64_t begin = worker_.clock->NowNanos();
  const int64_t kept = node->host->state_bytes;
  const auto firings = node->firings.find(node->iteration);
  Batch batch;
  batch.slots.resize(spec_->plan.num_slots());
  bool done = true;
  do {
    RETURN_IF_ERROR(FireNext(node, &firings->second.front(), &batch, &done));
    if (done) firings->second.pop_front();
  } while (done && !firings->second.empty() && batch.rows < worker_.bounds.batch_rows &&
           !IsCrowded() && kept - node->host->state_bytes < static_cast<int64_t>(kBatchBytes) &&
           worker_.clock->NowNanos() - begin < kFiringNanos);
  if (firings->second.empty()) node->firings.erase(firings);
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
  if (!any_closed_ || !IsDropped(node->op->id(), run)) {
    RETURN_IF_ERROR(node->code.barrier->Fire(firing->key, batch, done));
  }
  const auto count = static_cast<uint32_t>(batch->rows - rows_before);
  if (count > 0) {
    const uint32_t k = *done ? firing->pool.k() : firing->pool.Take();
    batch->runs.push_back({instance, firing->key.loops, count, k});
    if (*done && firing->pool.left() > 1) ReturnWeight(instance, k, firing->pool.left() - 1);
  } else if (*done) {
    ReturnWeight(instance, firing->pool.k(), firing->pool.left());
  }
  return OkStatus();
}

// Where the partitions of the elements in `column` are owned; other values stay.
void QueryRun::ToOwners(const Column& column, std::vector<uint32_t>* to) const {
  const auto owner = [this](uint32_t partition) { return partition % worker_.num_workers; };
  Operand operand;
  operand.column = &column;
  const ElementRows elements = ElementRows::Of(operand, column.size());
  for (size_t i = 0; i < elements.vertices.size(); ++i) {
    (*to)[elements.vertex_rows[i]] = owner(elements.vertices[i].partition());
  }
  for (size_t i = 0; i < elements.edges.size(); ++i) {
    (*to)[elements.edge_rows[i]] = owner(elements.edges[i].out.partition());
  }
  for (uint32_t row : elements.other_rows) {
    const Value value = operand.Get(row);
    if (value.kind() == ValueKind::kVertexProperty) {
      (*to)[row] = owner(value.AsVertexProperty().owner.partition());
    } else if (value.kind() == ValueKind::kProperty) {
      (*to)[row] = owner(value.AsProperty().owner.out.partition());
    }
  }
}

// Where each row of the batch is needed. Rows whose partition this worker can read stay until the
// query has spread (engine rule 27).
StatusOr<std::vector<uint32_t>> QueryRun::Destinations(const plan::Operator& op,
                                                       const Batch& batch) {
  std::vector<uint32_t> to(batch.rows, worker_.index);
  if (batch.rows == 0) return to;  // all were dropped, and columns of none may have any kind
  const auto owner = [this](uint32_t partition) { return partition % worker_.num_workers; };
  const plan::Exchange& exchange = op.exchange();
  const bool stay = worker_.shared_view && !spread_;
  switch (exchange.key()) {
    case plan::Exchange::OWNER:
      if (!stay && batch.Has(exchange.slot())) ToOwners(batch.slots[exchange.slot()], &to);
      return to;
    case plan::Exchange::PARTITION: {
      uint64_t elements = 0;
      const Schema& schema = spec_->view->schema();
      for (const auto& [label, count] : schema.vertex_counts) elements += count;
      for (const auto& [label, count] : schema.edge_counts) elements += count;
      if (stay && (shape_->IsCutShort(op.id()) || elements < worker_.spread_after_rows)) return to;
      if (batch.slots[0].kind() != Column::Kind::kInt) {
        return Internal("An exchange by partition needs partition numbers.");
      }
      for (size_t row = 0; row < batch.rows; ++row) {
        to[row] = owner(static_cast<uint32_t>(batch.slots[0].ints()[row]));
      }
      return to;
    }
    case plan::Exchange::ID:
      if (stay) return to;
      for (size_t row = 0; row < batch.rows; ++row) {
        Value id = batch.slots[0].Get(row);
        if (id.kind() == ValueKind::kElement) id = id.AsElement().id;
        to[row] = owner(spec_->view->PartitionOfId(id));
      }
      return to;
    case plan::Exchange::HOME: {
      size_t row = 0;
      for (const Run& run : batch.runs) {
        for (uint32_t i = 0; i < run.count; ++i) to[row++] = run.instance.home;
      }
      return to;
    }
    case plan::Exchange::HASH:
      for (size_t row = 0; row < batch.rows; ++row) {
        uint64_t hash = 0;
        for (uint32_t slot : exchange.hash_slots()) {
          if (batch.Has(slot)) {
            hash = hash * 0x9E3779B97F4A7C15ull + EquivalenceHash(batch.slots[slot].Get(row));
          }
        }
        to[row] = static_cast<uint32_t>((hash >> 16) % worker_.num_workers);
      }
      return to;
    default:
      return Internal("The plan has an unknown exchange.");
  }
}

Status QueryRun::RunExchange(Node* node) {
  node->lane->active = TakeInput(node);
  const Batch& batch = node->lane->active->batch;
  CountOut(node, batch);
  std::vector<uint32_t> to;
  bool all_stay = worker_.num_workers == 1 || spec_->plan.one_worker();
  if (!all_stay) {
    ASSIGN_OR_RETURN(to, Destinations(*node->op, batch));
    all_stay =
        std::all_of(to.begin(), to.end(), [&](uint32_t dest) { return dest == worker_.index; });
  }
  if (all_stay) {
    if (batch.rows > 0) Enqueue(node->op->next(0), std::move(node->lane->active->batch));
    FinishInput(node);
    return OkStatus();
  }
  // Per destination: the picked rows, and their runs with an exact share of the weight.
  std::vector<std::vector<uint32_t>> picked(worker_.num_workers);
  std::vector<std::vector<Run>> runs(worker_.num_workers);
  std::vector<uint32_t> counts(worker_.num_workers, 0);
  std::vector<uint32_t> used;
  uint32_t row = 0;
  for (const Run& run : batch.runs) {
    used.clear();
    for (uint32_t i = 0; i < run.count; ++i, ++row) {
      if (counts[to[row]]++ == 0) used.push_back(to[row]);
      picked[to[row]].push_back(row);
    }
    const ExactSplit split = SplitWeight(run.k, static_cast<uint32_t>(used.size()));
    for (uint32_t i = 0; i < used.size(); ++i) {
      const uint32_t k = split.low_k + (i < split.num_low ? 0 : 1);
      runs[used[i]].push_back({run.instance, run.loops, counts[used[i]], k});
      counts[used[i]] = 0;
    }
  }
  for (uint32_t dest = 0; dest < worker_.num_workers; ++dest) {
    if (!picked[dest].empty()) {
      node->outbox->Add(dest, node->iteration, batch, picked[dest], runs[dest]);
    }
  }
  FinishInput(node);
  Pump(node, /*flush=*/false);
  return OkStatus();
}

bool QueryRun::Pump(Node* node, bool flush) {
  bool moved_here = false;
  for (uint32_t to = 0; to < worker_.num_workers; ++to) {
    const bool local = to == worker_.index;
    for (const Loops& lane : node->outbox->Waiting(to)) {
      Batch batch;
      while ((!local || HasRoom(node->op->next(0), lane)) &&
             node->outbox->Take(to, lane, flush, local, &batch)) {
        if (local) {
          Enqueue(node->op->next(0), std::move(batch));
          moved_here = true;
        } else {
          SendData(node, to, lane, std::move(batch));
        }
        batch = {};
      }
    }
  }
  return moved_here;
}

void QueryRun::SendData(Node* node, uint32_t to, const Loops& lane, Batch batch) {
  stats_[node->op->id()].bytes_sent += batch.ByteSize();
  Frame frame;
  frame.query = spec_->id;
  frame.kind = FrameKind::kData;
  frame.from = worker_.index;
  frame.op = node->op->id();
  frame.loops = lane;
  frame.batch = std::move(batch);
  frame.spec = spec_;
  has_sent_ = true;
  ++num_sent_;
  idle_told_ = false;
  worker_.transport->Send(to, std::move(frame));
}

// Copies into every branch, or sends each row into the first option whose test fits. A branch's
// first row arms its first barrier (engine rule 6).
Status QueryRun::RunSplit(Node* node) {
  if (!node->lane->active.has_value()) node->lane->active = TakeInput(node);
  const Batch& batch = node->lane->active->batch;
  const int branches = node->op->next_size();
  std::vector<std::vector<uint32_t>> picked(branches);
  if (node->tests == nullptr) {
    for (int b = 0; b < branches; ++b) {
      for (uint32_t row = 0; row < batch.rows; ++row) picked[b].push_back(row);
    }
  } else {
    ASSIGN_OR_RETURN(const bool done,
                     node->tests->Pick(batch, node->host->sources(), &node->lane->cursor, &picked));
    if (!done) return OkStatus();
    picked.resize(static_cast<size_t>(branches));
  }
  DistributeRuns(node, picked);
  FinishInput(node);
  return OkStatus();
}

// Sends rows picked[b] of the active batch to branch b, splitting each run's weight exactly; one
// part more goes home when the run arms barriers, in the same report as they.
void QueryRun::DistributeRuns(Node* node, const std::vector<std::vector<uint32_t>>& picked) {
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
      const std::optional<uint32_t> barrier =
          shape_->BranchBarrier(node->op->id(), node->op->next(static_cast<int>(b)));
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
    const uint32_t ordinal_slot = node->op->ordinal_slot();
    if (ordinal_slot != 0 && outputs[b].Has(ordinal_slot)) {
      AppendOrdinal(b, &outputs[b].slots[ordinal_slot]);
    }
    stats_[node->op->id()].rows_out += picked[b].size();
    Enqueue(node->op->next(static_cast<int>(b)), std::move(outputs[b]));
  }
}

// Entering, counting up, leaving: only the runs change. The first row of an iteration arms the
// body's first barrier (engine rule 6): the run gives up half its weight for that report.
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
    stats_[node->op->id()].rows_out += batch.rows;
    Enqueue(node->op->next(0), std::move(batch));
  }
  FinishInput(node);
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
    sink_rows_ = stats_[node->op->id()].bulk_out;
    ReturnRuns(batch.runs);
    result.column = std::move(batch.slots[0]);
    result.bulk = std::move(batch.bulk);
    const auto bytes =
        static_cast<int64_t>(result.column.ByteSize() + result.bulk.size() * sizeof(int64_t));
    node->lane->active->charged -= bytes;
    result.charge = std::make_shared<ResultCharge>(spec_->account, bytes);
    spec_->sink->Push(std::move(result));
  }
  FinishInput(node);
  return OkStatus();
}

}  // namespace koios::engine
