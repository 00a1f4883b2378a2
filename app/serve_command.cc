// koios serve: a server in the foreground until SIGTERM or SIGINT.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/connection.h"
#include "app/limit_flags.h"
#include "app/query_flags.h"
#include "app/settings.h"
#include "client/duration.h"
#include "core/log.h"
#include "server/guard/machine.h"

namespace koios::app {
namespace {

struct ServeFlags {
  std::string data;
  std::string listen = "127.0.0.1";
  uint16_t grpc_port = 8183;
  uint32_t workers = 0;
  bool isolated = false;
  std::string config;
  bool insecure = false;
  std::string query_timeout = "30s";
  size_t max_queries = 256;
  size_t max_queued = 4096;
  std::string queue_timeout = "20s";
  LimitFlags limits;
  std::string drain = "5s";
};

bool IsLoopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address == "[::1]" ||
         address.rfind("127.", 0) == 0;
}

// Half of the file descriptors are for connections; the rest is for the graphs' files.
int MaxConnectionFd(uint64_t max_open_files) {
  constexpr uint64_t kMany = 1'000'000;
  return static_cast<int>(std::min(max_open_files, kMany) / 2);
}

StatusOr<server::ServerOptions> ToServerOptions(const ServeFlags& flags) {
  if (flags.data.empty()) return InvalidArgument("serve needs --data DIR.");
  if (!IsLoopback(flags.listen) && !flags.insecure) {
    return InvalidArgument("--listen " + flags.listen +
                           " lets other machines in, without TLS or authentication; say --insecure "
                           "to do it all the same.");
  }
  server::ServerOptions options;
  options.listen = flags.listen;
  options.grpc_port = flags.grpc_port;
  options.max_queries = flags.max_queries;
  options.max_queued = flags.max_queued;
  options.engine.num_workers = flags.workers > 0 ? flags.workers : DefaultNumWorkers();
  options.engine.isolated = flags.isolated;
  options.max_connection_fd = MaxConnectionFd(server::RaiseOpenFileLimit());
  flags.limits.ApplyTo(flags.data, &options);
  ASSIGN_OR_RETURN(options.query_timeout_ms, client::ParseMilliseconds(flags.query_timeout));
  ASSIGN_OR_RETURN(options.queue_timeout_ms, client::ParseMilliseconds(flags.queue_timeout));
  return options;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

sigset_t SetOf(std::initializer_list<int> numbers) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : numbers) sigaddset(&signals, number);
  return signals;
}

sigset_t AwaitedSignals() { return SetOf({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM}); }

// Signals are taken by this thread when it waits for them, and by no other: blocked here, and so in
// the threads that are started from now on. Those that mean nothing to a server don't end it.
void WaitForEndSignal() {
  const sigset_t awaited = AwaitedSignals();
  while (true) {
    int number = 0;
    sigwait(&awaited, &number);
    if (number == SIGTERM || number == SIGINT) return;
    KLOG_INFO("signal {} does nothing here: settings are read at start only", strsignal(number));
  }
}

void BlockSignals() {
  // A write that fails says so itself.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  const sigset_t awaited = AwaitedSignals();
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
}

int Serve(CLI::App* command, const ServeFlags& flags) {
  if (Status applied = ApplySettings(command, flags.config); !applied.ok()) {
    return FailUsage(applied);
  }
  const StatusOr<server::ServerOptions> options = ToServerOptions(flags);
  if (!options.ok()) return FailUsage(options.status());
  const StatusOr<uint64_t> drain_ms = client::ParseMilliseconds(flags.drain);
  if (!drain_ms.ok()) return FailUsage(drain_ms.status());

  BlockSignals();
  StatusOr<std::unique_ptr<server::Graphs>> graphs =
      OpenGraphs(flags.data, /*create=*/true, flags.limits);
  if (!graphs.ok()) return Fail(graphs.status());
  // What is wrong with a graph is in the log from the start; the others are served.
  for (const std::string& name : (*graphs)->Names()) {
    (*graphs)->View(name).status().IgnoreError();
  }
  auto started = server::Server::Start(*std::move(graphs), *options);
  if (!started.ok()) return Fail(started.status());
  server::Server& server = **started;
  std::cout << "koios ready grpc=" << server.address() << " workers=" << server.num_workers()
            << " graphs=" << Joined(server.GraphNames()) << std::endl;

  WaitForEndSignal();
  KLOG_INFO("stopping: running queries have {} ms to end", *drain_ms);
  // A second signal does not wait for anything.
  const sigset_t ending = SetOf({SIGTERM, SIGINT});
  pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
  server.Shutdown(std::chrono::milliseconds(*drain_ms));
  return client::kExitOk;
}

}  // namespace

RunCommand AddServeCommand(CLI::App* command) {
  auto flags = std::make_shared<ServeFlags>();
  command->add_option("--data", flags->data,
                      "The data folder; made with an empty graph g when there is none");
  command->add_option("--listen", flags->listen, "The address to listen on")->capture_default_str();
  command->add_option("--grpc-port", flags->grpc_port, "The port for gRPC; 0 picks one")
      ->capture_default_str();
  command->add_option("--workers", flags->workers, "Worker threads; 0: one per processor")
      ->check(CLI::Range(0, 1024));
  command->add_flag(
      "--isolate-partitions", flags->isolated,
      "A worker reads no partition but its own, as in a cluster: slower; to test that "
      "queries could run there");
  command->add_option("--config", flags->config, "A YAML file with settings named as these flags");
  command->add_flag("--insecure", flags->insecure,
                    "Allows --listen beyond this machine, without TLS or authentication");
  command
      ->add_option("--query-timeout", flags->query_timeout,
                   "For queries that name none; 0: no limit")
      ->capture_default_str();
  command
      ->add_option("--max-queries", flags->max_queries,
                   "How many run at once, as far as there is memory; an eighth is for look-ups")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command
      ->add_option("--max-queued", flags->max_queued,
                   "How many more wait to be run, clients in turn and short queries first; others "
                   "are refused")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--queue-timeout", flags->queue_timeout,
                   "How long one waits to be run; 0: until its own deadline")
      ->capture_default_str();
  flags->limits.AddTo(command);
  command->add_option("--drain", flags->drain, "How long running queries may take at the end")
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  koios serve --data mydata\n"
      "  koios serve --data mydata --grpc-port 0 --workers 4\n"
      "  KOIOS_GRPC_PORT=9000 koios serve --config koios.yaml\n"
      "Flags win over KOIOS_* variables, those over the file. SIGTERM and SIGINT stop the "
      "server; "
      "the second one at once; SIGHUP, SIGUSR1 and SIGUSR2 do nothing.");
  return [command, flags] { return Serve(command, *flags); };
}

}  // namespace koios::app
