// Connections: those that the acceptor took. gRPC owns them; but a client may begin calls, each of
// which takes 12 KB, and drop them again faster than gRPC tells of them. So connections with more
// calls than they may have, or of whose calls most come to nothing, are closed. Which ones these
// are is told by what gRPC counts of each (channelz), which is ahead of what it tells of calls.
// Threads: one looks; the others by any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"

namespace koios::server {

// At a time; others wait at their client, if that keeps to the protocol.
inline constexpr int kMaxCallsPerConnection = 1'000;

// What gRPC has counted for a connection.
struct ConnectionCounts {
  std::string peer;                             // address and port, as Connections keys them
  uint64_t begun = 0, ended = 0, messages = 0;  // of calls
};
// Of channelz' JSON of one socket.
StatusOr<ConnectionCounts> ParseConnectionCounts(std::string_view json);

class Connections {
 public:
  // Before gRPC gets the socket.
  void Add(int fd);
  // A call has got its message, or its answer without one.
  void NoteRequest() { num_requests_.fetch_add(1, std::memory_order_relaxed); }
  // Many times a second: cheap unless there are many calls without a message. The number of
  // connections that were closed.
  size_t Look();

 private:
  // More than a connection may have at a time; and nobody who means to be answered drops as many of
  // his calls as that, and most of them.
  static constexpr uint64_t kMostVain = kMaxCallsPerConnection;

  struct Connection {
    int fd = -1;
    uint64_t cookie = 0;  // the system's own name for the socket
  };

  size_t CloseVain();
  // Whether it was still there.
  bool Close(const std::string& peer);

  std::atomic<uint64_t> num_requests_{0};
  // When connections were last looked at.
  uint64_t begun_before_ = 0, requests_before_ = 0;
  std::unordered_map<int64_t, ConnectionCounts> counts_before_;  // by channelz' number

  Mutex mutex_;
  std::unordered_map<std::string, Connection> by_peer_ KOIOS_GUARDED_BY(mutex_);
  std::vector<std::string> peers_ KOIOS_GUARDED_BY(mutex_);  // of each fd, the newest
};

}  // namespace koios::server
