// koios_connections: Koios as a client in C++ sees it.
//   ask ADDRESS                                 times queries, see Ask()
// And what many connections get done at once: prints operations a second and the median and 95th
// percentile in microseconds.
//   read ADDRESS CONNECTIONS SECONDS VERTICES   one property of one vertex of an rmat graph
//   commit ADDRESS CONNECTIONS SECONDS          one new vertex a request
//   sync FILE CONNECTIONS SECONDS               records appended to a file and synced in groups,
//                                               which is what the disk allows
//   echo                                        a server that answers each Submit at once, until
//                                               its standard input ends: what gRPC allows
#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/client.h"
#include "client/parameter.h"
#include "core/mutex.h"
#include "core/random.h"
#include "proto/service.grpc.pb.h"

namespace koios::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kRecordBytes = 200;
constexpr char kLineEnd = '\x1e';

// Waiting threads' records are written by one of them, with one sync.
class SyncedFile {
 public:
  explicit SyncedFile(const std::string& path)
      : file_(open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600)) {}
  ~SyncedFile() { close(file_); }

  Status Append() {
    MutexLock lock(&mutex_);
    const uint64_t mine = ++asked_;
    while (done_ < mine) {
      if (!status_.ok()) return status_;
      if (busy_) {
        changed_.Wait(&mutex_);
        continue;
      }
      busy_ = true;
      const uint64_t last = asked_;
      const std::string bytes((last - done_) * kRecordBytes, 'x');
      mutex_.Unlock();
      const bool written =
          write(file_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
          fdatasync(file_) == 0;
      mutex_.Lock();
      if (!written) status_ = Internal("The file can't be written.");
      done_ = last;
      busy_ = false;
      changed_.NotifyAll();
    }
    return status_;
  }

 private:
  const int file_;
  Mutex mutex_;
  CondVar changed_;
  uint64_t asked_ KOIOS_GUARDED_BY(mutex_) = 0;
  uint64_t done_ KOIOS_GUARDED_BY(mutex_) = 0;
  bool busy_ KOIOS_GUARDED_BY(mutex_) = false;
  Status status_ KOIOS_GUARDED_BY(mutex_);
};

// A call that has its answer, one row and nothing more, from the thread that received it.
struct EchoCall {
  EchoCall(v1::Koios::AsyncService* service, grpc::ServerCompletionQueue* queue) {
    service->RequestSubmit(&context, &request, &writer, queue, queue, this);
  }
  void Answer() {
    v1::SubmitResponse response;
    response.mutable_summary()->set_rows(1);
    answered = true;
    writer.WriteAndFinish(response, grpc::WriteOptions(), grpc::Status::OK, this);
  }

  grpc::ServerContext context;
  v1::SubmitRequest request;
  grpc::ServerAsyncWriter<v1::SubmitResponse> writer{&context};
  bool answered = false;
};

void AnswerCalls(v1::Koios::AsyncService* service, grpc::ServerCompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
    auto* call = static_cast<EchoCall*>(tag);
    if (!ok || call->answered) {
      delete call;
    } else {
      new EchoCall(service, queue);
      call->Answer();
    }
  }
}

// Prints its address.
Status Echo() {
  constexpr int kThreads = 2;
  v1::Koios::AsyncService service;
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto queue = builder.AddCompletionQueue();
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return Internal("The server can't be started.");
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    new EchoCall(&service, queue.get());
    threads.emplace_back([&] { AnswerCalls(&service, queue.get()); });
  }
  std::printf("127.0.0.1:%d\n", port);
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  queue->Shutdown();
  for (std::thread& thread : threads) thread.join();
  return OkStatus();
}

StatusOr<v1::Summary> RunToEnd(client::Client* client, const client::Request& request) {
  return client->Run(request, [](const client::Batch&) { return OkStatus(); });
}

Status ReadOne(client::Client* client, Rng* rng, uint64_t num_vertices) {
  client::Request request;
  request.query = "g.V(x).values('name')";
  request.parameters["x"] = Value::Long(static_cast<int64_t>(rng->Uniform(num_vertices)));
  ASSIGN_OR_RETURN(const v1::Summary summary, RunToEnd(client, request));
  return summary.rows() == 1 ? OkStatus() : Internal("A point read did not find its vertex.");
}

