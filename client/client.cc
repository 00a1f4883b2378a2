#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "client/batch_decoder.h"
#include "client/rpc_status.h"
#include "core/mutex.h"
#include "core/value_proto.h"
#include "proto/service.grpc.pb.h"

namespace koios::client {
namespace {

// How long the small calls (schema, queries, ...) may take.
constexpr std::chrono::seconds kCallTimeout(10);

class GrpcResultStream final : public ResultStream {
 public:
  GrpcResultStream(v1::Koios::Stub* stub, std::shared_ptr<grpc::Channel> channel,
                   const v1::SubmitRequest& request)
      : channel_(std::move(channel)), reader_(stub->Submit(&context_, request)) {}
  ~GrpcResultStream() override {
    if (finished_) return;
    context_.TryCancel();
    reader_->Finish();  // gRPC wants every call finished; its status is of no interest any more
  }

  StatusOr<bool> Next(Batch* batch) override {
    if (finished_) return ended_ ? StatusOr<bool>(false) : StatusOr<bool>(status_);
    if (ended_) return End();
    LearnQueryId();
    // Thousands of small messages in one, which are freed together.
    google::protobuf::Arena arena;
    auto* response = google::protobuf::Arena::CreateMessage<v1::SubmitResponse>(&arena);
    while (reader_->Read(response)) {
      if (response->has_summary()) TakeSummary(response->mutable_summary());
      if (response->has_end()) TakeSummary(response->mutable_end()->mutable_summary());
      if (response->has_batch()) return Decode(response->batch(), batch);
      if (response->has_end()) return Decode(response->end().batch(), batch);
      if (ended_) break;
    }
    return End();
  }

  const v1::Summary& summary() const override { return summary_; }
  // The server is asked to: a change that is committed already ends as such. When it does not know
  // the query (any more), or is asked twice, the call is given up.
  void Cancel() override {
    std::string id;
    {
      MutexLock lock(&mutex_);
      id.swap(query_id_);
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    v1::CancelQueryRequest request;
    request.set_id(id);
    v1::CancelQueryResponse response;
    const auto stub = v1::Koios::NewStub(channel_);
    if (id.empty() || !stub->CancelQuery(&context, request, &response).ok()) context_.TryCancel();
  }

 private:
  void LearnQueryId() {
    if (std::exchange(asked_for_id_, true)) return;
    reader_->WaitForInitialMetadata();
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto found = metadata.find("koios-query-id");
    if (found == metadata.end()) return;
    MutexLock lock(&mutex_);
    query_id_.assign(found->second.data(), found->second.size());
  }

  void TakeSummary(v1::Summary* summary) {
    summary_ = std::move(*summary);
    ended_ = true;
  }

  StatusOr<bool> Decode(const v1::ResultBatch& encoded, Batch* batch) {
    Status decoded = DecodeBatch(encoded, batch);
    if (decoded.ok()) return true;
    context_.TryCancel();
    reader_->Finish();
    finished_ = true;
    ended_ = false;
    status_ = decoded;
    return status_;
  }

  StatusOr<bool> End() {
    finished_ = true;
    status_ = FromGrpcStatus(reader_->Finish());
    if (status_.ok() && !ended_)
      status_ = Internal("The server ended the results without a summary.");
    if (!status_.ok()) {
      ended_ = false;
      return status_;
    }
    return false;
  }

  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::SubmitResponse>> reader_;
  v1::Summary summary_;
  Status status_;
  bool asked_for_id_ = false;
  bool ended_ = false;     // the summary came: the last message
  bool finished_ = false;  // reader_->Finish() was called
  Mutex mutex_;
  std::string query_id_ KOIOS_GUARDED_BY(mutex_);  // until the first Cancel()
};

class GrpcClient final : public Client {
 public:
  explicit GrpcClient(std::shared_ptr<grpc::Channel> channel)
      : channel_(std::move(channel)), stub_(v1::Koios::NewStub(channel_)) {}

  StatusOr<std::unique_ptr<ResultStream>> Submit(const Request& request) override {
    v1::SubmitRequest proto;
    proto.set_query(request.query);
    proto.set_graph(request.graph);
    proto.set_mode(request.mode);
    proto.set_materialize(request.materialize);
    proto.set_timeout_ms(request.timeout_ms);
    proto.set_joins_summary(true);
    for (const auto& [name, value] : request.parameters) {
      RETURN_IF_ERROR(CheckSentDepth(value));
      RETURN_IF_ERROR(ToProto(value, &(*proto.mutable_parameters())[name]));
    }
    return std::unique_ptr<ResultStream>(
        std::make_unique<GrpcResultStream>(stub_.get(), channel_, proto));
  }

