#include "engine/op/filter_state_ops.h"

#include "absl/container/flat_hash_set.h"
#include "core/value_compare.h"
#include "engine/op/state/charge_ahead.h"
#include "engine/op/state/state_table.h"

namespace koios::engine {
namespace {

// Passes the traversers numbered [low, high) of each instance and iteration; splits a bulk at the
// edges; closes what leads here once `high` is reached.
class LimitOp : public StreamOperator {
 public:
  LimitOp(int64_t low, int64_t high, OperatorHost* host) : low_(low), high_(high), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    size_t row = 0;
    for (const Run& run : input.runs) {
      const auto [found, fresh] = seen_.FindOrMake(run, 0);
      if (fresh) RETURN_IF_ERROR(host_->ChargeState(kStateBytes));
      int64_t& seen = *found;
      const size_t end = row + run.count;
      for (; row < end && !Full(seen); ++row) {
        const int64_t from = seen;
        seen = Bounded(from, input.BulkAt(row));
        const int64_t first = std::max(from, low_);
        const int64_t last = high_ < 0 ? seen : std::min(seen, high_);
        if (first >= last) continue;
        output->origin.push_back(static_cast<uint32_t>(row));
        output->bulk.push_back(last - first);
      }
      row = end;
      if (Full(seen)) host_->CloseUpstream({run.instance, run.loops});
    }
    output->has_bulk = true;
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    seen_.Release(instance, [this](int64_t) { (void)host_->ChargeState(-kStateBytes); });
  }

  bool keeps_cursor() const override { return false; }  // state of its own per instance

 private:
  static constexpr int64_t kStateBytes = 192;

  bool Full(int64_t seen) const { return high_ >= 0 && seen >= high_; }
  static int64_t Bounded(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

  const int64_t low_;
  const int64_t high_;
  OperatorHost* const host_;
  StateTable<int64_t> seen_;
};

// The first row of each distinct key passes, with bulk 1. Vertex keys have a set of their own.
class DedupOp : public StreamOperator {
 public:
  DedupOp(std::vector<uint32_t> slots, OperatorHost* host)
      : slots_(std::move(slots)), host_(host) {}

  Status Process(const Batch& input, OpOutput* output, bool* done) override {
    *done = true;
    size_t row = 0;
    for (const Run& run : input.runs) {
      const size_t end = row + run.count;
      RETURN_IF_ERROR(ProcessRun(input, row, end, &sets_[run.instance], output));
      row = end;
    }
    output->has_bulk = true;
    output->bulk.assign(output->origin.size(), 1);
    return OkStatus();
  }

  void Release(const InstanceId& instance) override {
    const auto found = sets_.find(instance);
    if (found == sets_.end()) return;
    (void)host_->ChargeState(-found->second.bytes);
    sets_.erase(found);
  }

  bool keeps_cursor() const override { return false; }  // state of its own per instance

 private:
  struct Sets {
    absl::flat_hash_set<uint64_t> vertices;
    absl::flat_hash_set<Value, ValueHash, ValueEquivalent> values;
    int64_t bytes = 0;
  };
  static constexpr int64_t kVertexBytes = 2 * (sizeof(uint64_t) + 1);

  Status ProcessRun(const Batch& input, size_t row, size_t end, Sets* sets, OpOutput* output) {
    ChargeAhead charge(host_, &sets->bytes);
    if (slots_.size() == 1 && input.Has(slots_[0]) &&
        input.slots[slots_[0]].kind() == Column::Kind::kVertex &&
        !input.slots[slots_[0]].has_absent()) {
      const std::vector<VertexRef>& vertices = input.slots[slots_[0]].vertices();
      for (; row < end; ++row) {
        ASSIGN_OR_RETURN(const bool fresh, AddVertex(vertices[row], sets, &charge));
        if (fresh) output->origin.push_back(static_cast<uint32_t>(row));
      }
    } else {
      for (; row < end; ++row) {
        Value key;
        ASSIGN_OR_RETURN(const bool has_key, KeyAt(input, row, &key));
        if (!has_key) continue;
        ASSIGN_OR_RETURN(const bool fresh, key.kind() == ValueKind::kVertex
                                               ? AddVertex(key.AsVertex(), sets, &charge)
                                               : AddValue(std::move(key), sets, &charge));
        if (fresh) output->origin.push_back(static_cast<uint32_t>(row));
      }
    }
    return OkStatus();
  }

  // Both: whether it was not there.
  static StatusOr<bool> AddVertex(VertexRef vertex, Sets* sets, ChargeAhead* charge) {
    RETURN_IF_ERROR(charge->Take(kVertexBytes));
    const bool fresh = sets->vertices.insert(vertex.bits).second;
    if (!fresh) charge->Return(kVertexBytes);
    return fresh;
  }

  static StatusOr<bool> AddValue(Value key, Sets* sets, ChargeAhead* charge) {
    const int64_t bytes = 2 * static_cast<int64_t>(sizeof(Value) + key.ByteSize());
    RETURN_IF_ERROR(charge->Take(bytes));
    const bool fresh = sets->values.insert(std::move(key)).second;
    if (!fresh) charge->Return(bytes);
    return fresh;
  }

  // A row without one of the keys is filtered, as an unproductive by() is.
  StatusOr<bool> KeyAt(const Batch& input, size_t row, Value* key) const {
    for (uint32_t slot : slots_) {
      if (!input.Has(slot) || input.slots[slot].IsAbsent(row)) return false;
    }
    if (slots_.size() == 1) {
      *key = input.slots[slots_[0]].Get(row);
      return true;
    }
    ValueList parts;
    for (uint32_t slot : slots_) parts.push_back(input.slots[slot].Get(row));
    ASSIGN_OR_RETURN(*key, Value::List(std::move(parts)));
    return true;
  }

  const std::vector<uint32_t> slots_;
  OperatorHost* const host_;
  absl::flat_hash_map<InstanceId, Sets, std::hash<InstanceId>> sets_;
};

}  // namespace

StatusOr<OperatorBundle> MakeLimit(const plan::Limit& op, OperatorHost* host) {
  if (op.low() < 0 || (op.high() >= 0 && op.high() < op.low())) {
    return InvalidArgument("Not a legal range: [" + std::to_string(op.low()) + ", " +
                           std::to_string(op.high()) + "].");
  }
  OperatorBundle bundle;
  // A worker's share cannot know which traversers come first over all workers: it only caps.
  const int64_t low = op.stage() == plan::PARTIAL ? 0 : op.low();
  bundle.stream = std::make_unique<LimitOp>(low, op.high(), host);
  return bundle;
}

StatusOr<OperatorBundle> MakeDedup(const plan::Dedup& op, uint32_t num_slots, OperatorHost* host) {
  std::vector<uint32_t> slots;
  for (uint32_t slot : op.key_slots()) {
    if (slot >= num_slots) return Internal("The plan reads a slot that does not exist.");
    slots.push_back(slot);
  }
  if (slots.empty()) slots = {0};
  OperatorBundle bundle;
  bundle.stream = std::make_unique<DedupOp>(std::move(slots), host);
  return bundle;
}

}  // namespace koios::engine
