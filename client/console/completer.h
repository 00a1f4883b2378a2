// Completer: what a text may go on with. Steps after a dot or at the start of a traversal, the
// words of an enum behind its name, labels and property keys inside quotes, commands after ':' and
// what they take. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "client/console/line_reader.h"

namespace koios::client {

class Completer {
 public:
  // `steps`: names as the planner knows them; `commands`: with their ':'.
  Completer(std::vector<std::string> steps, std::vector<std::string> commands);
  // Labels and property keys of the graph in use.
  void SetSchemaWords(std::vector<std::string> words);

  // What stands behind a command; asked when it is completed.
  void SetArguments(const std::string& command, std::function<std::vector<std::string>()> words);

  Completions Complete(std::string_view text) const;

 private:
  std::vector<std::string> steps_;
  std::vector<std::string> commands_;
  std::vector<std::string> schema_words_;
  std::map<std::string, std::function<std::vector<std::string>()>, std::less<>> arguments_;
};

}  // namespace koios::client
