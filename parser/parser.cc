// Drives ANTLR's generated parser: feeds it scan.h's tokens, turns its first syntax error into a
// status in a user's words, and keeps its exceptions here.

#include "parser/parser.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "Gremlin.h"
#include "core/text/text.h"
#include "parser/builder.h"
#include "parser/scan.h"

namespace koios::parser {
namespace {

using Grammar = koios::antlr::Gremlin;

size_t GrammarType(LexemeKind kind) {
  switch (kind) {
    case LexemeKind::kName:
      return Grammar::NAME;
    case LexemeKind::kNew:
      return Grammar::NEW;
    case LexemeKind::kNumber:
      return Grammar::NUMBER;
    case LexemeKind::kString:
      return Grammar::STRING;
    case LexemeKind::kDot:
      return Grammar::DOT;
    case LexemeKind::kComma:
      return Grammar::COMMA;
    case LexemeKind::kColon:
      return Grammar::COLON;
    case LexemeKind::kSemicolon:
      return Grammar::SEMICOLON;
    case LexemeKind::kLeftParen:
      return Grammar::LEFT_PAREN;
    case LexemeKind::kRightParen:
      return Grammar::RIGHT_PAREN;
    case LexemeKind::kLeftBracket:
      return Grammar::LEFT_BRACKET;
    case LexemeKind::kRightBracket:
      return Grammar::RIGHT_BRACKET;
    case LexemeKind::kLeftBrace:
      return Grammar::LEFT_BRACE;
    case LexemeKind::kRightBrace:
      return Grammar::RIGHT_BRACE;
    case LexemeKind::kEnd:
      return antlr4::Token::EOF;
  }
  return antlr4::Token::INVALID_TYPE;
}

// A token as ANTLR wants it: an index into the scanned tokens. Its text is never asked for.
class GrammarToken final : public antlr4::Token {
 public:
  GrammarToken(const Lexeme* token, size_t index) : token_(token), index_(index) {}

  std::string getText() const override { return ""; }
  size_t getType() const override { return GrammarType(token_->kind); }
  size_t getLine() const override { return token_->span.line; }
  size_t getCharPositionInLine() const override { return token_->span.column - 1; }
  size_t getChannel() const override { return DEFAULT_CHANNEL; }
  size_t getTokenIndex() const override { return index_; }
  size_t getStartIndex() const override { return token_->index; }
  size_t getStopIndex() const override { return token_->index + token_->span.length - 1; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return ""; }

 private:
  const Lexeme* token_;
  size_t index_;
};

// The scanned tokens as ANTLR's stream, without a copy of the text or an allocation per token.
class GrammarInput final : public antlr4::TokenStream {
 public:
  explicit GrammarInput(const std::vector<Lexeme>& tokens) {
    tokens_.reserve(tokens.size());
    for (const Lexeme& token : tokens) tokens_.emplace_back(&token, tokens_.size());
  }

  antlr4::Token* LT(ssize_t k) override {
    const ssize_t wanted = static_cast<ssize_t>(at_) + (k > 0 ? k - 1 : k);
    if (k == 0 || wanted < 0) return nullptr;
    return &tokens_[std::min(static_cast<size_t>(wanted), tokens_.size() - 1)];
  }
  size_t LA(ssize_t k) override {
    const antlr4::Token* token = LT(k);
    return token == nullptr ? antlr4::Token::INVALID_TYPE : token->getType();
  }
  antlr4::Token* get(size_t index) const override {
    return const_cast<GrammarToken*>(&tokens_[index]);
  }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval&) override { return ""; }
  std::string getText() override { return ""; }
  std::string getText(antlr4::RuleContext*) override { return ""; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return ""; }
  void consume() override {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = std::min(index, tokens_.size() - 1); }
  size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return "query"; }

 private:
  std::vector<GrammarToken> tokens_;
  size_t at_ = 0;
};

// Stops at the first error and keeps it as a status.
class FirstError final : public antlr4::ANTLRErrorStrategy {
 public:
  FirstError(std::string_view text, const std::vector<Lexeme>& tokens)
      : text_(text), tokens_(tokens) {}

  const Status& status() const { return status_; }

  void reset(antlr4::Parser*) override {}
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { Stop(parser); }
  void recover(antlr4::Parser* parser, std::exception_ptr) override { Stop(parser); }
  void sync(antlr4::Parser*) override {}
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser*, const antlr4::RecognitionException&) override {}

 private:
  [[noreturn]] void Stop(antlr4::Parser* parser) {
    const size_t at = parser->getCurrentToken()->getTokenIndex();
    status_ = ErrorAt(at, parser->getContext()->getRuleIndex());
    throw antlr4::ParseCancellationException();
  }

  Status ErrorAt(size_t at, size_t rule) const;
  std::string Expected(size_t at, size_t rule) const;
  std::string Found(size_t at) const;
  bool IsGroovy(size_t at) const;
  LexemeKind KindBefore(size_t at) const {
    return at == 0 ? LexemeKind::kEnd : tokens_[at - 1].kind;
  }

  std::string_view text_;
  const std::vector<Lexeme>& tokens_;
  Status status_;
};

std::string FirstError::Found(size_t at) const {
  constexpr size_t kLongest = 30;
  const Lexeme& token = tokens_[at];
  if (token.kind == LexemeKind::kEnd) return "the end of the query";
  const std::string_view text = token.In(text_);
  if (token.kind == LexemeKind::kString) return "a string";
  if (text.size() <= kLongest) return "\"" + std::string(text) + "\"";
  return "\"" + std::string(TruncateUtf8(text, kLongest)) + "...\"";
}

