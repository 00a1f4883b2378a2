#include "engine/body/in_place_scope.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/plan/operator_table.h"
#include "engine/account/values_left.h"
#include "engine/batch/key_bound.h"

namespace koios::engine {
namespace {

// Rows that the operators of a body give in one call of the scope, about.
constexpr size_t kCallRows = 8 * kBatchRows;
// And what they may take together: one that looks at much may give little.
constexpr uint64_t kCallNanos = 150'000;
// Of so many rows the body runs first; it is twice as many each time, as long as they give little.
constexpr size_t kFirstRows = 64;
// What a call of an operator costs beside its rows, in rows.
constexpr size_t kCallCost = 32;

// What an operator of the body asks. A limit that has what it wants tells the body.
class StageHost final : public OperatorHost {
 public:
  explicit StageHost(OperatorHost* base) : base_(base) {}

  const storage::GraphView& view() const override { return base_->view(); }
  storage::Transaction* transaction() const override { return base_->transaction(); }
  const Clock& clock() const override { return base_->clock(); }
  Rng& random() override { return base_->random(); }
  SideEffects& side_effects() override { return base_->side_effects(); }
  PathLedger& paths() override { return base_->paths(); }
  TopBounds& top_bounds() override { return base_->top_bounds(); }
  Status ChargeState(int64_t bytes) override { return base_->ChargeState(bytes); }
  void Leave(std::unique_ptr<Leftover> leftover, int64_t charged) override {
    base_->Leave(std::move(leftover), charged);
  }
  void Take(std::unique_ptr<Leftover> leftover, MemoryCharge charge) override {
    base_->Take(std::move(leftover), std::move(charge));
  }
  int64_t StateRoom() const override { return base_->StateRoom(); }
  const std::shared_ptr<MemoryAccount>& account() const override { return base_->account(); }
  bool may_spill() const override { return false; }  // nobody asks for it
  StatusOr<SpillFile*> spill_file() override { return base_->spill_file(); }
  int64_t least_spill_bytes() const override { return base_->least_spill_bytes(); }
  bool may_rest() const override { return false; }
  bool spills_early() const override { return false; }
  void CloseUpstream(const StateKey& key) override { closed_.push_back(key.instance.serial); }

  std::vector<uint64_t> TakeClosed() { return std::exchange(closed_, {}); }

 private:
  OperatorHost* const base_;
  std::vector<uint64_t> closed_;
};

// Rows of the body, and which row of the scope's slice each belongs to, ascending.
struct BodyRows {
  Batch batch;
  std::vector<uint32_t> origins;

  bool empty() const { return batch.rows == 0; }
  // The first row that belongs to a later one than `origin`.
  size_t Behind(uint32_t origin) const {
    return static_cast<size_t>(std::upper_bound(origins.begin(), origins.end(), origin) -
                               origins.begin());
  }
  void DropBefore(size_t row) {
    batch = batch.Slice(row, batch.rows);
    origins.erase(origins.begin(), origins.begin() + static_cast<std::ptrdiff_t>(row));
  }
};

// One operator of the body, and what it is at.
struct Stage {
  const plan::Operator* op = nullptr;
  std::unique_ptr<StageHost> host;
  OperatorBundle code;
  std::vector<bool> drops;
  std::vector<uint32_t> needed, keys;
  bool keeps_state = false;
  BodyRows input;
  bool active = false;  // it is not done with `input`
  bool begun = false;   // its operator has been called with `input`
  std::unique_ptr<StreamCursor> cursor;
  uint32_t fired = 0;  // a barrier: so many rows of the slice have had theirs
};

// Times one call of an operator; what those inside it took is theirs.
class CallWatch {
 public:
  CallWatch(BodyHost* host, uint32_t op)
      : host_(host), op_(op), begin_(host->NowNanos()), inside_(host->CountedNanos()) {}
  void Stop(uint64_t rows_in, const Batch& given) {
    const uint64_t inside = host_->CountedNanos() - inside_;
    const uint64_t took = host_->NowNanos() - begin_;
    host_->Count(op_, rows_in, given, took - std::min(inside, took));
  }

