#include "app/command.h"

namespace koios::app {

const std::vector<CommandRow>& Commands() {
  static const std::vector<CommandRow> commands = {
      {"serve", "Serves the graphs of a data folder over gRPC.", &AddServeCommand},
      {"console", "Opens a Gremlin console on a server or a data folder.", &AddConsoleCommand},
      {"query", "Runs queries and prints their results.", &AddQueryCommand},
      {"admin", "Looks after a server: running queries, schema, sizes, checks.", &AddAdminCommand},
  };
  return commands;
}

}  // namespace koios::app
