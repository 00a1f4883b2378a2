#include "server/service.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/graph_job.h"
#include "server/rpc/decoded_bytes.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/text_bounds.h"
#include "server/statistics.h"

namespace koios::server {
namespace {

// As many Submits are received at once; more wait in gRPC for the next thread.
constexpr size_t kSubmitsArriving = 64;

// How a client names itself, which may be one of many behind an address.
constexpr char kClientKey[] = "koios-client";
constexpr size_t kMaxClientBytes = 64;

uint64_t Total(const LabelCounts& counts) {
  uint64_t total = 0;
  for (const auto& [label, count] : counts) total += count;
  return total;
}

// Whether the store can seek vertices by the property alone.
bool IsIndexed(const VertexIndexes& indexes, const std::pair<LabelId, KeyId>& property) {
  return std::any_of(indexes.begin(), indexes.end(), [&](const auto& entry) {
    const VertexIndex& index = entry.second;
    return index.ready && index.label == property.first && index.keys[0] == property.second;
  });
}

// `indexes`: those of vertices, or none for edges.
void FillLabel(const Schema& schema, const VertexIndexes& indexes, LabelId label, uint64_t count,
               v1::LabelSchema* out) {
  out->set_label(schema.labels.Name(label));
  out->set_count(count);
  for (auto it = schema.property_kinds.lower_bound({label, 0});
       it != schema.property_kinds.end() && it->first.first == label; ++it) {
    v1::PropertySchema* property = out->add_properties();
    property->set_key(schema.keys.Name(it->first.second));
    const bool mixed = it->second == ValueKind::kNull;
    property->set_type(mixed ? "Any" : std::string(KindName(it->second)));
    property->set_indexed(IsIndexed(indexes, it->first));
  }
}

Status FillSchema(const SessionEnvironment& environment, const v1::GetSchemaRequest& request,
                  v1::GetSchemaResponse* response) {
  ASSIGN_OR_RETURN(auto view, environment.graphs->View(GraphOfSource("", request.graph())));
  const Schema& schema = view->schema();
  for (const auto& [label, count] : schema.vertex_counts) {
    FillLabel(schema, schema.vertex_indexes, label, count, response->add_vertex_labels());
  }
  for (const auto& [label, count] : schema.edge_counts) {
    FillLabel(schema, {}, label, count, response->add_edge_labels());
  }
  return OkStatus();
}

Status FillIndexes(const SessionEnvironment& environment, const v1::ListIndexesRequest& request,
                   v1::ListIndexesResponse* response) {
  const std::string graph = GraphOfSource("", request.graph());
  ASSIGN_OR_RETURN(auto view, environment.graphs->View(graph));
  const Schema& schema = view->schema();
  for (const auto& [id, index] : schema.vertex_indexes) {
    v1::IndexInfo* info = response->add_indexes();
    info->set_label(schema.labels.Name(index.label));
    for (const KeyId key : index.keys) info->add_keys(schema.keys.Name(key));
    info->set_ready(index.ready);
    info->set_vertices(schema.vertex_counts.Count(index.label));
    info->set_distinct(index.distinct);
    ASSIGN_OR_RETURN(const uint64_t bytes, environment.graphs->IndexBytes(graph, id));
    info->set_bytes(bytes);
  }
  return OkStatus();
}

template <typename Request>
storage::IndexSpec SpecOf(const Request& request) {
  return {request.label(), {request.keys().begin(), request.keys().end()}};
}

// As it is listed.
std::string NameOf(const storage::IndexSpec& spec) {
  constexpr size_t kMostBytes = 200;
  return BoundedText(IndexName(spec.label, spec.keys), kMostBytes);
}

Status FillStats(const SessionEnvironment& environment, const v1::GetStatsRequest& request,
                 v1::GetStatsResponse* response) {
  const std::string graph = GraphOfSource("", request.graph());
  ASSIGN_OR_RETURN(auto view, environment.graphs->View(graph));
  ASSIGN_OR_RETURN(const uint64_t disk_bytes, environment.graphs->DiskBytes(graph));
  response->set_vertices(Total(view->schema().vertex_counts));
  response->set_edges(Total(view->schema().edge_counts));
  response->set_version(view->version());
  response->set_partitions(view->num_partitions());
  response->set_workers(environment.engine->options().num_workers);
  response->set_disk_bytes(disk_bytes);
  response->set_memory_bytes(static_cast<uint64_t>(environment.engine->memory().used()));
  FillStatistics(*view, response);
  if (environment.plans == nullptr) return OkStatus();
  const PlanCacheCounts plans = environment.plans->counts();
  response->mutable_plan_cache()->set_texts(plans.texts);
  response->mutable_plan_cache()->set_hits(plans.hits);
  response->mutable_plan_cache()->set_misses(plans.misses);
  response->mutable_plan_cache()->set_evictions(plans.evictions);
  response->mutable_plan_cache()->set_bytes(plans.bytes);
  return OkStatus();
}

Status FillGraphs(const SessionEnvironment& environment, v1::ListGraphsResponse* response) {
  for (const std::string& name : environment.graphs->Names()) {
    ASSIGN_OR_RETURN(auto view, environment.graphs->View(name));
    v1::GraphInfo* graph = response->add_graphs();
    graph->set_name(name);
    graph->set_vertices(Total(view->schema().vertex_counts));
    graph->set_edges(Total(view->schema().edge_counts));
  }
  return OkStatus();
}

void FillQuery(RunningQuery query, v1::RunningQuery* out) {
  out->set_id(query.id);
  out->set_query(query.text);
  out->set_graph(query.graph);
  out->set_elapsed_us(query.elapsed_us);
  out->set_rows(query.rows);
  out->set_memory_bytes(query.numbers.memory_bytes);
  out->set_peak_bytes(query.numbers.peak_bytes);
  out->set_waits(query.waits);
  out->set_queued_us(query.queued_us);
  out->set_slices(query.numbers.slices);
  out->set_credit_waits(query.numbers.credit_waits);
  out->set_credit_wait_us(query.numbers.credit_wait_ns / 1000);
  out->set_spilled_bytes(query.numbers.spilled_bytes);
  out->set_rows_dropped(query.numbers.rows_dropped);
  *out->mutable_operators() = std::move(query.operators);
}

Status FillQueries(const QueryRegistry& registry, const std::string& id,
                   v1::ListQueriesResponse* response) {
  if (!id.empty()) {
    ASSIGN_OR_RETURN(RunningQuery query, registry.Find(id));
    FillQuery(std::move(query), response->add_queries());
    return OkStatus();
  }
  for (RunningQuery& query : registry.List()) FillQuery(std::move(query), response->add_queries());
  return OkStatus();
}

// What the request will take is charged before it is decoded; from then on the session does that.
StatusOr<MemoryCharge> AdmitSubmit(const SessionEnvironment& environment, grpc::ByteBuffer* bytes) {
  constexpr size_t kFewBytes = size_t{16} << 10;  // of each thread that receives
  const size_t size = bytes->Length(), limit = environment.limits.max_request_bytes;
  if (size > limit) return RequestTooLarge(size, limit);
  if (size <= kFewBytes) return MemoryCharge();
  const auto decoded = static_cast<int64_t>(DecodedBytes(v1::SubmitRequest::descriptor(), bytes));
  MemoryAccount* const account = RequestsIn(environment, decoded);
  MemoryCharge charge(account);
  if (!charge.TryResize(decoded)) return account->OverLimit(decoded);
  return charge;
}

// A session's stream over gRPC. The engine and the pool may hold the session for a moment longer.
class SubmitHandler final : public RpcHandler, public SubmitStream {
 public:
  SubmitHandler(const SessionEnvironment& environment, RpcCall* call)
      : call_(call), session_(SubmitSession::Create(environment, this, &request)) {}

