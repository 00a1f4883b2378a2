#include "engine/expr/java_string.h"

#include <unicode/ucasemap.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace koios::engine {
namespace {

// Bytes of the character that begins with this one; 1 in ill-formed text.
size_t LengthAt(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(length, text.size() - at);
}

int64_t UnitsOf(size_t bytes) { return bytes == 4 ? 2 : 1; }

bool IsBlank(std::string_view character) {
  if (character.size() == 1) {
    const auto c = static_cast<unsigned char>(character[0]);
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  }
  if (character.size() != 3) return false;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  const unsigned point = (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  return point == 0x1680 || (point >= 0x2000 && point <= 0x200A && point != 0x2007) ||
         point == 0x2028 || point == 0x2029 || point == 0x205F || point == 0x3000;
}

// Where the character that ends at `end` begins.
size_t StartBefore(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

using Mapping = int32_t (*)(const UCaseMap*, char*, int32_t, const char*, int32_t, UErrorCode*);

StatusOr<std::string> MapCase(std::string_view text, Mapping mapping) {
  UErrorCode error = U_ZERO_ERROR;
  // The root locale: what comes out does not depend on where the server runs.
  const std::unique_ptr<UCaseMap, decltype(&ucasemap_close)> map(ucasemap_open("", 0, &error),
                                                                 &ucasemap_close);
  if (U_FAILURE(error)) return Internal("The case mapping of Unicode can't be opened.");
  std::string mapped(text.size() + text.size() / 8 + 8, '\0');
  for (int turn = 0; turn < 2; ++turn) {
    error = U_ZERO_ERROR;
    const int32_t size = mapping(map.get(), mapped.data(), static_cast<int32_t>(mapped.size()),
                                 text.data(), static_cast<int32_t>(text.size()), &error);
    mapped.resize(static_cast<size_t>(std::max(size, 0)));
    if (error == U_BUFFER_OVERFLOW_ERROR) continue;
    if (U_FAILURE(error)) break;
    return mapped;
  }
  return Internal("The case of a text can't be mapped.");
}

}  // namespace

int64_t CountUtf16(std::string_view text) {
  int64_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xC0) == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

std::string SubstringUtf16(std::string_view text, int64_t begin, int64_t end) {
  const int64_t length = CountUtf16(text);
  const auto place = [length](int64_t wanted) {
    return wanted < 0 ? std::max<int64_t>(0, length + wanted) : std::min(wanted, length);
  };
  begin = place(begin);
  end = place(end);
  std::string part;
  int64_t unit = 0;
  for (size_t at = 0; at < text.size() && unit < end;) {
    const size_t bytes = LengthAt(text, at);
    const int64_t behind = unit + UnitsOf(bytes);
    if (unit >= begin && behind <= end) {
      part += text.substr(at, bytes);
    } else if (behind > begin && begin < end) {
      part += "\xEF\xBF\xBD";
    }
    unit = behind;
    at += bytes;
  }
  return part;
}

StatusOr<std::string> ToUpperCase(std::string_view text) {
  return MapCase(text, ucasemap_utf8ToUpper);
}

StatusOr<std::string> ToLowerCase(std::string_view text) {
  return MapCase(text, ucasemap_utf8ToLower);
}

std::string_view TrimStart(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = LengthAt(text, 0);
    if (!IsBlank(text.substr(0, bytes))) break;
    text.remove_prefix(bytes);
  }
  return text;
}

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty()) {
    const size_t at = StartBefore(text, text.size());
    if (!IsBlank(text.substr(at))) break;
    text = text.substr(0, at);
  }
  return text;
}

std::string Reversed(std::string_view text) {
  std::string reversed;
  reversed.reserve(text.size());
  for (size_t end = text.size(); end > 0;) {
    const size_t at = StartBefore(text, end);
    reversed += text.substr(at, end - at);
    end = at;
  }
  return reversed;
}

std::optional<std::string_view> TextParts::Next() {
  if (is_over_) return std::nullopt;
  if (!separator_.has_value()) return NextWord();
  return separator_->empty() ? NextCharacter() : NextSeparated();
}

std::optional<std::string_view> TextParts::NextCharacter() {
  const std::string_view part = text_.empty() ? text_ : text_.substr(at_, LengthAt(text_, at_));
  at_ += part.size();
  is_over_ = at_ == text_.size();
  return part;
}

std::optional<std::string_view> TextParts::NextWord() {
  size_t begin = at_;
  while (at_ < text_.size()) {
    const size_t bytes = LengthAt(text_, at_);
    const size_t end = at_;
    const bool is_blank = IsBlank(text_.substr(at_, bytes));
    at_ += bytes;
    if (!is_blank) continue;
    if (end > begin) return text_.substr(begin, end - begin);
    begin = at_;
  }
  is_over_ = true;
  if (begin == text_.size()) return std::nullopt;
  return text_.substr(begin);
}

std::optional<std::string_view> TextParts::NextSeparated() {
  while (!text_.empty()) {
    const size_t begin = at_;
    // Linear, whatever the texts are: string::find is not.
    const void* found =
        memmem(text_.data() + begin, text_.size() - begin, separator_->data(), separator_->size());
    if (found == nullptr) {
      is_over_ = true;
      return text_.substr(begin);
    }
    const auto end = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
    at_ = end + separator_->size();
    if (end > begin) return text_.substr(begin, end - begin);
  }
  is_over_ = true;
  return std::nullopt;
}

}  // namespace koios::engine
