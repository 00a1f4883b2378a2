#include "server/graph_job.h"

#include <utility>

#include "server/rpc_status.h"

namespace koios::server {

GraphJob::GraphJob(const SessionEnvironment& environment, std::string_view text,
                   const std::string& graph, Work work)
    : environment_(environment),
      text_(text),
      graph_(GraphOfSource("", graph)),
      work_(std::move(work)) {}

grpc::ServerUnaryReactor* GraphJob::Start(const SessionEnvironment& environment, TaskPool* pool,
                                          std::string_view text, const std::string& graph,
                                          Work work) {
  std::shared_ptr<GraphJob> job(new GraphJob(environment, text, graph, std::move(work)));
  job->self_ = job;
  GraphJob* const reactor = job.get();
  if (Status admitted = job->Admit(); !admitted.ok()) {
    reactor->Finish(ToGrpcStatus(admitted));
    return reactor;
  }
  pool->Run([job] { job->Run(); });
  return reactor;
}

Status GraphJob::Admit() {
  for (const RunningQuery& query : environment_.registry->List()) {
    if (query.text != text_) continue;
    return FailedPrecondition("There is one already: '" + std::string(text_) + "' runs as query " +
                              query.id + ".");
  }
  QueryControl control;
  const std::weak_ptr<GraphJob> job = weak_from_this();
  control.cancel = [job](const Status& why) {
    if (auto alive = job.lock()) alive->Stop(why);
  };
  control.measure = [job](RunningQuery* query) {
    if (auto alive = job.lock()) query->rows = alive->entries_;
  };
  ASSIGN_OR_RETURN(ticket_, environment_.registry->Admit(text_, graph_, control));
  return OkStatus();
}

void GraphJob::Run() {
  const Status status = work_(graph_, [this](uint64_t entries) {
    entries_ = entries;
    return Stopped();
  });
  ticket_.Release();
  Finish(ToGrpcStatus(status));
}

void GraphJob::OnCancel() { Stop(Cancelled("The client cancelled the call.")); }

void GraphJob::Stop(const Status& why) {
  MutexLock lock(&mutex_);
  if (stopped_.ok()) stopped_ = why;
}

Status GraphJob::Stopped() {
  MutexLock lock(&mutex_);
  return stopped_;
}

}  // namespace koios::server
