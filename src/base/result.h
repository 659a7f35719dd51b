// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error, with the member names of std::expected (which gcc 12 lacks in
// C++20). Nothing of ours throws; a caller that ignores a Result does not compile.
//
//   Result<Schema> compile(...) {
//     auto type = TRY(parse_type(text));   // returns the error to our caller, or yields the value
//     ...
//   }
//
// TRY is a statement expression: do not put a co_await inside it (gcc 12 crashes); await first. Nor
// put it behind anything that was made in the same expression, as the second part of a {...} or an
// argument of new: gcc 12 forgets what was made when TRY returns. Assign part by part instead.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace holdfast::base {

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // Implicit, so that a function returns its value or its error and nothing around it.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return (CHECK(has_value()), *std::get_if<0>(&state_)); }
  const T& value() const& { return (CHECK(has_value()), *std::get_if<0>(&state_)); }
  T&& value() && { return (CHECK(has_value()), std::move(*std::get_if<0>(&state_))); }

  T take() && { return std::move(*this).value(); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Error& error() & { return (CHECK(state_.index() == 1), *std::get_if<1>(&state_)); }
  const Error& error() const& { return (CHECK(state_.index() == 1), *std::get_if<1>(&state_)); }
  Error&& error() && { return (CHECK(state_.index() == 1), std::move(*std::get_if<1>(&state_))); }

 private:
  std::variant<T, Error> state_;
};

// Done, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return error_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  void value() const { CHECK(has_value()); }
  void take() && { value(); }

  Error& error() & { return (CHECK(error_.index() == 1), *std::get_if<1>(&error_)); }
  const Error& error() const& { return (CHECK(error_.index() == 1), *std::get_if<1>(&error_)); }
  Error&& error() && { return (CHECK(error_.index() == 1), std::move(*std::get_if<1>(&error_))); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace holdfast::base

// Yields the value of a Result, or returns its error from the enclosing function. The name differs
// each time because one TRY may stand inside another.
#define TRY(...) HOLDFAST_TRY_AS(HOLDFAST_JOIN(try_result_, __COUNTER__), __VA_ARGS__)
#define HOLDFAST_TRY_AS(name, ...)                         \
  __extension__({                                          \
    auto&& name = (__VA_ARGS__);                           \
    if (!name.has_value()) return std::move(name).error(); \
    std::move(name).take();                                \
  })
#define HOLDFAST_JOIN(a, b) HOLDFAST_JOIN_EXPANDED(a, b)
#define HOLDFAST_JOIN_EXPANDED(a, b) a##b
