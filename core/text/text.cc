#include "core/text/text.h"

#include <algorithm>
#include <cstring>

#include "core/status.h"

namespace koios {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The length of the well-formed sequence at the front (Unicode 15, table 3-7); 0 when ill-formed.
// REQUIRES: not empty.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // surrogate
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // past U+10FFFF
  return length;
}

// How many bytes at the front are ASCII, in steps of eight.
size_t AsciiPrefix(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080ull) != 0) break;
  }
  return i;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    text.remove_prefix(AsciiPrefix(text));
    if (text.empty()) return true;
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) {
      AppendUtf8(0xFFFD, &out);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

uint32_t ColumnOf(std::string_view line, size_t offset) {
  CHECK(offset <= line.size());
  return static_cast<uint32_t>(CountCodePoints(line.substr(0, offset))) + 1;
}

std::string_view TruncateUtf8(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  size_t end = max_bytes;
  // A code point has at most three continuation bytes; ill-formed runs are cut where they are.
  for (int i = 0; i < 3 && end > 0 && IsContinuation(text[end]); ++i) --end;
  if (IsContinuation(text[end])) end = max_bytes;
  return text.substr(0, end);
}

void AppendUtf8(char32_t code_point, std::string* out) {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = 0xFFFD;
  const auto push = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { push(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0 | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    push(0xE0 | (code_point >> 12));
    tail(6);
    tail(0);
  } else {
    push(0xF0 | (code_point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace koios
