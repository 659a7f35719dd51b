// SPDX-License-Identifier: Apache-2.0
// StepTask: what a step returns that is a coroutine. It begins to run when the engine, or the
// coroutine that awaits it, lets it; at a wait that is not over it stops for good: its frame is
// destroyed, with everything that is in it, and the body begins anew when the answer has come. So a
// wait is nothing that a body could catch.
//
// What may be awaited: waits of a TaskContext, and other StepTasks.
//
// Beside a co_await nothing may stand in braces that gcc before 14 would destroy twice: what is
// given to a StepTask that is awaited is better kept in a variable, where it also lives long
// enough.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace holdfast {

template <class T>
class StepTask;

namespace detail {

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
inline constexpr bool kDestroysBracesTwice = true;
#else
inline constexpr bool kDestroysBracesTwice = false;
#endif

// A wait of a step: for an event, or for the end of a child. They are in step_waits.h.
template <class T>
inline constexpr bool kIsWait = false;
// One that is made with something in braces, most likely.
template <class T>
inline constexpr bool kIsPreparedWait = false;
template <class T>
inline constexpr bool kIsTask = false;
template <class T>
inline constexpr bool kIsTask<StepTask<T>> = true;

class TaskPromise {
 public:
  // Goes back to the coroutine that awaits it, if there is one.
  struct AtEnd {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().then_ ? ended.promise().then_ : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  AtEnd final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

  template <class Awaited>
  Awaited&& await_transform(Awaited&& awaited) const noexcept {
    using Plain = std::remove_cvref_t<Awaited>;
    static_assert(kIsWait<Plain> || kIsTask<Plain>,
                  "holdfast: a step awaits waits of its TaskContext and other StepTasks, and "
                  "nothing else");
    static_assert(
        !kDestroysBracesTwice || !kIsPreparedWait<Plain> || std::is_lvalue_reference_v<Awaited>,
        "holdfast: keep a wait that has a question or options in a variable and await "
        "that; gcc before 14 destroys what stands in braces beside a co_await twice");
    return std::forward<Awaited>(awaited);
  }

  void set_then(std::coroutine_handle<> then) noexcept { then_ = then; }

 protected:
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  std::coroutine_handle<> then_;
  std::exception_ptr thrown_;
};

template <class T>
class TaskPromiseOf : public TaskPromise {
 public:
  void return_value(T value) { value_.emplace(std::move(value)); }
  T result() {
    rethrow();
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromiseOf<void> : public TaskPromise {
 public:
  void return_void() const noexcept {}
  void result() const { rethrow(); }
};

}  // namespace detail

template <class T>
class [[nodiscard]] StepTask {
 public:
  struct promise_type : detail::TaskPromiseOf<T> {
    StepTask get_return_object() {
      return StepTask(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  StepTask(StepTask&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  StepTask(const StepTask&) = delete;
  StepTask& operator=(StepTask&&) = delete;
  ~StepTask() {
    if (frame_) frame_.destroy();
  }

  // For who runs it, once: true: it has come to its end; false: it waits.
  bool run() {
    frame_.resume();
    return frame_.done();
  }
  // What it came to, or what it threw.
  T result() { return frame_.promise().result(); }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> then) noexcept {
    frame_.promise().set_then(then);
    return frame_;
  }
  T await_resume() { return result(); }

 private:
  explicit StepTask(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

}  // namespace holdfast
