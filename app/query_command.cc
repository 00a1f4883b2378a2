// koios query: runs queries from the command line, a file or standard input, and exits.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "app/command.h"
#include "app/connection.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/console/console.h"

namespace koios::app {
namespace {

struct QueryCommandFlags {
  std::vector<std::string> texts;
  std::string file;
  std::string input;
  bool explain = false;
  bool profile = false;
  ConnectionFlags connection;
  QueryFlags query;
};

v1::Mode ModeOf(const QueryCommandFlags& flags) {
  return flags.explain ? v1::EXPLAIN : flags.profile ? v1::PROFILE : v1::RUN;
}

// Runs the statements of a script one by one, up to the first error.
int RunScript(std::istream& in, v1::Mode mode, client::QuerySession* session) {
  auto lines = client::MakeStreamReader(in);
  client::StatementReader statements(lines.get());
  std::string statement;
  while (statements.Read(&statement) == client::LineReader::Outcome::kLine) {
    const Status status = session->RunQuery(statement, mode);
    if (status.ok()) continue;
    if (statements.first_line() > 1) {
      session->err() << "That was the statement from line " << statements.first_line() << " on.\n";
    }
    return session->ExitCodeAfter(status);
  }
  return client::kExitOk;
}

int RunAll(const QueryCommandFlags& flags, client::QuerySession* session) {
  const v1::Mode mode = ModeOf(flags);
  if (!flags.file.empty() && flags.file != "-") {
    std::ifstream in(flags.file);
    if (!in || std::filesystem::is_directory(flags.file))
      return FailUsage(NotFound("The file " + flags.file + " can't be read."));
    return RunScript(in, mode, session);
  }
  if (flags.file == "-" || flags.input == "-") return RunScript(std::cin, mode, session);
  for (const std::string& text : flags.texts) {
    const Status status = session->RunQuery(text, mode);
    if (!status.ok()) return session->ExitCodeAfter(status);
  }
  return client::kExitOk;
}

int RunQueries(CLI::App* command, const QueryCommandFlags& flags) {
  if (Status applied = ApplySettings(command, ""); !applied.ok()) return FailUsage(applied);
  const int num_sources =
      (flags.texts.empty() ? 0 : 1) + (flags.file.empty() ? 0 : 1) + (flags.input.empty() ? 0 : 1);
  if (num_sources != 1 || (!flags.input.empty() && flags.input != "-")) {
    return FailUsage(
        InvalidArgument("A query comes from one of: -e TEXT, -f FILE, or - for standard input."));
  }
  StatusOr<client::SessionSettings> settings = flags.query.ToSettings();
  if (!settings.ok()) return FailUsage(settings.status());
  StatusOr<Connection> connection = Connect(flags.connection);
  if (!connection.ok()) return Fail(connection.status());
  client::Interrupts interrupts;
  client::SessionStyle style;
  style.color = UseColor(STDERR_FILENO);
  style.escape_controls = isatty(STDOUT_FILENO) != 0;
  client::QuerySession session(connection->client.get(), &interrupts, std::cout, std::cerr, style);
  session.settings() = *std::move(settings);
  return RunAll(flags, &session);
}

}  // namespace

RunCommand AddQueryCommand(CLI::App* command) {
  auto flags = std::make_shared<QueryCommandFlags>();
  command->add_option("-e", flags->texts, "A query; may be given several times")
      ->allow_extra_args(false);
  command->add_option("-f,--file", flags->file, "A file of queries; - is standard input");
  command->add_option("input", flags->input, "-: queries from standard input");
  flags->connection.AddTo(command);
  flags->connection.limits.AddTo(command);
  flags->query.AddTo(command);
  auto* explain = command->add_flag("--explain", flags->explain, "Shows the plan, runs nothing");
  command->add_flag("--profile", flags->profile, "Runs and shows what each operator did")
      ->excludes(explain);
  command->footer(
      "Examples:\n"
      "  koios query -e 'g.V().count()'\n"
      "  koios query --data mydata -e 'g.V().has(\"name\", name)' --param name=\"'marko'\"\n"
      "  koios query --server db:8183 --format csv -f report.gremlin > report.csv\n"
      "Exit codes: 0 ok, 1 query failed, 2 usage, 3 can't connect, 4 timeout, 5 limit, 130 Ctrl-C");
  return [command, flags] { return RunQueries(command, *flags); };
}

}  // namespace koios::app
