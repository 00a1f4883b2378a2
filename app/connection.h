// How a command reaches graphs: a server at HOST:PORT, or one inside this process over a data
// folder. Either way through the same client.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/limit_flags.h"
#include "client/client.h"
#include "core/status.h"
#include "server/server.h"

namespace koios::app {

inline constexpr char kDefaultServer[] = "127.0.0.1:8183";

struct ConnectionFlags {
  std::string server = kDefaultServer;
  std::string data;
  uint32_t workers = 0;      // of the server inside; 0: one per processor
  bool make_folder = false;  // with an empty graph, when there is none; the user is told
  LimitFlags limits;         // of the server inside

  void AddTo(CLI::App* command);
};

struct Connection {
  std::unique_ptr<server::Server> embedded;  // outlives the client
  std::unique_ptr<client::Client> client;
};

// UNAVAILABLE: nobody answers. NOT_FOUND, FAILED_PRECONDITION: no such folder, or it is in use.
StatusOr<Connection> Connect(const ConnectionFlags& flags);

// The data folder of a server. `create`: with an empty default graph when there is none.
StatusOr<std::unique_ptr<server::Graphs>> OpenGraphs(const std::string& path, bool create,
                                                     const LimitFlags& limits = {});

// One per processor.
uint32_t DefaultNumWorkers();

// Prints an error that is not about a query, and gives the exit code.
int Fail(const Status& status);

}  // namespace koios::app