  // Handler.
  void Start() override { session_->Start(); }
  void OnWriteDone(bool ok) override { session_->OnWriteDone(ok); }
  void OnCancel() override { session_->OnCancel(); }
  void OnDone() override { session_->OnDone(); }

  // Stream.
  void SetQueryId(const std::string& id) override {
    call_->context()->AddInitialMetadata("koios-query-id", id);
  }
  void SendQueryId() override { call_->SendInitialMetadata(); }
  ClientName Client() const override {
    ClientName client{HostOf(call_->context()->peer()), ""};
    const auto& metadata = call_->context()->client_metadata();
    const auto named = metadata.find(kClientKey);
    if (named != metadata.end()) {
      client.name = BoundedText({named->second.data(), named->second.size()}, kMaxClientBytes);
    }
    return client;
  }
  std::optional<uint64_t> RemainingNs() const override {
    const auto deadline = call_->context()->deadline();
    if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
    const auto left = deadline - std::chrono::system_clock::now();
    if (left.count() <= 0) return 0;
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(left).count());
  }
  void Write(const v1::SubmitResponse* message) override { call_->Write(*message); }
  void WriteLast(const v1::SubmitResponse* message) override { call_->WriteLast(*message); }
  void Fail(const Status& status) override { call_->Finish(ToGrpcStatus(status)); }
  void Abort() override { call_->context()->TryCancel(); }

