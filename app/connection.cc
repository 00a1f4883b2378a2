#include "app/connection.h"

#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

#include "client/console/query_session.h"
#include "server/data_folder_graphs.h"
#include "server/guard/machine.h"
#include "storage/data_folder.h"

namespace koios::app {

namespace {

CLI::Validator NotEmpty() {
  return {[](const std::string& text) { return text.empty() ? "it is empty" : ""; }, "", ""};
}

}  // namespace

void ConnectionFlags::AddTo(CLI::App* command) {
  auto* server_option = command->add_option("--server", server, "HOST:PORT of a server");
  server_option->capture_default_str();
  command->add_option("--data", data, "A data folder to use in this process, without a server")
      ->excludes(server_option)
      ->check(NotEmpty());
  command->add_option("--workers", workers, "Worker threads, with --data; 0: one per processor")
      ->check(CLI::Range(0, 1024));
}

uint32_t DefaultNumWorkers() { return std::max(1u, std::thread::hardware_concurrency()); }

StatusOr<std::unique_ptr<server::Graphs>> OpenGraphs(const std::string& path, bool create,
                                                     const LimitFlags& limits) {
  storage::DataFolderOptions options;
  limits.ApplyTo(&options.store);
  options.store.folds_in_background = true;
  options.create = create;
  options.max_open_files = server::RaiseOpenFileLimit() / 3;
  ASSIGN_OR_RETURN(auto folder, storage::DataFolder::Open(path, options));
  const std::string default_graph(server::kDefaultGraph);
  if (create && folder->ListGraphs().empty()) {
    RETURN_IF_ERROR(folder->OpenOrCreateGraph(default_graph).status());
  }
  return std::unique_ptr<server::Graphs>(
      std::make_unique<server::DataFolderGraphs>(std::move(folder)));
}

namespace {

Status NoDataFolder(const std::string& path) {
  return NotFound("There is no data folder in '" + path + "'. koios import --data " + path +
                  " makes one from files; koios console --data " + path +
                  " and koios serve --data " + path + " make an empty one.");
}

// The folder of console or query: as it is, or made and the user told, or an error with advice.
StatusOr<std::unique_ptr<server::Graphs>> OpenFor(const ConnectionFlags& flags) {
  auto graphs = OpenGraphs(flags.data, /*create=*/false, flags.limits);
  if (graphs.status().code() != StatusCode::kNotFound) return graphs;
  if (!flags.make_folder) return NoDataFolder(flags.data);
  graphs = OpenGraphs(flags.data, /*create=*/true, flags.limits);
  if (graphs.ok()) {
    std::cerr << "koios: " << flags.data << " is a new data folder, with an empty graph g.\n";
  }
  return graphs;
}

}  // namespace

StatusOr<Connection> Connect(const ConnectionFlags& flags) {
  Connection connection;
  if (flags.data.empty()) {
    ASSIGN_OR_RETURN(connection.client, client::Client::Connect(flags.server));
    return connection;
  }
  ASSIGN_OR_RETURN(auto graphs, OpenFor(flags));
  server::ServerOptions options;
  options.embedded = true;
  options.query_timeout_ms = 0;
  flags.limits.ApplyTo(flags.data, &options);
  options.engine.num_workers = flags.workers > 0 ? flags.workers : DefaultNumWorkers();
  ASSIGN_OR_RETURN(connection.embedded, server::Server::Start(std::move(graphs), options));
  connection.client = client::Client::Over(connection.embedded->InProcessChannel());
  return connection;
}

int Fail(const Status& status) {
  std::cerr << "koios: " << MessageOf(status) << "\n";
  return client::ExitCodeOf(status);
}

}  // namespace koios::app
