// A scripted engine for tests of sessions: queries run when the test says so, on its thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "engine/engine.h"
#include "engine/query_account.h"

namespace koios::server {

class FakeQuery final : public engine::QueryHandle {
 public:
  FakeQuery(plan::Plan the_plan, engine::QueryOptions the_options,
            std::shared_ptr<engine::ResultSink> sink)
      : plan(std::move(the_plan)), options(the_options), sink_(std::move(sink)) {}

  const plan::Plan plan;
  const engine::QueryOptions options;

  // A batch of a value or a few, when the query has not ended and the sink has room for it.
  bool PushOne(int64_t value) { return PushOne(Value::Long(value)); }
  bool PushOne(const Value& value) { return Push({value}); }
  bool Push(const std::vector<Value>& values) {
    const std::shared_ptr<engine::ResultSink> sink = Sink();
    if (sink == nullptr || sink->Room() == 0) return false;
    engine::ResultBatch batch;
    for (const Value& value : values) batch.column.Append(value);
    if (options.account != nullptr) {
      const size_t bytes = batch.column.ByteSize();
      options.account->Charge(static_cast<int64_t>(bytes));
      batch.charge = std::make_shared<engine::HeldCharge>(options.account, bytes);
    }
    sink->Push(std::move(batch));
    return true;
  }
  // Ends the query once; later calls do nothing.
  void End(const Status& status, uint64_t rows = 0) {
    std::shared_ptr<engine::ResultSink> sink;
    {
      MutexLock lock(&mutex_);
      sink = std::move(sink_);
      sink_ = nullptr;
    }
    if (sink == nullptr) return;
    engine::QueryResult result;
    result.status = status;
    result.rows = rows;
    sink->Done(std::move(result));
  }

  void Cancel(const Status& why) override {
    {
      MutexLock lock(&mutex_);
      cancelled_ = why;
      changed_.NotifyAll();
    }
    End(why);
  }
  void Resume() override {
    MutexLock lock(&mutex_);
    ++num_resumes_;
    changed_.NotifyAll();
  }
  engine::QueryNumbers numbers() const override { return {.memory_bytes = 4711}; }

  // Waits for what another thread brings about; a test that never gets it hangs until its timeout.
  Status WaitForCancel() {
    MutexLock lock(&mutex_);
    while (cancelled_.ok()) changed_.Wait(&mutex_);
    return cancelled_;
  }
  void WaitForResumes(int count) {
    MutexLock lock(&mutex_);
    while (num_resumes_ < count) changed_.Wait(&mutex_);
  }

 private:
  std::shared_ptr<engine::ResultSink> Sink() {
    MutexLock lock(&mutex_);
    return sink_;
  }

  Mutex mutex_;
  CondVar changed_;
  std::shared_ptr<engine::ResultSink> sink_ KOIOS_GUARDED_BY(mutex_);
  Status cancelled_ KOIOS_GUARDED_BY(mutex_);
  int num_resumes_ KOIOS_GUARDED_BY(mutex_) = 0;
};

// Moves on by a step whenever somebody looks.
class SteppingClock final : public ManualClock {
 public:
  using ManualClock::ManualClock;
  int64_t NowNanos() const override {
    return ManualClock::NowNanos() + (looked_ += step_nanos.load());
  }
  std::atomic<int64_t> step_nanos{0};

 private:
  mutable std::atomic<int64_t> looked_{0};
};

class FakeEngine final : public engine::Engine {
 public:
  explicit FakeEngine(int64_t memory_bytes = kNoMemoryLimit)
      : memory_("all queries", memory_bytes, nullptr, {"PROCESS_MEMORY", "memory-mb", ""}) {}
  ~FakeEngine() override {
    for (const auto& query : queries_) query->End(Cancelled("The engine ends."));
  }

  std::shared_ptr<engine::QueryHandle> Submit(plan::Plan plan,
                                              std::shared_ptr<const storage::GraphView>,
                                              engine::QueryOptions options,
                                              std::shared_ptr<engine::ResultSink> sink) override {
    auto query = std::make_shared<FakeQuery>(std::move(plan), options, std::move(sink));
    {
      MutexLock lock(&mutex_);
      queries_.push_back(query);
      changed_.NotifyAll();
    }
    if (options.begins_here && first_turn) first_turn(query.get());
    return query;
  }
  // What a query does before Submit() returns, when it begins there. Set before any is submitted.
  std::function<void(FakeQuery*)> first_turn;

  const engine::EngineOptions& options() const override { return options_; }
  const Clock& clock() const override { return clock_; }
  SteppingClock* manual_clock() { return &clock_; }
  size_t StandingBytes(const plan::Plan& /*plan*/) const override { return standing_bytes; }
  MemoryAccount& memory() override { return memory_; }
  engine::SpillSpace* spill_space() override { return space; }
  // Set before any query is submitted:
  engine::SpillSpace* space = nullptr;
  size_t standing_bytes = 0;

  // The query submitted as number `index`, from 0; waits for it.
  std::shared_ptr<FakeQuery> Query(size_t index) {
    MutexLock lock(&mutex_);
    while (queries_.size() <= index) changed_.Wait(&mutex_);
    return queries_[index];
  }
  // Ended queries keep their accounts as long as they are known.
  void Forget() {
    std::vector<std::shared_ptr<FakeQuery>> queries;
    MutexLock lock(&mutex_);
    queries.swap(queries_);
  }
  size_t num_queries() {
    MutexLock lock(&mutex_);
    return queries_.size();
  }

 private:
  const engine::EngineOptions options_{};
  SteppingClock clock_{1'000'000};
  MemoryAccount memory_;
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::shared_ptr<FakeQuery>> queries_;
};

}  // namespace koios::server
