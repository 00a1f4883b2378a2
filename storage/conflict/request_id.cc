#include "storage/conflict/request_id.h"

#include <atomic>
#include <random>

namespace koios::storage {

RequestId NewRequestId() {
  static const uint64_t process = [] {
    std::random_device device;
    return (uint64_t{device()} << 32) ^ device();
  }();
  static std::atomic<uint64_t> last{0};
  return {process, ++last};
}

}  // namespace koios::storage
