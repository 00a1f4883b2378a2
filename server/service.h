// KoiosService: the gRPC door (koios.v1.Koios). Each method is thin: a Submit is a SubmitSession,
// others answer at once from the registry, the graphs and the engine.
#pragma once

#include <grpcpp/grpcpp.h>

#include "proto/service.grpc.pb.h"
#include "server/submit_session.h"
#include "server/task_pool.h"

namespace koios::server {

class KoiosService final : public v1::Koios::CallbackService {
 public:
  explicit KoiosService(const SessionEnvironment& environment) : environment_(environment) {}

  grpc::ServerWriteReactor<v1::SubmitResponse>* Submit(grpc::CallbackServerContext* context,
                                                       const v1::SubmitRequest* request) override;
  grpc::ServerUnaryReactor* ListQueries(grpc::CallbackServerContext* context,
                                        const v1::ListQueriesRequest* request,
                                        v1::ListQueriesResponse* response) override;
  grpc::ServerUnaryReactor* CancelQuery(grpc::CallbackServerContext* context,
                                        const v1::CancelQueryRequest* request,
                                        v1::CancelQueryResponse* response) override;
  grpc::ServerUnaryReactor* GetSchema(grpc::CallbackServerContext* context,
                                      const v1::GetSchemaRequest* request,
                                      v1::GetSchemaResponse* response) override;
  grpc::ServerUnaryReactor* GetStats(grpc::CallbackServerContext* context,
                                     const v1::GetStatsRequest* request,
                                     v1::GetStatsResponse* response) override;
  grpc::ServerUnaryReactor* ListGraphs(grpc::CallbackServerContext* context,
                                       const v1::ListGraphsRequest* request,
                                       v1::ListGraphsResponse* response) override;
  grpc::ServerUnaryReactor* CheckGraph(grpc::CallbackServerContext* context,
                                       const v1::CheckGraphRequest* request,
                                       v1::CheckGraphResponse* response) override;
  grpc::ServerUnaryReactor* CreateIndex(grpc::CallbackServerContext* context,
                                        const v1::CreateIndexRequest* request,
                                        v1::CreateIndexResponse* response) override;
  grpc::ServerUnaryReactor* DropIndex(grpc::CallbackServerContext* context,
                                      const v1::DropIndexRequest* request,
                                      v1::DropIndexResponse* response) override;
  grpc::ServerUnaryReactor* ListIndexes(grpc::CallbackServerContext* context,
                                        const v1::ListIndexesRequest* request,
                                        v1::ListIndexesResponse* response) override;
  grpc::ServerUnaryReactor* BuildSnapshots(grpc::CallbackServerContext* context,
                                           const v1::BuildSnapshotsRequest* request,
                                           v1::BuildSnapshotsResponse* response) override;

 private:
  const SessionEnvironment environment_;
  // One of each at a time; the sessions' threads have no time for them.
  TaskPool check_pool_{1};
  TaskPool create_index_pool_{1};
  TaskPool drop_index_pool_{1};
  TaskPool snapshot_pool_{1};
};

}  // namespace koios::server
