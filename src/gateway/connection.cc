// SPDX-License-Identifier: Apache-2.0
#include "gateway/connection.h"

#include <poll.h>

#include <algorithm>
#include <cstring>

namespace holdfast::gateway {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kLeastInBytes = std::size_t{16} << 10;
constexpr std::size_t kKeptOutBytes = std::size_t{64} << 10;

// When so much is to be written, it is written before the next request is looked at.
constexpr std::size_t kMostOutBytes = std::size_t{256} << 10;

// What is read and thrown away behind a last answer, so that the client gets to see it: a
// connection that is closed with bytes unread is reset.
constexpr std::size_t kMostThrownAway = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kEndingTime{2'000};

// The request was not looked at with the tokens of now.
constexpr std::uint64_t kNotSeen = ~std::uint64_t{0};

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(Floor& floor)
    : floor_(floor),
      parser_(floor.service.limits),
      exchange_(std::make_shared<Exchange>(floor.service)),
      in_(std::max(floor.service.limits.header_bytes, kLeastInBytes)) {}

void Connection::enter(Stage stage) {
  const Limits& limits = floor_.service.limits;
  const bool is_new = stage_ != stage;
  stage_ = stage;
  switch (stage) {
    case Stage::kIdle: deadline_ = floor_.now + limits.idle_time; return;
    case Stage::kReading:
      if (parser_.state() == RequestParser::State::kBody) {
        const auto at_slowest = std::chrono::milliseconds(
            parser_.body_size() * 1000 / std::max<std::size_t>(limits.body_bytes_per_second, 1));
        deadline_ = body_began_ + limits.body_time + at_slowest;
      } else if (is_new) {
        deadline_ = floor_.now + limits.header_time;
      }
      return;
    case Stage::kAnswering: deadline_ = Time::max(); return;
    case Stage::kStreaming: deadline_ = floor_.now + limits.keep_alive_time; return;
    case Stage::kWriting: deadline_ = floor_.now + limits.write_time; return;
    case Stage::kEnding: deadline_ = floor_.now + kEndingTime; return;
  }
}

void Connection::check_time() {
  if (floor_.now < deadline_) return;
  if (stage_ == Stage::kStreaming) return exchange_->say_that_it_lives();
  if (stage_ == Stage::kAnswering) return drop();
  if (stage_ != Stage::kEnding) ++floor_.service.traffic.timeouts;
  // Whoever has said nothing is told nothing: it could be taken for the answer to what comes next.
  if (stage_ == Stage::kReading && has_begun()) {
    exchange_->refuse_before({ProblemCode::kTimeout, "the request took too long"});
    codec::Buffer answer;
    exchange_->write(answer, floor_.date, true);
    // As much as there is room for: a client that is too slow is not waited for.
    if (socket().non_blocking()) {
      error_code ignored;
      socket().write_some(asio::buffer(answer.data(), answer.size()), ignored);
    }
  }
  close();
}

void Connection::check_access() {
  if (exchange_->goes_on() && floor_.access.check(parser_.request(), exchange_->route()->role))
    exchange_->break_off();
}

int Connection::silent_socket() {
  const bool is_silent = stage_ == Stage::kAnswering || stage_ == Stage::kStreaming;
  return is_silent && socket().is_open() ? socket().native_handle() : -1;
}

void Connection::hear_of_socket(short events) {
  if (stage_ == Stage::kStreaming) return exchange_->break_off();
  if (stage_ != Stage::kAnswering) return;
  if ((events & (POLLERR | POLLHUP)) != 0) return drop();
  deadline_ = std::min(deadline_, floor_.now + floor_.service.limits.gone_time);
}

// The client is gone, and its place is free for others though the answer has not come.
void Connection::drop() {
  ++floor_.service.traffic.gone;
  close();
  exchange_->give_up();
}

void Connection::wind_up() {
  is_winding_up_ = true;
  if (stage_ == Stage::kStreaming) return exchange_->break_off();
  if (stage_ == Stage::kIdle || (stage_ == Stage::kReading && !has_begun())) close();
}

void Connection::abandon() {
  close();
  if (stage_ == Stage::kStreaming) return exchange_->break_off();
  if (stage_ != Stage::kAnswering) return;
  exchange_->forget();
  exchange_->refuse({ProblemCode::kUnavailable, "the server has ended"});
}

void Connection::close() {
  error_code ignored;
  socket().close(ignored);
}

void Connection::count_body() {
  const std::size_t now = parser_.body_size();
  floor_.service.traffic.body_bytes += now;
  floor_.service.traffic.body_bytes -= counted_body_;
  counted_body_ = now;
}

// The header is whole: what can be refused now is refused before its body is taken.
void Connection::look_at_header() {
  is_header_known_ = true;
  body_began_ = floor_.now;
  const Request& request = parser_.request();
  if (!exchange_->begin(request)) return;
  access_seen_ = must_wait() ? kNotSeen : floor_.access.changes();
  if (access_seen_ == kNotSeen) return;
  if (const auto problem = floor_.access.check(request, exchange_->route()->role))
    exchange_->refuse(*problem);
}

bool Connection::must_wait() const {
  return floor_.awaits_tokens && exchange_->route()->role != Role::kAnybody;
}

// Its token may have been revoked while the body came.
void Connection::handle() {
  if (access_seen_ != floor_.access.changes()) {
    access_seen_ = floor_.access.changes();
    if (const auto problem = floor_.access.check(parser_.request(), exchange_->route()->role))
      return exchange_->refuse(*problem);
  }
  exchange_->handle();
}

void Connection::go_on() {
  if (std::exchange(is_held_back_, false)) handle();
}

bool Connection::take() {
  using State = RequestParser::State;
  if (in_begin_ != in_end_)
    in_begin_ += parser_.take({in_.data() + in_begin_, in_end_ - in_begin_});
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
  } else if (in_end_ == in_.size()) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  if (parser_.state() == State::kHeader && in_end_ == in_.size())
    exchange_->refuse_before({ProblemCode::kHeaderTooLarge, "the header has too many bytes"});
  if (parser_.state() == State::kRefused) exchange_->refuse_before(parser_.problem());
  if (parser_.state() == State::kBody || parser_.state() == State::kWhole) {
    if (!is_header_known_) look_at_header();
    count_body();
  }
  if (parser_.state() == State::kBody) {
    const Service& service = floor_.service;
    if (!exchange_->is_answered() && service.traffic.body_bytes > service.limits.all_body_bytes)
      exchange_->refuse({ProblemCode::kFull, "too many bodies are being received"});
    if (!exchange_->is_answered() && parser_.wants_continue())
      out_.append(kContinue.data(), kContinue.size());
  }
  return exchange_->is_answered() || parser_.state() == State::kWhole;
}

void Connection::write_answer() {
  const bool is_whole = parser_.state() == RequestParser::State::kWhole;
  if (exchange_->goes_on() && parser_.request().method == Method::kHead) {
    exchange_->break_off();
    exchange_->events().clear();
  }
  closes_ = !is_whole || !exchange_->leaves_connection() || is_winding_up_ ||
            !parser_.request().keep_alive || parser_.request().minor_version == 0;
  exchange_->write(out_, floor_.date, closes_);
  is_header_known_ = false;
  is_first_ = false;
  if (closes_) return;
  parser_.begin_next();
  count_body();
  exchange_->clear();
}

void Connection::end() {
  exchange_->let_go();
  floor_.service.traffic.body_bytes -= counted_body_;
  counted_body_ = 0;
  close();
  floor_.left(*this);
}

template <class Stream>
Part Connection::shake_hands(Stream& stream) {
  error_code failed;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    const Transferred shaken = co_await operation(
        [&](auto then) { stream.async_handshake(asio::ssl::stream_base::server, then); });
    failed = shaken.error;
  } else {
    stream.non_blocking(true, failed);
  }
  co_return failed;
}