 private:
  BodyHost* const host_;
  const uint32_t op_;
  const uint64_t begin_, inside_;
};

class InPlaceScope final : public StreamOperator {
 public:
  InPlaceScope(const plan::Plan& plan, size_t most_rows, BodyHost* host)
      : plan_(plan), most_rows_(most_rows), host_(host) {}
  ~InPlaceScope() override {
    if (open_) ReleaseSlice();
    (void)Charge(0);
  }
  InPlaceScope(const InPlaceScope&) = delete;
  InPlaceScope& operator=(const InPlaceScope&) = delete;

  Status Open(uint32_t enter);
  Status Process(const Batch& input, OpOutput* output, bool* done) override;
  bool SkipTo(size_t row, StreamCursor* cursor) override;

 private:
  Status MakeCode(Stage* stage);
  Status BeginSlice(const Batch& input, size_t begin);
  Status EndSlice();
  void ReleaseSlice();
  void Spend(size_t rows);
  void Name(BodyRows* rows) const;
  StatusOr<bool> Step();
  Status RunStream(size_t at);
  Status RunBarrier(size_t at);
  Status FireAt(size_t at);
  Status Deliver(size_t at, BodyRows rows);
  Status SkipClosed(size_t at);
  Status SkipBehind(size_t at, uint32_t origin);
  Status Abandon(Stage* stage);
  void Drop(BodyRows* rows);
  bool OneIsEnough() const;
  bool IsFull(const OpOutput& output) const {
    return output.origin.size() >= output.limit || given_bytes_ >= kBatchBytes;
  }
  Status Give(const Batch& input, uint32_t origin, int64_t copies, OpOutput* output);
  Status GiveMissing(const Batch& input, uint32_t until, OpOutput* output);
  StatusOr<bool> GiveOne(const Batch& input, uint32_t row, OpOutput* output);
  StatusOr<bool> GiveResults(const Batch& input, OpOutput* output);
  size_t BodyBytes() const;
  Status Charge(int64_t bytes);

  const plan::Plan& plan_;
  const size_t most_rows_;
  BodyHost* const host_;
  const plan::Operator* enter_ = nullptr;
  const plan::ScopeExit* exit_ = nullptr;
  std::vector<Stage> stages_;
  bool names_rows_ = false;  // operators of the body look at runs

