#include "client/print/text_width.h"

#include <wchar.h>

#include <cstdint>
#include <cstdio>

namespace koios::client {
namespace {

// One code point off the front; an invalid byte counts as one character.
uint32_t TakeCodePoint(std::string_view* text) {
  const auto first = static_cast<unsigned char>(text->front());
  const size_t length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 1 || text->size() < length) {
    text->remove_prefix(1);
    return first;
  }
  uint32_t code_point = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    code_point = code_point << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3F);
  }
  text->remove_prefix(length);
  return code_point;
}

bool IsControl(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const uint32_t code_point = TakeCodePoint(&text);
    // Without a UTF-8 locale wcwidth() knows nothing above ASCII and says -1.
    const int columns = code_point < 0x80 ? 1 : wcwidth(static_cast<wchar_t>(code_point));
    width += columns < 0 ? 1 : static_cast<size_t>(columns);
  }
  return width;
}

std::string EscapedControls(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::string_view rest = text;
    const uint32_t code_point = TakeCodePoint(&text);
    if (!IsControl(code_point)) {
      result += rest.substr(0, rest.size() - text.size());
    } else if (code_point == '\n') {
      result += "\\n";
    } else if (code_point == '\r') {
      result += "\\r";
    } else if (code_point == '\t') {
      result += "\\t";
    } else {
      char escape[16];
      std::snprintf(escape, sizeof(escape), "\\u%04x", code_point);
      result += escape;
    }
  }
  return result;
}

}  // namespace koios::client
