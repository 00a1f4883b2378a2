// Texts as Java's String has them, over our UTF-8: lengths and places count UTF-16 units, case is
// that of the root locale. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
// The characters of the text, at least one part. For these three: with more than `most` parts the
// text need not be split any further.
std::vector<std::string_view> SplitCharacters(std::string_view text, size_t most = SIZE_MAX);
// Between blanks; between whole separators, of which several in a row count as one, and one at the
// end has an empty part behind it. REQUIRES: the separator is not empty.
std::vector<std::string_view> SplitBlanks(std::string_view text, size_t most = SIZE_MAX);
std::vector<std::string_view> SplitAtSeparator(std::string_view text, std::string_view separator,
                                               size_t most = SIZE_MAX);

}  // namespace koios::engine
