#include "engine/op/sack_barrier.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/arithmetic.h"
#include "core/value_codec.h"
#include "core/value_compare.h"
#include "engine/account/charged_growth.h"
#include "engine/effect/fold_operator.h"
#include "engine/op/state/kept_rows.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {
namespace {

// What decides whether two rows become one: their other slots.
using RowKey = std::vector<std::optional<Value>>;

struct RowKeyHash {
  size_t operator()(const RowKey& key) const {
    size_t hash = key.size();
    for (const std::optional<Value>& part : key) {
      hash = hash * 0x9E3779B97F4A7C15ull + (part ? ValueHash()(*part) : 1);
    }
    return hash;
  }
};

struct RowKeyEqual {
  bool operator()(const RowKey& a, const RowKey& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const std::optional<Value>& left, const std::optional<Value>& right) {
                        if (!left || !right) return left.has_value() == right.has_value();
                        return ValueEquivalent()(*left, *right);
                      });
  }
};

// Keeps one row of those that become one, as it came but for its sack, and its sack by itself.
class SackBarrier : public BarrierOperator {
 public:
  SackBarrier(const plan::Sacks& op, Value initial, FoldOperator fold, OperatorHost* host)
      : op_(op), initial_(std::move(initial)), fold_(fold), host_(host) {}

  Status Absorb(const Batch& input) override {
    Batch rows = input;
    if (rows.slots.size() <= op_.slot()) rows.slots.resize(op_.slot() + 1);
    rows.slots[op_.slot()].Clear();
    rows.bulk.clear();
    size_t row = 0;
    for (const Run& run : input.runs) {
      State* state = states_.FindOrMake(run).first;
      ChargeAhead charge(host_, &state->bytes);
      for (const size_t end = row + run.count; row < end; ++row) {
        RETURN_IF_ERROR(AddRow(input, rows, row, state, &charge));
      }
    }
    return OkStatus();
  }

  Status Fire(const StateKey& key, Batch* output, bool* done) override {
    *done = true;
    State* state = states_.Find(key);
    if (state == nullptr) return OkStatus();
    *done = false;
    if (state->order.empty()) {
      state->order = state->rows.All();
      if (op_.normalise()) RETURN_IF_ERROR(FindTotal(state));
    }
    if (output->rows > 0) return OkStatus();  // they may be of another shape
    const size_t begin = state->next;
    state->rows.Take(state->order, &state->next, output);
    Column sacks;
    for (size_t i = begin; i < state->next; ++i) {
      sacks.Append(op_.normalise() ? ShareOf(*state, i) : state->sacks[i]);
    }
    if (output->slots.size() <= op_.slot()) output->slots.resize(op_.slot() + 1);
    output->slots[op_.slot()] = std::move(sacks);
    output->bulk.assign(state->bulks.begin() + static_cast<std::ptrdiff_t>(begin),
                        state->bulks.begin() + static_cast<std::ptrdiff_t>(state->next));
    if (state->next < state->order.size()) return OkStatus();
    *done = true;
    RETURN_IF_ERROR(host_->ChargeState(-state->bytes));
    states_.Erase(key);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    states_.Release(instance,
                    [this](const State& state) { (void)host_->ChargeState(-state.bytes); });
  }
  size_t HeldBytes() const override { return states_.ByteSize(); }

 private:
  struct State {
    KeptRows rows;
    std::vector<Value> sacks;  // of the rows
    std::vector<int64_t> bulks;
    absl::flat_hash_map<RowKey, size_t, RowKeyHash, RowKeyEqual> places;  // of rows, by number
    int64_t bytes = 0;
    double total = 0;
    std::vector<KeptRows::Position> order;  // once firing
    size_t next = 0;
  };
  // What a row takes once it is given.
  static constexpr int64_t kRowBytes = static_cast<int64_t>(sizeof(KeptRows::Position));