  // Rows [begin_, end_) of the input are in the body. Origins count from begin_.
  bool open_ = false;
  size_t begin_ = 0, end_ = 0;
  size_t slice_rows_ = kFirstRows;
  uint64_t first_serial_ = 1;        // of their instances
  std::vector<const Loops*> loops_;  // by origin, when runs are looked at
  const Loops no_loops_;             // where nobody around looks at them
  BodyRows results_;
  uint32_t next_result_ = 0;  // of `results_`
  uint32_t next_origin_ = 0;  // the rows before it have had theirs
  uint32_t passed_ = 0;       // those before it need nothing more, as SkipTo() was told
  bool has_skipped_ = false;  // a barrier did not fire for some of them
  size_t slice_given_ = 0;    // rows that the body's operators have given, of this slice
  size_t given_bytes_ = 0;    // to the output, in this call
  Status skipped_;            // what passing over rows came to
  int64_t charged_ = 0;
};

Status InPlaceScope::Open(uint32_t enter) {
  enter_ = &plan_.operators(static_cast<int>(enter));
  names_rows_ = enter_->loop() != 0;
  uint32_t at = enter_->next(0);
  for (const plan::Operator* op = nullptr;; at = op->next(0)) {
    if (at <= enter || at >= static_cast<uint32_t>(plan_.operators_size())) {
      return Internal("The body of a scope does not end.");
    }
    op = &plan_.operators(static_cast<int>(at));
    if (op->has_scope_exit() && op->scope_exit().enter() == enter) {
      exit_ = &op->scope_exit();
      if (exit_->alternatives_size() > 0 || exit_->carry_slots_size() > 0) {
        return Internal("The plan has a scope in place that can't be there.");
      }
      break;
    }
    Stage& stage = stages_.emplace_back();
    stage.op = op;
    stage.host = std::make_unique<StageHost>(host_->HostOf(at));
    const plan::Operator* out = op;
    if (op->has_scope_enter()) {
      while (!out->has_scope_exit() || out->scope_exit().enter() != at) {
        if (out->next_size() == 0 || out->next(0) <= out->id()) {
          return Internal("The body of a scope does not end.");
        }
        out = &plan_.operators(static_cast<int>(out->next(0)));
      }
    }
    stage.drops.assign(plan_.num_slots(), false);
    for (const uint32_t slot : out->drop_slots()) {
      if (slot >= plan_.num_slots()) {
        return Internal("The plan drops a slot that does not exist.");
      }
      stage.drops[slot] = true;
    }
    plan::SlotUse use = plan::SlotsOf(*op);
    stage.needed = std::move(use.needed);
    stage.keys = std::move(use.keys);
    stage.keeps_state = plan::KeepsState(*op) || plan::IsBarrier(*op);
    names_rows_ = names_rows_ || stage.keeps_state;
    RETURN_IF_ERROR(MakeCode(&stage));
    op = out;
  }
  return OkStatus();
}

Status InPlaceScope::MakeCode(Stage* stage) {
  const uint32_t id = stage->op->id();
  if (stage->op->has_scope_enter()) {
    ASSIGN_OR_RETURN(stage->code.stream, MakeInPlaceScope(plan_, id, most_rows_, host_));
    return OkStatus();
  }
  StatusOr<OperatorBundle> code = MakeOperator(*stage->op, plan_.num_slots(), stage->host.get());
  if (!code.ok()) return WithDetail(code.status(), DetailFor(*stage->op));
  stage->code = std::move(code).value();
  if (stage->code.stream == nullptr && stage->code.barrier == nullptr) {
    return Internal("The plan has an operator in place that can't be there.");
  }
  return OkStatus();
}

Status InPlaceScope::BeginSlice(const Batch& input, size_t begin) {
  begin_ = begin;
  end_ = std::min(input.rows, begin + slice_rows_);
  BodyRows rows;
  rows.batch = input.Slice(begin_, end_);
  rows.batch.runs.clear();
  rows.batch.bulk.clear();  // each begins with one traverser
  rows.batch.slots.resize(plan_.num_slots());
  for (const uint32_t slot : enter_->drop_slots()) rows.batch.slots[slot].Clear();
  rows.origins.resize(end_ - begin_);
  std::iota(rows.origins.begin(), rows.origins.end(), 0u);
  if (names_rows_) {
    loops_.assign(input.runs.empty() ? end_ - begin_ : 0, &no_loops_);
    size_t row = 0;
    for (const Run& run : input.runs) {
      for (uint32_t i = 0; i < run.count; ++i, ++row) {
        if (row >= begin_ && row < end_) loops_.push_back(&run.loops);
      }
    }
  }
  for (Stage& stage : stages_) stage.fired = 0;
  has_skipped_ = false;
  next_origin_ = passed_ = 0;
  slice_given_ = 0;
  open_ = true;
  results_ = {};
  return Deliver(0, std::move(rows));
}

// What the operators of the body keep for the instances of the slice goes, and is given back: the
// scope may be given up in the middle of them.
void InPlaceScope::ReleaseSlice() {
  const size_t rows = end_ - begin_;
  for (Stage& stage : stages_) {
    if (!stage.keeps_state) continue;
    // A barrier that has fired for all keeps nothing, unless rows were passed over.
    if (stage.code.barrier != nullptr && stage.fired == rows && !has_skipped_) continue;
    for (size_t row = 0; row < rows; ++row) {
      const InstanceId instance{0, first_serial_ + row};
      if (stage.code.stream != nullptr) stage.code.stream->Release(instance);
      if (stage.code.barrier != nullptr) stage.code.barrier->Release(instance);
    }
  }
}

// The instances of the slice are over.
Status InPlaceScope::EndSlice() {
  for (Stage& stage : stages_) {
    if (stage.active) RETURN_IF_ERROR(Abandon(&stage));
  }
  ReleaseSlice();
  first_serial_ += end_ - begin_;
  results_ = {};
  next_result_ = 0;
  open_ = false;
  begin_ = end_;
  if (slice_given_ > kCallRows) {
    slice_rows_ = std::max<size_t>(1, slice_rows_ / 2);
  } else if (slice_given_ < kCallRows / 4) {
    slice_rows_ = std::min(slice_rows_ * 2, kBatchRows);
  }
  return OkStatus();
}

// Work that has been done, in rows.
void InPlaceScope::Spend(size_t rows) {
  slice_given_ += rows;
  host_->AddWork(rows + kCallCost);
}

// The runs of rows whose operator looks at them: one per row of the slice.
void InPlaceScope::Name(BodyRows* rows) const {
  rows->batch.runs.clear();
  if (!names_rows_) return;
  for (size_t row = 0; row < rows->origins.size();) {
    const uint32_t origin = rows->origins[row];
    uint32_t count = 0;
    for (; row < rows->origins.size() && rows->origins[row] == origin; ++row) ++count;
    rows->batch.runs.push_back({{0, first_serial_ + origin}, *loops_[origin], count, 0});
  }
}

// One call of one operator of the body, the deepest that has rows; when none has any, the first
// barrier that has not fired for all gives some. False: all is through.
StatusOr<bool> InPlaceScope::Step() {
  for (size_t at = stages_.size(); at-- > 0;) {
    if (!stages_[at].active) continue;
    RETURN_IF_ERROR(stages_[at].code.stream != nullptr ? RunStream(at) : RunBarrier(at));
    return true;
  }
  for (size_t at = 0; at < stages_.size(); ++at) {
    if (stages_[at].code.barrier == nullptr || stages_[at].fired == end_ - begin_) continue;
    RETURN_IF_ERROR(FireAt(at));
    return true;
  }
  return false;
}

Status InPlaceScope::RunStream(size_t at) {
  Stage& stage = stages_[at];
  CallWatch watch(host_, stage.op->id());
  OpOutput output;
  output.limit = std::min(OutputRoom(stage.input.batch, stage.drops), most_rows_);
  output.cursor = std::move(stage.cursor);
  bool done = false;
  stage.begun = true;
  const Status status = stage.code.stream->Process(stage.input.batch, &output, &done);
  if (!status.ok()) return WithDetail(status, DetailFor(*stage.op));
  if (!done) stage.cursor = std::move(output.cursor);
  BodyRows rows;
  rows.batch = OutputBatch(stage.input.batch, stage.drops, &output);
  if (output.identity) {
    rows.origins = stage.input.origins;
  } else {
    rows.origins = std::move(output.origin);
    for (uint32_t& row : rows.origins) row = stage.input.origins[row];
  }
  Spend(rows.batch.rows);
  watch.Stop(done ? stage.input.batch.rows : 0, rows.batch);
  if (done) {
    stage.active = false;
    Drop(&stage.input);
  }
  if (!rows.empty()) RETURN_IF_ERROR(Deliver(at + 1, std::move(rows)));
  return SkipClosed(at);
}

Status InPlaceScope::RunBarrier(size_t at) {
  Stage& stage = stages_[at];
  CallWatch watch(host_, stage.op->id());
  StatusOr<bool> more = stage.code.barrier->Proceed(stage.input.batch);
  if (!more.ok()) return WithDetail(more.status(), DetailFor(*stage.op));
  watch.Stop(*more ? 0 : stage.input.batch.rows, {});
  stage.active = *more;
  if (!*more) Drop(&stage.input);
  return OkStatus();
}

// What the barrier has of the next rows of the slice, as far as a batch goes.
Status InPlaceScope::FireAt(size_t at) {
  Stage& stage = stages_[at];
  CallWatch watch(host_, stage.op->id());
  BodyRows rows;
  rows.batch.slots.resize(plan_.num_slots());
  const auto all = static_cast<uint32_t>(end_ - begin_);
  size_t bytes = 0;
  while (stage.fired < all && rows.batch.rows < most_rows_ && bytes < kBatchBytes) {
    const size_t before = rows.batch.rows;
    bool done = true;
    const StateKey key{{0, first_serial_ + stage.fired}, *loops_[stage.fired]};
    const Status status = stage.code.barrier->Fire(key, &rows.batch, &done);
    if (!status.ok()) return WithDetail(status, DetailFor(*stage.op));
    rows.origins.resize(rows.batch.rows, stage.fired);
    for (size_t row = before; row < rows.batch.rows; ++row) bytes += rows.batch.RowBytes(row);
    if (!done) break;  // of a large one a share at a time
    ++stage.fired;
  }
  for (const uint32_t slot : stage.op->drop_slots()) rows.batch.slots[slot].Clear();
  Spend(rows.batch.rows);
  watch.Stop(0, rows.batch);
  return rows.empty() ? OkStatus() : Deliver(at + 1, std::move(rows));
}

// Rows for the operator at `at`, or for the exit.
Status InPlaceScope::Deliver(size_t at, BodyRows rows) {
  Name(&rows);
  if (at == stages_.size()) {
    results_ = std::move(rows);
    next_result_ = passed_ == 0 ? 0 : static_cast<uint32_t>(results_.Behind(passed_ - 1));
    return OkStatus();
  }
  Stage& stage = stages_[at];
  for (const uint32_t slot : stage.needed) {
    if (!rows.batch.Has(slot)) return DataLoss("A batch lacks a column that its operator reads.");
  }
  if (const Status fits = CheckKeys(rows.batch, stage.keys); !fits.ok()) {
    return WithDetail(fits, DetailFor(*stage.op));
  }
  stage.input = std::move(rows);
  stage.active = true;
  stage.begun = false;
  if (stage.code.barrier == nullptr) return OkStatus();
  return WithDetail(stage.code.barrier->Absorb(stage.input.batch), DetailFor(*stage.op));
}

// A limit has enough of some rows: of the last one that has come to it there are more to come.
Status InPlaceScope::SkipClosed(size_t at) {
  const std::vector<uint64_t> closed = stages_[at].host->TakeClosed();
  if (closed.empty()) return OkStatus();
  return SkipBehind(at, static_cast<uint32_t>(closed.back() - first_serial_));
}

// The operators before `at` need give nothing more of the rows up to `origin`.
Status InPlaceScope::SkipBehind(size_t at, uint32_t origin) {
  for (size_t i = 0; i < at; ++i) {
    Stage& stage = stages_[i];
    if (stage.code.barrier != nullptr) {
      has_skipped_ = has_skipped_ || stage.fired <= origin;
      stage.fired = std::max(stage.fired, origin + 1);
      continue;
    }
    if (!stage.active) continue;
    const size_t row = stage.input.Behind(origin);
    if (row == stage.input.batch.rows) {
      RETURN_IF_ERROR(Abandon(&stage));
    } else if (stage.begun) {
      stage.code.stream->SkipTo(row, stage.cursor.get());
    } else if (row > 0) {  // SkipTo() is for the middle of a batch
      stage.input.DropBefore(row);
    }
  }
  return OkStatus();
}

// Values that take long to free are left, with what the body has charged for them.
void InPlaceScope::Drop(BodyRows* rows) {
  int64_t bytes = 0;
  for (const Column& column : rows->batch.slots) {
    if (column.kind() == Column::Kind::kValue) bytes += static_cast<int64_t>(column.ByteSize());
  }
  if (bytes < Leftover::kLeastBytes) {
    *rows = {};
    return;
  }
  auto values = std::make_unique<ValuesLeft>();
  for (const Column& column : rows->batch.slots) values->Add(column);
  *rows = {};
  OperatorHost* const host = host_->HostOf(enter_->id());
  const int64_t handed = std::min(bytes, charged_);
  (void)host->ChargeState(-handed);  // gives back
  charged_ -= handed;
  MemoryCharge charge(host->account().get());
  charge.Resize(handed);
  host->Take(std::move(values), std::move(charge));
}

// Nobody needs more of what it is at.
Status InPlaceScope::Abandon(Stage* stage) {
  if (stage->code.barrier != nullptr) {
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, stage->code.barrier->Proceed(stage->input.batch));
    }
  }
  stage->active = false;
  Drop(&stage->input);
  stage->cursor.reset();
  if (stage->code.barrier != nullptr || !stage->begun) return OkStatus();
  return stage->code.stream->keeps_cursor() ? MakeCode(stage) : OkStatus();
}

