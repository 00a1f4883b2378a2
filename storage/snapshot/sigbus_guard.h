// SigbusGuard: a mapped range that survives the loss of its file. A page that can't be read any
// more (the file was cut, the disk fails) would end the process with SIGBUS; within a guarded range
// the handler puts zeros in its place and remembers it, and who reads asks `damaged` before using
// what it read. Faults elsewhere go to the handler that was there before. Any thread.
#pragma once

#include <cstddef>

namespace koios::storage {

class SigbusGuard {
 public:
  // The first one of the process installs the handler. REQUIRES: a range of whole pages, which
  // stays mapped while the guard lives.
  SigbusGuard(const void* begin, size_t bytes);
  ~SigbusGuard();
  SigbusGuard(const SigbusGuard&) = delete;
  SigbusGuard& operator=(const SigbusGuard&) = delete;

  bool damaged() const;

 private:
  struct Slot;
  struct Registry;
  Slot* const slot_;
};

}  // namespace koios::storage
