#include "import/io_error.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace koios::import {

Status IoError(std::string_view verb, std::string_view path, int error) {
  std::string message = "Cannot " + std::string(verb) + " '" + std::string(path) +
                        "': " + std::generic_category().message(error) + ".";
  if (error == ENOENT || error == ENOTDIR) return NotFound(message);
  if (error == ENOSPC || error == EDQUOT) {
    ErrorDetail detail;
    detail.reason = "DISK_FULL";
    detail.hint = "free space on that disk, or point TMPDIR or --data elsewhere";
    return ResourceExhausted(message, detail);
  }
  return Unavailable(message);
}

}  // namespace koios::import
