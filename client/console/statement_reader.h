// StatementReader: lines to statements. A statement ends where its brackets and strings are closed
// (parser::IsComplete); a line that starts with ':' is a command of its own. In a script or in
// pasted text, a line that starts with '.' goes on with the statement before it, also behind
// comments. Comments alone are no statement.
#pragma once

#include <string>

#include "client/console/line_reader.h"

namespace koios::client {

class StatementReader {
 public:
  // Longer ones are sent as they are; the server says what is wrong.
  static constexpr size_t kMaxStatementBytes = size_t{2} << 20;

  // `lines` outlives the reader.
  explicit StatementReader(LineReader* lines) : lines_(lines) {}

  // kEnd only when nothing is left; an unfinished statement at the end is given as it is, and so is
  // one that was interrupted.
  LineReader::Outcome Read(std::string* statement);
  // In which line, from 1, the last statement begins.
  size_t first_line() const { return first_line_; }

 private:
  LineReader* const lines_;
  size_t lines_read_ = 0;
  size_t first_line_ = 0;
};

// The prompt of line `number` (from 0) of a statement: "gremlin> ", "......1> ".
std::string PromptOf(size_t number);

}  // namespace koios::client