  v1::SubmitRequest request;

 private:
  RpcCall* const call_;
  const std::shared_ptr<SubmitSession> session_;
};

// A call about a whole graph.
template <typename Request, typename Response>
class JobHandler final : public RpcHandler {
 public:
  using Begin = std::function<std::shared_ptr<GraphJob>(const Request&, Response*, GraphJob::Done)>;

  JobHandler(Begin begin, RpcCall* call) : begin_(std::move(begin)), call_(call) {}
  void Start() override {
    const std::shared_ptr<GraphJob> job = begin_(
        request, &response_, [this](const Status& status) { call_->Answer(status, response_); });
    bool is_cancelled = false;
    {
      MutexLock lock(&mutex_);
      job_ = job;
      is_cancelled = is_cancelled_;
    }
    if (is_cancelled) job->Stop(Gone());
  }
  void OnCancel() override {
    std::shared_ptr<GraphJob> job;
    {
      MutexLock lock(&mutex_);
      is_cancelled_ = true;
      job = job_;
    }
    if (job != nullptr) job->Stop(Gone());
  }

  Request request;

 private:
  static Status Gone() { return Cancelled("The client cancelled the call."); }

  const Begin begin_;
  RpcCall* const call_;
  Response response_;
  Mutex mutex_;
  std::shared_ptr<GraphJob> job_ KOIOS_GUARDED_BY(mutex_);
  bool is_cancelled_ KOIOS_GUARDED_BY(mutex_) = false;
};

template <typename Request, typename Response>
auto Job(typename JobHandler<Request, Response>::Begin begin) {
  return [begin = std::move(begin)](RpcCall* call) {
    return std::make_unique<JobHandler<Request, Response>>(begin, call);
  };
}

Status FillCheck(const Graphs& graphs, const std::string& graph, const GraphJob::Watch& watch,
                 v1::CheckGraphResponse* response) {
  ASSIGN_OR_RETURN(const storage::CheckReport report, graphs.Check(graph, watch));
  response->set_version(report.version);
  response->set_vertices(report.vertices);
  response->set_edges(report.edges);
  response->set_problems_found(report.problems_found);
  for (const std::string& problem : report.problems) response->add_problems(problem);
  return OkStatus();
}

Status FillCreatedIndex(const Graphs& graphs, const std::string& graph,
                        const storage::IndexSpec& spec, const GraphJob::Watch& watch,
                        v1::CreateIndexResponse* response) {
  ASSIGN_OR_RETURN(const storage::IndexReport report, graphs.CreateIndex(graph, spec, watch));
  response->set_vertices(report.vertices);
  response->set_entries(report.entries);
  response->set_seconds(report.seconds);
  return OkStatus();
}

Status FillSnapshots(const Graphs& graphs, const std::string& graph, const GraphJob::Watch& watch,
                     v1::BuildSnapshotsResponse* response) {
  const auto asked = [&watch](const storage::SnapshotProgress& progress) {
    return watch(progress.entries);
  };
  ASSIGN_OR_RETURN(const storage::SnapshotReport report, graphs.BuildSnapshots(graph, asked));
  response->set_version(report.version);
  response->set_vertices(report.vertices);
  response->set_edges(report.edges);
  response->set_files(report.files);
  response->set_file_bytes(report.file_bytes);
  response->set_seconds(report.seconds);
  return OkStatus();
}

}  // namespace

KoiosService::KoiosService(const SessionEnvironment& environment)
    : environment_(environment), service_(v1::SubmitRequest::descriptor()->file()->service(0)) {
  RpcMethod* submit = service_.Add(
      "Submit",
      [this](RpcCall* call) { return std::make_unique<SubmitHandler>(environment_, call); },
      [this](grpc::ByteBuffer* bytes) { return AdmitSubmit(environment_, bytes); });
  submit->num_awaited = kSubmitsArriving;
  AddAnswers();
  AddJobs();
}

