#include "client/console/comments.h"

namespace koios::client {

Leading LeadingComments(std::string_view text) {
  size_t at = 0;
  while (true) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) return {text.size(), false};
    const std::string_view rest = text.substr(at);
    if (rest == "/") return {text.size(), true};
    if (rest.starts_with("//")) {
      const size_t end = text.find('\n', at);
      if (end == std::string_view::npos) return {text.size(), false};
      at = end;
    } else if (rest.starts_with("/*")) {
      const size_t end = text.find("*/", at + 2);
      if (end == std::string_view::npos) return {text.size(), true};
      at = end + 2;
    } else {
      return {at, false};
    }
  }
}

}  // namespace koios::client
