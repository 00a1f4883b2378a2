#include "app/command.h"

namespace koios::app {

const std::vector<CommandRow>& Commands() {
  static const std::vector<CommandRow> kCommands = {
      {"serve", "Serves the graphs of a data folder over gRPC.", &AddServeCommand},
      {"import", "Loads CSV files into a graph.", &AddImportCommand},
      {"generate", "Makes a graph as CSV files, the same for the same seed.", &AddGenerateCommand},
      {"console", "Opens a Gremlin console on a server or a data folder.", &AddConsoleCommand},
      {"query", "Runs queries and prints their results.", &AddQueryCommand},
      {"admin", "Looks after a server: running queries, schema, sizes, checks.", &AddAdminCommand},
  };
  return kCommands;
}

}  // namespace koios::app
