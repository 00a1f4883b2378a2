// StatementReader: lines to statements. A statement ends where its brackets and strings are closed
// (parser::IsComplete); a line that starts with ':' is a command of its own. In a script or in
// pasted text, a line that starts with '.' goes on with the statement before it. Comments alone are
// no statement.
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

  // kEnd only when nothing is left; an unfinished statement at the end is given as it is.
  LineReader::Outcome Read(std::string* statement);

 private:
  LineReader* const lines_;
};

// The prompt of line `number` (from 0) of a statement: "gremlin> ", "......1> ".
std::string PromptOf(size_t number);

}  // namespace koios::client