bool InPlaceScope::SkipTo(size_t row, StreamCursor*) {
  if (!open_) {
    begin_ = end_ = std::max(begin_, row);
    return true;
  }
  if (row <= begin_) return true;
  if (row >= end_) {
    skipped_ = EndSlice();
    begin_ = end_ = row;
    return true;
  }
  const auto origin = static_cast<uint32_t>(row - begin_ - 1);
  passed_ = std::max(passed_, origin + 1);
  next_origin_ = std::max(next_origin_, origin + 1);
  next_result_ = std::max(next_result_, static_cast<uint32_t>(results_.Behind(origin)));
  skipped_ = SkipBehind(stages_.size(), origin);
  return true;
}

bool InPlaceScope::OneIsEnough() const {
  return exit_->policy() != plan::ScopeExit::ALL && exit_->policy() != plan::ScopeExit::OPTIONAL;
}

// A row goes on, as one of `copies` equal ones.
Status InPlaceScope::Give(const Batch& input, uint32_t origin, int64_t copies, OpOutput* output) {
  const auto row = static_cast<uint32_t>(begin_ + origin);
  if (copies != 1 && !output->has_bulk) {
    output->has_bulk = true;
    for (const uint32_t before : output->origin) output->bulk.push_back(input.BulkAt(before));
  }
  output->origin.push_back(row);
  if (!output->has_bulk) return OkStatus();
  int64_t bulk = 0;
  if (__builtin_mul_overflow(input.BulkAt(row), copies, &bulk)) {
    return InvalidArgument("More traversers are equal than a long can count.");
  }
  output->bulk.push_back(bulk);
  return OkStatus();
}

