// SPDX-License-Identifier: Apache-2.0
// A client that sends what it is told to, well-formed or not. For tests only.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace holdfast::gateway::testing {

struct Reply {
  int status = 0;  // 0: the connection ended before there was one
  std::string head;
  std::string body;

  bool has(std::string_view text) const { return body.find(text) != std::string::npos; }
};

class Client {
 public:
  // Whether anybody can connect.
  static bool is_heard_at(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = at(port);
    const int failed =
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(socket);
    return failed == 0;
  }

  // `room` is what the system keeps of what was not read, about; 0: as much as it likes.
  explicit Client(std::uint16_t port, int room = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (room != 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    const sockaddr_in address = at(port);
    timeval patience{.tv_sec = 120, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  Reply receive() {
    Reply reply;
    std::size_t end = 0;
    while ((end = held_.find("\r\n\r\n")) == std::string::npos)
      if (!fill()) return reply;
    reply.head = held_.substr(0, end + 4);
    held_.erase(0, end + 4);
    const std::size_t length = reply.head.find("Content-Length: ");
    const std::size_t size =
        length == std::string::npos
            ? 0
            : static_cast<std::size_t>(std::atoll(reply.head.c_str() + length + 16));
    while (held_.size() < size)
      if (!fill()) return {};
    reply.body = held_.substr(0, size);
    held_.erase(0, size);
    reply.status = std::atoi(reply.head.c_str() + 9);
    return reply;
  }

  Reply get(std::string_view path, std::string_view fields = "") {
    send("GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) +
         "\r\n");
    return receive();
  }
  Reply post(std::string_view path, std::string_view body, std::string_view fields = "",
             std::string_view type = "application/json") {
    send("POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " +
         std::string(type) + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(fields) + "\r\n" + std::string(body));
    return receive();
  }

  // Everything up to the end of the connection.
  std::string rest() {
    while (fill()) continue;
    return std::move(held_);
  }

  // Whether the server has closed the connection, which is waited for.
  bool has_ended() {
    while (fill()) continue;
    return held_.empty();
  }

 private:
  static sockaddr_in at(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  bool fill() {
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    if (count <= 0) return false;
    held_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  std::string held_;
};

}  // namespace holdfast::gateway::testing
