// The subcommands of `koios`: one file each, one row each in commands.cc. A command adds its flags
// its CLI11 sub-app and returns what runs when it was chosen; that returns the exit code.
// To add one: copy admin_command.cc, declare its function here, add a row.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace koios::app {

using RunCommand = std::function<int()>;

struct CommandRow {
  std::string_view name;
  std::string_view help;
  RunCommand (*add)(CLI::App* command);
};
const std::vector<CommandRow>& Commands();

RunCommand AddServeCommand(CLI::App* command);
RunCommand AddConsoleCommand(CLI::App* command);
RunCommand AddQueryCommand(CLI::App* command);
RunCommand AddAdminCommand(CLI::App* command);
RunCommand AddImportCommand(CLI::App* command);
RunCommand AddGenerateCommand(CLI::App* command);

}  // namespace koios::app
