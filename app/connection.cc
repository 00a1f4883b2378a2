#include "app/connection.h"

#include <algorithm>
#include <iostream>
#include <thread>
#include <utility>

#include "client/console/query_session.h"
#include "server/data_folder_graphs.h"
#include "storage/data_folder.h"

namespace koios::app {

void ConnectionFlags::AddTo(CLI::App* command) {
  auto* server_option = command->add_option("--server", server, "HOST:PORT of a server");
  server_option->capture_default_str();
  command->add_option("--data", data, "A data folder to read in this process, without a server")
      ->excludes(server_option);
  command->add_option("--workers", workers, "Worker threads, with --data; 0: one per processor")
      ->check(CLI::Range(0, 1024));
}

uint32_t DefaultNumWorkers() { return std::max(1u, std::thread::hardware_concurrency()); }

StatusOr<std::unique_ptr<server::Graphs>> OpenGraphs(const std::string& path, bool create) {
  storage::DataFolderOptions options;
  options.create = create;
  ASSIGN_OR_RETURN(auto folder, storage::DataFolder::Open(path, options));
  const std::string default_graph(server::kDefaultGraph);
  if (create && folder->ListGraphs().empty()) {
    RETURN_IF_ERROR(folder->OpenOrCreateGraph(default_graph).status());
  }
  return std::unique_ptr<server::Graphs>(
      std::make_unique<server::DataFolderGraphs>(std::move(folder)));
}

StatusOr<Connection> Connect(const ConnectionFlags& flags) {
  Connection connection;
  if (flags.data.empty()) {
    ASSIGN_OR_RETURN(connection.client, client::Client::Connect(flags.server));
    return connection;
  }
  ASSIGN_OR_RETURN(auto graphs, OpenGraphs(flags.data, /*create=*/false));
  server::ServerOptions options;
  options.embedded = true;
  options.query_timeout_ms = 0;
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
