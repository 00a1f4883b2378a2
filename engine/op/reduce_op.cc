#include "engine/op/reduce_op.h"

#include <algorithm>
#include <span>

#include "core/arithmetic.h"
#include "core/memory/charged_growth.h"
#include "core/value_codec.h"
#include "engine/account/call_work.h"
#include "engine/account/charge_ahead.h"
#include "engine/batch/by_iteration.h"
#include "engine/batch/fifo.h"
#include "engine/batch/instance_map.h"
#include "engine/effect/fold_list.h"
#include "engine/effect/folded.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {
namespace {

// What a reduction has seen of one instance and iteration. Nothing seen: `any` is false.
struct Accumulator {
  bool any = false;
  int64_t count = 0;               // COUNT, COUNT_OF
  Value extreme;                   // MIN, MAX
  NumberSum sum;                   // SUM, MEAN
  FoldList list;                   // FOLD
  std::unique_ptr<Folded> folded;  // FOLD_WITH, of any
  int64_t bytes = 0;
};

// The arithmetic of each function, shared by the worker's share and the home's whole. What comes to
// the home are the shares' partial values (but for FOLD, which has no partial stage).
class Reducer {
 public:
  Reducer(const plan::Reduce& op, bool merges_partials)
      : function_(op.function()), merges_(merges_partials), operator_(op.operator_()) {}

  // FOLD_WITH: where it begins, and the result of nothing.
  Status SetSeed(const std::string& seed) {
    if (function_ != plan::Reduce::FOLD_WITH) return OkStatus();
    ASSIGN_OR_RETURN(seed_, DecodeWholeValue(seed));
    return Folded::CanFold(operator_)
               ? OkStatus()
               : Internal("The plan folds with an unknown operator: " + operator_);
  }

  // How many of the `bulk` traversers of the row that are left were added: not always all.
  // `work`: what that cost.
  StatusOr<int64_t> AddSome(const Column& column, RowPlace at, int64_t bulk, Accumulator* acc,
                            ChargeAhead* charge, size_t* work) const {
    const size_t row = at.row;
    *work = 1;
    if (function_ == plan::Reduce::FOLD) {
      return acc->list.AddSome(column.Get(row), bulk, at.copy > 0, charge, work);
    }
    if (function_ != plan::Reduce::FOLD_WITH) {
      RETURN_IF_ERROR(Add(column, row, bulk, acc, charge));
      return bulk;
    }
    if (acc->folded == nullptr) {
      RETURN_IF_ERROR(charge->Take(sizeof(Folded)));
      acc->folded = std::make_unique<Folded>(operator_, seed_);
    }
    return acc->folded->Add(column.Get(row), bulk, at.copy > 0, charge, work);
  }

  // All of the row's traversers. `charge`: for what grows; a partial stage has none, and says what
  // it holds (Accumulator::bytes).
  Status Add(const Column& column, size_t row, int64_t bulk, Accumulator* acc,
             ChargeAhead* charge = nullptr) const {
    switch (function_) {
      case plan::Reduce::COUNT:
      case plan::Reduce::COUNT_OF:
        return AddCount(column, row, bulk, acc);
      case plan::Reduce::MIN:
      case plan::Reduce::MAX:
        return Extreme(column.Get(row), acc, charge);
      case plan::Reduce::SUM:
      case plan::Reduce::MEAN:
        return Sum(column.Get(row), bulk, acc, charge);
      default:
        return Internal("The plan has an unknown reduction.");
    }
  }

  // The whole of a run at once, where no value has to be looked at.
  StatusOr<bool> AddRun(const Batch& input, size_t begin, size_t end, Accumulator* acc) const {
    if (merges_ || !is_count()) return false;
    acc->any = true;
    if (function_ == plan::Reduce::COUNT && input.bulk.empty()) {
      RETURN_IF_ERROR(CountUp(static_cast<int64_t>(end - begin), 1, acc));
      return true;
    }
    if (function_ == plan::Reduce::COUNT) {
      RETURN_IF_ERROR(AddAll(std::span(input.bulk).subspan(begin, end - begin), {}, acc));
      return true;
    }
    const Column& counts = input.slots[0];
    if (counts.kind() != Column::Kind::kLong) return Internal("A partial count is not a long.");
    const auto bulk = std::span(input.bulk).subspan(input.bulk.empty() ? 0 : begin);
    RETURN_IF_ERROR(AddAll(std::span(counts.longs()).subspan(begin, end - begin), bulk, acc));
    return true;
  }

