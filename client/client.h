// Client: the C++ client library of Koios, over gRPC (koios.v1). Example:
//   ASSIGN_OR_RETURN(auto client, client::Client::Connect("127.0.0.1:8183"));
//   client::Request request;
//   request.query = "g.V().has('name', name).values('age')";
//   request.parameters["name"] = Value::String("marko");
//   ASSIGN_OR_RETURN(auto results, client->Submit(request));
//   client::Batch batch;
//   while (true) {
//     ASSIGN_OR_RETURN(const bool more, results->Next(&batch));
//     if (!more) break;
//     for (size_t i = 0; i < batch.values.size(); ++i) { ... batch.values[i], batch.BulkAt(i) ... }
//   }
// A Client may be used by any thread, also many at once; a ResultStream is read by one thread, may
// be cancelled by any. Errors carry the ErrorDetail that the server gave (core/status.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "core/value.h"
#include "proto/service.pb.h"

namespace grpc {
class Channel;
}

namespace koios::client {

struct Request {
  std::string query;
  std::string graph;  // empty: the server's default
  v1::Mode mode = v1::RUN;
  std::map<std::string, Value> parameters;
  bool materialize = false;  // elements with their properties
  uint64_t timeout_ms = 0;   // 0: the server's default
};

// Results of one message. Elements are ElementData; a value stands for `bulk` equal results.
struct Batch {
  std::vector<Value> values;
  std::vector<int64_t> bulk;  // empty: all 1
  int64_t BulkAt(size_t row) const { return bulk.empty() ? 1 : bulk[row]; }
};

// The results of one Submit, pulled. Dropping it cancels what still runs.
class ResultStream {
 public:
  virtual ~ResultStream() = default;
  // Blocks for the next batch. False: no more, and summary() is there. After an error: the same
  // error again.
  virtual StatusOr<bool> Next(Batch* batch) = 0;
  // REQUIRES: Next() gave false.
  virtual const v1::Summary& summary() const = 0;
  // Any thread. Next() then gives CANCELLED, or the end when it was too late; a second call gives
  // up whatever the server says.
  virtual void Cancel() = 0;
};

class Client {
 public:
  virtual ~Client() = default;

  // UNAVAILABLE, naming the address, when nobody answers there within `timeout`; longer than the
  // five seconds after which gRPC looks at connections whose news it may have missed.
  static StatusOr<std::unique_ptr<Client>> Connect(
      const std::string& address, std::chrono::milliseconds timeout = std::chrono::seconds(10));
  // Over a channel that exists, e.g. a server's in this process.
  static std::unique_ptr<Client> Over(std::shared_ptr<grpc::Channel> channel);

  virtual StatusOr<std::unique_ptr<ResultStream>> Submit(const Request& request) = 0;
  // The same, pushed: `on_batch` is called for each batch; an error from it cancels the query.
  StatusOr<v1::Summary> Run(const Request& request,
                            const std::function<Status(const Batch&)>& on_batch);

  virtual StatusOr<v1::ListQueriesResponse> ListQueries() = 0;
  // One that runs or waits, with what its operators have taken so far.
  virtual StatusOr<v1::RunningQuery> GetQuery(const std::string& id) = 0;
  virtual Status CancelQuery(const std::string& id) = 0;
  virtual StatusOr<v1::GetSchemaResponse> GetSchema(const std::string& graph) = 0;
  virtual StatusOr<v1::GetStatsResponse> GetStats(const std::string& graph) = 0;
  virtual StatusOr<v1::ListGraphsResponse> ListGraphs() = 0;
  // Reads the whole graph: takes as long as it takes.
  virtual StatusOr<v1::CheckGraphResponse> CheckGraph(const std::string& graph) = 0;
  // An index of the vertices of a label, by the properties in this order. Answers when it is built.
  virtual StatusOr<v1::CreateIndexResponse> CreateIndex(const std::string& graph,
                                                        const std::string& label,
                                                        const std::vector<std::string>& keys) = 0;
  virtual Status DropIndex(const std::string& graph, const std::string& label,
                           const std::vector<std::string>& keys) = 0;
  virtual StatusOr<v1::ListIndexesResponse> ListIndexes(const std::string& graph) = 0;
  virtual StatusOr<v1::BuildSnapshotsResponse> BuildSnapshots(const std::string& graph) = 0;
};

}  // namespace koios::client
