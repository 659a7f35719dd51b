// SPDX-License-Identifier: Apache-2.0
// An HTTP server on plain sockets of the loopback interface: one thread a connection, one request a
// connection, and it says what it likes. For tests only.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "executors/testing_loopback.h"

namespace holdfast::executors::testing {

class Server {
 public:
  // From the whole request to the whole response; empty: none, and the connection stays open until
  // the server goes.
  using Handler = std::function<std::string(const std::string&)>;

  explicit Server(Handler handler) : handler_(std::move(handler)) {
    thread_ = std::thread([this] { accept_all(); });
  }
  ~Server() {
    listens_.stop();
    thread_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    for (const int connection : connections_) ::close(connection);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const { return listens_.port(); }
  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port()) + path;
  }
  int requests() const { return requests_; }
  int hung_up() const { return hung_up_; }  // clients that went before they were answered
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void accept_all() {
    while (true) {
      const int connection = listens_.accept();
      if (connection < 0) return;
      const std::lock_guard lock(mutex_);
      connections_.push_back(connection);
      threads_.emplace_back([this, connection] { serve(connection); });
    }
  }
  static std::size_t body_size(const std::string& head) {
    std::size_t size = 0;
    const std::size_t at = head.find("Content-Length: ");
    if (at != std::string::npos)
      std::from_chars(head.data() + at + 16, head.data() + head.size(), size);
    return size;
  }
  void serve(int connection) {
    std::string request;
    char piece[4096];
    while (true) {
      const std::size_t end = request.find("\r\n\r\n");
      if (end != std::string::npos && request.size() >= end + 4 + body_size(request)) break;
      const auto got = ::recv(connection, piece, sizeof piece, 0);
      if (got <= 0) return;
      request.append(piece, static_cast<std::size_t>(got));
    }
    {
      const std::lock_guard lock(mutex_);
      heard_.push_back(request);
    }
    ++requests_;
    const std::string response = handler_(request);
    if (response.empty()) {
      if (::recv(connection, piece, sizeof piece, 0) <= 0) ++hung_up_;
      return;
    }
    for (std::size_t sent = 0; sent < response.size();) {
      const auto count =
          ::send(connection, response.data() + sent, response.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) break;
      sent += static_cast<std::size_t>(count);
    }
    ::shutdown(connection, SHUT_RDWR);
  }

  Handler handler_;
  Loopback listens_;
  std::atomic<int> requests_ = 0;
  std::atomic<int> hung_up_ = 0;
  std::mutex mutex_;
  std::vector<std::string> heard_;
  std::vector<int> connections_;
  std::vector<std::thread> threads_;
  std::thread thread_;
};

inline std::string answer(const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n" + headers + "\r\n" + body;
}

}  // namespace holdfast::executors::testing
