// SpilledSacks: rows of a sack barrier that memory has no room for, each with its sack. They are
// kept as they came, as some operators must not be applied out of turn; once the barrier fires
// they are sorted by what they are, those that become one are joined, and, where their order is
// seen, what is left is sorted by when it came: what comes out is what would from memory. All of
// these go to disk as an order() or a barrier does. Belongs to one operator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/account/charge_ahead.h"
#include "engine/effect/fold_operator.h"
#include "engine/op/operator.h"
#include "engine/op/state/key_code.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {

// How sacks are put together.
struct SackRule {
  plan::Sacks op;
  FoldOperator fold = nullptr;  // null: none

  // Whether a row becomes one with those that equal it. As TinkerPop's traversers: without an
  // operator those do that have no sack.
  bool Joins(const Value& sack) const {
    return fold != nullptr || (op.one_bulk() && sack.is_null());
  }
  // Puts a row to one that came before. A sack that is null stays so.
  Status Join(const Value& sack, int64_t bulk, Value* joined, int64_t* joined_bulk,
              ChargeAhead* charge) const;
  // For its share of all. INVALID_ARGUMENT for what is no number.
  static StatusOr<double> Weighed(const Value& sack, int64_t bulk);
  // Instead of the rows' sacks, of which `total` is the sum.
  Status MakeShares(double total, Batch* rows) const;
  // Whether the slot is no part of what a row is.
  bool IsBeside(size_t slot) const {
    return slot == op.slot() || (slot != 0 && slot == op.ordinal_slot());
  }
};

class SpilledSacks {
 public:
  // `rule` outlives this.
  static StatusOr<std::unique_ptr<SpilledSacks>> Make(const SackRule* rule, uint32_t num_slots,
                                                      OperatorHost* host);

  // Rows of one instance and iteration, with their sacks; their runs are ignored.
  Status Add(const StateKey& key, Batch rows);
  // As a BarrierOperator's.
  Status Fire(const StateKey& key, Batch* output, bool* done);
  void Release(const InstanceId& instance);
  size_t HeldBytes() const;
  int64_t SpillableBytes() const;
  StatusOr<bool> Spill();

 private:
  // The keys of rows, behind the plan's slots.
  enum Key : uint32_t { kCodeHigh, kCodeLow, kNumber, kNumKeys };
  enum class Stage : uint8_t { kJoin, kSum, kGive };
  // A row that others may still become one with.
  struct Last {
    Batch row;
    KeyCode code;
    Value sack;
    int64_t bulk = 1;
  };
  struct State {
    int64_t num_rows = 0;
    Stage stage = Stage::kJoin;
    std::optional<Last> last;
    int64_t bytes = 0;  // charged for it
    double total = 0;   // of all sacks, weighed by bulks
  };

  SpilledSacks(const SackRule* rule, uint32_t num_slots, OperatorHost* host)
      : rule_(rule), num_slots_(num_slots), seed_(host->random().Next()), host_(host) {}
  StatusOr<std::unique_ptr<BarrierOperator>> MakeOrderBy(std::initializer_list<Key> keys) const;
  KeyCode CodeOf(const Batch& rows, size_t row) const;
  KeyCode KeyCodeAt(const Batch& rows, size_t row) const;
  Status JoinSome(const StateKey& key, State* state);
  Status AddJoined(const StateKey& key, const Batch& rows, const std::vector<uint32_t>& picked,
                   const std::vector<Value>& sacks, std::vector<int64_t> bulks);
  Status SumSome(const StateKey& key, State* state);
  Status GiveSome(const StateKey& key, State* state, Batch* output, bool* done);
  BarrierOperator* Largest() const;

  const SackRule* const rule_;
  const uint32_t num_slots_;
  const uint64_t seed_;
  OperatorHost* const host_;
  // Rows by what they are; those that were joined, where their order is seen by when they came;
  // and, where all must be known before the first is given, as they are given.
  std::unique_ptr<BarrierOperator> by_code_, joined_, summed_;
  StateTable<State> states_;
  BarrierOperator* spilling_ = nullptr;  // one of these
};

}  // namespace koios::engine
