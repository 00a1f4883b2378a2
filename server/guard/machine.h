// What the machine gives this process: memory and file descriptors, with the limits of control
// groups (versions 1 and 2) and of the shell that started it.
#pragma once

#include <cstdint>
#include <string>

namespace koios::server {

// The least of the physical memory and of the memory limits of the process's control groups.
// `root`: of /proc and /sys, for tests.
uint64_t MachineMemoryBytes(const std::string& root = "");

// Memory that this process has for itself: neither files nor what is shared with others.
uint64_t PrivateResidentBytes();

// Gives memory that was freed back to the machine, as far as the allocator can.
void ReturnFreedMemory();

// Raises the limit of open files as far as the process may, and returns it.
uint64_t RaiseOpenFileLimit();

}  // namespace koios::server