// The rows before `until` that the body gave nothing for.
Status InPlaceScope::GiveMissing(const Batch& input, uint32_t until, OpOutput* output) {
  const plan::ScopeExit::Policy policy = exit_->policy();
  const bool leaves =
      policy == plan::ScopeExit::NONE || policy == plan::ScopeExit::OPTIONAL ||
      policy == plan::ScopeExit::EXISTS_FLAG ||
      (policy == plan::ScopeExit::FIRST && exit_->absent() != plan::Project::DROP_ROW);
  if (!leaves) next_origin_ = std::max(next_origin_, until);
  for (; next_origin_ < until && !IsFull(*output); ++next_origin_) {
    if (policy == plan::ScopeExit::EXISTS_FLAG) {
      output->column.AppendBool(false);
    } else if (policy == plan::ScopeExit::OPTIONAL) {
      output->column.AppendFrom(input.slots[0], begin_ + next_origin_);
    } else if (policy == plan::ScopeExit::FIRST) {
      if (exit_->absent() == plan::Project::NULL_VALUE) {
        output->column.Append(Value::Null());
      } else {
        output->column.AppendAbsent();
      }
    }
    RETURN_IF_ERROR(Give(input, next_origin_, 1, output));
  }
  return OkStatus();
}

// A row of the body leaves it. False: there was no room, it is to be asked again.
StatusOr<bool> InPlaceScope::GiveOne(const Batch& input, uint32_t row, OpOutput* output) {
  const uint32_t origin = results_.origins[row];
  const plan::ScopeExit::Policy policy = exit_->policy();
  if (OneIsEnough() && origin < next_origin_) return true;
  RETURN_IF_ERROR(GiveMissing(input, origin, output));
  if (IsFull(*output)) return false;
  next_origin_ = std::max(next_origin_, origin + 1);
  int64_t copies = 1;
  if (policy == plan::ScopeExit::NONE) return true;
  if (policy == plan::ScopeExit::EXISTS_FLAG) {
    output->column.AppendBool(true);
  } else if (policy != plan::ScopeExit::EXISTS) {
    output->column.AppendFrom(results_.batch.slots[0], row);
    given_bytes_ += results_.batch.slots[0].kind() == Column::Kind::kValue
                        ? results_.batch.slots[0].ValueAt(row).ByteSize()
                        : sizeof(int64_t);
    if (!OneIsEnough()) copies = results_.batch.BulkAt(row);
  }
  RETURN_IF_ERROR(Give(input, origin, copies, output));
  return true;
}

