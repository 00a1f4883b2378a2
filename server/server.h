// Server: one data folder (or any Graphs), one engine, one gRPC port (or none). Owns all of them.
// Example:
//   ServerOptions options;
//   options.engine.num_workers = 4;
//   ASSIGN_OR_RETURN(auto server, Server::Start(std::move(graphs), options));
//   Connect a client to server->port() or over server->InProcessChannel().
// Any thread may call any member; Shutdown() first, then the destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "engine/engine.h"
#include "parser/parser.h"
#include "server/graphs.h"

namespace grpc {
class Channel;
}

namespace koios::server {

struct ServerOptions {
  engine::EngineOptions engine;
  bool embedded = false;  // no port: reached by InProcessChannel() only
  std::string listen = "127.0.0.1";
  uint16_t grpc_port = 8183;            // 0 picks one
  uint64_t query_timeout_ms = 30'000;   // for requests that name none; 0: none
  size_t max_queries = 256;             // running at once
  size_t max_queued = 4096;             // waiting to be run
  uint64_t queue_timeout_ms = 20'000;   // how long one waits
  size_t window_batches = 4;            // results that wait for a slow reader, per query
  size_t held_bytes = size_t{4} << 20;  // results of a change, in memory until its commit
  int max_attempts = 8;                 // runs of a change that conflicts with others
  size_t max_request_bytes = size_t{10} << 20;
  size_t plan_cache_bytes = size_t{16} << 20;  // a sixteenth of all queries' at most; 0: none kept
  // What may be resident beside the memory of queries (caches, gRPC's buffers, the rest), and of it
  // gRPC's part. 0: no bound.
  uint64_t rest_bytes = 0;
  size_t network_bytes = 0;
  // Connections get file descriptors below this number; more are turned away. 0: no bound.
  int max_connection_fd = 0;
  uint64_t handshake_timeout_ms = 10'000;  // until a connection has said that it speaks HTTP/2
  uint64_t idle_timeout_ms = 10 * 60'000;  // of a connection without a call
  parser::Limits parser;
};

class Server {
 public:
  // FAILED_PRECONDITION when the address can't be had, INVALID_ARGUMENT when it is none.
  static StatusOr<std::unique_ptr<Server>> Start(std::unique_ptr<Graphs> graphs,
                                                 const ServerOptions& options);
  // With an engine of the caller's: tests.
  static StatusOr<std::unique_ptr<Server>> Start(std::unique_ptr<Graphs> graphs,
                                                 std::unique_ptr<engine::Engine> engine,
                                                 const ServerOptions& options);
  ~Server();  // Shutdown(0 ms)
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const;        // 0 when embedded
  std::string address() const;  // "127.0.0.1:8183"; empty when embedded
  uint32_t num_workers() const;
  std::vector<std::string> GraphNames() const;
  // A client's channel inside this process: the same calls, no port.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Admits no more queries, lets running ones end until `drain` has passed, cancels the rest and
  // returns when all are gone. Idempotent.
  void Shutdown(std::chrono::milliseconds drain);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace koios::server
