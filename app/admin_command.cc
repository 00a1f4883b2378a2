// koios admin: looks after a server, or after a data folder that nobody serves.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/admin/index_action.h"
#include "app/admin/job_progress.h"
#include "app/admin_snapshot.h"
#include "app/command.h"
#include "app/connection.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/print/reports.h"
#include "core/text/name_distance.h"
#include "server/data_folder_graphs.h"
#include "server/query_registry.h"
#include "storage/repair.h"

namespace koios::app {
namespace {

struct AdminFlags {
  std::string action;
  std::vector<std::string> words;  // behind the action
  std::string graph;
  bool repair = false;
  ConnectionFlags connection;
};

Status Queries(client::Client* client, const AdminFlags& flags) {
  if (!flags.words.empty()) {
    ASSIGN_OR_RETURN(const auto query, client->GetQuery(flags.words[0]));
    client::PrintQuery(query, std::cout);
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const auto queries, client->ListQueries());
  client::PrintQueries(queries, std::cout);
  return OkStatus();
}

Status Cancel(client::Client* client, const AdminFlags& flags) {
  return client->CancelQuery(flags.words[0]);
}

Status Schema(client::Client* client, const AdminFlags& flags) {
  ASSIGN_OR_RETURN(const auto schema, client->GetSchema(flags.graph));
  client::PrintSchema(schema, std::cout);
  return OkStatus();
}

Status Stats(client::Client* client, const AdminFlags& flags) {
  ASSIGN_OR_RETURN(const auto stats, client->GetStats(flags.graph));
  client::PrintStats(stats, std::cout);
  return OkStatus();
}

Status Graphs(client::Client* client, const AdminFlags&) {
  ASSIGN_OR_RETURN(const auto graphs, client->ListGraphs());
  client::PrintGraphs(graphs, std::cout);
  return OkStatus();
}

// A graph that contradicts itself is a failure.
Status Check(client::Client* client, const AdminFlags& flags) {
  const StatusOr<v1::CheckGraphResponse> checked = [&] {
    const JobProgress progress(client, server::kCheckText);
    return client->CheckGraph(flags.graph);
  }();
  RETURN_IF_ERROR(checked.status());
  const v1::CheckGraphResponse& report = *checked;
  client::PrintCheck(report, std::cout);
  if (report.problems_found() == 0) return OkStatus();
  return DataLoss("The graph is damaged.");
}

Status Index(client::Client* client, const AdminFlags& flags) {
  return RunIndexWords(client, flags.graph, flags.words, std::cout);
}

storage::StoreOptions StoreOptionsOf(const AdminFlags& flags) {
  storage::StoreOptions options;
  flags.connection.limits.ApplyTo(&options);
  return options;
}

std::string GraphOf(const AdminFlags& flags) {
  return flags.graph.empty() ? std::string(server::kDefaultGraph) : flags.graph;
}

// Of a folder that nobody serves, in this process.
Status Repair(const AdminFlags& flags) {
  ASSIGN_OR_RETURN(const storage::RepairReport report,
                   storage::Repair(flags.connection.data, GraphOf(flags), StoreOptionsOf(flags)));
  for (const std::string& line : report.done) std::cout << line << "\n";
  std::cout << (report.done.empty() ? "Nothing was wrong" : "The graph is whole again")
            << ": version " << report.check.version << ", " << report.check.vertices
            << " vertices, " << report.check.edges << " edges\n";
  return OkStatus();
}

Status Snapshot(client::Client* client, const AdminFlags& flags) {
  const StatusOr<v1::BuildSnapshotsResponse> built = [&] {
    const JobProgress progress(client, server::kSnapshotText);
    return client->BuildSnapshots(flags.graph);
  }();
  RETURN_IF_ERROR(built.status());
  client::PrintSnapshots(*built, std::cout);
  return OkStatus();
}

Status SnapshotOfFolder(const AdminFlags& flags) {
  return BuildAndPrintSnapshots(flags.connection.data, GraphOf(flags), StoreOptionsOf(flags),
                                std::cout);
}

struct Action {
  const char* name;
  Status (*run)(client::Client* client, const AdminFlags& flags);
  Status (*run_on_folder)(const AdminFlags& flags) = nullptr;  // instead, with --data
};
constexpr Action kActions[] = {
    {"queries", &Queries}, {"cancel", &Cancel},
    {"schema", &Schema},   {"stats", &Stats},
    {"graphs", &Graphs},   {"check", &Check},
    {"index", &Index},     {"snapshot", &Snapshot, &SnapshotOfFolder},
};

std::string ActionNames() {
  std::string names;
  for (const Action& action : kActions)
    names += (names.empty() ? "" : ", ") + std::string(action.name);
  return names;
}

Status NoSuchAction(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Action& action : kActions) names.emplace_back(action.name);
  const auto nearest = NearestName(name, names);
  return InvalidArgument("There is no admin action '" + name.substr(0, 50) + "'; " +
                         (nearest ? "did you mean '" + *nearest + "'? There" : "there") +
                         " are: " + ActionNames() + ".");
}

Status CheckWords(const AdminFlags& flags) {
  if (flags.action == "index") return CheckIndexWords(flags.words);
  if (flags.action == "cancel") {
    return flags.words.size() == 1 ? OkStatus()
                                   : InvalidArgument("cancel needs the ID of a query.");
  }
  if (flags.action == "queries") {
    return flags.words.size() <= 1 ? OkStatus() : InvalidArgument("queries takes one ID at most.");
  }
  return flags.words.empty() ? OkStatus()
                             : InvalidArgument("Only queries, cancel and index take words.");
}

int RunAdmin(CLI::App* command, const AdminFlags& flags) {
  if (Status applied = ApplySettings(command, ""); !applied.ok()) return FailUsage(applied);
  if (flags.action.empty()) {
    return FailUsage(InvalidArgument("admin needs an action: " + ActionNames() + "."));
  }
  const Action* action = std::find_if(std::begin(kActions), std::end(kActions),
                                      [&](const Action& row) { return flags.action == row.name; });
  if (action == std::end(kActions)) return FailUsage(NoSuchAction(flags.action));
  if (Status words = CheckWords(flags); !words.ok()) return FailUsage(words);
  if (flags.repair && (flags.action != "check" || flags.connection.data.empty())) {
    return FailUsage(InvalidArgument(
        "--repair is for check, of a folder that nobody serves: admin check --repair --data DIR."));
  }
  if (flags.repair || (action->run_on_folder != nullptr && !flags.connection.data.empty())) {
    const Status done = flags.repair ? Repair(flags) : action->run_on_folder(flags);
    return done.ok() ? int{client::kExitOk} : Fail(done);
  }
  StatusOr<Connection> connection = Connect(flags.connection);
  if (!connection.ok()) return Fail(connection.status());
  const Status status = action->run(connection->client.get(), flags);
  return status.ok() ? int{client::kExitOk} : Fail(status);
}

}  // namespace