  // What a worker's share sends home.
  StatusOr<Value> Partial(const Accumulator& acc) const {
    if (is_count()) return Value::Long(acc.count);
    if (function_ == plan::Reduce::MIN || function_ == plan::Reduce::MAX) return acc.extreme;
    return acc.sum.Save();
  }

  // The result; nullopt where nothing gives nothing.
  StatusOr<std::optional<Value>> Final(Accumulator* acc) const {
    if (is_count()) return std::optional<Value>(Value::Long(acc->count));
    if (function_ == plan::Reduce::FOLD) {
      ASSIGN_OR_RETURN(Value list, acc->list.Take());
      return std::optional<Value>(std::move(list));
    }
    if (function_ == plan::Reduce::FOLD_WITH) {
      if (acc->folded == nullptr) return std::optional<Value>(seed_);
      ASSIGN_OR_RETURN(Value folded, acc->folded->Take());
      return std::optional<Value>(std::move(folded));
    }
    if (!acc->any) return std::optional<Value>();
    if (function_ == plan::Reduce::MIN || function_ == plan::Reduce::MAX) {
      return std::optional<Value>(std::move(acc->extreme));
    }
    ASSIGN_OR_RETURN(Value result,
                     function_ == plan::Reduce::SUM ? acc->sum.Sum() : acc->sum.Mean());
    return std::optional<Value>(std::move(result));
  }

 private:
  bool is_count() const {
    return function_ == plan::Reduce::COUNT || function_ == plan::Reduce::COUNT_OF;
  }

  Status AddCount(const Column& column, size_t row, int64_t bulk, Accumulator* acc) const {
    acc->any = true;
    if (function_ == plan::Reduce::COUNT && !merges_) return CountUp(1, bulk, acc);
    if (column.kind() != Column::Kind::kLong) return Internal("A partial count is not a long.");
    return CountUp(column.longs()[row], bulk, acc);
  }

  // Empty `bulk`: all 1.
  static Status AddAll(std::span<const int64_t> counts, std::span<const int64_t> bulk,
                       Accumulator* acc) {
    int64_t sum = acc->count;
    bool too_many = false;
    for (size_t i = 0; i < counts.size(); ++i) {
      int64_t product = counts[i];
      if (!bulk.empty()) too_many |= __builtin_mul_overflow(counts[i], bulk[i], &product);
      too_many |= __builtin_add_overflow(sum, product, &sum);
    }
    acc->count = sum;
    return too_many ? TooManyToCount() : OkStatus();
  }

  // Merged bulks multiply: a count may leave the range of a long.
  static Status CountUp(int64_t count, int64_t bulk, Accumulator* acc) {
    int64_t product = 0;
    if (__builtin_mul_overflow(count, bulk, &product) ||
        __builtin_add_overflow(acc->count, product, &acc->count)) {
      return TooManyToCount();
    }
    return OkStatus();
  }

  static Status TooManyToCount() {
    return InvalidArgument("There is more to count than a long can hold.");
  }

  static Status Change(size_t before, size_t after, Accumulator* acc, ChargeAhead* charge) {
    if (charge != nullptr) {
      return charge->Change(static_cast<int64_t>(before), static_cast<int64_t>(after));
    }
    acc->bytes += static_cast<int64_t>(after) - static_cast<int64_t>(before);
    return OkStatus();
  }

  Status Extreme(const Value& value, Accumulator* acc, ChargeAhead* charge) const {
    acc->any = true;
    if (value.is_null()) return OkStatus();
    ASSIGN_OR_RETURN(Value best, function_ == plan::Reduce::MIN ? Min(acc->extreme, value)
                                                                : Max(acc->extreme, value));
    RETURN_IF_ERROR(Change(acc->extreme.ByteSize(), best.ByteSize(), acc, charge));
    acc->extreme = std::move(best);
    return OkStatus();
  }

