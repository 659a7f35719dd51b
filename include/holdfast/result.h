// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or why there is none. No call of Holdfast throws but this: a Result that is
// asked for what it does not have throws std::bad_variant_access; want of memory, std::bad_alloc.
// Bodies of steps are the other way round: they may throw, StepError is how they fail (steps.h).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace holdfast {

enum class ErrorCode : std::uint8_t {
  kInvalid,      // the input is wrong; the same input will be refused again
  kTooLarge,     // the input passes a limit; the same input will be refused again
  kNotFound,     // the thing named does not exist
  kConflict,     // the request contradicts the present state; trying later may help
  kUnavailable,  // full or busy: nothing has happened; trying again helps
  kTimedOut,     // it has not happened within the time that was given; it may happen later
  kEnded,        // the engine has closed or ended: it may have happened, or was never tried
  kIo,           // the operating system refused; trying again may help
  kCorrupt,      // stored bytes are not what was written; trying again does not help
};

struct Error {
  ErrorCode code = ErrorCode::kInvalid;
  std::string message;  // with the place that it speaks of

  // It comes from the operating system or the storage, and the message may name files of this
  // machine, which is nothing to show to strangers.
  bool names_files = false;
};

template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that a function returns its value or its error and nothing around it.
  // NOLINTBEGIN(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Done {};  // the value of what has none

}  // namespace holdfast
