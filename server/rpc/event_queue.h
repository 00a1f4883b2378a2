// EventQueue: what happens to the calls of a server, as gRPC's completion queue tells it, and the
// few threads that wait at it. There is one queue for all methods: a connection is read by whoever
// waits, and a call mostly begins and ends on the thread that read it. Several queues, or gRPC's
// callbacks, which have one of their own, hand calls from one thread to another.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace koios::server {

// What was asked of gRPC; lives until it has happened.
class RpcEvent {
 public:
  virtual ~RpcEvent() = default;
  // From a thread of the queue. `ok`: as it was asked for. May delete the event.
  virtual void Happened(bool ok) = 0;
};

class EventQueue {
 public:
  explicit EventQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue)
      : queue_(std::move(queue)) {}
  ~EventQueue() { Stop(); }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }
  void Start(size_t num_threads);
  // Returns when all calls have ended. REQUIRES: the server is shut down.
  void Stop();

 private:
  friend class QueuedCall;

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::vector<std::thread> threads_;
  std::atomic<int64_t> num_calls_{0};
  bool stopped_ = false;
};

// A call that may still ask something of the queue. Deleted by one of its threads.
class QueuedCall {
 public:
  explicit QueuedCall(EventQueue* queue) : events_(queue) { ++events_->num_calls_; }
  ~QueuedCall() {
    if (--events_->num_calls_ == 0) events_->num_calls_.notify_all();
  }
  QueuedCall(const QueuedCall&) = delete;
  QueuedCall& operator=(const QueuedCall&) = delete;

  EventQueue* events() const { return events_; }

 private:
  EventQueue* const events_;
};

}  // namespace koios::server