Status CommitOne(client::Client* client, Rng* rng) {
  client::Request request;
  request.query = "g.addV('mark').property('n', x)";
  request.parameters["x"] = Value::Long(static_cast<int64_t>(rng->Uniform(uint64_t{1} << 40)));
  return RunToEnd(client, request).status();
}

Status Run(const std::string& kind, const std::string& place, int num_connections, double seconds,
           uint64_t num_vertices) {
  std::unique_ptr<SyncedFile> file;
  if (kind == "sync") file = std::make_unique<SyncedFile>(place);
  std::vector<std::vector<double>> times(static_cast<size_t>(num_connections));
  std::vector<Status> states(times.size());
  const auto begin = Clock::now();
  const auto work = [&](size_t number) -> Status {
    std::unique_ptr<client::Client> client;
    if (file == nullptr) {
      ASSIGN_OR_RETURN(client, client::Client::Connect(place));
    }
    Rng rng(number + 1);
    while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
      const auto start = Clock::now();
      if (kind == "sync") RETURN_IF_ERROR(file->Append());
      if (kind == "read") RETURN_IF_ERROR(ReadOne(client.get(), &rng, num_vertices));
      if (kind == "commit") RETURN_IF_ERROR(CommitOne(client.get(), &rng));
      const std::chrono::duration<double, std::micro> took = Clock::now() - start;
      times[number].push_back(took.count());
    }
    return OkStatus();
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < times.size(); ++i) {
    threads.emplace_back([&, i] { states[i] = work(i); });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = Clock::now() - begin;
  std::vector<double> all;
  for (size_t i = 0; i < times.size(); ++i) {
    RETURN_IF_ERROR(states[i]);
    all.insert(all.end(), times[i].begin(), times[i].end());
  }
  if (all.empty()) return Internal("Nothing was done in time.");
  std::sort(all.begin(), all.end());
  std::printf("%.1f %.1f %.1f\n", static_cast<double>(all.size()) / took.count(),
              all[all.size() / 2], all[all.size() * 95 / 100]);
  return OkStatus();
}

// "MILLISECONDS<tab>QUERY[<tab>NAME=VALUE ...]", with a record separator for each line end.
StatusOr<client::Request> ParseRequest(const std::string& line) {
  std::istringstream fields(line);
  std::string field;
  client::Request request;
  std::getline(fields, field, '\t');
  request.timeout_ms = std::stoull(field);
  std::getline(fields, request.query, '\t');
  std::replace(request.query.begin(), request.query.end(), kLineEnd, '\n');
  while (std::getline(fields, field, '\t')) {
    ASSIGN_OR_RETURN(auto parameter, client::ParseParameter(field));
    request.parameters.insert(std::move(parameter));
  }
  return request;
}

// Answers each request on the standard input with "SECONDS ENGINE_SECONDS ROWS", or with what went
// wrong.
Status Ask(const std::string& address) {
  ASSIGN_OR_RETURN(const auto client, client::Client::Connect(address));
  std::string line;
  while (std::getline(std::cin, line)) {
    const StatusOr<client::Request> request = ParseRequest(line);
    const auto begin = Clock::now();
    const StatusOr<v1::Summary> summary =
        request.ok() ? RunToEnd(client.get(), *request) : StatusOr<v1::Summary>(request.status());
    const std::chrono::duration<double> took = Clock::now() - begin;
    if (summary.ok()) {
      std::printf("%.9f %.6f %llu\n", took.count(),
                  static_cast<double>(summary->elapsed_us()) / 1e6,
                  static_cast<unsigned long long>(summary->rows()));
    } else {
      std::printf("error %s %s\n", absl::StatusCodeToString(summary.status().code()).c_str(),
                  std::string(summary.status().message()).c_str());
    }
    std::fflush(stdout);
  }
  return OkStatus();
}

}  // namespace
}  // namespace koios::bench

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  koios::Status status;
  if (kind == "echo" && argc == 2) {
    status = koios::bench::Echo();
  } else if (kind == "ask" && argc == 3) {
    status = koios::bench::Ask(argv[2]);
  } else if (argc == 5 || argc == 6) {
    status = koios::bench::Run(kind, argv[2], std::stoi(argv[3]), std::stod(argv[4]),
                               argc > 5 ? std::stoull(argv[5]) : 1);
  } else {
    std::fprintf(stderr,
                 "koios_connections ask ADDRESS | echo\n"
                 "koios_connections read|commit|sync PLACE CONNECTIONS SECONDS [VERTICES]\n");
    return 2;
  }
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
