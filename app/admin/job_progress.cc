#include "app/admin/job_progress.h"

#include <unistd.h>

#include <iostream>

namespace koios::app {

JobProgress::JobProgress(client::Client* client, std::string_view kind, std::string_view what)
    : client_(client), kind_(kind), what_(what) {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { Watch(); });
}

JobProgress::~JobProgress() {
  {
    MutexLock lock(&mutex_);
    done_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool JobProgress::WaitASecond() {
  constexpr int64_t kSecondNs = 1'000'000'000;
  MutexLock lock(&mutex_);
  while (!done_ && changed_.WaitFor(&mutex_, kSecondNs)) {
  }
  return !done_;
}

void JobProgress::Watch() {
  bool shown = false;
  while (WaitASecond()) {
    const auto queries = client_->ListQueries();
    if (!queries.ok()) continue;  // the job's own call tells what is wrong
    for (const v1::RunningQuery& query : queries->queries()) {
      if (!query.query().starts_with(kind_)) continue;
      std::cerr << "\r" << query.rows() << " " << what_ << " in " << query.elapsed_us() / 1'000'000
                << " s" << std::flush;
      shown = true;
    }
  }
  if (shown) std::cerr << "\n";
}

}  // namespace koios::app