RunCommand AddAdminCommand(CLI::App* command) {
  auto flags = std::make_shared<AdminFlags>();
  command->add_option("action", flags->action, ActionNames());
  command->add_option("words", flags->words,
                      "cancel: the query, as `admin queries` lists it; queries: likewise, or "
                      "nothing for all; index: create or drop, a "
                      "label and its property keys, or list");
  command->add_option("--graph", flags->graph, "The graph (default: g)");
  command->add_flag("--repair", flags->repair,
                    "check: makes a damaged graph usable with what is left of it, and says what "
                    "that is; copy the folder first");
  flags->connection.AddTo(command);
  command->footer(
      "Examples:\n"
      "  koios admin queries\n"
      "  koios admin queries q17\n"
      "  koios admin cancel q17 --server db:8183\n"
      "  koios admin schema --data mydata --graph money\n"
      "  koios admin check --data mydata\n"
      "  koios admin check --data mydata --graph money --repair\n"
      "  koios admin snapshot --data mydata\n"
      "  koios admin snapshot --server db:8183\n"
      "  koios admin index create person email\n"
      "  koios admin index create person city age --graph money\n"
      "  koios admin index drop person email --data mydata\n"
      "  koios admin index list\n"
      "Columns of `admin queries`: state: runs, or waits to be run (--max-queries, memory); "
      "seconds since it came; queued: of them, waiting; results: rows made so far; memory and "
      "peak: its bytes now and at most; spilled: bytes put on disk; slices: turns of workers' "
      "time; credit waits: full batches that had to wait for a worker that is behind; dropped: "
      "rows that an early stop made needless. With an ID the same of each of its operators, and "
      "which rows they have taken and given. The summary and profile() have the same of a query "
      "that is over.\n"
      "Checks and snapshots read the whole graph; Ctrl-C stops them, on a server also `admin "
      "cancel`; so it is with index create.\n"
      "An index finds vertices of a label by equal values of its first keys and a range, or the "
      "beginning of a text, of the next: has('person','city','Oslo').has('age',gt(30)).");
  return [command, flags] { return RunAdmin(command, *flags); };
}

}  // namespace koios::app
