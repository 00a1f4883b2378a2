#include "client/console/statement_reader.h"

#include <string_view>

#include "client/console/comments.h"
#include "parser/parser.h"

namespace koios::client {
namespace {

constexpr std::string_view kPrompt = "gremlin>";
constexpr std::string_view kBlanks = " \t\r\n";

// Only blanks and comments. An open block comment is not: it has a rest to come.
bool IsBlank(std::string_view text) {
  const Leading leading = LeadingComments(text);
  return leading.bytes == text.size() && !leading.open;
}

char FirstCharacter(std::string_view line) {
  const size_t start = line.find_first_not_of(kBlanks);
  return start == std::string_view::npos ? '\0' : line[start];
}

}  // namespace

std::string PromptOf(size_t number) {
  if (number == 0) return std::string(kPrompt) + " ";
  const std::string digits = std::to_string(number) + "> ";
  const size_t width = kPrompt.size() + 1;
  return std::string(width > digits.size() ? width - digits.size() : 0, '.') + digits;
}

LineReader::Outcome StatementReader::Read(std::string* statement) {
  statement->clear();
  std::string line;
  size_t line_number = 0;
  while (true) {
    const LineReader::Outcome outcome = lines_->Read(PromptOf(line_number), &line);
    if (outcome == LineReader::Outcome::kInterrupted) {
      *statement += line;
      return outcome;
    }
    if (outcome == LineReader::Outcome::kEnd) {
      return IsBlank(*statement) ? outcome : LineReader::Outcome::kLine;
    }
    ++lines_read_;
    if (line_number == 0) first_line_ = lines_read_;
    if (line_number == 0 && FirstCharacter(line) == ':') {
      *statement = line;
      return LineReader::Outcome::kLine;
    }
    if (line_number > 0) *statement += '\n';
    *statement += line;
    if (IsBlank(*statement)) {
      statement->clear();
      line_number = 0;
      continue;
    }
    ++line_number;
    const bool full = statement->size() > kMaxStatementBytes;
    if (full || (parser::IsComplete(*statement) && !lines_->ContinuesWith('.'))) {
      return LineReader::Outcome::kLine;
    }
  }
}

}  // namespace koios::client
