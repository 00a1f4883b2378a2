// Queries of k hops on a graph whose answers are plain, and who waits for them: for tests of the
// engine on real threads.
#pragma once

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "engine/engine.h"
#include "gtest/gtest.h"
#include "storage/memory_graph.h"

namespace koios::engine::testing {

// Takes rows while it has room, and waits for the end. Any thread.
class WaitingSink final : public ResultSink {
 public:
  explicit WaitingSink(size_t window = 1000) : room_(window) {}

  size_t Room() override {
    MutexLock lock(&mutex_);
    return room_;
  }
  void Push(ResultBatch batch) override {
    MutexLock lock(&mutex_);
    --room_;
    for (size_t row = 0; row < batch.column.size(); ++row) {
      rows_ += batch.bulk.empty() ? 1 : batch.bulk[row];
      last_ = batch.column.Get(row);
    }
    largest_ = std::max(largest_, batch.column.ByteSize());
    if (keeps_) kept_.push_back(std::move(batch));
    changed_.NotifyAll();
  }
  void Done(QueryResult result) override {
    MutexLock lock(&mutex_);
    result_ = std::move(result);
    done_ = true;
    ended_on_ = std::this_thread::get_id();
    changed_.NotifyAll();
  }
  void Open(size_t room) {
    MutexLock lock(&mutex_);
    room_ = room;
  }
  void Keep() {
    MutexLock lock(&mutex_);
    keeps_ = true;
  }
  void ForgetKept() {
    MutexLock lock(&mutex_);
    kept_.clear();
    last_ = Value();
  }
  void WaitForRows() {
    MutexLock lock(&mutex_);
    while (rows_ == 0 && !done_) changed_.Wait(&mutex_);
  }
  bool done() {
    MutexLock lock(&mutex_);
    return done_;
  }
  // True when the caller's own thread ended the query, false when a worker did. Waits for the end.
  bool EndedHere() {
    Wait();
    MutexLock lock(&mutex_);
    return ended_on_ == std::this_thread::get_id();
  }
  QueryResult Wait() {
    MutexLock lock(&mutex_);
    while (!done_) changed_.Wait(&mutex_);
    return result_;
  }
  int64_t rows() {
    MutexLock lock(&mutex_);
    return rows_;
  }
  Value last() {
    MutexLock lock(&mutex_);
    return last_;
  }
  // Bytes of the largest batch.
  size_t largest() {
    MutexLock lock(&mutex_);
    return largest_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  size_t room_;
  int64_t rows_ = 0;
  Value last_;
  size_t largest_ = 0;
  bool keeps_ = false;
  std::vector<ResultBatch> kept_;
  bool done_ = false;
  std::thread::id ended_on_;
  QueryResult result_;
};

// A graph in which every vertex leads to `fan` others: k hops give fan^k paths from each.
inline std::shared_ptr<const storage::MemoryGraph> FanGraph(int vertices, int fan) {
  auto graph = std::make_shared<storage::MemoryGraph>();
  std::vector<VertexRef> refs;
  for (int i = 0; i < vertices; ++i) refs.push_back(*graph->AddVertex(Value::Long(i), "v"));
  for (int i = 0; i < vertices; ++i) {
    for (int j = 1; j <= fan; ++j) {
      CHECK(graph->AddEdge(refs[i], refs[(i * fan + j) % vertices], "e").ok());
    }
  }
  return graph;
}

// The next operation of a plan that is a line of them.
inline plan::Operator* Add(plan::Plan* plan, const char* step) {
  const uint32_t id = static_cast<uint32_t>(plan->operators_size());
  if (id > 0) plan->mutable_operators(static_cast<int>(id) - 1)->add_next(id);
  plan::Operator* op = plan->add_operators();
  op->set_id(id);
  op->set_step(step);
  return op;
}

// V() of all workers.
inline void AddScan(plan::Plan* plan) {
  Add(plan, "V()")->mutable_partitions();
  Add(plan, "V()")->mutable_exchange()->set_key(plan::Exchange::PARTITION);
  Add(plan, "V()")->mutable_scan();
}

// V().out()...out(), counted or not; equal rows merged before each hop, or not.
inline plan::Plan Hops(int hops, bool count, uint32_t merged = 0) {
  plan::Plan plan;
  plan.set_num_slots(1);
  AddScan(&plan);
  for (int i = 0; i < hops; ++i) {
    Add(&plan, "out()")->mutable_exchange()->set_key(plan::Exchange::OWNER);
    if (merged > 0) Add(&plan, "out()")->mutable_merge()->set_capacity(merged);
    Add(&plan, "out()")->mutable_expand();
  }
  if (count) {
    Add(&plan, "count()")->mutable_reduce()->set_stage(plan::PARTIAL);
    Add(&plan, "count()")->mutable_exchange()->set_key(plan::Exchange::HOME);
    Add(&plan, "count()")->mutable_reduce();
  } else {
    Add(&plan, "sink")->mutable_exchange()->set_key(plan::Exchange::HOME);
  }
  Add(&plan, "sink")->mutable_sink();
  return plan;
}

}  // namespace koios::engine::testing