  Status Sum(const Value& value, int64_t bulk, Accumulator* acc, ChargeAhead* charge) const {
    acc->any = true;  // of only nulls the sum is null, of nothing there is none
    if (value.is_null()) return OkStatus();
    const size_t before = acc->sum.BigBytes();
    if (merges_) {
      ASSIGN_OR_RETURN(const NumberSum share, NumberSum::Load(value));
      RETURN_IF_ERROR(acc->sum.Merge(share));
    } else {
      RETURN_IF_ERROR(acc->sum.Add(value, bulk));
    }
    return Change(before, acc->sum.BigBytes(), acc, charge);
  }

  const plan::Reduce::Function function_;
  const bool merges_;
  const std::string operator_;
  Value seed_;
};

class ReduceFinalOp : public BarrierOperator {
 public:
  ReduceFinalOp(const plan::Reduce& op, OperatorHost* host)
      : reducer_(op, /*merges_partials=*/op.stage() == plan::FINAL), host_(host) {}

  Status SetSeed(const std::string& seed) { return reducer_.SetSeed(seed); }

  // Proceed() does.
  Status Absorb(const Batch&) override {
    at_ = {};
    return OkStatus();
  }

  StatusOr<bool> Proceed(const Batch& input) override {
    if (at_.run == input.runs.size()) return false;
    RETURN_IF_ERROR(AbsorbSome(input));
    return at_.run < input.runs.size();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    Accumulator none;
    Accumulator* acc = states_.Find(key);
    if (acc != nullptr) {
      ChargeAhead charge(host_, &acc->bytes);
      ASSIGN_OR_RETURN(
          *done, acc->folded == nullptr ? acc->list.Gather(&charge) : acc->folded->Gather(&charge));
      if (!*done) return OkStatus();
    }
    ASSIGN_OR_RETURN(std::optional<Value> result, reducer_.Final(acc == nullptr ? &none : acc));
    if (acc != nullptr) {
      // What it has gathered is the result's.
      const auto size = result.has_value() ? static_cast<int64_t>(result->ByteSize()) : 0;
      const int64_t given = std::min(size, acc->bytes);
      RETURN_IF_ERROR(host_->ChargeState(-given));
      acc->bytes -= given;
      Leave(acc);
      states_.Erase(key);
    }
    if (result.has_value()) output->AppendCurrent(*result);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance, [this](Accumulator& acc) { Leave(&acc); });
  }
  size_t HeldBytes() const override { return states_.ByteSize(); }

 private:
  static constexpr size_t kSliceWork = 2048;

  // A long one is freed in parts.
  void Leave(Accumulator* acc) {
    if (acc->bytes < Leftover::kLeastBytes) {
      (void)host_->ChargeState(-acc->bytes);
      return;
    }
    auto values = std::make_unique<ValuesLeft>();
    acc->list.Leave(values.get());
    std::unique_ptr<Leftover> left = std::move(values);
    if (acc->folded != nullptr) left = acc->folded->Leave();
    host_->Leave(std::move(left), acc->bytes);
  }

  // What of the batch is absorbed.
  struct Cursor {
    size_t run = 0;
    uint32_t in_run = 0;
    RowPlace place;
  };

  // A slice of the work.
  Status AbsorbSome(const Batch& input) {
    size_t left = kSliceWork;
    for (; at_.run < input.runs.size(); ++at_.run, at_.in_run = 0) {
      const Run& run = input.runs[at_.run];
      Accumulator& acc = *states_.FindOrMake(run).first;
      ChargeAhead charge(host_, &acc.bytes);
      if (at_.in_run == 0) {
        ASSIGN_OR_RETURN(const bool all,
                         reducer_.AddRun(input, at_.place.row, at_.place.row + run.count, &acc));
        if (all) {
          at_.place.row += run.count;
          continue;
        }
      }
      for (; at_.in_run < run.count; ++at_.in_run, at_.place = {at_.place.row + 1, 0}) {
        const int64_t bulk = input.BulkAt(at_.place.row);
        while (at_.place.copy < bulk) {
          if (left == 0) return OkStatus();
          size_t work = 0;
          ASSIGN_OR_RETURN(const int64_t added,
                           reducer_.AddSome(input.slots[0], at_.place, bulk - at_.place.copy, &acc,
                                            &charge, &work));
          at_.place.copy += added;
          left -= std::min(left, work);
        }
      }
    }
    return OkStatus();
  }