  // `rows`: the input without sacks.
  Status AddRow(const Batch& input, const Batch& rows, size_t row, State* state,
                ChargeAhead* charge) const {
    Value sack = initial_;
    if (input.Has(op_.slot()) && !input.slots[op_.slot()].IsAbsent(row)) {
      sack = input.slots[op_.slot()].Get(row);
    }
    const int64_t bulk = input.BulkAt(row);
    // As TinkerPop's traversers: without an operator those become one that have no sack.
    if (fold_ != nullptr || (op_.one_bulk() && sack.is_null())) {
      RowKey key = KeyOf(rows, row);
      auto bytes = static_cast<int64_t>(key.capacity() * sizeof(key[0]));
      for (const std::optional<Value>& part : key) {
        if (part) bytes += static_cast<int64_t>(part->ByteSize() - sizeof(Value));
      }
      RETURN_IF_ERROR(MakeRoom(&state->places, charge));
      RETURN_IF_ERROR(charge->Take(bytes));
      const auto [place, fresh] = state->places.try_emplace(std::move(key), state->sacks.size());
      if (!fresh) {
        charge->Return(bytes);
        return Join(place->second, sack, bulk, state, charge);
      }
    }
    RETURN_IF_ERROR(MakeRoom(&state->sacks, 1, charge));
    RETURN_IF_ERROR(MakeRoom(&state->bulks, 1, charge));
    RETURN_IF_ERROR(charge->Take(kRowBytes + static_cast<int64_t>(sack.ByteSize() - sizeof(Value)) +
                                 static_cast<int64_t>(rows.RowBytes(row))));
    state->rows.Add(rows, row, row + 1);
    state->sacks.push_back(std::move(sack));
    state->bulks.push_back(op_.one_bulk() ? 1 : bulk);
    return OkStatus();
  }

  RowKey KeyOf(const Batch& rows, size_t row) const {
    RowKey key;
    key.reserve(rows.slots.size() - 1);  // without the sack
    for (size_t slot = 0; slot < rows.slots.size(); ++slot) {
      if (slot == op_.slot() || (slot != 0 && slot == op_.ordinal_slot())) continue;
      const bool there = rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
      key.push_back(there ? std::optional(rows.slots[slot].Get(row)) : std::nullopt);
    }
    return key;
  }

  // A sack that is null stays so.
  Status Join(size_t place, const Value& sack, int64_t bulk, State* state,
              ChargeAhead* charge) const {
    Value& joined = state->sacks[place];
    if (!joined.is_null()) {
      const auto before = static_cast<int64_t>(joined.ByteSize());
      const int64_t most = before + static_cast<int64_t>(sack.ByteSize());
      RETURN_IF_ERROR(charge->Take(most));
      ASSIGN_OR_RETURN(joined, fold_(joined, sack));
      charge->Return(most);
      const int64_t grown = static_cast<int64_t>(joined.ByteSize()) - before;
      if (grown > 0) RETURN_IF_ERROR(charge->Take(grown));
      if (grown < 0) charge->Return(-grown);
    }
    if (op_.one_bulk()) return OkStatus();
    if (__builtin_add_overflow(state->bulks[place], bulk, &state->bulks[place])) {
      return InvalidArgument("More traversers meet than a long can count.");
    }
    return OkStatus();
  }

  static double WeighedSack(const State& state, size_t row) {
    return NumberAsDouble(state.sacks[row]) * static_cast<double>(state.bulks[row]);
  }

  static Status FindTotal(State* state) {
    for (size_t row = 0; row < state->sacks.size(); ++row) {
      if (!state->sacks[row].is_number()) {
        return InvalidArgument("barrier(normSack) needs sacks that are numbers.");
      }
      state->total += WeighedSack(*state, row);
    }
    return OkStatus();
  }

  static Value ShareOf(const State& state, size_t row) {
    return Value::Double(WeighedSack(state, row) / state.total);
  }

  const plan::Sacks op_;
  const Value initial_;
  const FoldOperator fold_;  // null: none
  OperatorHost* const host_;
  StateTable<State> states_;
};

}  // namespace

StatusOr<OperatorBundle> MakeSackBarrier(const plan::Sacks& op, uint32_t num_slots,
                                         OperatorHost* host) {
  if (op.slot() == 0 || op.slot() >= num_slots || op.ordinal_slot() >= num_slots) {
    return Internal("The plan has sacks in a slot that does not exist.");
  }
  ASSIGN_OR_RETURN(Value initial, DecodeWholeValue(op.initial()));
  const FoldOperator fold = op.operator_().empty() ? nullptr : FindSackOperator(op.operator_());
  if (fold == nullptr && !op.operator_().empty()) {
    return Internal("The plan puts sacks together with an unknown operator: " + op.operator_());
  }
  OperatorBundle bundle;
  bundle.barrier = std::make_unique<SackBarrier>(op, std::move(initial), fold, host);
  return bundle;
}

}  // namespace koios::engine
