#include "client/console/console.h"

#include <algorithm>
#include <utility>

#include "client/duration.h"
#include "client/parameter.h"
#include "client/print/reports.h"
#include "core/print/value_print.h"
#include "core/text/name_distance.h"

namespace koios::client {
namespace {

std::string_view Trimmed(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

void PrintRow(std::string left, std::string_view right, std::ostream& out) {
  constexpr size_t kWidth = 24;
  left.resize(std::max(left.size(), kWidth), ' ');
  out << left << " " << right << "\n";
}

constexpr std::string_view kSteps = "steps";

}  // namespace

struct Console::Command {
  std::string_view name;
  std::string_view arguments;
  std::string_view help;
  Status (Console::*run)(std::string_view arguments);
};

// A new command is one row here and one member.
const std::vector<Console::Command>& Console::Commands() {
  static const std::vector<Command> kCommands = {
      {":help", "[STEP]", "shows this, or what a step does; steps: lists them", &Console::Help},
      {":explain", "[QUERY]", "shows the plan of a query, or of the last one", &Console::Explain},
      {":profile", "[QUERY]", "runs a query, or the last one, and shows what its operators did",
       &Console::Profile},
      {":schema", "", "lists labels and properties of the graph", &Console::Schema},
      {":indexes", "", "lists the indexes of the graph; koios admin index makes and drops them",
       &Console::Indexes},
      {":stats", "", "shows sizes of the graph", &Console::Stats},
      {":graphs", "", "lists the graphs", &Console::ShowGraphs},
      {":use", "[GRAPH]", "makes GRAPH the one that g stands for, or tells which it is",
       &Console::Use},
      {":format", "[FORMAT]", "gremlin, table, json, jsonl or csv", &Console::SetFormat},
      {":param", "[NAME[=VALUE]]", "sets a parameter, removes it, or lists all", &Console::Param},
      {":timeout", "[TIME]", "limits the time of a query, e.g. 30s, 500ms; off: the server's",
       &Console::Timeout},
      {":queries", "[ID]", "lists the running queries, or what one's operators have taken",
       &Console::Queries},
      {":cancel", "ID", "stops a running query", &Console::CancelQuery},
      {":quit", "", "leaves (also Ctrl-D, :q)", &Console::Quit},
  };
  return kCommands;
}

std::vector<std::string> Console::CommandWords() {
  std::vector<std::string> words;
  for (const Command& command : Commands()) words.emplace_back(command.name);
  return words;
}

// Graphs are asked for when they are wanted, and without an answer there are none.
void Console::OfferArguments() {
  if (completer_ == nullptr) return;
  completer_->SetArguments(":help", [this] {
    std::vector<std::string> words = {std::string(kSteps)};
    for (const StepHelp& step : steps_) {
      if (step.is_there) words.push_back(step.name);
    }
    return words;
  });
  completer_->SetArguments(":format", &FormatNames);
  completer_->SetArguments(":use", [client = &session_->client()] {
    std::vector<std::string> names;
    const auto graphs = client->ListGraphs();
    if (!graphs.ok()) return names;
    for (const v1::GraphInfo& graph : graphs->graphs()) names.push_back(graph.name());
    return names;
  });
}

int Console::Run() {
  OfferArguments();
  RefreshSchemaWords();
  std::string statement;
  int interrupts = 0;
  while (!quit_) {
    const LineReader::Outcome outcome = statements_.Read(&statement);
    if (outcome == LineReader::Outcome::kEnd) break;
    if (outcome == LineReader::Outcome::kInterrupted) {
      if (!Trimmed(statement).empty()) {  // is given up
        interrupts = 0;
        continue;
      }
      if (++interrupts > 1) return kExitInterrupted;
      session_->err() << "Once more leaves; so does :quit.\n";
      continue;
    }
    interrupts = 0;
    const Status status = RunStatement(statement);
    if (status.code() == StatusCode::kCancelled) lines_->DropAhead();
    session_->out().flush();
    if (!status.ok() && !lines_->is_interactive()) {
      return session_->ExitCodeAfter(status);
    }
  }
  return kExitOk;
}

Status Console::RunStatement(const std::string& text) {
  if (Trimmed(text).front() != ':') return RunLast(text, v1::RUN);
  printed_ = false;
  Status status = RunCommand(Trimmed(text));
  if (!status.ok() && !printed_) session_->PrintError(status, "");
  return status;
}

Status Console::RunCommand(std::string_view line) {
  const size_t blank = line.find_first_of(" \t");
  const std::string_view name = line.substr(0, blank);
  const std::string_view arguments =
      blank == std::string_view::npos ? std::string_view() : Trimmed(line.substr(blank));
  for (const Command& command : Commands()) {
    if (command.name != (name == ":q" ? ":quit" : name)) continue;
    return (this->*command.run)(arguments);
  }
  std::string message = "There is no command '" + std::string(name.substr(0, 50)) + "'";
  if (const auto nearest = NearestName(name, CommandWords())) {
    message += "; did you mean " + *nearest + "?";
  } else {
    message += ".";
  }
  return InvalidArgument(message + " :help lists the commands.");
}

void Console::RefreshSchemaWords() {
  if (completer_ == nullptr || !lines_->is_interactive()) return;
  // Only comfort: without an answer there are no words.
  const auto schema = session_->client().GetSchema(session_->settings().graph);
  completer_->SetSchemaWords(schema.ok() ? SchemaWords(*schema) : std::vector<std::string>());
}

Status Console::Help(std::string_view arguments) {
  if (arguments == kSteps) {
    ListSteps();
    return OkStatus();
  }
  if (!arguments.empty()) return HelpOfStep(arguments);
  for (const Command& command : Commands()) {
    PrintRow(std::string(command.name) + " " + std::string(command.arguments), command.help,
             session_->out());
  }
  session_->out() << "Anything else is Gremlin: g.V().count(). A statement may take several lines; "
                     "it ends when its brackets are closed.\n";
  return OkStatus();
}

void Console::ListSteps() {
  for (const StepHelp& step : steps_) {
    if (step.is_there) PrintRow(step.name, step.help, session_->out());
  }
}

// Also for "out()" and ".out", as one copies them.
Status Console::HelpOfStep(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  name = name.substr(0, name.find('('));
  std::vector<std::string> names;
  for (const StepHelp& step : steps_) {
    names.push_back(step.name);
    if (step.name != name) continue;
    std::ostream& out = session_->out();
    for (const std::string& form : step.forms) out << form << "\n";
    out << "  " << step.help << (step.is_there ? "" : "; it is not there yet") << "\n";
    if (!step.example.empty()) out << "  " << step.example << "\n";
    return OkStatus();
  }
  std::string message = "Gremlin has no step '" + std::string(name.substr(0, 50)) + "'";
  const auto nearest = NearestName(name, names);
  message += nearest ? "; did you mean " + *nearest + "?" : ".";
  return InvalidArgument(message + " :help steps lists them, :help alone the commands.");
}

Status Console::RunLast(std::string_view arguments, v1::Mode mode) {
  if (!arguments.empty()) last_query_ = std::string(arguments);
  if (last_query_.empty()) {
    return InvalidArgument("There is no last query yet: write one behind the command.");
  }
  printed_ = true;  // a query's error prints itself
  return session_->RunQuery(last_query_, mode);
}

Status Console::Explain(std::string_view arguments) { return RunLast(arguments, v1::EXPLAIN); }
Status Console::Profile(std::string_view arguments) { return RunLast(arguments, v1::PROFILE); }

Status Console::Schema(std::string_view) {
  const auto schema = session_->client().GetSchema(session_->settings().graph);
  RETURN_IF_ERROR(schema.status());
  PrintSchema(*schema, session_->out());
  if (completer_ != nullptr) completer_->SetSchemaWords(SchemaWords(*schema));
  return OkStatus();
}

Status Console::Indexes(std::string_view) {
  const auto indexes = session_->client().ListIndexes(session_->settings().graph);
  RETURN_IF_ERROR(indexes.status());
  PrintIndexes(*indexes, session_->out());
  return OkStatus();
}

Status Console::Stats(std::string_view) {
  const auto stats = session_->client().GetStats(session_->settings().graph);
  RETURN_IF_ERROR(stats.status());
  PrintStats(*stats, session_->out());
  return OkStatus();
}

Status Console::ShowGraphs(std::string_view) {
  const auto graphs = session_->client().ListGraphs();
  RETURN_IF_ERROR(graphs.status());
  PrintGraphs(*graphs, session_->out());
  return OkStatus();
}

Status Console::Use(std::string_view arguments) {
  if (arguments.empty()) {
    const std::string& graph = session_->settings().graph;
    session_->out() << (graph.empty() ? "g" : graph) << "\n";
    return OkStatus();
  }
  const std::string graph(arguments);
  const auto stats = session_->client().GetStats(graph);  // NOT_FOUND lists what there is
  RETURN_IF_ERROR(stats.status());
  session_->settings().graph = graph;
  RefreshSchemaWords();
  return OkStatus();
}

Status Console::SetFormat(std::string_view arguments) {
  if (arguments.empty()) {
    session_->out() << FormatName(session_->settings().format) << "\n";
    return OkStatus();
  }
  const StatusOr<Format> format = ParseFormat(arguments);
  RETURN_IF_ERROR(format.status());
  session_->settings().format = *format;
  return OkStatus();
}

Status Console::Param(std::string_view arguments) {
  auto& parameters = session_->settings().parameters;
  if (arguments.empty()) {
    for (const auto& [name, value] : parameters) {
      session_->out() << name << " = " << PrintValue(value) << "\n";
    }
    return OkStatus();
  }
  if (arguments.find('=') == std::string_view::npos) {
    parameters.erase(std::string(arguments));
    return OkStatus();
  }
  StatusOr<std::pair<std::string, Value>> parameter = ParseParameter(arguments);
  RETURN_IF_ERROR(parameter.status());
  parameters[parameter->first] = std::move(parameter->second);
  return OkStatus();
}

Status Console::Timeout(std::string_view arguments) {
  if (arguments.empty()) {
    const uint64_t timeout_ms = session_->settings().timeout_ms;
    session_->out() << (timeout_ms == 0 ? "none" : std::to_string(timeout_ms) + "ms") << "\n";
    return OkStatus();
  }
  if (arguments == "off") {
    session_->settings().timeout_ms = 0;
    return OkStatus();
  }
  const StatusOr<uint64_t> timeout_ms = ParseMilliseconds(arguments);
  RETURN_IF_ERROR(timeout_ms.status());
  session_->settings().timeout_ms = *timeout_ms;
  return OkStatus();
}

Status Console::Queries(std::string_view arguments) {
  if (!arguments.empty()) {
    const auto query = session_->client().GetQuery(std::string(arguments));
    RETURN_IF_ERROR(query.status());
    PrintQuery(*query, session_->out());
    return OkStatus();
  }
  const auto queries = session_->client().ListQueries();
  RETURN_IF_ERROR(queries.status());
  PrintQueries(*queries, session_->out());
  return OkStatus();
}

Status Console::CancelQuery(std::string_view arguments) {
  return session_->client().CancelQuery(std::string(arguments));
}

Status Console::Quit(std::string_view) {
  quit_ = true;
  return OkStatus();
}

}  // namespace koios::client
