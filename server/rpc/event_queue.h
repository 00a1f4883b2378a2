// EventQueue: what happens to the calls of a server, as gRPC's completion queue tells it, and the
// few threads that wait at it. There is one queue for all methods: a connection is read by whoever
// waits, and a call mostly begins and ends on the thread that read it. Several queues, or gRPC's
// callbacks, which have one of their own, hand calls from one thread to another.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "server/rpc/connections.h"

namespace koios::server {

// What was asked of gRPC; lives until it has happened.
class RpcEvent {
 public:
  virtual ~RpcEvent() = default;
  // From a thread of the queue. `ok`: as it was asked for. May delete the event.
  virtual void Happened(bool ok) = 0;
};

// Calls that have begun and whose message is not there yet: so many, as each takes 12 KB and none
// has an end of its own. The oldest is cancelled for the one that is too many; a client that means
// to be answered sends a message with the call. Thread-safe.
class ArrivingCalls {
 public:
  static constexpr size_t kMost = 4096;

  void Add(grpc::ServerContext* call);
  // REQUIRES: it was added. It is not cancelled from then on.
  void Remove(grpc::ServerContext* call);

 private:
  Mutex mutex_;
  std::list<grpc::ServerContext*> calls_ KOIOS_GUARDED_BY(mutex_);  // the oldest first
  std::unordered_map<grpc::ServerContext*, std::list<grpc::ServerContext*>::iterator> places_
      KOIOS_GUARDED_BY(mutex_);
};

class EventQueue {
 public:
  // `connections`: hear of calls whose message has come; null: nobody does.
  explicit EventQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue,
                      Connections* connections = nullptr)
      : queue_(std::move(queue)), connections_(connections) {}
  ~EventQueue() { Stop(); }
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }
  ArrivingCalls& arriving() { return arriving_; }
  // A call has got its message, or its answer without one.
  void NoteRequest() {
    if (connections_ != nullptr) connections_->NoteRequest();
  }
  void Start(size_t num_threads);
  // Returns when all calls have ended. REQUIRES: the server is shut down.
  void Stop();

 private:
  friend class QueuedCall;

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  Connections* const connections_;
  ArrivingCalls arriving_;
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
