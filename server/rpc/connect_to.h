// A bare connection to a server of this machine, for tests that speak to it in bytes.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdint>

#include "core/log.h"

namespace koios::server {

// `from`: the address that the server sees, 127.0.0.0/8. A read that hears nothing ends by itself.
inline int ConnectTo(uint16_t port, uint32_t from = INADDR_LOOPBACK) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(from);
  CHECK(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  const timeval patience{60, 0};
  CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
  return fd;
}

}  // namespace koios::server
