#include "server/server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "core/log.h"
#include "server/acceptor.h"
#include "server/admission/admission.h"
#include "server/guard/machine.h"
#include "server/guard/memory_guard.h"
#include "server/guard/old_views.h"
#include "server/query_registry.h"
#include "server/rpc/connections.h"
#include "server/rpc/event_queue.h"
#include "server/rpc/health.h"
#include "server/rpc/unknown_methods.h"
#include "server/service.h"
#include "server/task_pool.h"

namespace koios::server {
namespace {

// A dead connection is noticed, and its queries stopped, within about half a minute.
constexpr int kKeepaliveTimeMs = 20'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// Reflection is gRPC's own and keeps a thread for each stream: more of them are refused.
constexpr int kMaxReflectionThreads = 8;
// How long a client has to take its last message and status at shutdown.
constexpr std::chrono::milliseconds kLastWordsTime(500);

// What gRPC has to say goes to our log; what it takes for an error is none for the process.
void LogOfGrpc(gpr_log_func_args* args) { KLOG_DEBUG("gRPC: {}", args->message); }

// What gRPC refuses by itself, in its own words, before it is whole: well beyond the limit of a
// request, so that what is a little too large is refused in ours.
constexpr size_t kMinHardRequestBytes = size_t{64} << 20;

int HardRequestBytes(const ServerOptions& options) {
  const size_t bytes = std::max(kMinHardRequestBytes, 2 * options.max_request_bytes);
  return static_cast<int>(std::min<size_t>(bytes, std::numeric_limits<int>::max()));
}

// What protobuf has to say of bytes from clients is nothing for stderr.
void LogOfProtobuf(google::protobuf::LogLevel, const char*, int, const std::string& message) {
  KLOG_DEBUG("protobuf: {}", message);
}

// gRPC's own start-up settings are per process and must come before the first builder.
void InitGrpcOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function(&LogOfGrpc);
    // gRPC's locks are Abseil's: where that is built for debugging each of them would be entered
    // into one graph of all, under one lock, to find cycles.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    google::protobuf::SetLogHandler(&LogOfProtobuf);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

// Commits that can share one synced write.
constexpr size_t kCommitThreads = 8;

// Of the memory of queries, what is kept for small requests: some thousands that wait. What large
// ones have, with their parameters, does not count against it.
constexpr int64_t kRequestsReserve = int64_t{8} << 20;

LimitWords RequestWords() {
  LimitWords words;
  words.reason = kRequestMemory;
  words.setting = "memory-mb";
  words.hint = "Many large requests are under way.";
  return words;
}

// Of the memory of queries, plans that are kept may have this.
int64_t MaxPlanBytes(size_t wanted, int64_t queries_bytes) {
  constexpr int64_t kShare = 16;
  return static_cast<int64_t>(std::min<uint64_t>(wanted, queries_bytes / kShare));
}

AdmissionLimits LimitsOf(const ServerOptions& options, const engine::EngineOptions& engine) {
  AdmissionLimits limits;
  limits.max_queries = std::max<size_t>(1, options.max_queries);
  limits.max_queued = options.max_queued;
  limits.queue_timeout_ms = options.queue_timeout_ms;
  limits.query_bytes = engine.query_memory_bytes;
  return limits;
}

// One more than compute at once: it is for the short.
size_t NumSessionThreads() { return std::max<size_t>(2, std::thread::hardware_concurrency()) + 1; }

// Who reads from connections and writes to them.
int NumRpcThreads() { return std::clamp<int>(std::thread::hardware_concurrency() / 2, 2, 16); }

// "::1" needs brackets before a port is put behind it.
std::string HostAndPort(const std::string& host, uint16_t port) {
  const bool ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

// Members are destroyed from the last to the first: the door, the sessions' threads, the engine,
// then what they look at.
struct Server::State {
  State(std::unique_ptr<Graphs> the_graphs, std::unique_ptr<engine::Engine> the_engine,
        const ServerOptions& the_options)
      : options(the_options),
        graphs(std::move(the_graphs)),
        registry(the_options.max_queries, the_options.max_queued),
        engine(std::move(the_engine)),
        plans_account("all plans",
                      MaxPlanBytes(the_options.plan_cache_bytes, engine->memory().limit()),
                      &engine->memory()),
        requests("all requests", engine->memory().limit() / 2, &engine->memory(), RequestWords()),
        small_requests("all requests", kNoMemoryLimit, &requests, RequestWords()),
        admission(LimitsOf(the_options, engine->options()), &engine->memory(), &engine->clock(),
                  &pool),
        pool(NumSessionThreads()) {
    // Who waits is not refused for its request, whatever others have.
    const int64_t reserve = std::min(kRequestsReserve, engine->memory().limit() / 32);
    CHECK(small_requests.TryReserve(reserve));
  }

  const ServerOptions options;
  std::unique_ptr<Graphs> graphs;
  QueryRegistry registry;
  std::unique_ptr<engine::Engine> engine;
  MemoryAccount plans_account;
  PlanCache plans{&plans_account};
  MemoryAccount requests;
  MemoryAccount small_requests;
  BeginSlots begin_slots{NumRpcThreads() - 1};
  Admission admission;
  TaskPool pool;
  TaskPool commits{kCommitThreads};
  Connections connections;
  OldViews old_views{graphs.get(), &registry, &engine->clock()};
  std::unique_ptr<MemoryGuard> guard;
  std::unique_ptr<KoiosService> service;
  Health health;
  grpc::AsyncGenericService unknown_methods;
  std::unique_ptr<EventQueue> events;
  std::unique_ptr<grpc::Server> grpc_server;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> to_grpc;
  std::unique_ptr<Acceptor> acceptor;
  std::once_flag shutdown;

  Status StartGrpc();
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { Shutdown(std::chrono::milliseconds(0)); }

StatusOr<std::unique_ptr<Server>> Server::Start(std::unique_ptr<Graphs> graphs,
                                                const ServerOptions& options) {
  if (options.engine.num_workers == 0) return InvalidArgument("A server needs at least 1 worker.");
  return Start(std::move(graphs), engine::Engine::Create(options.engine), options);
}

StatusOr<std::unique_ptr<Server>> Server::Start(std::unique_ptr<Graphs> graphs,
                                                std::unique_ptr<engine::Engine> engine,
                                                const ServerOptions& options) {
  InitGrpcOnce();
  auto state = std::make_unique<State>(std::move(graphs), std::move(engine), options);
  SessionEnvironment environment;
  environment.graphs = state->graphs.get();
  environment.engine = state->engine.get();
  environment.requests = &state->requests;
  environment.small_requests = &state->small_requests;
  environment.registry = &state->registry;
  environment.admission = &state->admission;
  environment.plans = options.plan_cache_bytes > 0 ? &state->plans : nullptr;
  environment.begin_slots = &state->begin_slots;
  environment.pool = &state->pool;
  environment.commits = &state->commits;
  environment.limits.default_timeout_ms = options.query_timeout_ms;
  environment.limits.window_batches = std::max<size_t>(1, options.window_batches);
  environment.limits.held_bytes = options.held_bytes;
  environment.limits.max_attempts = std::max(1, options.max_attempts);
  environment.limits.parser = options.parser;
  environment.limits.max_request_bytes = options.max_request_bytes;
  state->service = std::make_unique<KoiosService>(environment);
  if (options.rest_bytes > 0) {
    MemoryGuardOptions guard;
    guard.rest_bytes = static_cast<int64_t>(options.rest_bytes);
    guard.resident = &PrivateResidentBytes;
    guard.unused = [admission = &state->admission] { return admission->UnusedReserves(); };
    guard.give_back = &ReturnFreedMemory;
    guard.look = [state = state.get()] {
      state->connections.Look();
      state->old_views.Look();
    };
    state->guard = std::make_unique<MemoryGuard>(&state->engine->memory(), std::move(guard));
  }
  if (!options.embedded) {
    const int max_fd =
        options.max_connection_fd > 0 ? options.max_connection_fd : std::numeric_limits<int>::max();
    ASSIGN_OR_RETURN(state->acceptor, Acceptor::Listen(options.listen, options.grpc_port, max_fd));
  }
  RETURN_IF_ERROR(state->StartGrpc());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Status Server::State::StartGrpc() {
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(HardRequestBytes(options));
  builder.SetMaxSendMessageSize(-1);  // the encoder has its own bound
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(options.handshake_timeout_ms));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(options.idle_timeout_ms));
  grpc::ResourceQuota quota("koios");
  quota.SetMaxThreads(kMaxReflectionThreads);
  if (options.network_bytes > 0) quota.Resize(options.network_bytes);
  builder.SetResourceQuota(quota);
  if (!options.embedded) {
    // gRPC's own listener stops for good when it runs out of file descriptors.
    to_grpc = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::InsecureServerCredentials());
  }
  builder.RegisterService(service->service());
  builder.RegisterService(health.service());
  builder.RegisterAsyncGenericService(&unknown_methods);
  events = std::make_unique<EventQueue>(builder.AddCompletionQueue(), &connections);
  grpc_server = builder.BuildAndStart();
  if (grpc_server == nullptr) return Internal("gRPC can't start its server.");
  service->Serve(events.get());
  health.Serve(events.get());
  RefuseUnknownMethods(&unknown_methods, events.get());
  events->Start(static_cast<size_t>(NumRpcThreads()));
  if (acceptor != nullptr) {
    acceptor->Start([this](int listening, int fd) {
      connections.Add(fd);
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listening;
      connection.fd = fd;
      to_grpc->HandleNewConnection(&connection);
    });
  }
  return OkStatus();
}

uint16_t Server::port() const { return state_->acceptor == nullptr ? 0 : state_->acceptor->port(); }

std::string Server::address() const {
  return state_->options.embedded ? "" : HostAndPort(state_->options.listen, port());
}

uint32_t Server::num_workers() const { return state_->engine->options().num_workers; }

std::vector<std::string> Server::GraphNames() const { return state_->graphs->Names(); }

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return state_->grpc_server->InProcessChannel(arguments);
}

void Server::Shutdown(std::chrono::milliseconds drain) {
  std::call_once(state_->shutdown, [this, drain] {
    state_->registry.Close();
    state_->health.Shutdown();
    const auto deadline = std::chrono::steady_clock::now() + drain;
    while (state_->registry.num_tickets() > 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (state_->acceptor != nullptr) state_->acceptor->Stop();
    state_->registry.CancelAll(Unavailable("The server is shutting down."));
    // What gRPC still has at the deadline it cancels itself: streams that nobody reads.
    state_->grpc_server->Shutdown(std::chrono::system_clock::now() + kLastWordsTime);
    state_->events->Stop();
  });
}

}  // namespace koios::server
