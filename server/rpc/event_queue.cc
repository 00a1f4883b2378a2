#include "server/rpc/event_queue.h"

namespace koios::server {

void ArrivingCalls::Add(grpc::ServerContext* call) {
  MutexLock lock(&mutex_);
  if (calls_.size() == kMost) {
    calls_.front()->TryCancel();
    places_.erase(calls_.front());
    calls_.pop_front();
  }
  places_[call] = calls_.insert(calls_.end(), call);
}

void ArrivingCalls::Remove(grpc::ServerContext* call) {
  MutexLock lock(&mutex_);
  const auto found = places_.find(call);
  if (found == places_.end()) return;  // cancelled
  calls_.erase(found->second);
  places_.erase(found);
}

void EventQueue::Start(size_t num_threads) {
  for (size_t i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this] {
      void* tag = nullptr;
      bool ok = false;
      while (queue_->Next(&tag, &ok)) static_cast<RpcEvent*>(tag)->Happened(ok);
    });
  }
}

void EventQueue::Stop() {
  if (std::exchange(stopped_, true)) return;
  if (threads_.empty()) Start(1);  // somebody has to hear of what is left
  // gRPC's own shutdown does not wait for calls that it has cancelled.
  for (int64_t calls = num_calls_; calls > 0; calls = num_calls_) num_calls_.wait(calls);
  queue_->Shutdown();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace koios::server
