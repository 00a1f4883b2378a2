#include "parser/scan.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/convert/number_text.h"
#include "parser/words.h"

namespace koios::parser {
namespace {

constexpr uint32_t kMaxDottedWords = 3;  // VertexProperty.Cardinality.single

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Bytes of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7); 0 when it is malformed.
uint32_t SequenceLength(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t first = byte(at);
  const uint32_t second = byte(at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!follows(at + 1) || !follows(at + 2)) return 0;
    if (first == 0xE0 && second < 0xA0) return 0;
    if (first == 0xED && second > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!follows(at + 1) || !follows(at + 2) || !follows(at + 3)) return 0;
    if (first == 0xF0 && second < 0x90) return 0;
    if (first == 0xF4 && second > 0x8F) return 0;
    return 4;
  }
  return 0;
}

uint32_t CodePoint(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  switch (sequence.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3:
      return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    default:
      return (byte(0) & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 |
             (byte(3) & 0x3Fu);
  }
}

// Letters beyond ASCII may be part of a name; punctuation and spaces that only look like ours not.
bool IsNameCodePoint(uint32_t c) {
  const bool latin_sign = c < 0xC0 && c != 0xAA && c != 0xB5 && c != 0xBA;
  const bool punctuation = c >= 0x2000 && c <= 0x206F;
  const bool other_space = c == 0x1680 || (c >= 0x3000 && c <= 0x303F) || c == 0xFEFF;
  const bool full_width_sign = c >= 0xFF00 && c <= 0xFF0F;
  return !latin_sign && !punctuation && !other_space && !full_width_sign;
}

std::string Hex(uint32_t c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string hex = "U+0000";
  for (size_t i = 5; i >= 2; --i, c >>= 4) hex[i] = kDigits[c & 0xF];
  return hex;
}

struct Bracket {
  Lexeme opener;
  bool empty = true;  // nothing followed it yet
};

char Closer(LexemeKind opener) {
  switch (opener) {
    case LexemeKind::kLeftParen:
      return ')';
    case LexemeKind::kLeftBracket:
      return ']';
    default:
      return '}';
  }
}

class Scanner {
 public:
  Scanner(std::string_view text, const Limits& limits)
      : text_(text), limits_(limits), max_nesting_(std::min(limits.max_nesting, kMaxNesting)) {}

  StatusOr<std::vector<Lexeme>> Run();

 private:
  Status SkipByteOrderMark();
  Status ScanToken();
  Status ScanBlockComment();
  Status ScanString(char quote);
  Status ScanName();
  void ScanNumber();
  Status ScanSymbol(char c);
  Status Open(LexemeKind kind);
  Status Close(LexemeKind kind, char closer);
  Status CountMember(bool after_comma);
  Status CountStep(const Lexeme& name);
  Status CheckBrace();
  Status StrayCharacter();
  Status OperatorRefused(std::string_view symbol);

  // Error at a span; the error of Groovy and Java; the error of a limit.
  Status Error(std::string_view reason, SourceSpan span, std::string message,
               std::string hint = "") const;
  Status LimitError(SourceSpan span, std::string_view what, uint64_t limit, uint64_t used,
                    std::string_view setting) const;

  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool AtEnd() const { return at_ >= text_.size(); }
  void Advance();  // one code point; REQUIRES: well-formed here
  Lexeme Begin() const;
  void End(Lexeme token, LexemeKind kind);
  SourceSpan Here(uint32_t length = 1) const { return {line_, column_, length}; }

  std::string_view text_;
  const Limits& limits_;
  const uint32_t max_nesting_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  uint32_t column_ = 1;
  uint32_t code_points_ = 0;
  uint32_t dotted_words_ = 0;
  uint64_t steps_ = 0;
  uint64_t members_ = 0;
  uint64_t arguments_ = 0;
  std::vector<Bracket> brackets_;
  std::vector<Lexeme> tokens_;
};

Status Scanner::Error(std::string_view reason, SourceSpan span, std::string message,
                      std::string hint) const {
  ErrorDetail detail;
  detail.reason = std::string(reason);
  detail.span = span;
  detail.hint = std::move(hint);
  return InvalidArgument(message, detail);
}

Status Scanner::LimitError(SourceSpan span, std::string_view what, uint64_t limit, uint64_t used,
                           std::string_view setting) const {
  ErrorDetail detail;
  detail.reason = "LIMIT";
  detail.span = span;
  detail.limit = std::string(what) + " " + std::to_string(limit);
  detail.used = std::to_string(used);
  detail.setting = std::string(setting);
  const std::string message = "The query's " + std::string(what) + " is over its limit of " +
                              std::to_string(limit) + " (setting " + detail.setting + ").";
  return ResourceExhausted(message, detail);
}

void Scanner::Advance() {
  if (text_[at_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++code_points_;
  ++at_;
  while (at_ < text_.size() && IsContinuation(text_[at_])) ++at_;
}

Lexeme Scanner::Begin() const {
  Lexeme token;
  token.offset = static_cast<uint32_t>(at_);
  token.index = code_points_;
  token.span = Here();  // its length is known in End
  return token;
}

void Scanner::End(Lexeme token, LexemeKind kind) {
  token.kind = kind;
  token.size = static_cast<uint32_t>(at_) - token.offset;
  token.span.length = code_points_ - token.index;
  if (kind == LexemeKind::kName) {
    const bool dotted = !tokens_.empty() && tokens_.back().kind == LexemeKind::kDot;
    dotted_words_ = dotted ? dotted_words_ + 1 : 1;
  } else if (kind != LexemeKind::kDot) {
    dotted_words_ = 0;
  }
  tokens_.push_back(token);
}

StatusOr<std::vector<Lexeme>> Scanner::Run() {
  if (text_.size() > limits_.max_text_bytes || text_.size() > UINT32_MAX / 2) {
    return LimitError({1, 1, 1}, "length in bytes", limits_.max_text_bytes, text_.size(),
                      "query-max-text");
  }
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  while (!AtEnd()) RETURN_IF_ERROR(ScanToken());
  if (!brackets_.empty()) {
    const Lexeme& opener = brackets_.back().opener;
    return Error(kUnclosedBracket, opener.span,
                 "This \"" + std::string(opener.In(text_)) + "\" is never closed: a \"" +
                     Closer(opener.kind) + "\" is missing.");
  }
  End(Begin(), LexemeKind::kEnd);
  return std::move(tokens_);
}

Status Scanner::ScanToken() {
  const char c = Peek();
  if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
    Advance();
    return OkStatus();
  }
  if (c == '/' && Peek(1) == '/') {
    while (!AtEnd() && Peek() != '\n') {
      if (SequenceLength(text_, at_) == 0) return StrayCharacter();
      Advance();
    }
    return OkStatus();
  }
  if (c == '/' && Peek(1) == '*') return ScanBlockComment();

  const bool separator = c == ',' || c == ')' || c == ']' || c == '}';
  if (!separator && !brackets_.empty() && brackets_.back().empty) {
    RETURN_IF_ERROR(CountMember(false));
  }
  if (c == '"' || c == '\'') return ScanString(c);
  const bool signed_number = (c == '-' || c == '+') && (IsDigit(Peek(1)) || Peek(1) == 'I');
  if (IsDigit(c) || signed_number) {
    ScanNumber();
    return OkStatus();
  }
  if (IsNameStart(c) || !IsAscii(c)) return ScanName();
  return ScanSymbol(c);
}

Status Scanner::ScanBlockComment() {
  const SourceSpan opener = Here(2);
  Advance();
  Advance();
  while (!AtEnd() && !(Peek() == '*' && Peek(1) == '/')) {
    if (SequenceLength(text_, at_) == 0) return StrayCharacter();
    Advance();
  }
  if (AtEnd()) {
    return Error(kUnterminatedComment, opener,
                 "This comment is never closed: a \"*/\" is missing.");
  }
  Advance();
  Advance();
  return OkStatus();
}

Status Scanner::ScanString(char quote) {
  const Lexeme token = Begin();
  const SourceSpan opener = Here();
  Advance();
  while (!AtEnd() && Peek() != quote) {
    if (Peek() == '\\') Advance();
    if (AtEnd()) break;
    if (SequenceLength(text_, at_) == 0) return StrayCharacter();
    Advance();
  }
  if (AtEnd()) {
    return Error(kUnterminatedString, opener,
                 std::string("This string is never closed: a ") + quote + " is missing.");
  }
  Advance();
  End(token, LexemeKind::kString);
  return OkStatus();
}

// Everything that looks like one number; what it means, and whether it is one, is literal.h's.
void Scanner::ScanNumber() {
  const Lexeme token = Begin();
  Advance();  // the sign or the first digit
  const auto skip_word = [this] {
    while (!AtEnd() && (IsDigit(Peek()) || IsNameStart(Peek()))) Advance();
  };
  skip_word();
  if (Peek() == '.' && IsDigit(Peek(1))) {
    Advance();
    skip_word();
  }
  const char last = text_[at_ - 1];
  const bool exponent = (last == 'e' || last == 'E') && text_.substr(token.offset, 2) != "0x";
  if (exponent && (Peek() == '+' || Peek() == '-') && IsDigit(Peek(1))) {
    Advance();
    skip_word();
  }
  End(token, LexemeKind::kNumber);
}

Status Scanner::ScanName() {
  const Lexeme token = Begin();
  while (!AtEnd()) {
    if (IsAscii(Peek())) {
      if (!IsDigit(Peek()) && !IsNameStart(Peek())) break;
    } else {
      const uint32_t length = SequenceLength(text_, at_);
      if (length == 0) return StrayCharacter();
      if (!IsNameCodePoint(CodePoint(text_.substr(at_, length)))) {
        if (at_ == token.offset) return StrayCharacter();
        break;
      }
    }
    Advance();
  }
  const std::string_view word = text_.substr(token.offset, at_ - token.offset);
  End(token, word == "new" ? LexemeKind::kNew : LexemeKind::kName);
  if (dotted_words_ > kMaxDottedWords) {
    const Lexeme& last = tokens_.back();
    return Error("SYNTAX", last.span,
                 "\"" + std::string(last.In(text_)) +
                     "\" follows too many words: a word may have one qualifier, as in Order.desc.");
  }
  return OkStatus();
}

Status Scanner::ScanSymbol(char c) {
  switch (c) {
    case '.':
    case ',':
    case ':':
    case ';': {
      if (c == ',') RETURN_IF_ERROR(CountMember(true));
      const Lexeme token = Begin();
      Advance();
      End(token, c == '.'   ? LexemeKind::kDot
                 : c == ',' ? LexemeKind::kComma
                 : c == ':' ? LexemeKind::kColon
                            : LexemeKind::kSemicolon);
      return OkStatus();
    }
    case '(':
      if (!tokens_.empty() && tokens_.back().kind == LexemeKind::kName) {
        RETURN_IF_ERROR(CountStep(tokens_.back()));
      }
      return Open(LexemeKind::kLeftParen);
    case '[':
      return Open(LexemeKind::kLeftBracket);
    case '{':
      RETURN_IF_ERROR(CheckBrace());
      return Open(LexemeKind::kLeftBrace);
    case ')':
      return Close(LexemeKind::kRightParen, c);
    case ']':
      return Close(LexemeKind::kRightBracket, c);
    case '}':
      return Close(LexemeKind::kRightBrace, c);
    default:
      return StrayCharacter();
  }
}

Status Scanner::Open(LexemeKind kind) {
  if (brackets_.size() >= max_nesting_) {
    return LimitError(Here(), "nesting depth", max_nesting_, brackets_.size() + 1,
                      "query-max-nesting");
  }
  const Lexeme token = Begin();
  Advance();
  End(token, kind);
  brackets_.push_back({tokens_.back()});
  return OkStatus();
}

Status Scanner::Close(LexemeKind kind, char closer) {
  if (brackets_.empty()) {
    return Error("UNEXPECTED_BRACKET", Here(),
                 std::string("This \"") + closer + "\" closes nothing: there is no open bracket.");
  }
  const Lexeme& opener = brackets_.back().opener;
  if (Closer(opener.kind) != closer) {
    return Error("MISMATCHED_BRACKET", opener.span,
                 "This \"" + std::string(opener.In(text_)) + "\" needs a \"" + Closer(opener.kind) +
                     "\", but line " + std::to_string(line_) + ", column " +
                     std::to_string(column_) + " has a \"" + closer + "\".");
  }
  brackets_.pop_back();
  const Lexeme token = Begin();
  Advance();
  End(token, kind);
  return OkStatus();
}

// Arguments and members are counted over the whole text: a total bounds what parsing may cost.
Status Scanner::CountMember(bool after_comma) {
  if (brackets_.empty()) return OkStatus();
  Bracket& bracket = brackets_.back();
  // An empty place before a comma is a syntax error, found later: it counts like any other.
  if (!after_comma && !bracket.empty) return OkStatus();
  bracket.empty = false;
  const bool is_call = bracket.opener.kind == LexemeKind::kLeftParen;
  uint64_t& count = is_call ? arguments_ : members_;
  if (++count <= limits_.max_list) return OkStatus();
  return LimitError(Here(), is_call ? "number of arguments" : "number of list members",
                    limits_.max_list, count, "query-max-list");
}

Status Scanner::CountStep(const Lexeme& name) {
  const std::string_view word = name.In(text_);
  const bool is_step = word == "not" || (FindPredicate(word) == nullptr &&
                                         !IsLiteralFunction(word) && !IsStrategyName(word));
  if (!is_step || ++steps_ <= limits_.max_steps) return OkStatus();
  return LimitError(name.span, "number of steps", limits_.max_steps, steps_, "query-max-steps");
}

// A brace is a set, unless it follows a name or call, or its first word is `it`: then a closure.
Status Scanner::CheckBrace() {
  const LexemeKind before = tokens_.empty() ? LexemeKind::kEnd : tokens_.back().kind;
  bool closure = before == LexemeKind::kName || before == LexemeKind::kRightParen;
  size_t i = at_ + 1;
  while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t' || text_[i] == '\n')) ++i;
  if (text_.substr(i, 2) == "it") {
    const char after = i + 2 < text_.size() ? text_[i + 2] : '\0';
    closure = closure || !(IsNameStart(after) || IsDigit(after) || !IsAscii(after));
  }
  if (!closure) return OkStatus();
  return Error(kClosure, Here(), "Closures are Groovy, not Gremlin.",
               "write the closure's body as steps, such as map(values('name')) or "
               "filter(has('age', gt(30)))");
}

Status Scanner::OperatorRefused(std::string_view symbol) {
  std::string hint = "compare with is() and predicates such as gt(30), combine with and() and or()";
  if (symbol == "->") hint = "write the lambda's body as steps, such as map(values('name'))";
  if (symbol == "=") hint = "send one traversal; keep values with as() or aggregate()";
  return Error(kClosure, Here(static_cast<uint32_t>(symbol.size())),
               "\"" + std::string(symbol) + "\" is Groovy or Java, not Gremlin.", std::move(hint));
}

Status Scanner::StrayCharacter() {
  constexpr std::string_view kOperators[] = {
      "->", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "++", "--", "=", "+",
      "-",  "*",  "/",  "%",  "<",  ">",  "!",  "&",  "|",  "?",  "^",  "~"};
  for (std::string_view symbol : kOperators) {
    if (text_.substr(at_).starts_with(symbol)) return OperatorRefused(symbol);
  }
  const uint32_t length = SequenceLength(text_, at_);
  if (length == 0) {
    return Error("INVALID_UTF8", Here(), "The query's text is not valid UTF-8 here.");
  }
  const std::string_view sequence = text_.substr(at_, length);
  const uint32_t c = CodePoint(sequence);
  std::string shown = Hex(c);
  if (c > 0x20 && c != 0x7F && c != 0xFEFF && !(c >= 0x80 && c <= 0xA0) &&
      !(c >= 0x2000 && c <= 0x200F) && !(c >= 0x2028 && c <= 0x202F)) {
    shown = "\"" + std::string(sequence) + "\"";
  }
  std::string hint;
  if (c >= 0x2018 && c <= 0x201F) hint = "use the straight quotes ' or \"";
  if (c == '#') hint = "comments are // to the end of the line or /* ... */";
  return Error("UNEXPECTED_CHARACTER", Here(), "Unexpected character " + shown + ".",
               std::move(hint));
}

}  // namespace

StatusOr<std::vector<Lexeme>> Scan(std::string_view text, const Limits& limits) {
  return Scanner(text, limits).Run();
}

bool IsComplete(std::string_view text) {
  Limits limits;
  const StatusOr<std::vector<Lexeme>> tokens = Scan(text, limits);
  if (!tokens.ok()) {
    const std::string reason = DetailOf(tokens.status()).value_or(ErrorDetail{}).reason;
    return reason != kUnterminatedString && reason != kUnterminatedComment &&
           reason != kUnclosedBracket;
  }
  if (tokens->size() < 2) return true;
  const LexemeKind last = (*tokens)[tokens->size() - 2].kind;
  return last != LexemeKind::kDot && last != LexemeKind::kComma;
}

}  // namespace koios::parser
