// Text to tokens, by hand and before ANTLR sees anything: the one place that knows strings,
// comments, numbers' extent, brackets and code points. It refuses what no query contains (closures,
// operators, stray characters, unbalanced brackets) and checks every limit, so that what follows
// works on bounded, balanced input.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/status.h"
#include "parser/parser.h"

namespace koios::parser {

enum class LexemeKind : uint8_t {
  kName,
  kNew,
  kNumber,
  kString,
  kDot,
  kComma,
  kColon,
  kSemicolon,
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kEnd,
};

struct Lexeme {
  LexemeKind kind = LexemeKind::kEnd;
  uint32_t offset = 0;  // in bytes
  uint32_t size = 0;    // in bytes
  uint32_t index = 0;   // of its first code point in the text
  SourceSpan span;

  std::string_view In(std::string_view text) const { return text.substr(offset, size); }
};

// The tokens of `text`, a kEnd last. Linear in the text; memory at most 28 bytes per token.
StatusOr<std::vector<Lexeme>> Scan(std::string_view text, const Limits& limits);

// Reasons of scan errors that more text could mend (see IsComplete).
inline constexpr std::string_view kUnterminatedString = "UNTERMINATED_STRING";
inline constexpr std::string_view kUnterminatedComment = "UNTERMINATED_COMMENT";
inline constexpr std::string_view kUnclosedBracket = "UNCLOSED_BRACKET";

// The reason of every refusal of Groovy and Java.
inline constexpr std::string_view kClosure = "CLOSURE";

}  // namespace koios::parser
