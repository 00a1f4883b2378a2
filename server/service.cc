#include "server/service.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/graph_job.h"
#include "server/rpc_status.h"
#include "server/statistics.h"
#include "server/text_bounds.h"

namespace koios::server {
namespace {

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

uint64_t Total(const std::map<LabelId, uint64_t>& counts) {
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
    const auto count = schema.vertex_counts.find(index.label);
    info->set_vertices(count == schema.vertex_counts.end() ? 0 : count->second);
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

// A session's stream over gRPC; deletes itself when the call is done. The engine and the pool may
// hold the session for a moment longer.
class SubmitReactor final : public grpc::ServerWriteReactor<v1::SubmitResponse>,
                            public SubmitStream {
 public:
  SubmitReactor(const SessionEnvironment& environment, grpc::CallbackServerContext* context,
                const v1::SubmitRequest* request)
      : context_(context), session_(SubmitSession::Start(environment, this, request)) {}

  // Reactor. gRPC calls these when it has the reactor: not before the constructor has ended.
  void OnWriteDone(bool ok) override { session_->OnWriteDone(ok); }
  void OnCancel() override { session_->OnCancel(); }
  void OnDone() override {
    session_->OnDone();
    delete this;
  }

  // Stream.
  void SetQueryId(const std::string& id) override {
    context_->AddInitialMetadata("koios-query-id", id);
  }
  void SendQueryId() override { StartSendInitialMetadata(); }
  std::optional<uint64_t> RemainingNs() const override {
    const auto deadline = context_->deadline();
    if (deadline == std::chrono::system_clock::time_point::max()) return std::nullopt;
    const auto left = deadline - std::chrono::system_clock::now();
    if (left.count() <= 0) return 0;
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(left).count());
  }
  void Write(const v1::SubmitResponse* message) override { StartWrite(message); }
  void WriteLast(const v1::SubmitResponse* message) override {
    StartWriteAndFinish(message, grpc::WriteOptions(), grpc::Status::OK);
  }
  void Fail(const Status& status) override { Finish(ToGrpcStatus(status)); }

 private:
  grpc::CallbackServerContext* const context_;  // gRPC's, until OnDone
  const std::shared_ptr<SubmitSession> session_;
};

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

grpc::ServerWriteReactor<v1::SubmitResponse>* KoiosService::Submit(
    grpc::CallbackServerContext* context, const v1::SubmitRequest* request) {
  return new SubmitReactor(environment_, context, request);
}

grpc::ServerUnaryReactor* KoiosService::ListQueries(grpc::CallbackServerContext* context,
                                                    const v1::ListQueriesRequest*,
                                                    v1::ListQueriesResponse* response) {
  for (const RunningQuery& query : environment_.registry->List()) {
    v1::RunningQuery* out = response->add_queries();
    out->set_id(query.id);
    out->set_query(query.text);
    out->set_graph(query.graph);
    out->set_elapsed_us(query.elapsed_us);
    out->set_rows(query.rows);
    out->set_memory_bytes(query.memory_bytes);
  }
  return Answer(context, OkStatus());
}

grpc::ServerUnaryReactor* KoiosService::CancelQuery(grpc::CallbackServerContext* context,
                                                    const v1::CancelQueryRequest* request,
                                                    v1::CancelQueryResponse*) {
  return Answer(context, environment_.registry->Cancel(
                             request->id(), Cancelled("The query was cancelled by CancelQuery.")));
}

grpc::ServerUnaryReactor* KoiosService::GetSchema(grpc::CallbackServerContext* context,
                                                  const v1::GetSchemaRequest* request,
                                                  v1::GetSchemaResponse* response) {
  return Answer(context, FillSchema(environment_, *request, response));
}

grpc::ServerUnaryReactor* KoiosService::GetStats(grpc::CallbackServerContext* context,
                                                 const v1::GetStatsRequest* request,
                                                 v1::GetStatsResponse* response) {
  return Answer(context, FillStats(environment_, *request, response));
}

grpc::ServerUnaryReactor* KoiosService::ListGraphs(grpc::CallbackServerContext* context,
                                                   const v1::ListGraphsRequest*,
                                                   v1::ListGraphsResponse* response) {
  return Answer(context, FillGraphs(environment_, response));
}

grpc::ServerUnaryReactor* KoiosService::CheckGraph(grpc::CallbackServerContext*,
                                                   const v1::CheckGraphRequest* request,
                                                   v1::CheckGraphResponse* response) {
  return GraphJob::Start(environment_, &check_pool_, kCheckText, request->graph(),
                         [graphs = environment_.graphs, response](const std::string& graph,
                                                                  const GraphJob::Watch& watch) {
                           return FillCheck(*graphs, graph, watch, response);
                         });
}

grpc::ServerUnaryReactor* KoiosService::CreateIndex(grpc::CallbackServerContext*,
                                                    const v1::CreateIndexRequest* request,
                                                    v1::CreateIndexResponse* response) {
  const storage::IndexSpec spec = SpecOf(*request);
  return GraphJob::Start(
      environment_, &create_index_pool_, kCreateIndexText, request->graph(),
      [graphs = environment_.graphs, spec, response](const std::string& graph,
                                                     const GraphJob::Watch& watch) {
        return FillCreatedIndex(*graphs, graph, spec, watch, response);
      },
      NameOf(spec));
}

grpc::ServerUnaryReactor* KoiosService::DropIndex(grpc::CallbackServerContext*,
                                                  const v1::DropIndexRequest* request,
                                                  v1::DropIndexResponse*) {
  const storage::IndexSpec spec = SpecOf(*request);
  return GraphJob::Start(
      environment_, &drop_index_pool_, kDropIndexText, request->graph(),
      [graphs = environment_.graphs, spec](const std::string& graph, const GraphJob::Watch&) {
        return graphs->DropIndex(graph, spec);
      },
      NameOf(spec));
}

grpc::ServerUnaryReactor* KoiosService::ListIndexes(grpc::CallbackServerContext* context,
                                                    const v1::ListIndexesRequest* request,
                                                    v1::ListIndexesResponse* response) {
  return Answer(context, FillIndexes(environment_, *request, response));
}

grpc::ServerUnaryReactor* KoiosService::BuildSnapshots(grpc::CallbackServerContext*,
                                                       const v1::BuildSnapshotsRequest* request,
                                                       v1::BuildSnapshotsResponse* response) {
  return GraphJob::Start(environment_, &snapshot_pool_, kSnapshotText, request->graph(),
                         [graphs = environment_.graphs, response](const std::string& graph,
                                                                  const GraphJob::Watch& watch) {
                           return FillSnapshots(*graphs, graph, watch, response);
                         });
}

}  // namespace koios::server
