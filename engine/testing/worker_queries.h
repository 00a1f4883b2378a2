// What tests of a worker share: a sink that counts, transports that keep or drop frames, and plans
// of one step.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/value_codec.h"
#include "engine/sched/worker.h"
#include "engine/testing/fan_queries.h"
#include "storage/memory_graph.h"

namespace koios::engine {

class NoTransport : public Transport {
 public:
  void Send(uint32_t, Frame) override {}
};

class CountingSink : public ResultSink {
 public:
  size_t Room() override { return room; }
  void Push(ResultBatch batch) override { rows += batch.column.size(); }
  void Done(QueryResult r) override { result = std::move(r); }

  size_t room = 1;
  size_t rows = 0;
  std::optional<QueryResult> result;
};

// What is sent waits until the test hands it on.
class HeldTransport : public Transport {
 public:
  void Send(uint32_t to, Frame frame) override { frames.emplace_back(to, std::move(frame)); }
  std::deque<std::pair<uint32_t, Frame>> frames;
};

inline constexpr uint32_t kOperator = 2;

using testing::Add;

// inject(values), a step at home (kOperator), and its results.
inline plan::Plan PlanOf(const std::vector<Value>& values, const plan::Operator& step) {
  plan::Plan plan;
  plan.set_num_slots(1);
  plan::Inject* inject = Add(&plan, "inject()")->mutable_inject();
  for (const Value& value : values) inject->add_values(EncodeValue(value));
  Add(&plan, "step")->mutable_exchange()->set_key(plan::Exchange::HOME);
  plan::Operator* op = Add(&plan, "step");
  const uint32_t id = op->id();
  op->MergeFrom(step);
  op->set_id(id);
  Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

inline std::vector<Value> Shuffled(int64_t count) {
  std::vector<Value> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(Value::Long(i * 7919 % count));
  return values;
}

}  // namespace koios::engine
