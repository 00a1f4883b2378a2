#include "engine/op/state/spilled_sacks.h"

#include <string>
#include <utility>

#include "core/arithmetic.h"
#include "engine/op/collect_ops.h"

namespace koios::engine {
namespace {

Status AddTo(BarrierOperator* to, const StateKey& key, Batch rows) {
  if (rows.rows == 0) return OkStatus();
  rows.runs = {{key.instance, key.loops, static_cast<uint32_t>(rows.rows), 0}};
  return to->Absorb(rows);
}

}  // namespace

Status SackRule::Join(const Value& sack, int64_t bulk, Value* joined, int64_t* joined_bulk,
                      ChargeAhead* charge) const {
  if (!joined->is_null()) {
    const auto before = static_cast<int64_t>(joined->ByteSize());
    const int64_t most = before + static_cast<int64_t>(sack.ByteSize());
    RETURN_IF_ERROR(charge->Take(most));
    ASSIGN_OR_RETURN(*joined, fold(*joined, sack));
    charge->Return(most);
    const int64_t grown = static_cast<int64_t>(joined->ByteSize()) - before;
    if (grown > 0) RETURN_IF_ERROR(charge->Take(grown));
    if (grown < 0) charge->Return(-grown);
  }
  if (op.one_bulk()) return OkStatus();
  if (__builtin_add_overflow(*joined_bulk, bulk, joined_bulk)) {
    return InvalidArgument("More traversers meet than a long can count.");
  }
  return OkStatus();
}

StatusOr<double> SackRule::Weighed(const Value& sack, int64_t bulk) {
  if (sack.is_number()) return NumberAsDouble(sack) * static_cast<double>(bulk);
  return InvalidArgument("barrier(normSack) needs sacks that are numbers.");
}

Status SackRule::MakeShares(double total, Batch* rows) const {
  Column shares;
  for (size_t row = 0; row < rows->rows; ++row) {
    ASSIGN_OR_RETURN(const double weighed,
                     Weighed(rows->slots[op.slot()].Get(row), rows->BulkAt(row)));
    shares.Append(Value::Double(weighed / total));
  }
  rows->slots[op.slot()] = std::move(shares);
  return OkStatus();
}

StatusOr<std::unique_ptr<SpilledSacks>> SpilledSacks::Make(const SackRule* rule, uint32_t num_slots,
                                                           OperatorHost* host) {
  std::unique_ptr<SpilledSacks> made(new SpilledSacks(rule, num_slots, host));
  ASSIGN_OR_RETURN(made->by_code_, made->MakeOrderBy({kCodeHigh, kCodeLow, kNumber}));
  // Sums of doubles depend on their order.
  if (rule->op.ordinal_slot() != 0 || rule->op.normalise()) {
    ASSIGN_OR_RETURN(made->joined_, made->MakeOrderBy({kNumber}));
  } else {
    made->joined_ = MakeBarrier(host).barrier;
  }
  made->summed_ = MakeBarrier(host).barrier;
  return made;
}

StatusOr<std::unique_ptr<BarrierOperator>> SpilledSacks::MakeOrderBy(
    std::initializer_list<Key> keys) const {
  plan::Order order;
  for (const Key key : keys) order.add_keys()->set_slot(num_slots_ + key);
  ASSIGN_OR_RETURN(OperatorBundle bundle, MakeOrder(order, num_slots_ + kNumKeys, host_));
  return std::move(bundle.barrier);
}

KeyCode SpilledSacks::CodeOf(const Batch& rows, size_t row) const {
  std::string parts;
  for (size_t slot = 0; slot < num_slots_; ++slot) {
    if (rule_->IsBeside(slot)) continue;
    const bool there = rows.Has(slot) && !rows.slots[slot].IsAbsent(row);
    parts.push_back(there ? '\1' : '\0');
    if (!there) continue;
    const KeyCode code = CodeOfValue(rows.slots[slot].Get(row), seed_);
    parts.append(reinterpret_cast<const char*>(&code), sizeof(code));
  }
  return CodeOfText(parts, seed_);
}

KeyCode SpilledSacks::KeyCodeAt(const Batch& rows, size_t row) const {
  const Column* keys = &rows.slots[num_slots_];
  return {static_cast<uint64_t>(keys[kCodeHigh].Get(row).AsInteger()),
          static_cast<uint64_t>(keys[kCodeLow].Get(row).AsInteger())};
}

Status SpilledSacks::Add(const StateKey& key, Batch rows) {
  State* state = states_.FindOrMake({key.instance, key.loops, 0, 0}).first;
  rows.slots.resize(num_slots_ + kNumKeys);
  for (size_t row = 0; row < rows.rows; ++row) {
    const int64_t number = state->num_rows++;
    KeyCode code{0, static_cast<uint64_t>(number)};  // nobody else's
    if (rule_->Joins(rows.slots[rule_->op.slot()].Get(row))) code = CodeOf(rows, row);
    Column* keys = &rows.slots[num_slots_];
    keys[kCodeHigh].Append(Value::Long(static_cast<int64_t>(code.high)));
    keys[kCodeLow].Append(Value::Long(static_cast<int64_t>(code.low)));
    keys[kNumber].Append(Value::Long(number));
  }
  return AddTo(by_code_.get(), key, std::move(rows));
}

Status SpilledSacks::Fire(const StateKey& key, Batch* output, bool* done) {
  State* state = states_.Find(key);
  *done = state == nullptr;
  if (state == nullptr || output->rows > 0) return OkStatus();  // a batch of its own
  switch (state->stage) {
    case Stage::kJoin:
      return JoinSome(key, state);
    case Stage::kSum:
      return SumSome(key, state);
    case Stage::kGive:
      return GiveSome(key, state, output, done);
  }
  return OkStatus();
}

// The last one of a batch may be joined with the first ones of the next.
Status SpilledSacks::JoinSome(const StateKey& key, State* state) {
  Batch rows;
  bool done = false;
  RETURN_IF_ERROR(by_code_->Fire(key, &rows, &done));
  ChargeAhead charge(host_, &state->bytes);
  std::vector<uint32_t> firsts;  // of those that become one: they begin here
  std::vector<Value> sacks;
  std::vector<int64_t> bulks;
  std::optional<Last>& last = state->last;
  KeyCode code = last.has_value() ? last->code : KeyCode();
  for (size_t row = 0; row < rows.rows; ++row) {
    const KeyCode before = std::exchange(code, KeyCodeAt(rows, row));
    Value sack = rows.slots[rule_->op.slot()].Get(row);
    const int64_t bulk = rows.BulkAt(row);
    if (code == before && !firsts.empty()) {
      RETURN_IF_ERROR(rule_->Join(sack, bulk, &sacks.back(), &bulks.back(), &charge));
    } else if (code == before && last.has_value()) {
      RETURN_IF_ERROR(rule_->Join(sack, bulk, &last->sack, &last->bulk, &charge));
    } else {
      firsts.push_back(static_cast<uint32_t>(row));
      sacks.push_back(std::move(sack));
      bulks.push_back(bulk);
    }
  }
  if (last.has_value() && (done || !firsts.empty())) {
    RETURN_IF_ERROR(AddJoined(key, last->row, {0}, {last->sack}, {last->bulk}));
    last.reset();
  }
  if (!done && !firsts.empty()) {
    last = Last{{}, code, std::move(sacks.back()), bulks.back()};
    last->row.AppendRows(rows, {firsts.back()});
    firsts.pop_back(), sacks.pop_back(), bulks.pop_back();
  }
  if (!firsts.empty()) RETURN_IF_ERROR(AddJoined(key, rows, firsts, sacks, std::move(bulks)));
  if (done) state->stage = rule_->op.normalise() ? Stage::kSum : Stage::kGive;
  charge.Return(state->bytes);
  if (!last.has_value()) return OkStatus();
  return charge.Take(static_cast<int64_t>(last->row.ByteSize() + last->sack.ByteSize()));
}

// Nobody becomes one with these any more.
Status SpilledSacks::AddJoined(const StateKey& key, const Batch& rows,
                               const std::vector<uint32_t>& picked, const std::vector<Value>& sacks,
                               std::vector<int64_t> bulks) {
  Batch joined;
  joined.AppendRows(rows, picked);
  Column* column = &joined.slots[rule_->op.slot()];
  column->Clear();
  for (const Value& sack : sacks) column->Append(sack);
  joined.bulk = std::move(bulks);
  return AddTo(joined_.get(), key, std::move(joined));
}

Status SpilledSacks::SumSome(const StateKey& key, State* state) {
  Batch rows;
  bool done = false;
  RETURN_IF_ERROR(joined_->Fire(key, &rows, &done));
  if (done) state->stage = Stage::kGive;
  for (size_t row = 0; row < rows.rows; ++row) {
    ASSIGN_OR_RETURN(const double weighed,
                     SackRule::Weighed(rows.slots[rule_->op.slot()].Get(row), rows.BulkAt(row)));
    state->total += weighed;
  }
  return AddTo(summed_.get(), key, std::move(rows));
}

Status SpilledSacks::GiveSome(const StateKey& key, State* state, Batch* output, bool* done) {
  const bool normalises = rule_->op.normalise();
  RETURN_IF_ERROR((normalises ? summed_ : joined_)->Fire(key, output, done));
  output->slots.resize(num_slots_);
  if (normalises && output->rows > 0) RETURN_IF_ERROR(rule_->MakeShares(state->total, output));
  if (*done) states_.Erase(key);
  return OkStatus();
}

void SpilledSacks::Release(const InstanceId& instance) {
  for (const auto& rows : {by_code_.get(), joined_.get(), summed_.get()}) {
    rows->Release(instance);
  }
  states_.Release(instance, [this](const State& state) { (void)host_->ChargeState(-state.bytes); });
}

size_t SpilledSacks::HeldBytes() const {
  return states_.ByteSize() + by_code_->HeldBytes() + joined_->HeldBytes() + summed_->HeldBytes();
}

BarrierOperator* SpilledSacks::Largest() const {
  BarrierOperator* largest = by_code_.get();
  for (BarrierOperator* rows : {joined_.get(), summed_.get()}) {
    if (rows->SpillableBytes() > largest->SpillableBytes()) largest = rows;
  }
  return largest;
}

int64_t SpilledSacks::SpillableBytes() const {
  return (spilling_ != nullptr ? spilling_ : Largest())->SpillableBytes();
}

StatusOr<bool> SpilledSacks::Spill() {
  if (spilling_ == nullptr) spilling_ = Largest();
  ASSIGN_OR_RETURN(const bool done, spilling_->Spill());
  if (done) spilling_ = nullptr;
  return done;
}

}  // namespace koios::engine
