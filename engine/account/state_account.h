// StateAccount: who is asked before an operator keeps more. Belongs to the operator's worker.
#pragma once

#include <cstdint>

#include "core/status.h"

namespace koios::engine {

class StateAccount {
 public:
  virtual ~StateAccount() = default;
  // Charges (or with a negative number gives back) bytes of kept state, before they are allocated.
  // RESOURCE_EXHAUSTED past the query's limit.
  virtual Status ChargeState(int64_t bytes) = 0;
  // What could be charged at this moment, about: for who keeps things only where there is room.
  virtual int64_t StateRoom() const = 0;
};

// Grants everything: where nobody is charged. Any thread.
StateAccount* UnlimitedAccount();

}  // namespace koios::engine
