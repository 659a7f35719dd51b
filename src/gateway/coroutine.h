// SPDX-License-Identifier: Apache-2.0
// A coroutine that begins at once and ends by itself, and what it waits with for an operation of
// Asio: co_await operation([&](auto then) { socket.async_read_some(buffer, then); });
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
