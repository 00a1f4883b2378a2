// What tests of single operators share: a host with a limit, and batches.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/value_codec.h"
#include "engine/op/operator.h"
#include "engine/spill/spill_space.h"
#include "storage/memory_graph.h"

namespace koios::engine {

class TestHost : public OperatorHost {
 public:
  // `account_bytes`: of which shares are taken; what is refused is beyond `limit`.
  explicit TestHost(int64_t account_bytes = int64_t{1} << 20)
      : account_(std::make_shared<MemoryAccount>("query", account_bytes)) {}
  const storage::GraphView& view() const override { return graph_; }
  storage::Transaction* transaction() const override { return changes.get(); }
  const Clock& clock() const override { return time; }
  Rng& random() override { return rng_; }
  SideEffects& side_effects() override { return effects_; }
  PathLedger& paths() override { return *paths_; }
  TopBounds& top_bounds() override { return bounds_; }
  Status ChargeState(int64_t bytes) override {
    if (bytes > 0 && bytes > limit - charged) return ResourceExhausted("over the limit", {});
    charged += bytes;
    return OkStatus();
  }
  int64_t StateRoom() const override { return limit - charged; }
  void CloseUpstream(const StateKey&) override { ++closed; }
  const std::shared_ptr<MemoryAccount>& account() const override { return account_; }
  bool may_spill() const override { return spills; }
  StatusOr<SpillFile*> spill_file() override {
    if (file_ == nullptr) {
      ASSIGN_OR_RETURN(file_, space.Open());
    }
    return file_.get();
  }
  int64_t least_spill_bytes() const override { return least; }
  bool may_rest() const override { return true; }
  bool spills_early() const override { return early; }

  ManualClock time;
  int closed = 0;
  int64_t charged = 0;
  int64_t limit = INT64_MAX;
  std::shared_ptr<storage::Transaction> changes;
  SpillSpace space{"/tmp"};
  bool spills = true;
  int64_t least = 1;  // bytes
  bool early = false;

 private:
  storage::MemoryGraph graph_;
  Rng rng_{7};
  SideEffects effects_;
  TopBounds bounds_;
  const PathLedger::Owner paths_ = PathLedger::ForLabels();
  const std::shared_ptr<MemoryAccount> account_;
  std::unique_ptr<SpillFile> file_;
};

// function(slot 0, constants...)
inline plan::Expr CallWith(const char* function, const ValueList& constants) {
  plan::Expr expr;
  expr.add_nodes()->set_slot(0);
  for (const Value& constant : constants) expr.add_nodes()->set_constant(EncodeValue(constant));
  plan::Expr::Call* call = expr.add_nodes()->mutable_call();
  call->set_function(function);
  for (uint32_t i = 0; i <= constants.size(); ++i) call->add_args(i);
  return expr;
}

// Rows of the root with slot 1 as a second column where it is given.
inline Batch Rows(const std::vector<Value>& current, const std::vector<Value>& second = {},
                  std::vector<int64_t> bulk = {}, Loops loops = {}) {
  Batch batch;
  batch.slots.resize(2);
  for (const Value& value : current) batch.slots[0].Append(value);
  for (const Value& value : second) batch.slots[1].Append(value);
  batch.bulk = std::move(bulk);
  batch.rows = current.size();
  batch.runs.push_back({{}, std::move(loops), static_cast<uint32_t>(batch.rows), 0});
  return batch;
}

// Of what was tried with the host and is over: if it failed, then for want of room. Nothing is left
// of it in any case.
inline bool WentWell(const Status& status, const TestHost& host) {
  if (!status.ok()) {
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(host.charged, 0);
  EXPECT_EQ(host.space.used(), 0u);
  return status.ok();
}

// All that it gives, in as many calls as it takes.
inline Batch FireAll(BarrierOperator* barrier, const StateKey& key = {}) {
  Batch all;
  bool done = false;
  while (!done) {
    Batch batch;
    EXPECT_TRUE(barrier->Fire(key, &batch, &done).ok());
    if (batch.rows == 0) continue;
    std::vector<uint32_t> rows(batch.rows);
    for (uint32_t row = 0; row < batch.rows; ++row) rows[row] = row;
    all.AppendRows(batch, rows);
  }
  return all;
}

// Current value, second slot, bulk.
using GivenRows = std::vector<std::string>;

inline void AppendGiven(const Batch& out, GivenRows* rows) {
  EXPECT_LE(out.slots.size(), 2u);
  for (size_t row = 0; row < out.rows; ++row) {
    rows->push_back(EncodeValue(out.slots[0].Get(row)) + " " +
                    (out.Has(1) ? EncodeValue(out.slots[1].Get(row)) : "") + " " +
                    std::to_string(out.BulkAt(row)));
  }
}

inline plan::Order OrderBySecond(int64_t limit) {
  plan::Order order;
  order.add_keys()->set_slot(1);
  order.set_limit(limit);
  return order;
}

// As the driver does.
inline Status AbsorbAll(BarrierOperator* barrier, const Batch& rows) {
  RETURN_IF_ERROR(barrier->Absorb(rows));
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, barrier->Proceed(rows));
  }
  return OkStatus();
}

}  // namespace koios::engine