// As many of the body's results as there is room for. False: there are more.
StatusOr<bool> InPlaceScope::GiveResults(const Batch& input, OpOutput* output) {
  const size_t rows = results_.batch.rows;
  if (rows == 0) return true;
  if (exit_->policy() == plan::ScopeExit::ALL && next_result_ == 0 && output->origin.empty() &&
      rows <= output->limit && results_.batch.bulk.empty()) {
    output->origin = std::move(results_.origins);
    for (uint32_t& origin : output->origin) origin += static_cast<uint32_t>(begin_);
    output->column = std::move(results_.batch.slots[0]);
    given_bytes_ += output->column.ByteSize();
    results_ = {};
    return true;
  }
  for (; next_result_ < rows; ++next_result_) {
    ASSIGN_OR_RETURN(const bool given, GiveOne(input, next_result_, output));
    if (!given) return false;
  }
  const uint32_t last = results_.origins.back();
  Drop(&results_);
  next_result_ = 0;
  if (OneIsEnough()) RETURN_IF_ERROR(SkipBehind(stages_.size(), last));
  return true;
}

size_t InPlaceScope::BodyBytes() const {
  size_t bytes = results_.batch.ByteSize();
  for (const Stage& stage : stages_) {
    if (stage.active) bytes += stage.input.batch.ByteSize();
  }
  return bytes;
}

