// SpillRoom: what an operator that can go to disk charges to. It leaves the room that its way there
// takes: it is refused while it still can go, and then does.
#pragma once

#include "engine/op/operator.h"

namespace koios::engine {

class SpillRoom final : public StateAccount {
 public:
  // kept: bytes that are left; 0: it can't go to disk.
  SpillRoom(OperatorHost* host, int64_t kept) : host_(host), kept_(kept) {}
  Status ChargeState(int64_t bytes) override {
    if (bytes > 0 && kept_ > 0 && bytes > StateRoom()) return host_->account()->OverLimit(bytes);
    return host_->ChargeState(bytes);
  }
  int64_t StateRoom() const override { return host_->StateRoom() - kept_; }

 private:
  OperatorHost* const host_;
  const int64_t kept_;
};

}  // namespace koios::engine
