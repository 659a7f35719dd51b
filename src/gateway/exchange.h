// SPDX-License-Identifier: Apache-2.0
// Exchange: one request and its answer. A handler writes a document and answers, at once or later;
// whatever it asked for meanwhile comes back to the serving thread, and to this exchange only if it
// is still about the same request. A connection has one, and uses its memory again.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/buffer.h"
#include "gateway/event_stream.h"
#include "gateway/large_body.h"
#include "gateway/problem.h"
#include "gateway/request.h"
#include "gateway/route.h"
#include "gateway/service.h"
#include "gateway/target.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  explicit Exchange(Service& service) : service_(service), wake_(service.wake) {}

  // For the connection.

  // Finds out what is asked for; false: it is answered already, with a problem.
  bool begin(const Request& request);
  void handle();
  void refuse_before(const Problem& problem);  // of bytes that are no request
  void clear() noexcept {                      // the answer is written
    is_answered_ = false;
    request_ = nullptr;
    route_ = nullptr;
  }
  bool is_answered() const noexcept { return is_answered_; }
  const Route* route() const noexcept { return route_; }
  unsigned status() const noexcept { return status_; }
  bool leaves_connection() const noexcept { return leaves_connection_; }
  // Appends the whole answer, as it goes over the wire; of one that goes on, and of one with a
  // large body, its head.
  void write(codec::Buffer& out, std::string_view date, bool closes) const;
  std::unique_ptr<LargeBody> take_large_body() noexcept { return std::move(large_); }
  // Whoever asked may not have the answer any more, which has not come.
  void revoke(const Problem& problem);
  // Nothing is asked for the while: memory is not kept for it.
  void release_memory();
  // The connection is to go on, though there is no answer.
  void wake_connection() { wake_reader(); }
  // The client has left while it was to be answered: as if it had been.
  void give_up();
  // The connection is gone: nobody waits for the answer, and the request is not there any more.
  void let_go() noexcept;

  // Of an answer that goes on. The reader has what was taken before: asks for more, once.
  bool goes_on() const noexcept { return source_ != nullptr; }
  bool has_ended() const noexcept { return has_ended_; }  // with what is in `events`
  void ask_for_events();
  void say_that_it_lives();
  void break_off();  // without an end: the reader comes again, or has left

  // co_await exchange.events_come()
  auto events_come() noexcept {
    struct Awaiter {
      Exchange& exchange;
      bool await_ready() const noexcept {
        return exchange.has_ended_ || exchange.events_.size() != 0;
      }
      void await_suspend(std::coroutine_handle<> waiter) noexcept { exchange.waiter_ = waiter; }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this};
  }

  // co_await exchange.answered()
  auto answered() noexcept {
    struct Awaiter {
      Exchange& exchange;
      bool await_ready() const noexcept { return exchange.is_answered_; }
      void await_suspend(std::coroutine_handle<> waiter) noexcept { exchange.waiter_ = waiter; }
      void await_resume() const noexcept {}
    };
    return Awaiter{*this};
  }

  // For handlers.

  Service& service() noexcept { return service_; }
  const Request& request() const noexcept { return *request_; }
  const Target& target() const noexcept { return target_; }
  const std::string& path_value(std::size_t index) const { return values_.values[index]; }

  codec::Buffer& document() noexcept { return document_; }  // what to answer, as CBOR
  void answer(unsigned status);                             // with the document
  // Whether so many bytes more may wait to be sent to clients, and to those with this token.
  bool has_room_for(std::size_t bytes);
  // Whose answer it is, if it has more than a few bytes.
  const std::string& answer_account() const noexcept { return answer_account_; }
  void refuse_for_room(std::size_t bytes);
  void answer_text(unsigned status, std::string_view type, std::string_view text);
  void refuse(const Problem& problem);
  // What an engine refused; `unreadable` is what files are that cannot be read.
  void refuse(const Error& error, ProblemCode unreadable = ProblemCode::kInternal);
  void add_field(std::string_view name, std::string_view value);
  // Instead of "no-store"; it must outlive the answer.
  void cache(std::string_view how) noexcept { caching_ = how; }

  // To be called once if nobody waits for the answer any more.
  void if_let_go(std::function<void()> stop) { stop_ = std::move(stop); }

  // The same for other threads, which ask: true when nobody waits for the answer any more. Takes
  // the place of `if_let_go`.
  std::function<bool()> let_go_flag() {
    auto is_gone = std::make_shared<std::atomic<bool>>(false);
    if_let_go([is_gone] { is_gone->store(true); });
    return [is_gone] { return is_gone->load(); };
  }

  // Before a stream is asked for: false, and answered, if too many are read already.
  [[nodiscard]] bool takes_place_of_stream();

  // Answers with an event stream, whose events come from this source from now on; the first may be
  // put into `events` before. See gateway/event_stream.h.
  void begin_events(std::shared_ptr<EventSource> source);
  codec::Buffer& events() noexcept { return events_; }
  void events_are_there();
  void end_events();
  // Says so, and ends.
  void fail_events(const Error& error, ProblemCode unreadable = ProblemCode::kInternal);

  bool wants_events() const noexcept;  // it accepts an event stream

  // A number from the query; `otherwise` if it is not there. Nothing: it is answered already.
  std::optional<std::uint64_t> limit_in_query(std::uint64_t otherwise, std::uint64_t most);
  std::optional<std::uint64_t> number_in_query(std::string_view name, std::uint64_t otherwise,
                                               std::uint64_t most);

  // A text from the query; empty if it is not there.
  const std::string& text_in_query(std::string_view name) const;
  bool is_in_query(std::string_view name) const { return target_.find(name) != nullptr; }

  // The instance that the path names: its key. Nothing: it is answered already.
  std::optional<Bytes> key_in_path();

  // The same for whoever only looks: of a workflow that is gone, all that the key may be.
  std::optional<std::vector<Bytes>> keys_in_path();

  // Whose share of the server this request uses: the token's, or the worker's that the path names.
  // Empty: the server has no tokens.
  std::string account() const;

  Caller caller() const { return service_.caller_of ? service_.caller_of(*request_) : Caller(); }

  // Who sent the request, for the record: the name of the token, or "local" where none is needed.
  std::string asked_by() const {
    const Caller who = caller();
    return who.name.empty() ? "local" : who.name;
  }

  // The trace that the request is part of, as an engine takes it. What is none is not refused: it
  // is no fault of the request.
  Bytes trace() const;

  // What an engine is to call: `then(exchange, result)` follows on the serving thread.
  template <class T, class Function>
  Engine::Then<T> later(Function then) {
    return [self = shared_from_this(), number = number_, then = std::move(then)](Result<T> result) {
      // Not one reference into the server is used on this thread.
      Wake& wake = *self->wake_;
      wake.post([self, number, then, result = std::move(result)]() mutable {
        if (self->number_ == number) then(*self, std::move(result));
      });
    };
  }

  // Reads files on another thread: `read()` there, then `then(exchange, result)` here. False: too
  // many wait for that already.
  template <class Read, class Function>
  [[nodiscard]] bool try_read_files(Read read, Function then) {
    using T = std::decay_t<decltype(*read())>;
    const auto slot = std::make_shared<Slot>(service_.results);
    auto told = later<T>([slot, then = std::move(then)](Exchange& self, Result<T>&& result) {
      then(self, std::move(result));
    });
    return service_.helper.post([slot, read = std::move(read), told = std::move(told)] {
      slot->take();
      told(read());
    });
  }
  // What takes long has a thread of its own, which yields to all others, and a short line. `read`
  // is told how to find out whether the server stops, or the client is gone; who is gone before it
  // is their turn has none.
  template <class Read, class Function>
  void look_back(Read read, Function then) {
    using T = std::decay_t<decltype(*read(std::function<bool()>()))>;
    auto told = later<T>(std::move(then));
    Helper& helper = service_.past;
    const bool waits = helper.post(
        [&helper, read = std::move(read), told = std::move(told), is_gone = let_go_flag()] {
          if (is_gone()) return;
          told(read([&helper, is_gone] { return helper.is_stopping() || is_gone(); }));
        });
    if (!waits) refuse({ProblemCode::kFull, "too many requests that go back to the past"});
  }
  template <class Read, class Function>
  void read_files(Read read, Function then) {
    if (!try_read_files(std::move(read), std::move(then)))
      refuse({ProblemCode::kFull, "too many requests that read files"});
  }

  // Of the present request; what comes for another one is let go of.
  std::uint64_t number() const noexcept { return number_; }

  // What is still to come for this request is not waited for any more.
  void forget() noexcept { ++number_; }
  bool is_let_go() const noexcept { return is_let_go_; }

 private:
  void log_request(std::uint64_t took_ns) const;
  void finish();
  Problem problem_for(const Error& error, ProblemCode unreadable);
  void leave_place_of_stream() noexcept;
  void write_body();
  void hold_large_body();
  void wake_reader();
  void refuse_key(const base::Error& error);

  Service& service_;
  std::shared_ptr<Wake> wake_;
  const Request* request_ = nullptr;
  const Route* route_ = nullptr;
  Target target_;
  PathValues values_;
  codec::Buffer document_;
  codec::Buffer body_;
  std::unique_ptr<LargeBody> large_;  // instead of it
  std::chrono::steady_clock::time_point begun_;
  unsigned status_ = 0;
  std::string_view refused_;    // the code of the problem that it was answered with
  std::string refused_detail_;  // and its place and detail
  std::string_view type_;       // of the body
  static constexpr std::string_view kNotCached = "no-store";
  std::string_view caching_ = kNotCached;
  std::string more_fields_;
  std::uint64_t number_ = 0;
  std::string answer_account_;
  bool is_answered_ = false;
  bool is_let_go_ = false;
  std::function<void()> stop_;                  // what is awaited for the answer
  std::optional<std::string> place_of_stream_;  // taken, with this token
  std::shared_ptr<EventSource> source_;         // of an answer that goes on
  codec::Buffer events_;                        // of it, that were not taken yet
  bool is_asking_ = false;                      // the source
  bool has_ended_ = false;
  bool leaves_connection_ = true;  // in a state in which the next request can be read
  std::coroutine_handle<> waiter_;
};

}  // namespace holdfast::gateway
