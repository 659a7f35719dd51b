// SPDX-License-Identifier: Apache-2.0
// Errors: all that is wrong with something, in the order in which it was found. The first
// kMaxErrors are kept and the rest is only counted: a small text could otherwise ask for a very
// large answer.
#pragma once

#include <utility>
#include <vector>

#include "base/error.h"

namespace holdfast::base {

inline constexpr std::size_t kMaxErrors = 1000;

class Errors {
 public:
  using value_type = Error;
  using const_iterator = std::vector<Error>::const_iterator;

  void push_back(Error error) {
    ++reported_;
    if (kept_.size() < kMaxErrors) kept_.push_back(std::move(error));
  }

  // Puts those of `later` behind these.
  void append(Errors later) {
    const std::size_t reported = reported_ + later.reported_;
    for (Error& error : later.kept_) push_back(std::move(error));
    reported_ = reported;
  }

  bool empty() const noexcept { return kept_.empty(); }

  // How many there were. More than size() if some were not kept.
  std::size_t reported() const noexcept { return reported_; }

  // Those that were kept.
  std::size_t size() const noexcept { return kept_.size(); }
  const_iterator begin() const noexcept { return kept_.begin(); }
  const_iterator end() const noexcept { return kept_.end(); }
  const Error& operator[](std::size_t index) const { return kept_[index]; }

 private:
  std::vector<Error> kept_;
  std::size_t reported_ = 0;
};

}  // namespace holdfast::base
