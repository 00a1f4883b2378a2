// koios admin: looks after a server, or after a data folder that nobody serves.
#include <iostream>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/connection.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/print/reports.h"

namespace koios::app {
namespace {

struct Flags {
  std::string action;
  std::string id;
  std::string graph;
  ConnectionFlags connection;
};

Status Queries(client::Client* client, const Flags&) {
  ASSIGN_OR_RETURN(const auto queries, client->ListQueries());
  client::PrintQueries(queries, std::cout);
  return OkStatus();
}

Status Cancel(client::Client* client, const Flags& flags) { return client->CancelQuery(flags.id); }

Status Schema(client::Client* client, const Flags& flags) {
  ASSIGN_OR_RETURN(const auto schema, client->GetSchema(flags.graph));
  client::PrintSchema(schema, std::cout);
  return OkStatus();
}

Status Stats(client::Client* client, const Flags& flags) {
  ASSIGN_OR_RETURN(const auto stats, client->GetStats(flags.graph));
  client::PrintStats(stats, std::cout);
  return OkStatus();
}

Status Graphs(client::Client* client, const Flags&) {
  ASSIGN_OR_RETURN(const auto graphs, client->ListGraphs());
  client::PrintGraphs(graphs, std::cout);
  return OkStatus();
}

// A graph that contradicts itself is a failure.
Status Check(client::Client* client, const Flags& flags) {
  ASSIGN_OR_RETURN(const auto report, client->CheckGraph(flags.graph));
  client::PrintCheck(report, std::cout);
  if (report.problems_found() == 0) return OkStatus();
  return DataLoss("The graph is damaged.");
}

struct Action {
  const char* name;
  Status (*run)(client::Client* client, const Flags& flags);
};
constexpr Action kActions[] = {
    {"queries", &Queries}, {"cancel", &Cancel}, {"schema", &Schema},
    {"stats", &Stats},     {"graphs", &Graphs}, {"check", &Check},
};

int RunAdmin(CLI::App* command, const Flags& flags) {
  if (Status applied = ApplySettings(command, ""); !applied.ok()) return FailUsage(applied);
  if ((flags.action == "cancel") == flags.id.empty()) {
    return FailUsage(InvalidArgument(flags.id.empty() ? "cancel needs the ID of a query."
                                                      : "Only cancel takes an ID."));
  }
  for (const Action& action : kActions) {
    if (flags.action != action.name) continue;
    StatusOr<Connection> connection = Connect(flags.connection);
    if (!connection.ok()) return Fail(connection.status());
    const Status status = action.run(connection->client.get(), flags);
    return status.ok() ? int{client::kExitOk} : Fail(status);
  }
  return FailUsage(InvalidArgument("There is no admin action '" + flags.action + "'."));
}

}  // namespace

RunCommand AddAdminCommand(CLI::App* command) {
  auto flags = std::make_shared<Flags>();
  command->add_option("action", flags->action, "queries, cancel, schema, stats, graphs, check")
      ->required();
  command->add_option("id", flags->id, "cancel: the query, as `admin queries` lists it");
  command->add_option("--graph", flags->graph, "The graph (default: g)");
  flags->connection.AddTo(command);
  command->footer(
      "Examples:\n"
      "  koios admin queries\n"
      "  koios admin cancel q17 --server db:8183\n"
      "  koios admin schema --data mydata --graph money\n"
      "  koios admin check --data mydata");
  return [command, flags] { return RunAdmin(command, *flags); };
}

}  // namespace koios::app