template <class Stream>
Part Connection::serve_requests(Stream& stream) {
  error_code failed;
  while (true) {
    const bool has_request = take();
    if (has_request) {
      enter(Stage::kAnswering);
      if (!exchange_->is_answered()) {
        is_held_back_ = must_wait();
        if (!is_held_back_) handle();
        co_await exchange_->answered();
        if (!socket().is_open()) co_return failed;  // nobody is there to read it
      }
      write_answer();
      // What came together with it may be another one.
      if (!closes_ && in_begin_ != in_end_ && out_.size() < kMostOutBytes) continue;
    }
    std::size_t written = 0;
    if constexpr (!std::is_same_v<Stream, TlsStream>) {
      // Most answers fit, and then nobody has to be asked to call back.
      if (out_.size() != 0) {
        written = stream.write_some(asio::buffer(out_.data(), out_.size()), failed);
        if (failed == asio::error::would_block) failed = {};
      }
    }
    if (!failed && written != out_.size()) {
      enter(Stage::kWriting);
      const Transferred rest = co_await operation([&](auto then) {
        asio::async_write(stream, asio::buffer(out_.data() + written, out_.size() - written), then);
      });
      failed = rest.error;
    }
    if (out_.size() > kKeptOutBytes) out_ = codec::Buffer();
    out_.clear();
    if (failed || closes_) co_return failed;
    if (has_request && in_begin_ != in_end_) continue;
    if (is_winding_up_ && !has_begun()) co_return failed;
    enter(is_first_ || has_begun() ? Stage::kReading : Stage::kIdle);
    const Transferred read = co_await operation([&](auto then) {
      stream.async_read_some(asio::buffer(in_.data() + in_end_, in_.size() - in_end_), then);
    });
    in_end_ += read.bytes;
    if (read.error) co_return read.error;
  }
}

