// UTF-8: what text from outside must be, how it is counted and cut. Pure, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace koios {

// Well-formed: no overlong forms, surrogates, code points past U+10FFFF or broken sequences.
bool IsValidUtf8(std::string_view text);
// The same text with each ill-formed byte replaced by U+FFFD.
std::string ToValidUtf8(std::string_view text);
// Code points; in ill-formed text, the bytes that are no continuation bytes.
size_t CountCodePoints(std::string_view text);
// The column, from 1 and in code points, of a byte of a line. REQUIRES: offset <= line.size().
uint32_t ColumnOf(std::string_view line, size_t offset);
// The longest prefix of at most max_bytes that cuts no code point.
std::string_view TruncateUtf8(std::string_view text, size_t max_bytes);
// U+FFFD for what is no scalar value.
void AppendUtf8(char32_t code_point, std::string* out);

}  // namespace koios
