#include "server/acceptor.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/log.h"

namespace koios::server {
namespace {

// How long nothing is accepted after an error that is not about one connection.
constexpr std::chrono::milliseconds kPause(100);

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

uint16_t PortOf(const sockaddr_storage& address) {
  in_port_t port = 0;
  if (address.ss_family == AF_INET) {
    port = reinterpret_cast<const sockaddr_in*>(&address)->sin_port;
  } else if (address.ss_family == AF_INET6) {
    port = reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port;
  }
  return ntohs(port);
}

Status CantListen(const std::string& host, uint16_t port, const std::string& why) {
  return FailedPrecondition("Can't listen on " + host + ", port " + std::to_string(port) + ": " +
                            why + ".");
}

std::string WordsOf(int error) {
  if (error == EADDRINUSE) return "the address is in use";
  if (error == EADDRNOTAVAIL) return "the address is not this machine's";
  return std::strerror(error);
}

}  // namespace

StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(const std::string& host, uint16_t port,
                                                     int max_fd) {
  std::unique_ptr<Acceptor> acceptor(new Acceptor(max_fd));
  RETURN_IF_ERROR(acceptor->Bind(host, port));
  acceptor->wake_ = eventfd(0, EFD_CLOEXEC);
  acceptor->spare_ = OpenSpare();
  if (acceptor->wake_ < 0 || acceptor->spare_ < 0) {
    return CantListen(host, port, WordsOf(errno));
  }
  return acceptor;
}

Status Acceptor::Bind(const std::string& host, uint16_t port) {
  std::string name = host;
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(name.c_str(), nullptr, &hints, &found); error != 0) {
    return CantListen(host, port, gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, &freeaddrinfo);
  // A name may have several addresses; some of them may be of a kind that the machine lacks.
  Status last = CantListen(host, port, "it has no address");
  port_ = port;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    StatusOr<int> bound = BindOne(*address, port_);
    if (!bound.ok()) {
      last = CantListen(host, port, MessageOf(bound.status()));
      if (bound.status().code() == StatusCode::kAlreadyExists) return last;
      continue;
    }
    sockets_.push_back(*bound);
    sockaddr_storage own{};
    socklen_t length = sizeof(own);
    if (getsockname(*bound, reinterpret_cast<sockaddr*>(&own), &length) == 0) port_ = PortOf(own);
  }
  return sockets_.empty() ? last : OkStatus();
}

StatusOr<int> Acceptor::BindOne(const addrinfo& address, uint16_t port) const {
  const int fd = socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return Unavailable(WordsOf(errno));
  const int on = 1;
  // What is accepted inherits these.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_storage place{};
  std::memcpy(&place, address.ai_addr, address.ai_addrlen);
  if (place.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&place)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&place)->sin_port = htons(port);
  }
  if (bind(fd, reinterpret_cast<const sockaddr*>(&place), address.ai_addrlen) != 0 ||
      listen(fd, SOMAXCONN) != 0) {
    const int error = errno;
    close(fd);
    return error == EADDRINUSE ? AlreadyExists(WordsOf(error)) : Unavailable(WordsOf(error));
  }
  return fd;
}

Acceptor::~Acceptor() {
  Stop();
  if (wake_ >= 0) close(wake_);
  if (spare_ >= 0) close(spare_);
}

void Acceptor::Start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { Run(); });
}

void Acceptor::Stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    CHECK(write(wake_, &one, sizeof(one)) == sizeof(one));
    thread_.join();
  }
  for (const int fd : sockets_) close(fd);
  sockets_.clear();
}

void Acceptor::Run() {
  std::vector<pollfd> polled;
  for (const int fd : sockets_) polled.push_back({fd, POLLIN, 0});
  polled.push_back({wake_, POLLIN, 0});
  while (true) {
    if (poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled.back().revents != 0) return;
    for (size_t i = 0; i + 1 < polled.size(); ++i) {
      if (polled[i].revents != 0) AcceptFrom(polled[i].fd);
    }
  }
}

void Acceptor::AcceptFrom(int listening) {
  const int fd = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0 && fd < max_fd_) return take_(listening, fd);
  if (fd >= 0) {
    close(fd);
  } else if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) {
    return;  // it went away meanwhile
  } else if (errno == EMFILE || errno == ENFILE) {
    TurnAway(listening);
  } else {
    KLOG_WARNING("a connection can't be accepted: {}", std::strerror(errno));
    std::this_thread::sleep_for(kPause);
    return;
  }
  // The first of many, and then ever fewer lines.
  if (std::has_single_bit(++turned_away_)) {
    KLOG_WARNING("connection turned away: no file descriptor is left for it; {} so far",
                 turned_away_);
  }
}

// Left in the queue, the connection would wake the thread again and again.
void Acceptor::TurnAway(int listening) {
  if (spare_ >= 0) close(spare_);
  const int fd = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) close(fd);
  spare_ = OpenSpare();
  if (fd < 0 || spare_ < 0) std::this_thread::sleep_for(kPause);
}

}  // namespace koios::server
