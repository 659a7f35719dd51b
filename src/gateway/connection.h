// SPDX-License-Identifier: Apache-2.0
// Connection: one client: its bytes, its requests one after the other, its answers in that order.
// Answers to requests that came together leave together.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/buffer.h"
#include "gateway/access.h"
#include "gateway/coroutine.h"
#include "gateway/exchange.h"
#include "gateway/request_parser.h"
#include "gateway/service.h"

namespace holdfast::gateway {

using Time = std::chrono::steady_clock::time_point;
using PlainStream = boost::asio::ip::tcp::socket;
using TlsStream = boost::asio::ssl::stream<PlainStream>;

class Connection;

// What connections share. The serving thread's own.
struct Floor {
  Service service;
  Access access;
  Time now{};                                  // a little behind
  std::string date = {};                       // for answers
  bool awaits_tokens = false;                  // it is not known yet whether they have changed
  std::function<void(Connection&)> left = {};  // a connection has ended
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(Floor& floor);
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void begin() = 0;

  // Ends it if it is too slow.
  void check_time();

  // Ends an event stream whose reader may not have it any more.
  void check_access();

  // It is known again who may do what: what was held back for that goes on.
  void go_on();

  // The socket, while an answer or an event is awaited and nothing is read or written: whether the
  // client is still there must be asked. Otherwise -1.
  int silent_socket();

  // What poll() said of it. Who has ended only their own side may still want the answer, and gets
  // it if it comes soon.
  void hear_of_socket(short events);

  // The server stops: nothing new is read; what is under way is answered.
  void wind_up();

  void close();

  // The server has ended, and this did not end before it: it ends without its answer.
  void abandon();

 protected:
  enum class Stage : std::uint8_t { kIdle, kReading, kAnswering, kStreaming, kWriting, kEnding };

  virtual PlainStream& socket() noexcept = 0;

  template <class Stream>
  Coroutine run(std::shared_ptr<Connection> self, Stream& stream);

  // What it consists of, one after the other.
  template <class Stream>
  Part shake_hands(Stream& stream);
  template <class Stream>
  Part serve_requests(Stream& stream);  // until the last answer, or the first part of a stream
  template <class Stream>
  Part send_events(Stream& stream);
  template <class Stream>
  Part end_politely(Stream& stream);

  // Bytes came in; true: there is a request that is to be handled.
  bool take();
  void look_at_header();
  // Whether it may be handled is only known when the tokens are.
  bool must_wait() const;
  void handle();
  void write_answer();
  void enter(Stage stage);
  void count_body();
  void drop();
  void end();

  // Bytes of a request are here that is not whole.
  bool has_begun() const noexcept { return in_begin_ != in_end_ || is_header_known_; }

  Floor& floor_;
  RequestParser parser_;
  std::shared_ptr<Exchange> exchange_;
  std::vector<char> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  codec::Buffer out_;
  Stage stage_ = Stage::kIdle;
  Time deadline_ = Time::max();
  Time body_began_{};
  std::uint64_t access_seen_ = 0;  // Access::changes() when it was let in; kNotSeen
  std::size_t counted_body_ = 0;   // in Traffic::body_bytes
  bool is_first_ = true;           // the first request has not come
  bool is_header_known_ = false;
  bool is_held_back_ = false;  // a whole request
  bool closes_ = false;        // after what is in out_
  bool is_winding_up_ = false;
};

class PlainConnection final : public Connection {
 public:
  PlainConnection(Floor& floor, PlainStream socket)
      : Connection(floor), stream_(std::move(socket)) {}
  void begin() override { run(shared_from_this(), stream_); }

 private:
  PlainStream& socket() noexcept override { return stream_; }
  PlainStream stream_;
};

class TlsConnection final : public Connection {
 public:
  TlsConnection(Floor& floor, PlainStream socket, boost::asio::ssl::context& context)
      : Connection(floor), stream_(std::move(socket), context) {}
  void begin() override { run(shared_from_this(), stream_); }

 private:
  PlainStream& socket() noexcept override { return stream_.next_layer(); }
  TlsStream stream_;
};

}  // namespace holdfast::gateway
