// koios: one binary with a subcommand for each thing it does (command.h).
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "client/console/query_session.h"

int main(int argc, char** argv) {
  CLI::App app{"Koios answers Gremlin on large property graphs."};
  app.set_version_flag("--version", std::string("koios ") + KOIOS_VERSION);
  app.require_subcommand(1);
  app.footer("koios COMMAND --help tells more, with examples.");
  std::vector<std::pair<CLI::App*, koios::app::RunCommand>> commands;
  for (const koios::app::CommandRow& row : koios::app::Commands()) {
    CLI::App* command = app.add_subcommand(std::string(row.name), std::string(row.help));
    commands.emplace_back(command, row.add(command));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // --help and --version come here too, with exit code 0.
    return app.exit(error) == 0 ? koios::client::kExitOk : koios::client::kExitUsage;
  }
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return run();
  }
  return koios::client::kExitUsage;
}
