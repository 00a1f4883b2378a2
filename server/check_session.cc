#include "server/check_session.h"

#include "server/rpc_status.h"

namespace koios::server {

CheckSession::CheckSession(const SessionEnvironment& environment,
                           const v1::CheckGraphRequest* request, v1::CheckGraphResponse* response)
    : environment_(environment), response_(response), graph_(GraphOfSource("", request->graph())) {}

grpc::ServerUnaryReactor* CheckSession::Start(const SessionEnvironment& environment, TaskPool* pool,
                                              const v1::CheckGraphRequest* request,
                                              v1::CheckGraphResponse* response) {
  std::shared_ptr<CheckSession> session(new CheckSession(environment, request, response));
  session->self_ = session;
  CheckSession* const reactor = session.get();
  if (Status admitted = session->Admit(); !admitted.ok()) {
    reactor->Finish(ToGrpcStatus(admitted));
    return reactor;
  }
  pool->Run([session] { session->Run(); });
  return reactor;
}

Status CheckSession::Admit() {
  for (const RunningQuery& query : environment_.registry->List()) {
    if (query.text != kCheckText) continue;
    return FailedPrecondition("A check is running already, as query " + query.id + ".");
  }
  QueryControl control;
  const std::weak_ptr<CheckSession> session = weak_from_this();
  control.cancel = [session](const Status& why) {
    if (auto alive = session.lock()) alive->Stop(why);
  };
  control.measure = [session](RunningQuery* query) {
    if (auto alive = session.lock()) query->rows = alive->entries_;
  };
  ASSIGN_OR_RETURN(ticket_, environment_.registry->Admit(kCheckText, graph_, control));
  return OkStatus();
}

void CheckSession::Run() {
  const Status status = Check();
  ticket_.Release();
  Finish(ToGrpcStatus(status));
}

Status CheckSession::Check() {
  ASSIGN_OR_RETURN(const storage::CheckReport report,
                   environment_.graphs->Check(graph_, [this](uint64_t entries) {
                     entries_ = entries;
                     return Stopped();
                   }));
  response_->set_version(report.version);
  response_->set_vertices(report.vertices);
  response_->set_edges(report.edges);
  response_->set_problems_found(report.problems_found);
  for (const std::string& problem : report.problems) response_->add_problems(problem);
  return OkStatus();
}

void CheckSession::OnCancel() { Stop(Cancelled("The client cancelled the check.")); }

void CheckSession::Stop(const Status& why) {
  MutexLock lock(&mutex_);
  if (stopped_.ok()) stopped_ = why;
}

Status CheckSession::Stopped() {
  MutexLock lock(&mutex_);
  return stopped_;
}

}  // namespace koios::server
