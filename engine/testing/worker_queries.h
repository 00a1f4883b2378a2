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

// One query on a worker of its own, whose clock stands still.
class RunningQuery {
 public:
  RunningQuery(plan::Plan plan, std::shared_ptr<CountingSink> sink,
               std::shared_ptr<MemoryAccount> account, uint32_t num_workers = 1,
               uint64_t deadline_ns = 0)
      : sink_(std::move(sink)) {
    WorkerContext context;
    context.num_workers = num_workers;
    context.transport = &transport_;
    context.clock = &clock_;
    worker_ = std::make_unique<Worker>(context);
    auto spec = std::make_shared<QuerySpec>();
    spec->plan = std::move(plan);
    spec->view = std::make_shared<storage::MemoryGraph>();
    spec->options.deadline_ns = deadline_ns;
    spec->account = std::move(account);
    spec->sink = sink_;
    Frame start;
    start.kind = FrameKind::kStart;
    start.spec = std::move(spec);
    worker_->Deliver(std::move(start));
  }

  Worker& worker() { return *worker_; }
  // How often the worker can be called before the query is over, or is_enough(), at most `most`
  // times.
  template <typename IsEnough>
  int TurnsUntil(int most, const IsEnough& is_enough) {
    int turns = 0;
    while (turns < most && !sink_->result.has_value() && !is_enough() && worker_->Step(1)) ++turns;
    return turns;
  }

 private:
  ManualClock clock_;
  NoTransport transport_;
  std::shared_ptr<CountingSink> sink_;
  std::unique_ptr<Worker> worker_;
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
