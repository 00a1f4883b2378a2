// JobProgress: while it lives, how far a job of the server is, on a terminal, once it takes longer
// than a second.
#pragma once

#include <string>
#include <string_view>
#include <thread>

#include "client/client.h"
#include "core/mutex.h"

namespace koios::app {

class JobProgress {
 public:
  // `kind`: what the text by which the server lists it begins with. `what` it counts.
  JobProgress(client::Client* client, std::string_view kind,
              std::string_view what = "entries read");
  ~JobProgress();
  JobProgress(const JobProgress&) = delete;
  JobProgress& operator=(const JobProgress&) = delete;

 private:
  bool WaitASecond();
  void Watch();

  client::Client* const client_;
  const std::string kind_, what_;
  Mutex mutex_;
  CondVar changed_;
  bool done_ KOIOS_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace koios::app
