// koios console: an interactive session, or a script when standard input is no terminal.
#include <unistd.h>

#include <clocale>
#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/connection.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/console/console.h"
#include "planner/steps/catalogue.h"

namespace koios::app {
namespace {

struct ConsoleFlags {
  std::string history;
  ConnectionFlags connection;
  QueryFlags query;
};

std::vector<client::StepHelp> HelpOfSteps() {
  std::vector<client::StepHelp> steps;
  for (const planner::StepSpec& spec : planner::StepCatalogue()) {
    client::StepHelp& step = steps.emplace_back();
    step.name = spec.name;
    step.help = spec.help;
    step.example = spec.example;
    step.is_there = spec.IsThere();
    for (const planner::Signature& form : planner::SignaturesOf(spec)) {
      step.forms.push_back(planner::SignatureText(spec.name, form));
    }
  }
  return steps;
}

int RunConsole(CLI::App* command, const ConsoleFlags& flags) {
  if (Status applied = ApplySettings(command, ""); !applied.ok()) return FailUsage(applied);
  StatusOr<client::SessionSettings> settings = flags.query.ToSettings();
  if (!settings.ok()) return FailUsage(settings.status());
  StatusOr<Connection> connection = Connect(flags.connection);
  if (!connection.ok()) return Fail(connection.status());

  const bool interactive = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  std::setlocale(LC_CTYPE, "");
  client::Interrupts interrupts;
  client::SessionStyle style;
  style.color = UseColor(STDERR_FILENO);
  style.timing = interactive;
  style.escape_controls = isatty(STDOUT_FILENO) != 0;
  client::QuerySession session(connection->client.get(), &interrupts, std::cout, std::cerr, style);
  session.settings() = *std::move(settings);

  std::vector<client::StepHelp> steps = HelpOfSteps();
  std::vector<std::string> names;
  for (const client::StepHelp& step : steps) {
    if (step.is_there) names.push_back(step.name);
  }
  client::Completer completer(std::move(names), client::Console::CommandWords());
  std::unique_ptr<client::LineReader> lines;
  if (interactive) {
    std::cout << "Koios " << KOIOS_VERSION << " on "
              << (flags.connection.data.empty() ? flags.connection.server : flags.connection.data)
              << ". :help lists the commands, :quit leaves." << std::endl;
    client::TerminalOptions options;
    options.history_path = flags.history == "off" ? "" : flags.history;
    options.complete = [&completer](std::string_view text) { return completer.Complete(text); };
    options.interrupt_fd = interrupts.prompt_fd();
    lines = client::MakeTerminalReader(options);
  } else {
    lines = client::MakeStreamReader(std::cin);
  }
  return client::Console(&session, lines.get(), &completer, std::move(steps)).Run();
}

}  // namespace

RunCommand AddConsoleCommand(CLI::App* command) {
  auto flags = std::make_shared<ConsoleFlags>();
  flags->history = client::DefaultHistoryPath();
  flags->connection.AddTo(command);
  flags->connection.make_folder = true;
  flags->connection.limits.AddTo(command);
  flags->query.AddTo(command);
  command->add_option("--history", flags->history, "Where lines are remembered; off: nowhere")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  koios console\n"
      "  koios console --data mydata --format table\n"
      "  koios console --data new        (makes an empty graph to write into: g.addV('person'))\n"
      "  echo 'g.V().count()' | koios console --server db:8183\n"
      "Ctrl-C cancels the running query. Without a terminal the console stops at the first error.");
  return [command, flags] { return RunConsole(command, *flags); };
}

}  // namespace koios::app