  StatusOr<v1::ListQueriesResponse> ListQueries() override {
    return Call<v1::ListQueriesResponse>(v1::ListQueriesRequest(), &v1::Koios::Stub::ListQueries);
  }
  StatusOr<v1::RunningQuery> GetQuery(const std::string& id) override {
    v1::ListQueriesRequest request;
    request.set_id(id);
    ASSIGN_OR_RETURN(v1::ListQueriesResponse found,
                     Call<v1::ListQueriesResponse>(request, &v1::Koios::Stub::ListQueries));
    // A server that knows of no such question gives all.
    for (v1::RunningQuery& query : *found.mutable_queries()) {
      if (query.id() == id) return std::move(query);
    }
    return NotFound("No query '" + id + "' is running.");
  }
  Status CancelQuery(const std::string& id) override {
    v1::CancelQueryRequest request;
    request.set_id(id);
    return Call<v1::CancelQueryResponse>(request, &v1::Koios::Stub::CancelQuery).status();
  }
  StatusOr<v1::GetSchemaResponse> GetSchema(const std::string& graph) override {
    v1::GetSchemaRequest request;
    request.set_graph(graph);
    return Call<v1::GetSchemaResponse>(request, &v1::Koios::Stub::GetSchema);
  }
  StatusOr<v1::GetStatsResponse> GetStats(const std::string& graph) override {
    v1::GetStatsRequest request;
    request.set_graph(graph);
    return Call<v1::GetStatsResponse>(request, &v1::Koios::Stub::GetStats);
  }
  StatusOr<v1::ListGraphsResponse> ListGraphs() override {
    return Call<v1::ListGraphsResponse>(v1::ListGraphsRequest(), &v1::Koios::Stub::ListGraphs);
  }
  StatusOr<v1::CheckGraphResponse> CheckGraph(const std::string& graph) override {
    v1::CheckGraphRequest request;
    request.set_graph(graph);
    return LongCall<v1::CheckGraphResponse>(request, &v1::Koios::Stub::CheckGraph);
  }
  StatusOr<v1::CreateIndexResponse> CreateIndex(const std::string& graph, const std::string& label,
                                                const std::vector<std::string>& keys) override {
    return LongCall<v1::CreateIndexResponse>(
        IndexRequest<v1::CreateIndexRequest>(graph, label, keys), &v1::Koios::Stub::CreateIndex);
  }
  Status DropIndex(const std::string& graph, const std::string& label,
                   const std::vector<std::string>& keys) override {
    return LongCall<v1::DropIndexResponse>(IndexRequest<v1::DropIndexRequest>(graph, label, keys),
                                           &v1::Koios::Stub::DropIndex)
        .status();
  }
  StatusOr<v1::ListIndexesResponse> ListIndexes(const std::string& graph) override {
    v1::ListIndexesRequest request;
    request.set_graph(graph);
    return Call<v1::ListIndexesResponse>(request, &v1::Koios::Stub::ListIndexes);
  }
  StatusOr<v1::BuildSnapshotsResponse> BuildSnapshots(const std::string& graph) override {
    v1::BuildSnapshotsRequest request;
    request.set_graph(graph);
    grpc::ClientContext context;
    v1::BuildSnapshotsResponse response;
    RETURN_IF_ERROR(FromGrpcStatus(stub_->BuildSnapshots(&context, request, &response)));
    return response;
  }

 private:
  template <typename Request>
  static Request IndexRequest(const std::string& graph, const std::string& label,
                              const std::vector<std::string>& keys) {
    Request request;
    request.set_graph(graph);
    request.set_label(label);
    for (const std::string& key : keys) request.add_keys(key);
    return request;
  }
  // Of a call that takes as long as it takes.
  template <typename Response, typename RequestProto, typename Method>
  StatusOr<Response> LongCall(const RequestProto& request, Method method) {
    grpc::ClientContext context;
    Response response;
    RETURN_IF_ERROR(FromGrpcStatus((stub_.get()->*method)(&context, request, &response)));
    return response;
  }
  template <typename Response, typename RequestProto, typename Method>
  StatusOr<Response> Call(const RequestProto& request, Method method) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    Response response;
    RETURN_IF_ERROR(FromGrpcStatus((stub_.get()->*method)(&context, request, &response)));
    return response;
  }

  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Koios::Stub> stub_;
};

}  // namespace

StatusOr<std::unique_ptr<Client>> Client::Connect(const std::string& address,
                                                  std::chrono::milliseconds timeout) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // A connection of its own per client, so that a dead one is never shared.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A server that comes back is soon found again.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  auto channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  const auto deadline = std::chrono::system_clock::now() + timeout;
  while (true) {
    const grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
    if (state == GRPC_CHANNEL_READY) return Over(std::move(channel));
    // A refused connection is an answer: there is nothing to wait for.
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN ||
        !channel->WaitForStateChange(state, deadline)) {
      return Unavailable("Can't connect to a Koios server at " + address +
                         "; koios serve starts one.");
    }
  }
}

std::unique_ptr<Client> Client::Over(std::shared_ptr<grpc::Channel> channel) {
  return std::make_unique<GrpcClient>(std::move(channel));
}

StatusOr<v1::Summary> Client::Run(const Request& request,
                                  const std::function<Status(const Batch&)>& on_batch) {
  ASSIGN_OR_RETURN(auto stream, Submit(request));
  Batch batch;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, stream->Next(&batch));
    if (!more) return stream->summary();
    RETURN_IF_ERROR(on_batch(batch));
  }
}

}  // namespace koios::client
