#include "server/rpc/connections.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <grpc/support/alloc.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "core/log.h"

namespace koios::server {
namespace {

using nlohmann::json;

constexpr size_t kReadBytes = size_t{1} << 20;

// Address and port, in the order of the network.
std::string PeerOf(std::string_view address, uint16_t port) {
  std::string peer(address);
  peer.push_back(static_cast<char>(port >> 8));
  peer.push_back(static_cast<char>(port & 0xff));
  return peer;
}

template <typename Address>
std::string_view AddressBytes(const Address& address) {
  return {reinterpret_cast<const char*>(&address), sizeof(address)};
}

std::optional<std::string> PeerOf(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return std::nullopt;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return PeerOf(AddressBytes(v4.sin_addr), ntohs(v4.sin_port));
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  std::string_view bytes = AddressBytes(v6.sin6_addr);
  // gRPC names such an address as what it stands for.
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) bytes.remove_prefix(sizeof(in6_addr) - sizeof(in_addr));
  return PeerOf(bytes, ntohs(v6.sin6_port));
}

uint64_t Less(uint64_t a, uint64_t b) { return a - std::min(a, b); }

// 0: it is no socket (any more).
uint64_t CookieOf(int fd) {
  uint64_t cookie = 0;
  socklen_t length = sizeof(cookie);
  return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &length) == 0 ? cookie : 0;
}

const json& MemberOf(const json& object, const char* name) {
  static const json kNothing;
  const auto found = object.find(name);
  return found == object.end() ? kNothing : *found;
}

// JSON writes 64-bit numbers as texts, and leaves out what is 0.
uint64_t NumberIn(const json& object, const char* name) {
  const json& member = MemberOf(object, name);
  if (member.is_number_unsigned()) return member.get<uint64_t>();
  return member.is_string()
             ? std::strtoull(member.get_ref<const std::string&>().c_str(), nullptr, 10)
             : 0;
}

json FromGrpc(char* text) {
  if (text == nullptr) return {};
  const std::unique_ptr<char, void (*)(void*)> owned(text, &gpr_free);
  return json::parse(owned.get(), nullptr, /*allow_exceptions=*/false);
}

// All servers' of the process: only what was added is ever closed.
uint64_t CallsBegun() {
  uint64_t begun = 0;
  const json servers = FromGrpc(grpc_channelz_get_servers(0));
  for (const json& server : MemberOf(servers, "server")) {
    begun += NumberIn(MemberOf(server, "data"), "callsStarted");
  }
  return begun;
}

std::vector<int64_t> SocketNumbers() {
  std::vector<int64_t> numbers;
  const json servers = FromGrpc(grpc_channelz_get_servers(0));
  for (const json& server : MemberOf(servers, "server")) {
    const auto id = static_cast<intptr_t>(NumberIn(MemberOf(server, "ref"), "serverId"));
    int64_t next = 0;
    while (true) {
      const json page = FromGrpc(grpc_channelz_get_server_sockets(id, next, 0));
      const json& sockets = MemberOf(page, "socketRef");
      for (const json& socket : sockets) {
        numbers.push_back(static_cast<int64_t>(NumberIn(socket, "socketId")));
        next = numbers.back() + 1;
      }
      if (sockets.empty() || MemberOf(page, "end") == true) break;
    }
  }
  return numbers;
}

}  // namespace

StatusOr<ConnectionCounts> ParseConnectionCounts(std::string_view text) {
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const json& socket = MemberOf(parsed, "socket");
  const json& remote = MemberOf(MemberOf(socket, "remote"), "tcpip_address");
  const json& data = MemberOf(socket, "data");
  const json& encoded = MemberOf(remote, "ip_address");
  std::string address;
  if (!encoded.is_string() || !absl::Base64Unescape(encoded.get<std::string>(), &address)) {
    return NotFound("No connection with counts.");
  }
  ConnectionCounts counts;
  counts.peer = PeerOf(address, static_cast<uint16_t>(NumberIn(remote, "port")));
  counts.begun = NumberIn(data, "streamsStarted");
  counts.ended = NumberIn(data, "streamsSucceeded") + NumberIn(data, "streamsFailed");
  counts.messages = NumberIn(data, "messagesReceived");
  return counts;
}

void Connections::Add(int fd) {
  const std::string peer = PeerOf(fd).value_or("");
  MutexLock lock(&mutex_);
  const auto at = static_cast<size_t>(fd);
  if (peers_.size() <= at) peers_.resize(at + 1);
  const auto before = by_peer_.find(peers_[at]);
  if (before != by_peer_.end() && before->second.fd == fd) by_peer_.erase(before);
  peers_[at] = peer;
  by_peer_[peer] = {fd, CookieOf(fd)};
}

size_t Connections::Look() {
  const uint64_t requests = num_requests_.load(std::memory_order_relaxed);
  const uint64_t begun = CallsBegun();
  if (Less(begun - begun_before_, requests - requests_before_) <= kMostVain) return 0;
  begun_before_ = begun;
  requests_before_ = requests;
  const size_t closed = CloseVain();
  if (closed > 0) {
    KLOG_WARNING("{} connections are closed: too many of their calls sent no message", closed);
  }
  return closed;
}

size_t Connections::CloseVain() {
  size_t closed = 0;
  std::unordered_map<int64_t, ConnectionCounts> now;
  for (const int64_t number : SocketNumbers()) {
    const std::unique_ptr<char, void (*)(void*)> text(grpc_channelz_get_socket(number), &gpr_free);
    if (text == nullptr) continue;
    StatusOr<ConnectionCounts> parsed = ParseConnectionCounts(text.get());
    if (!parsed.ok()) continue;
    const ConnectionCounts& counts = *parsed;
    const ConnectionCounts& before = counts_before_[number];
    const uint64_t messages = counts.messages - before.messages;
    const uint64_t vain = Less(counts.begun - before.begun, messages);
    const uint64_t open =
        std::min(Less(counts.begun, counts.messages), Less(counts.begun, counts.ended));
    if ((open > kMostVain || (vain > kMostVain && vain > messages)) && Close(counts.peer)) {
      ++closed;
    } else {
      now[number] = *std::move(parsed);
    }
  }
  counts_before_.swap(now);
  return closed;
}

// The number may be another socket's by now: what is shut down is what its copy names. What it has
// received and gRPC has not read is nothing that anybody wants to read.
bool Connections::Close(const std::string& peer) {
  Connection connection;
  {
    MutexLock lock(&mutex_);
    const auto found = by_peer_.find(peer);
    if (found == by_peer_.end()) return false;
    connection = found->second;
  }
  // Of a file, which the number may be by now, a copy would not be closed without consequences.
  if (connection.cookie == 0 || CookieOf(connection.fd) != connection.cookie) return false;
  const int copy = fcntl(connection.fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return false;
  const bool same = CookieOf(copy) == connection.cookie;
  if (same) {
    shutdown(copy, SHUT_RDWR);
    while (recv(copy, nullptr, kReadBytes, MSG_TRUNC | MSG_DONTWAIT) > 0) {
    }
  }
  close(copy);
  return same;
}

}  // namespace koios::server
