// Texts that mean numbers: the digits that literals and asNumber() share, and the whole text of
// asNumber(). Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/status.h"
#include "core/value.h"

namespace koios {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// -1: it is none.
int HexDigit(char c);

// Without the blanks and control characters at both ends, as Java's trim().
std::string_view TrimBlanks(std::string_view text);

// nullopt: it does not fit 64 bits, or there are other characters than digits of the base.
std::optional<int64_t> IntegerOfDigits(std::string_view digits, bool negative, int base);

// The nearest number of "-1.5e-3"; an infinity or zero when it is out of range. nullopt: it is no
// such text.
std::optional<double> DoubleOfDigits(const std::string& text);
std::optional<float> FloatOfDigits(const std::string& text);

// As the reference implementation reads a number out of a text: blanks around it, a sign, 0x1F and
// octal 017, a point or an exponent, and one of the letters L, F, D behind it. Without a letter an
// integer is the smallest of Integer, Long and BigInteger that holds it, and a decimal the smallest
// of Float, Double and BigDecimal that prints like it. INVALID_ARGUMENT: it is no number;
// RESOURCE_EXHAUSTED: it has too many digits (big_number.h).
StatusOr<Value> NumberOfText(std::string_view text);

}  // namespace koios
