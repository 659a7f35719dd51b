// SPDX-License-Identifier: Apache-2.0
// A coroutine that begins at once and that nobody waits for; a part of one, for which it waits; and
// what both wait with for an operation of Asio:
//   co_await operation([&](auto then) { socket.async_read_some(buffer, then); });
#pragma once

#include <boost/system/error_code.hpp>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

namespace holdfast::gateway {

struct Coroutine {
  struct promise_type {
    Coroutine get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }  // none is thrown
  };
};

// co_await it: the waiter goes on when the part has ended, with the error that it returned.
class [[nodiscard]] Part {
 public:
  struct promise_type {
    std::coroutine_handle<> waiter = std::noop_coroutine();
    boost::system::error_code error = {};

    struct WakeWaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> ended) const noexcept {
        return ended.promise().waiter;
      }
      void await_resume() const noexcept {}
    };

    Part get_return_object() noexcept {
      return Part(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    WakeWaiter final_suspend() const noexcept { return {}; }
    void return_value(boost::system::error_code with) noexcept { error = with; }
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }  // none is thrown
  };

  // clang 14 does not make it in its place.
  Part(Part&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Part& operator=(Part&&) = delete;
  ~Part() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return handle_.done(); }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { handle_.promise().waiter = waiter; }
  boost::system::error_code await_resume() const noexcept { return handle_.promise().error; }

 private:
  explicit Part(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

struct Transferred {
  boost::system::error_code error;
  std::size_t bytes = 0;
};

template <class Start>
class Operation {
 public:
  explicit Operation(Start start) : start_(std::move(start)) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    start_(Then{this});
  }
  Transferred await_resume() const noexcept { return result_; }

 private:
  // As small as a pointer: Asio keeps it without taking memory of its own.
  struct Then {
    Operation* operation;
    void operator()(boost::system::error_code error, std::size_t bytes = 0) const {
      operation->result_ = {error, bytes};
      operation->waiter_.resume();
    }
  };

  Start start_;
  std::coroutine_handle<> waiter_;
  Transferred result_;
};

template <class Start>
Operation<Start> operation(Start start) {
  return Operation<Start>(std::move(start));
}

}  // namespace holdfast::gateway
