#include "server/rpc/text_bounds.h"

#include "core/text/text.h"

namespace koios::server {

std::string BoundedText(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  return std::string(TruncateUtf8(text, max_bytes - 3)) + "...";
}

}  // namespace koios::server
