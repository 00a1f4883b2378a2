#include "bench/point_reads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/client.h"
#include "core/random.h"
#include "server/data_folder_graphs.h"
#include "server/server.h"

namespace koios::bench {
namespace {

constexpr const char* kQuery = "g.V(x).label()";
constexpr int kCalls = 5000;
constexpr int kCallsInTurn = 100;
constexpr int kConnections = 16;
constexpr std::chrono::seconds kTime(3);

using Clock = std::chrono::steady_clock;

// One call after the other, over a connection of its own.
class Caller {
 public:
  static StatusOr<std::unique_ptr<Caller>> Connect(const std::string& address,
                                                   uint64_t num_vertices, uint64_t seed) {
    ASSIGN_OR_RETURN(auto client, client::Client::Connect(address));
    return std::unique_ptr<Caller>(new Caller(std::move(client), num_vertices, seed));
  }

  Status Empty() { return client_->ListQueries().status(); }

  Status PointRead() {
    request_.parameters["x"] = Value::Long(static_cast<int64_t>(rng_.Uniform(num_vertices_)));
    size_t rows = 0;
    RETURN_IF_ERROR(client_
                        ->Run(request_,
                              [&rows](const client::Batch& batch) {
                                rows += batch.values.size();
                                return OkStatus();
                              })
                        .status());
    return rows == 1 ? OkStatus() : Internal("A point read did not find its vertex.");
  }

 private:
  Caller(std::unique_ptr<client::Client> client, uint64_t num_vertices, uint64_t seed)
      : client_(std::move(client)), num_vertices_(num_vertices), rng_(seed) {
    request_.query = kQuery;
  }

  const std::unique_ptr<client::Client> client_;
  const uint64_t num_vertices_;
  Rng rng_;
  client::Request request_;
};

using Call = Status (Caller::*)();

// In microseconds.
Status TimeCalls(Caller* caller, Call call, std::vector<double>* times) {
  for (int i = 0; i < kCallsInTurn; ++i) {
    const auto begin = Clock::now();
    RETURN_IF_ERROR((caller->*call)());
    const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
    times->push_back(took.count());
  }
  return OkStatus();
}

double Quantile(std::vector<double>* times, size_t percent) {
  std::sort(times->begin(), times->end());
  return (*times)[times->size() * percent / 100];
}

Status OneConnection(const std::string& address, uint64_t num_vertices) {
  ASSIGN_OR_RETURN(const auto caller, Caller::Connect(address, num_vertices, 1));
  std::vector<double> empty, read;
  while (read.size() < kCalls) {  // in turn: what else the machine does is in both
    RETURN_IF_ERROR(TimeCalls(caller.get(), &Caller::Empty, &empty));
    RETURN_IF_ERROR(TimeCalls(caller.get(), &Caller::PointRead, &read));
  }
  std::printf(
      "- point read over gRPC, %s: p50 %.0f us, p99 %.0f us; an empty call: p50 %.0f us, p99 %.0f "
      "us; ratio of p50 %.2f\n",
      kQuery, Quantile(&read, 50), Quantile(&read, 99), Quantile(&empty, 50), Quantile(&empty, 99),
      Quantile(&read, 50) / Quantile(&empty, 50));
  return OkStatus();
}

// Calls a second of all callers together.
StatusOr<double> Rate(const std::vector<std::unique_ptr<Caller>>& callers, Call call) {
  std::atomic<uint64_t> calls{0};
  std::vector<Status> ends(callers.size());
  std::vector<std::thread> threads;
  const auto begin = Clock::now();
  for (size_t i = 0; i < callers.size(); ++i) {
    threads.emplace_back([&, i] {
      while (ends[i].ok() && Clock::now() - begin < kTime) {
        ends[i] = (callers[i].get()->*call)();
        ++calls;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& end : ends) RETURN_IF_ERROR(end);
  const std::chrono::duration<double> took = Clock::now() - begin;
  return static_cast<double>(calls) / took.count();
}

Status ManyConnections(const std::string& address, uint64_t num_vertices) {
  std::vector<std::unique_ptr<Caller>> callers;
  for (uint64_t i = 0; i < kConnections; ++i) {
    ASSIGN_OR_RETURN(callers.emplace_back(), Caller::Connect(address, num_vertices, i));
  }
  ASSIGN_OR_RETURN(const double empty, Rate(callers, &Caller::Empty));
  ASSIGN_OR_RETURN(const double reads, Rate(callers, &Caller::PointRead));
  std::printf("- point reads of %d connections: %.0f/s; empty calls: %.0f/s; ratio %.2f\n",
              kConnections, reads, empty, empty / reads);
  return OkStatus();
}

}  // namespace

Status PointReads(std::unique_ptr<storage::DataFolder> folder, uint64_t num_vertices) {
  server::ServerOptions options;
  options.grpc_port = 0;
  options.engine.num_workers = std::max(1U, std::thread::hardware_concurrency());
  ASSIGN_OR_RETURN(const auto server,
                   server::Server::Start(
                       std::make_unique<server::DataFolderGraphs>(std::move(folder)), options));
  RETURN_IF_ERROR(OneConnection(server->address(), num_vertices));
  return ManyConnections(server->address(), num_vertices);
}

}  // namespace koios::bench
