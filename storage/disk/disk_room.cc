#include "storage/disk/disk_room.h"

#include "storage/disk/files.h"

namespace koios::storage {
namespace {

// A new manifest and log, and what else a database writes when it is opened.
constexpr uint64_t kOpeningBytes = uint64_t{8} << 20;

std::string Megabytes(uint64_t bytes) {
  const uint64_t tenths = bytes / ((uint64_t{1} << 20) / 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MB";
}

Status DiskFull(const std::string& message, uint64_t free_bytes, uint64_t reserve_bytes) {
  ErrorDetail detail;
  detail.reason = "DISK_FULL";
  detail.limit = "--disk-reserve-mb = " + std::to_string(reserve_bytes >> 20);
  detail.used = std::to_string(free_bytes) + " bytes are free";
  detail.setting = "--disk-reserve-mb";
  return ResourceExhausted(message, detail);
}

}  // namespace

uint64_t ReservedFor(Growth growth, uint64_t reserve_bytes) {
  return growth == Growth::kGrows ? reserve_bytes : reserve_bytes / 4;
}

Status CheckRoom(const std::string& path, Growth growth, uint64_t bytes, uint64_t reserve_bytes) {
  ASSIGN_OR_RETURN(const uint64_t free_bytes, FreeBytes(path));
  const uint64_t reserved = ReservedFor(growth, reserve_bytes);
  // Once in the log, once in tables.
  if (free_bytes >= reserved && free_bytes - reserved >= 2 * bytes) return OkStatus();
  std::string message = "The disk is nearly full: " + Megabytes(free_bytes) + " are free, ";
  if (growth == Growth::kGrows) {
    message += Megabytes(reserved) + " stay reserved (--disk-reserve-mb), and this needs " +
               Megabytes(2 * bytes) + ". Nothing can be added until there is room; drop() works.";
  } else {
    message += Megabytes(reserved) + " stay reserved when things are dropped, and this needs " +
               Megabytes(2 * bytes) + ". Make room on the disk, or drop less at a time.";
  }
  return DiskFull(message, free_bytes, reserve_bytes);
}

Status CheckRoomToOpen(const std::string& path, uint64_t log_bytes) {
  ASSIGN_OR_RETURN(const uint64_t free_bytes, FreeBytes(path));
  const uint64_t needed = log_bytes + kOpeningBytes;
  if (free_bytes >= needed) return OkStatus();
  return DiskFull("The disk is full: " + Megabytes(free_bytes) + " are free, and " +
                      Megabytes(needed) + " are needed to open the graph for writing. It can be " +
                      "read; once there is room it can be changed again, without a restart.",
                  free_bytes, 0);
}

}  // namespace koios::storage
