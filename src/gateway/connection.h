// SPDX-License-Identifier: Apache-2.0
// Connection: one client: its bytes, its requests one after the other, its answers in that order.
// Answers to requests that came together leave together. A client that says nothing costs no
// buffers.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <memory>
#include <optional>
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
  std::size_t cooled = 0;                      // connections that have given their buffers away
  std::function<void(Connection&)> left = {};  // a connection has ended
  std::shared_ptr<boost::asio::ssl::context> tls = {};  // for those that come; null: plain HTTP
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // The number tells which came first.
  Connection(Floor& floor, std::uint64_t number);
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void begin() = 0;

  // Ends it if it is too slow.
  void check_time();

  // Ends an event stream, or a wait for an answer, of whoever may not have it any more.
  void check_access();

  // It is known again who may do what: what was held back for that goes on.
  void go_on();

  // The socket, while an answer or an event is awaited and nothing is read or written: whether the
  // client is still there must be asked. Otherwise -1.
  int silent_socket();

  // What poll() said of it. Who has ended only their own side may still want the answer, and gets
  // it if it comes soon.
  void hear_of_socket(short events);

  // How little it would be missed if another one needed its place: the lowest goes first, and of
  // those the one that has been quiet for longest. Nothing: it is in use.
  enum class Worth : std::uint8_t {
    kNothing,   // a stranger that has said nothing, or a connection that ends anyway
    kStranger,  // that has said something, but not who it is
    kBeyond,    // more than the share of its token: it may be in the middle of something
    kIdle,      // somebody who is known, and asks nothing now
  };
  std::optional<Worth> worth() const;
  Time quiet_since() const noexcept { return quiet_since_; }
  std::uint64_t number() const noexcept { return number_; }

  // Whose answer waits to be sent.
  const std::string& answer_account() const noexcept { return waiting_of_.account(); }

  // When the client last took something of an answer that waits to be sent; nothing: none waits.
  std::optional<Time> taken_since() const;
  bool is_known() const noexcept { return is_known_; }

  // Ends it now, for want of room, and counts it out at once.
  void cut_off();
  bool is_cut_off() const noexcept { return is_cut_; }

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
  void begin_time();

  // What it consists of, one after the other.
  template <class Stream>
  Part shake_hands(Stream& stream);
  template <class Stream>
  Part serve_requests(Stream& stream);  // until the last answer, or the first part of a stream
  template <class Stream>
  Part write_rest(Stream& stream, std::size_t written);
  template <class Stream>
  Part send_events(Stream& stream);
  template <class Stream>
  Part end_politely(Stream& stream);

  enum class Taken : std::uint8_t { kMore, kHeader, kRequest };

  // Bytes came in. kHeader: the body is not read before it is known who sends it. kRequest: there
  // is one that is to be handled, or was refused.
  Taken take();
  void look_at_header();
  void check_body();
  // Whether it may be handled is only known when the tokens are.
  bool must_wait() const;
  std::optional<Problem> check_now();
  void handle();
  void write_answer();
  void enter(Stage stage);
  void count_body();
  void count_waiting(std::size_t bytes);
  bool is_beyond_share() const;
  void make_room_in();
  void cool_down();
  void drop();
  void end();

  // Bytes of a request are here that is not whole.
  bool has_begun() const noexcept { return in_begin_ != in_end_ || is_header_known_; }

  Floor& floor_;
  const std::uint64_t number_;
  RequestParser parser_;
  std::shared_ptr<Exchange> exchange_;
  std::vector<char> in_;  // empty while nothing is read into it
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  codec::Buffer out_;
  std::unique_ptr<LargeBody> large_;  // what follows it
  Share waiting_;                     // in Traffic::answer_bytes
  AccountShare waiting_of_;           // in Service::answer_bytes_of
  Stage stage_ = Stage::kIdle;
  Time deadline_ = Time::max();
  Time quiet_since_{};  // when it last said something, or took something
  Time body_began_{};
  std::uint64_t access_seen_ = 0;  // Access::changes() when it was let in; kNotSeen
  Share body_;                     // in Traffic::body_bytes
  AccountShare body_of_;           // in Service::body_bytes_of
  AccountShare place_of_;          // in Service::connections_of, when it is known whose it is
  std::string body_account_;       // whose body it is counted for
  bool is_known_ = false;          // it was let in somewhere that is not for everybody
  bool is_first_ = true;           // the first request has not come
  bool is_header_known_ = false;
  bool is_held_back_ = false;  // a whole request, or the header of one
  bool is_cooling_ = false;    // the read is taken back, to give its memory away
  bool is_cut_ = false;        // see cut_off
  bool closes_ = false;        // after what is in out_
  bool is_winding_up_ = false;
};

class PlainConnection final : public Connection {
 public:
  PlainConnection(Floor& floor, std::uint64_t number, PlainStream socket)
      : Connection(floor, number), stream_(std::move(socket)) {}
  void begin() override;

 private:
  PlainStream& socket() noexcept override { return stream_; }
  PlainStream stream_;
};

// What TLS needs is made when the client has said something.
class TlsConnection final : public Connection {
 public:
  TlsConnection(Floor& floor, std::uint64_t number, PlainStream socket)
      : Connection(floor, number), silent_(std::move(socket)) {}
  void begin() override;

 private:
  Coroutine listen(std::shared_ptr<Connection> self);
  PlainStream& socket() noexcept override { return stream_ ? stream_->next_layer() : silent_; }
  PlainStream silent_;
  std::optional<TlsStream> stream_;
};

}  // namespace holdfast::gateway