template <class Stream>
Part Connection::send_events(Stream& stream) {
  error_code failed;
  // Its token may have been revoked while the first events were looked for.
  if (access_seen_ != floor_.access.changes()) check_access();
  while (true) {
    out_.clear();
    std::swap(out_, exchange_->events());
    if (out_.size() != 0) {
      enter(Stage::kWriting);
      const Transferred written = co_await operation([&](auto then) {
        asio::async_write(stream, asio::buffer(out_.data(), out_.size()), then);
      });
      failed = written.error;
      if (out_.size() > kKeptOutBytes) out_ = codec::Buffer();
    }
    if (is_winding_up_) exchange_->break_off();
    if (failed || (exchange_->has_ended() && exchange_->events().size() == 0)) co_return failed;
    if (exchange_->events().size() != 0) continue;  // taken before more is asked for
    enter(Stage::kStreaming);
    exchange_->ask_for_events();
    co_await exchange_->events_come();
  }
}

// So that the client gets to see the last answer.
template <class Stream>
Part Connection::end_politely(Stream& stream) {
  enter(Stage::kEnding);
  error_code failed;
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    const Transferred told = co_await operation([&](auto then) { stream.async_shutdown(then); });
    failed = told.error;
  } else {
    stream.shutdown(PlainStream::shutdown_send, failed);
  }
  for (std::size_t thrown = 0; !failed && thrown < kMostThrownAway;) {
    const Transferred read = co_await operation(
        [&](auto then) { socket().async_read_some(asio::buffer(in_.data(), in_.size()), then); });
    failed = read.error;
    thrown += read.bytes;
  }
  co_return failed;
}

template <class Stream>
Coroutine Connection::run([[maybe_unused]] std::shared_ptr<Connection> self, Stream& stream) {
  stage_ = Stage::kReading;
  deadline_ = floor_.now + floor_.service.limits.header_time;
  error_code failed = co_await shake_hands(stream);
  if (!failed) failed = co_await serve_requests(stream);
  if (!failed && exchange_->goes_on()) failed = co_await send_events(stream);
  if (!failed && socket().is_open()) failed = co_await end_politely(stream);
  end();
}

template Coroutine Connection::run(std::shared_ptr<Connection> self, PlainStream& stream);
template Coroutine Connection::run(std::shared_ptr<Connection> self, TlsStream& stream);

}  // namespace holdfast::gateway
