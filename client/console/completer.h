// Completer: what a text may go on with. Steps after a dot or at the start of a traversal, labels
// and property keys inside quotes, commands after ':'. One thread.
#pragma once

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

  Completions Complete(std::string_view text) const;

 private:
  std::vector<std::string> steps_;
  std::vector<std::string> commands_;
  std::vector<std::string> schema_words_;
};

}  // namespace koios::client
