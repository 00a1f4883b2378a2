// Console: reads statements and colon commands until the end of input and runs them. On a terminal
// it goes on after an error; as a script it stops at the first one. One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/console/completer.h"
#include "client/console/line_reader.h"
#include "client/console/query_session.h"
#include "client/console/statement_reader.h"
#include "client/console/step_help.h"

namespace koios::client {

class Console {
 public:
  // All outlive the console; `completer` may be null. `steps`: in the order of their names.
  Console(QuerySession* session, LineReader* lines, Completer* completer,
          std::vector<StepHelp> steps)
      : session_(session),
        lines_(lines),
        statements_(lines),
        completer_(completer),
        steps_(std::move(steps)) {}

  // The exit code: of the first error in a script; on a terminal 0, or 130 when left by Ctrl-C.
  int Run();

  static std::vector<std::string> CommandWords();  // ":help", ...

 private:
  struct Command;
  static const std::vector<Command>& Commands();

  Status RunStatement(const std::string& text);
  Status RunCommand(std::string_view line);
  void OfferArguments();
  void RefreshSchemaWords();

  Status Help(std::string_view arguments);
  Status HelpOfStep(std::string_view name);
  void ListSteps();
  Status Explain(std::string_view arguments);
  Status Profile(std::string_view arguments);
  Status Schema(std::string_view arguments);
  Status ShowGraphs(std::string_view arguments);
  Status Stats(std::string_view arguments);
  Status Indexes(std::string_view arguments);
  Status Use(std::string_view arguments);
  Status SetFormat(std::string_view arguments);
  Status Param(std::string_view arguments);
  Status Queries(std::string_view arguments);
  Status CancelQuery(std::string_view arguments);
  Status Timeout(std::string_view arguments);
  Status Quit(std::string_view arguments);

  Status RunLast(std::string_view arguments, v1::Mode mode);

  QuerySession* const session_;
  LineReader* const lines_;
  StatementReader statements_;
  Completer* const completer_;
  const std::vector<StepHelp> steps_;
  std::string last_query_;
  bool printed_ = false;  // the error of the statement
  bool quit_ = false;
};

}  // namespace koios::client