void KoiosService::AddAnswers() {
  service_.AddAnswer<v1::ListQueriesRequest, v1::ListQueriesResponse>(
      "ListQueries",
      [this](const v1::ListQueriesRequest& request, v1::ListQueriesResponse* response) {
        return FillQueries(*environment_.registry, request.id(), response);
      });
  service_.AddAnswer<v1::CancelQueryRequest, v1::CancelQueryResponse>(
      "CancelQuery", [this](const v1::CancelQueryRequest& request, v1::CancelQueryResponse*) {
        return environment_.registry->Cancel(request.id(),
                                             Cancelled("The query was cancelled by CancelQuery."));
      });
  service_.AddAnswer<v1::GetSchemaRequest, v1::GetSchemaResponse>(
      "GetSchema", [this](const v1::GetSchemaRequest& request, v1::GetSchemaResponse* response) {
        return FillSchema(environment_, request, response);
      });
  service_.AddAnswer<v1::GetStatsRequest, v1::GetStatsResponse>(
      "GetStats", [this](const v1::GetStatsRequest& request, v1::GetStatsResponse* response) {
        return FillStats(environment_, request, response);
      });
  service_.AddAnswer<v1::ListGraphsRequest, v1::ListGraphsResponse>(
      "ListGraphs", [this](const v1::ListGraphsRequest&, v1::ListGraphsResponse* response) {
        return FillGraphs(environment_, response);
      });
  service_.AddAnswer<v1::ListIndexesRequest, v1::ListIndexesResponse>(
      "ListIndexes",
      [this](const v1::ListIndexesRequest& request, v1::ListIndexesResponse* response) {
        return FillIndexes(environment_, request, response);
      });
}

void KoiosService::AddJobs() {
  service_.Add("CheckGraph",
               Job<v1::CheckGraphRequest, v1::CheckGraphResponse>(
                   [this](const v1::CheckGraphRequest& request, v1::CheckGraphResponse* response,
                          GraphJob::Done done) {
                     return GraphJob::Start(
                         environment_, &check_pool_, kCheckText, request.graph(),
                         [this, response](const std::string& graph, const GraphJob::Watch& watch) {
                           return FillCheck(*environment_.graphs, graph, watch, response);
                         },
                         "", std::move(done));
                   }));
  service_.Add(
      "CreateIndex",
      Job<v1::CreateIndexRequest, v1::CreateIndexResponse>(
          [this](const v1::CreateIndexRequest& request, v1::CreateIndexResponse* response,
                 GraphJob::Done done) {
            const storage::IndexSpec spec = SpecOf(request);
            return GraphJob::Start(
                environment_, &create_index_pool_, kCreateIndexText, request.graph(),
                [this, spec, response](const std::string& graph, const GraphJob::Watch& watch) {
                  return FillCreatedIndex(*environment_.graphs, graph, spec, watch, response);
                },
                NameOf(spec), std::move(done));
          }));
  service_.Add(
      "DropIndex",
      Job<v1::DropIndexRequest, v1::DropIndexResponse>(
          [this](const v1::DropIndexRequest& request, v1::DropIndexResponse*, GraphJob::Done done) {
            const storage::IndexSpec spec = SpecOf(request);
            return GraphJob::Start(
                environment_, &drop_index_pool_, kDropIndexText, request.graph(),
                [this, spec](const std::string& graph, const GraphJob::Watch&) {
                  return environment_.graphs->DropIndex(graph, spec);
                },
                NameOf(spec), std::move(done));
          }));
  service_.Add("BuildSnapshots",
               Job<v1::BuildSnapshotsRequest, v1::BuildSnapshotsResponse>(
                   [this](const v1::BuildSnapshotsRequest& request,
                          v1::BuildSnapshotsResponse* response, GraphJob::Done done) {
                     return GraphJob::Start(
                         environment_, &snapshot_pool_, kSnapshotText, request.graph(),
                         [this, response](const std::string& graph, const GraphJob::Watch& watch) {
                           return FillSnapshots(*environment_.graphs, graph, watch, response);
                         },
                         "", std::move(done));
                   }));
}

}  // namespace koios::server
