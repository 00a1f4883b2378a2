// EventQueue: what happens to the calls of a server, as gRPC's completion queue tells it, and the
// few threads that wait at it. There is one queue for all methods: a connection is read by whoever
// waits, and a call mostly begins and ends on the thread that read it. Several queues, or gRPC's
// callbacks, which have one of their own, hand calls from one thread to another.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
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

// "ipv4:10.0.0.7:4711" without the port: many connections are one client.
inline std::string HostOf(const std::string& peer) { return peer.substr(0, peer.rfind(':')); }

// Calls that have begun and whose message is not there yet: so many, as each takes 12 KB and none
// has an end of its own. For the one that is too many the oldest of the host that has most is
// cancelled: who begins thousands loses his own, not what another is sending slowly. Thread-safe.
class ArrivingCalls {
 public:
  static constexpr size_t kMost = 4096;

  void Add(grpc::ServerContext* call);
  // REQUIRES: it was added. It is not cancelled from then on.
  void Remove(grpc::ServerContext* call);

 private:
  using Calls = std::list<grpc::ServerContext*>;  // of a host, the oldest first
  struct Place {
    std::map<std::string, Calls>::iterator host;
    Calls::iterator call;
  };

  void Erase(grpc::ServerContext* call) KOIOS_REQUIRES(mutex_);

  Mutex mutex_;
  std::map<std::string, Calls> hosts_ KOIOS_GUARDED_BY(mutex_);
  std::unordered_map<grpc::ServerContext*, Place> places_ KOIOS_GUARDED_BY(mutex_);
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
