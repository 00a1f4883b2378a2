#include "server/graph_job.h"

#include <utility>

namespace koios::server {

GraphJob::GraphJob(const SessionEnvironment& environment, const std::string& graph, Work work)
    : environment_(environment), graph_(GraphOfSource("", graph)), work_(std::move(work)) {}

std::shared_ptr<GraphJob> GraphJob::Start(const SessionEnvironment& environment, TaskPool* pool,
                                          std::string_view kind, const std::string& graph,
                                          Work work, std::string_view about, Done done) {
  std::shared_ptr<GraphJob> job(new GraphJob(environment, graph, std::move(work)));
  if (Status admitted = job->Admit(kind, about); !admitted.ok()) {
    done(admitted);
  } else {
    pool->Run([job, done = std::move(done)] { done(job->Run()); });
  }
  return job;
}

Status GraphJob::Admit(std::string_view kind, std::string_view about) {
  for (const RunningQuery& query : environment_.registry->List()) {
    if (query.text != kind && !query.text.starts_with(std::string(kind) + " ")) continue;
    return FailedPrecondition("There is one already: '" + query.text + "' runs as query " +
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
  const std::string text = std::string(kind) + (about.empty() ? "" : " ") + std::string(about);
  ASSIGN_OR_RETURN(ticket_, environment_.registry->Add(text, graph_, /*host=*/"", control));
  return OkStatus();
}

Status GraphJob::Run() {
  Status status = work_(graph_, [this](uint64_t entries) {
    entries_ = entries;
    return Stopped();
  });
  ticket_.Release();
  return status;
}

void GraphJob::Stop(const Status& why) {
  MutexLock lock(&mutex_);
  if (stopped_.ok()) stopped_ = why;
}

Status GraphJob::Stopped() {
  MutexLock lock(&mutex_);
  return stopped_;
}

}  // namespace koios::server