Status InPlaceScope::Charge(int64_t bytes) {
  RETURN_IF_ERROR(host_->HostOf(enter_->id())->ChargeState(bytes - charged_));
  charged_ = bytes;
  return OkStatus();
}

Status InPlaceScope::Process(const Batch& input, OpOutput* output, bool* done) {
  RETURN_IF_ERROR(std::exchange(skipped_, OkStatus()));
  const bool whole = !open_ && begin_ == 0;
  const bool writes =
      exit_->policy() != plan::ScopeExit::EXISTS && exit_->policy() != plan::ScopeExit::NONE;
  output->slot = writes ? static_cast<int>(OneIsEnough() ? exit_->slot() : 0) : -1;
  *done = false;
  const uint64_t most_work = host_->work() + kCallRows;  // with that of the scopes inside
  const uint64_t most_nanos = host_->CountedNanos() + kCallNanos;
  given_bytes_ = 0;
  while (!*done) {
    if (!open_ && begin_ >= input.rows) {
      *done = true;
      break;
    }
    if (!open_) RETURN_IF_ERROR(BeginSlice(input, begin_));
    ASSIGN_OR_RETURN(const bool room, GiveResults(input, output));
    if (!room || host_->work() >= most_work || host_->CountedNanos() >= most_nanos) break;
    ASSIGN_OR_RETURN(const bool more, Step());
    if (more) continue;
    const auto all = static_cast<uint32_t>(end_ - begin_);
    RETURN_IF_ERROR(GiveMissing(input, all, output));
    if (next_origin_ < all) break;
    RETURN_IF_ERROR(EndSlice());
  }
  if (*done) begin_ = end_ = 0;
  output->identity = whole && *done && OneIsEnough() && output->origin.size() == input.rows;
  return Charge(static_cast<int64_t>(BodyBytes()));
}

}  // namespace

StatusOr<std::unique_ptr<StreamOperator>> MakeInPlaceScope(const plan::Plan& plan, uint32_t enter,
                                                           size_t most_rows, BodyHost* host) {
  auto scope = std::make_unique<InPlaceScope>(plan, most_rows, host);
  RETURN_IF_ERROR(scope->Open(enter));
  return std::unique_ptr<StreamOperator>(std::move(scope));
}

}  // namespace koios::engine
