#include "server/rpc/event_queue.h"

namespace koios::server {

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
