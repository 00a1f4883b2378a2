#include "server/rpc/event_queue.h"

#include <algorithm>

namespace koios::server {

void ArrivingCalls::Add(grpc::ServerContext* call) {
  const std::string name = HostOf(call->peer());
  MutexLock lock(&mutex_);
  if (places_.size() == kMost) {
    const auto most = std::max_element(
        hosts_.begin(), hosts_.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    grpc::ServerContext* const oldest = most->second.front();
    oldest->TryCancel();
    Erase(oldest);
  }
  const auto host = hosts_.try_emplace(name).first;
  places_[call] = {host, host->second.insert(host->second.end(), call)};
}

void ArrivingCalls::Erase(grpc::ServerContext* call) {
  const auto found = places_.find(call);
  if (found == places_.end()) return;  // cancelled
  const auto [host, place] = found->second;
  host->second.erase(place);
  if (host->second.empty()) hosts_.erase(host);
  places_.erase(found);
}

void ArrivingCalls::Remove(grpc::ServerContext* call) {
  MutexLock lock(&mutex_);
  Erase(call);
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
