// RequestId: who asks for a commit. All attempts of one request have the same.
#pragma once

#include <cstdint>
#include <utility>

namespace koios::storage {

struct RequestId {
  uint64_t process = 0;  // drawn when it starts
  uint64_t serial = 0;   // from 1

  bool is_null() const { return serial == 0; }
  bool operator==(const RequestId&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const RequestId& id) {
    return H::combine(std::move(h), id.process, id.serial);
  }
};

// One that nobody else has. Any thread.
RequestId NewRequestId();

}  // namespace koios::storage
