// Acceptor: listens on a TCP address with a thread of its own and hands each connection on. Owns
// the listening sockets. It never stops accepting by itself: out of file descriptors or memory, it
// turns connections away until there is room again. Descriptors are numbered from the lowest that
// is free, so a number is a bound on how many are open: connections get those below `max_fd`, and
// the rest stays for files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/status.h"

struct addrinfo;

namespace koios::server {

class Acceptor {
 public:
  // Owns a connection's socket from then on. Called by the acceptor's thread.
  using Take = std::function<void(int listening, int fd)>;

  // `port`: 0 picks one. FAILED_PRECONDITION when the address can't be had, INVALID_ARGUMENT when
  // it is none.
  static StatusOr<std::unique_ptr<Acceptor>> Listen(const std::string& host, uint16_t port,
                                                    int max_fd);
  ~Acceptor();  // Stop()
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  uint16_t port() const { return port_; }
  // Once.
  void Start(Take take);
  // Accepts no more, and nobody can connect any more. Idempotent; not by the acceptor's thread.
  void Stop();

 private:
  explicit Acceptor(int max_fd) : max_fd_(max_fd) {}
  Status Bind(const std::string& host, uint16_t port);
  StatusOr<int> BindOne(const ::addrinfo& address, uint16_t port) const;
  void Run();
  // One connection of a socket that has some.
  void AcceptFrom(int listening);
  void TurnAway(int listening);

  const int max_fd_;
  uint16_t port_ = 0;
  std::vector<int> sockets_;
  int wake_ = -1;   // an eventfd: written to stop
  int spare_ = -1;  // given up for a moment to turn a connection away when there is no other
  uint64_t turned_away_ = 0;
  Take take_;
  std::thread thread_;
};

}  // namespace koios::server
