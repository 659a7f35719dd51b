// SPDX-License-Identifier: Apache-2.0
#include "gateway/connection.h"

#include <poll.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "workers/desk.h"

namespace holdfast::gateway {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// What is read at once: as much as most requests have, then more, up to this or a whole header.
constexpr std::size_t kFirstInBytes = std::size_t{4} << 10;
constexpr std::size_t kMostInBytes = std::size_t{16} << 10;
constexpr std::size_t kKeptOutBytes = std::size_t{64} << 10;

// When so much is to be written, it is written before the next request is looked at.
constexpr std::size_t kMostOutBytes = std::size_t{64} << 10;

// A client that has asked nothing for so long is kept without buffers.
constexpr std::chrono::milliseconds kWarmTime{1'000};

// To a POST that takes nothing, many who have nothing to say say it as an empty object.
constexpr std::size_t kMostOfNothing = 1024;

// What is read and thrown away behind a last answer, so that the client gets to see it: a
// connection that is closed with bytes unread is reset.
constexpr std::size_t kMostThrownAway = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kEndingTime{2'000};

// The request was not looked at with the tokens of now.
constexpr std::uint64_t kNotSeen = ~std::uint64_t{0};

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Connection(Floor& floor, std::uint64_t number)
    : floor_(floor),
      number_(number),
      parser_(floor.service.limits),
      exchange_(std::make_shared<Exchange>(floor.service)),
      waiting_(floor.service.traffic.answer_bytes),
      waiting_of_(floor.service.answer_bytes_of),
      body_(floor.service.traffic.body_bytes),
      body_of_(floor.service.body_bytes_of),
      place_of_(floor.service.connections_of) {}

void Connection::begin_time() {
  stage_ = Stage::kReading;
  quiet_since_ = floor_.now;
  deadline_ = floor_.now + floor_.service.limits.header_time;
}

void Connection::enter(Stage stage) {
  const Limits& limits = floor_.service.limits;
  const bool is_new = stage_ != stage;
  stage_ = stage;
  if (is_new) quiet_since_ = floor_.now;
  switch (stage) {
    case Stage::kIdle:
      if (is_new) deadline_ = floor_.now + limits.idle_time;
      return;
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
  if (stage_ == Stage::kIdle && !is_cooling_ && !in_.empty() &&
      floor_.now - quiet_since_ >= kWarmTime)
    cool_down();
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
  if (exchange_->goes_on()) {
    if (floor_.access.check(parser_.request(), exchange_->route()->role)) exchange_->break_off();
    return;
  }
  if (stage_ != Stage::kAnswering || is_held_back_ || exchange_->is_answered()) return;
  access_seen_ = floor_.access.changes();
  if (const auto problem = floor_.access.check(parser_.request(), exchange_->route()->role))
    exchange_->revoke(*problem);
}

// What a request has needed is given away. In the clear the read that waits is taken back, as it
// has a buffer: the socket is waited for instead.
void Connection::cool_down() {
  is_cooling_ = true;
  ++floor_.cooled;
  exchange_->release_memory();
  parser_.release_memory();
  out_ = codec::Buffer();
  if (!socket().non_blocking()) return;  // TLS reads into buffers of its own
  error_code ignored;
  socket().cancel(ignored);
}

std::optional<Connection::Worth> Connection::worth() const {
  if (is_cut_) return std::nullopt;
  switch (stage_) {
    case Stage::kEnding: return Worth::kNothing;
    case Stage::kReading:
      if (is_known_) break;
      return is_first_ && !has_begun() ? Worth::kNothing : Worth::kStranger;
    case Stage::kIdle: return is_known_ ? Worth::kIdle : Worth::kStranger;
    case Stage::kWriting:
      if (is_known_) break;
      return Worth::kStranger;
    case Stage::kAnswering:
    case Stage::kStreaming: return std::nullopt;
  }
  if (is_beyond_share()) return Worth::kBeyond;
  return std::nullopt;
}

bool Connection::is_beyond_share() const {
  const Service& service = floor_.service;
  const std::string& account = place_of_.account();
  return !account.empty() &&
         sum_of(service.connections_of, account) > service.limits.connections_of_token;
}

std::optional<Time> Connection::taken_since() const {
  if (stage_ != Stage::kWriting || is_cut_) return std::nullopt;
  return quiet_since_;
}

void Connection::cut_off() {
  is_cut_ = true;
  count_waiting(0);
  place_of_.clear();
  close();
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
  body_.set(now);
  body_of_.set(body_account_, now);
}

void Connection::count_waiting(std::size_t bytes) {
  waiting_.set(bytes);
  waiting_of_.set(exchange_->answer_account(), bytes);
}

// The header is whole: what can be refused now is refused before its body is taken.
void Connection::look_at_header() {
  is_header_known_ = true;
  body_began_ = floor_.now;
  body_account_.clear();
  if (!exchange_->begin(parser_.request())) return;
  access_seen_ = kNotSeen;
  if (must_wait()) return;
  if (const auto problem = check_now()) exchange_->refuse(*problem);
}

bool Connection::must_wait() const {
  return floor_.awaits_tokens && exchange_->route()->role != Role::kAnybody;
}

// Why it may not, as things are now.
std::optional<Problem> Connection::check_now() {
  const Request& request = parser_.request();
  const Route& route = *exchange_->route();
  access_seen_ = floor_.access.changes();
  if (auto problem = floor_.access.check(request, route.role)) return problem;
  if (route.role == Role::kEnrolled) {
    const workers::Desk* const desk = floor_.service.desk;
    if (desk == nullptr || !desk->knows(exchange_->path_value(0), Access::bearer_of(request)))
      return Problem{ProblemCode::kUnauthenticated, "this is not the secret of the worker"};
  }
  if (route.role != Role::kAnybody && !std::exchange(is_known_, true))
    place_of_.set(exchange_->account(), 1);
  if (route.takes == Takes::kNothing && route.method != Method::kPost && request.has_body)
    return Problem{ProblemCode::kBadBody, "this takes no body"};
  if (parser_.state() == RequestParser::State::kBody) body_account_ = exchange_->account();
  return std::nullopt;
}

// Of a body that is not whole yet.
void Connection::check_body() {
  const Service& service = floor_.service;
  const bool is_of_nothing = exchange_->route()->takes == Takes::kNothing;
  if (is_of_nothing && parser_.body_size() > kMostOfNothing)
    return exchange_->refuse({ProblemCode::kTooLarge, "this takes no body"});
  if (service.traffic.body_bytes > service.limits.all_body_bytes)
    return exchange_->refuse({ProblemCode::kFull, "too many bodies are being received"});
  if (sum_of(service.body_bytes_of, body_account_) > service.limits.body_bytes_of_token)
    exchange_->refuse({ProblemCode::kFull, "too many bodies are being received with this token"});
}

// Its token may have been revoked while the body came.
void Connection::handle() {
  if (access_seen_ != floor_.access.changes()) {
    if (const auto problem = check_now()) return exchange_->refuse(*problem);
  }
  exchange_->handle();
}

void Connection::go_on() {
  if (!std::exchange(is_held_back_, false)) return;
  if (parser_.state() == RequestParser::State::kWhole) return handle();
  if (const auto problem = check_now()) return exchange_->refuse(*problem);
  exchange_->wake_connection();  // to read the body
}

Connection::Taken Connection::take() {
  using State = RequestParser::State;
  if (in_begin_ != in_end_)
    in_begin_ += parser_.take({in_.data() + in_begin_, in_end_ - in_begin_});
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
  } else if (in_end_ == in_.size() && in_begin_ != 0) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  const std::size_t most = std::max(floor_.service.limits.header_bytes, kMostInBytes);
  if (parser_.state() == State::kHeader && in_end_ - in_begin_ >= most)
    exchange_->refuse_before({ProblemCode::kHeaderTooLarge, "the header has too many bytes"});
  if (parser_.state() == State::kRefused) exchange_->refuse_before(parser_.problem());
  if (parser_.state() == State::kBody || parser_.state() == State::kWhole) {
    if (!is_header_known_) look_at_header();
    count_body();
  }
  if (parser_.state() == State::kBody && !exchange_->is_answered()) {
    // Nobody's bytes are taken before it is known whose they are.
    if (access_seen_ == kNotSeen) return Taken::kHeader;
    check_body();
    if (!exchange_->is_answered() && parser_.wants_continue())
      out_.append(kContinue.data(), kContinue.size());
  }
  const bool is_request = exchange_->is_answered() || parser_.state() == State::kWhole;
  return is_request ? Taken::kRequest : Taken::kMore;
}

// There is always some: what the parser leaves is a header that is not too long, or a short line.
void Connection::make_room_in() {
  const std::size_t most = std::max(floor_.service.limits.header_bytes, kMostInBytes);
  const bool is_body = parser_.state() == RequestParser::State::kBody;
  if (in_.empty() || in_end_ == in_.size() || is_body)
    in_.resize(is_body ? most : std::min(most, std::max(kFirstInBytes, 2 * in_.size())));
  CHECK(in_end_ < in_.size());
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
  large_ = exchange_->take_large_body();
  if (large_ && parser_.request().method == Method::kHead) large_.reset();
  is_header_known_ = false;
  is_first_ = false;
  if (closes_) return;
  parser_.begin_next();
  count_body();
  exchange_->clear();
}

void Connection::end() {
  exchange_->let_go();
  parser_.begin_next();
  count_body();
  count_waiting(0);
  place_of_.clear();
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
  constexpr bool kIsPlain = !std::is_same_v<Stream, TlsStream>;
  error_code failed;
  while (true) {
    const Taken taken = take();
    if (taken == Taken::kHeader) {
      enter(Stage::kAnswering);
      is_held_back_ = true;
      co_await exchange_->answered();
      if (!socket().is_open()) co_return failed;
      if (!exchange_->is_answered()) continue;  // the body may come
    }
    const bool has_request = taken != Taken::kMore;
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
      if (!closes_ && !large_ && in_begin_ != in_end_ && out_.size() < kMostOutBytes) continue;
    }
    std::size_t written = 0;
    if constexpr (kIsPlain) {
      // Most answers fit, and then nobody has to be asked to call back.
      if (out_.size() != 0) {
        written = stream.write_some(asio::buffer(out_.data(), out_.size()), failed);
        if (failed == asio::error::would_block) failed = {};
      }
    }
    if (!failed && (written != out_.size() || large_))
      failed = co_await write_rest(stream, written);
    if (out_.size() > kKeptOutBytes) out_ = codec::Buffer();
    out_.clear();
    if (failed || closes_) co_return failed;
    if (has_request && in_begin_ != in_end_) continue;
    if (is_winding_up_ && !has_begun()) co_return failed;
    enter(is_first_ || has_begun() ? Stage::kReading : Stage::kIdle);
    if constexpr (kIsPlain) {
      if (in_.empty()) {  // nothing is kept for a client that says nothing
        const Transferred heard =
            co_await operation([&](auto then) { stream.async_wait(PlainStream::wait_read, then); });
        if (heard.error) co_return heard.error;
      }
    }
    make_room_in();
    const Transferred read = co_await operation([&](auto then) {
      stream.async_read_some(asio::buffer(in_.data() + in_end_, in_.size() - in_end_), then);
    });
    in_end_ += read.bytes;
    const bool was_cooling = std::exchange(is_cooling_, false);
    if (was_cooling && read.error == asio::error::operation_aborted && socket().is_open()) {
      in_ = {};
      continue;
    }
    if (read.error) co_return read.error;
  }
}

// What is left of out_, and the large body behind it. Each part of it has its time.
template <class Stream>
Part Connection::write_rest(Stream& stream, std::size_t written) {
  const Limits& limits = floor_.service.limits;
  std::size_t of_part = limits.answer_part_bytes;  // the first one begins now
  for (bool has_more = large_ != nullptr;;) {
    while (written != out_.size()) {
      const std::size_t held = large_ ? large_->in_memory() : 0;
      count_waiting(out_.size() - written + held);
      if (of_part >= limits.answer_part_bytes) {
        of_part = 0;
        enter(Stage::kWriting);
      }
      const Transferred sent = co_await operation([&](auto then) {
        stream.async_write_some(asio::buffer(out_.data() + written, out_.size() - written), then);
      });
      if (sent.error) co_return sent.error;
      written += sent.bytes;
      of_part += sent.bytes;
      quiet_since_ = floor_.now;
    }
    if (!has_more) break;
    has_more = large_->next(out_, limits.answer_part_bytes);
    written = 0;
  }
  large_.reset();
  count_waiting(0);
  co_return error_code();
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
      failed = co_await write_rest(stream, 0);
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
  in_.resize(kFirstInBytes);
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
  error_code failed = co_await shake_hands(stream);
  if (!failed) failed = co_await serve_requests(stream);
  if (!failed && exchange_->goes_on()) failed = co_await send_events(stream);
  if (!failed && socket().is_open()) failed = co_await end_politely(stream);
  end();
}

void PlainConnection::begin() {
  begin_time();
  run(shared_from_this(), stream_);
}

void TlsConnection::begin() {
  begin_time();
  listen(shared_from_this());
}

Coroutine TlsConnection::listen(std::shared_ptr<Connection> self) {
  const Transferred heard =
      co_await operation([&](auto then) { silent_.async_wait(PlainStream::wait_read, then); });
  if (heard.error || !silent_.is_open()) {
    end();
    co_return;
  }
  stream_.emplace(std::move(silent_), *floor_.tls);
  run(std::move(self), *stream_);
}

}  // namespace holdfast::gateway