std::string FirstError::Expected(size_t at, size_t rule) const {
  const LexemeKind before = KindBefore(at);
  const bool nothing_yet = before == LexemeKind::kLeftParen || before == LexemeKind::kLeftBracket ||
                           before == LexemeKind::kLeftBrace;
  switch (rule) {
    case Grammar::RuleQuery:
      if (before == LexemeKind::kSemicolon) return "the end of the query after \";\"";
      return "\".\" and a step, or the end of the query,";
    case Grammar::RuleChain:
    case Grammar::RuleLink:
      if (before == LexemeKind::kDot) return "the name of a step after \".\"";
      if (before == LexemeKind::kNew) return "the name of a strategy after \"new\"";
      return "a traversal source, as in g.V(),";
    case Grammar::RuleArguments:
      return nothing_yet ? "an argument or \")\"" : "\",\" or \")\"";
    case Grammar::RuleList:
      return nothing_yet ? "a value, \":\" or \"]\"" : "\",\" or \"]\"";
    case Grammar::RuleSet:
      return nothing_yet ? "a value or \"}\"" : "\",\" or \"}\"";
    case Grammar::RuleValue:
      if (before == LexemeKind::kDot) return "a range, as in 1..5 or 'a'..'e',";
      [[fallthrough]];
    default:
      if (before == LexemeKind::kComma) return "a value after \",\"";
      if (before == LexemeKind::kColon) return "a value after \":\"";
      if (before == LexemeKind::kLeftParen) return "a value after \"(\"";
      return "\")\"";
  }
}

// A statement, a cast or a method of a constant: def x, x as String, 'abc'.length().
bool FirstError::IsGroovy(size_t at) const {
  const std::string_view found = tokens_[at].In(text_);
  if (found == "as" || found == "instanceof") return at > 0;
  const LexemeKind before = KindBefore(at);
  if (tokens_[at].kind == LexemeKind::kDot) {
    return tokens_[at + 1].kind == LexemeKind::kName &&
           (before == LexemeKind::kString || before == LexemeKind::kNumber ||
            before == LexemeKind::kRightBracket || before == LexemeKind::kRightBrace);
  }
  if (at != 1 || tokens_[at].kind == LexemeKind::kEnd) return false;
  constexpr std::string_view kStatements[] = {"def",    "for",   "if",     "while", "return",
                                              "import", "class", "static", "var",   "int",
                                              "long",   "final", "try",    "throw", "String"};
  for (std::string_view word : kStatements) {
    if (tokens_[0].In(text_) == word) return true;
  }
  return false;
}

Status FirstError::ErrorAt(size_t at, size_t rule) const {
  // Behind a constant's dot a range might have come: a method's name is an error of the dot.
  const bool named = rule == Grammar::RuleValue && tokens_[at].kind == LexemeKind::kName;
  if (named && KindBefore(at) == LexemeKind::kDot && IsGroovy(at - 1)) --at;
  ErrorDetail detail;
  detail.span = tokens_[at].span;
  if (detail.span.length == 0) detail.span.length = 1;
  if (IsGroovy(at)) {
    const bool statement = at == 1 && tokens_[at].kind == LexemeKind::kName;
    if (statement && tokens_[at].In(text_) != "as") detail.span = tokens_[0].span;
    detail.reason = std::string(kClosure);
    detail.hint = tokens_[at].kind == LexemeKind::kDot
                      ? "use steps on the value, as in constant('x').toUpper()"
                      : "send one traversal; convert with asString(), asNumber(), asDate()";
    return InvalidArgument(
        "Statements, casts and methods of constants are Groovy or Java, not "
        "Gremlin.",
        detail);
  }
  detail.reason = "SYNTAX";
  return InvalidArgument("Expected " + Expected(at, rule) + " but found " + Found(at) + ".",
                         detail);
}

StatusOr<Query> ParseTokens(std::string_view text, const std::vector<Lexeme>& tokens,
                            const Limits& limits) {
  GrammarInput input(tokens);
  Grammar grammar(&input);
  const auto first_error = std::make_shared<FirstError>(text, tokens);
  grammar.removeErrorListeners();
  grammar.setErrorHandler(first_error);
  grammar.setBuildParseTree(false);  // the contexts' labels are all that the builder reads
  Grammar::QueryContext* query = nullptr;
  try {
    query = grammar.query();
  } catch (const antlr4::ParseCancellationException&) {
    return first_error->status();
  }
  return BuildQuery(query, text, tokens, limits);
}

}  // namespace

StatusOr<Query> Parse(std::string_view text, const Limits& limits) {
  ASSIGN_OR_RETURN(const std::vector<Lexeme> tokens, Scan(text, limits));
  const bool empty =
      tokens.size() == 1 || (tokens.size() == 2 && tokens[0].kind == LexemeKind::kSemicolon);
  if (empty) {
    ErrorDetail detail;
    detail.reason = "EMPTY_QUERY";
    detail.span = {1, 1, 1};
    detail.hint = "for example g.V().limit(10)";
    return InvalidArgument("The query is empty.", detail);
  }
  try {
    return ParseTokens(text, tokens, limits);
  } catch (const std::bad_alloc&) {
    ErrorDetail detail;
    detail.reason = "MEMORY";
    return ResourceExhausted("There is not enough memory to parse the query.", detail);
  } catch (const std::exception& error) {
    return Internal(std::string("The parser failed: ") + error.what());
  }
}

size_t TreeBytes(std::string_view text) {
  constexpr size_t kOfByte = 4, kOfMember = 700, kOfCall = 5'000;
  size_t members = 0, calls = 0;
  for (const char byte : text) {
    members += byte == ',' || byte == ':' ? 1 : 0;
    calls += byte == '(' ? 1 : 0;
  }
  return kOfByte * text.size() + kOfMember * members + kOfCall * calls;
}

}  // namespace koios::parser
