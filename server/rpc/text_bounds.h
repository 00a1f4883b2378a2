// Cuts texts that came from a client or a file before they go into an error, a list or a header.
#pragma once

#include <string>
#include <string_view>

namespace koios::server {

// At most `max_bytes` of `text`, cut between code points, with "..." when something is missing.
// REQUIRES: max_bytes >= 3.
std::string BoundedText(std::string_view text, size_t max_bytes);

}  // namespace koios::server
