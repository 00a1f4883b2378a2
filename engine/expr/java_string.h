// Texts as Java's String has them, over our UTF-8: lengths and places count UTF-16 units, case is
// that of the root locale. Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"

namespace koios::engine {

// As String.length().
int64_t CountUtf16(std::string_view text);
// As String.substring(begin, end), where each place counts from the end when it is negative, and is
// cut to the text. A half of a character becomes U+FFFD: UTF-8 has no halves.
std::string SubstringUtf16(std::string_view text, int64_t begin, int64_t end);
// With all mappings of Unicode that look at no language: one character may become several.
StatusOr<std::string> ToUpperCase(std::string_view text);
StatusOr<std::string> ToLowerCase(std::string_view text);
// As Character.isWhitespace: blanks, but for those that do not break a line.
std::string_view TrimStart(std::string_view text);
std::string_view TrimEnd(std::string_view text);
// By characters, the last one first.
std::string Reversed(std::string_view text);

// A text in parts, one after the other. Both texts outlive it.
class TextParts {
 public:
  // nullopt: what stands between blanks. Empty: the characters; an empty text is one part then.
  // Else what stands between whole separators, of which several in a row count as one, and one at
  // the end has an empty part behind it.
  TextParts(std::string_view text, std::optional<std::string_view> separator)
      : text_(text), separator_(separator) {}
  // nullopt: there are no more.
  std::optional<std::string_view> Next();

 private:
  std::optional<std::string_view> NextCharacter();
  std::optional<std::string_view> NextWord();
  std::optional<std::string_view> NextSeparated();

  std::string_view text_;
  std::optional<std::string_view> separator_;
  size_t at_ = 0;
  bool is_over_ = false;
};

}  // namespace koios::engine
