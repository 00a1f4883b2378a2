// koios: one binary with a subcommand for each thing it does (command.h).
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/help_format.h"
#include "client/console/query_session.h"
#include "core/text/name_distance.h"

// Read by jemalloc when the program starts. Freed memory goes back to the machine within seconds,
// also when nothing is done any more. All of it by a thread of jemalloc's own: a large piece that
// is given back by whoever frees it keeps a worker for milliseconds.
extern "C" const char* malloc_conf;
const char* malloc_conf =
    "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,oversize_threshold:0";

namespace {

// What is closed of standard input, output and error must not become a file of the graph. It stays
// as good as closed: reading, or writing, fails.
void OpenStandardFiles() {
  while (true) {
    const int flags = fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY;
    const int fd = open("/dev/null", flags);
    if (fd > STDERR_FILENO) close(fd);
    if (fd < 0 || fd > STDERR_FILENO) return;
  }
}

// CLI11 only says that some subcommand is missing.
bool IsUnknownCommand(const std::string& word) {
  if (word.empty() || word.front() == '-') return false;
  std::vector<std::string_view> names;
  for (const koios::app::CommandRow& row : koios::app::Commands()) {
    if (row.name == word) return false;
    names.push_back(row.name);
  }
  std::cerr << "koios: There is no command '" << word << "'";
  if (const auto nearest = koios::NearestName(word, names)) {
    std::cerr << "; did you mean '" << *nearest << "'?";
  } else {
    std::cerr << ".";
  }
  std::cerr << " koios --help lists the commands.\n";
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  OpenStandardFiles();
  if (argc > 1 && IsUnknownCommand(argv[1])) return koios::client::kExitUsage;
  CLI::App app{"Koios answers Gremlin on large property graphs.", "koios"};
  app.set_version_flag("--version", std::string("koios ") + KOIOS_VERSION);
  app.require_subcommand(1);
  app.footer("koios COMMAND --help tells more, with examples.");
  std::vector<std::pair<CLI::App*, koios::app::RunCommand>> commands;
  for (const koios::app::CommandRow& row : koios::app::Commands()) {
    CLI::App* command = app.add_subcommand(std::string(row.name), std::string(row.help));
    commands.emplace_back(command, row.add(command));
  }
  koios::app::SetHelpFormat(&app);
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