  Reducer reducer_;
  Cursor at_;
  OperatorHost* const host_;
  StateTable<Accumulator> states_;
};

// Keeps one accumulator and one weight per instance and iteration; small, so it moves home whole
// (engine rule 4) and leaves nothing behind.
class ReducePartialOp : public PartialOperator {
 public:
  explicit ReducePartialOp(const plan::Reduce& op) : reducer_(op, /*merges_partials=*/false) {}

  Status Absorb(const Batch& input, std::vector<Run>* returned) override {
    size_t row = 0;
    for (const Run& run : input.runs) {
      Iteration& iteration = iterations_[run.loops];
      const auto [number, fresh] =
          iteration.index.FindOrMake(run.instance, iteration.first + iteration.shares.size());
      if (fresh) {
        iteration.shares.push_back({run, {}});
        iteration.shares.back().run.count = 1;
      } else {
        returned->push_back(run);
      }
      Accumulator& acc = iteration.shares[*number - iteration.first].acc;
      const size_t end = row + run.count;
      ASSIGN_OR_RETURN(const bool whole, reducer_.AddRun(input, row, end, &acc));
      if (whole) {
        row = end;
        continue;
      }
      const int64_t before = acc.bytes;
      for (; row < end; ++row) {
        RETURN_IF_ERROR(reducer_.Add(input.slots[0], row, input.BulkAt(row), &acc));
      }
      value_bytes_ += acc.bytes - before;
    }
    return OkStatus();
  }

  bool IsFull(const Loops& loops) const override {
    const Iteration* iteration = iterations_.Find(loops);
    return iteration != nullptr && iteration->shares.size() > kBatchRows;
  }

  const Loops* First(const std::function<bool(const Loops&)>& may) override {
    return iterations_.First([&](const Loops& loops, const Iteration&) { return may(loops); })
        .loops;
  }

  Status Flush(const Loops& loops, Batch* output, std::vector<Run>*) override {
    Iteration* found = iterations_.Find(loops);
    if (found == nullptr) return OkStatus();
    Iteration& iteration = *found;
    output->slots.resize(1);
    while (!iteration.shares.empty() && output->rows < kBatchRows) {
      const Share& share = iteration.shares.front();
      // Only nulls: nothing to add, but the weight must go home, so the row goes with a neutral
      // one.
      Value partial;
      if (share.acc.any) {
        ASSIGN_OR_RETURN(partial, reducer_.Partial(share.acc));
      }
      output->slots[0].Append(partial);
      output->runs.push_back(share.run);
      ++output->rows;
      value_bytes_ -= share.acc.bytes;
      iteration.index.Erase(share.run.instance);
      iteration.shares.pop_front();
      ++iteration.first;
    }
    iterations_.Trim(loops);
    return OkStatus();
  }

  size_t HeldBytes() const override {
    size_t bytes = static_cast<size_t>(value_bytes_);
    iterations_.ForEach([&bytes](const Loops&, const Iteration& iteration) {
      bytes += iteration.shares.ByteSize() + iteration.index.ByteSize();
    });
    return bytes;
  }

 private:
  struct Share {
    Run run;
    Accumulator acc;
  };
  struct Iteration {
    Fifo<Share> shares;
    size_t first = 0;           // the number of shares.front()
    InstanceMap<size_t> index;  // the numbers
    bool empty() const { return shares.empty(); }
  };

  const Reducer reducer_;
  ByIteration<Iteration> iterations_;
  int64_t value_bytes_ = 0;  // of their accumulators
};

}  // namespace

StatusOr<OperatorBundle> MakeReduce(const plan::Reduce& op, OperatorHost* host) {
  OperatorBundle bundle;
  if (op.stage() == plan::PARTIAL) {
    if (op.function() == plan::Reduce::FOLD || op.function() == plan::Reduce::FOLD_WITH) {
      return Internal("fold has no partial stage.");
    }
    bundle.partial = std::make_unique<ReducePartialOp>(op);
  } else {
    auto reduce = std::make_unique<ReduceFinalOp>(op, host);
    RETURN_IF_ERROR(reduce->SetSeed(op.seed()));
    bundle.barrier = std::move(reduce);
  }
  return bundle;
}

}  // namespace koios::engine
