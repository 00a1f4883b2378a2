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
};

}  // namespace koios::engine
