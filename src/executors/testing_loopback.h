// SPDX-License-Identifier: Apache-2.0
// Sockets on the loopback interface, at ports that were free: one that listens, and one that does
// not. For tests only.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace holdfast::executors::testing {

// Nobody can connect to it, and nobody else has it.
class DeafPort {
 public:
  DeafPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~DeafPort() { ::close(socket_); }
  DeafPort(const DeafPort&) = delete;
  DeafPort& operator=(const DeafPort&) = delete;

  std::uint16_t port() const noexcept { return port_; }

 protected:
  const int socket_;

 private:
  std::uint16_t port_ = 0;
};

class Loopback : public DeafPort {
 public:
  Loopback() { EXPECT_EQ(::listen(socket_, 64), 0); }

  // The next connection; below 0: nobody comes any more.
  int accept() const { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }
  void stop() const { ::shutdown(socket_, SHUT_RDWR); }
};

}  // namespace holdfast::executors::testing
