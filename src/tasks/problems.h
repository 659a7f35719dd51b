// SPDX-License-Identifier: Apache-2.0
// Problems: everything that is wrong with a document, in the order in which it was found. The first
// kMaxProblems are kept and the rest is counted. The same problem at the same place is kept once: a
// mistake in the template shows in every node.
#pragma once

#include <string>
#include <string_view>

#include "base/errors.h"

namespace holdfast::tasks {

class Problems {
 public:
  void add(std::string where, std::string message) {
    add(base::ErrorCode::kInvalid, std::move(where), std::move(message));
  }
  void add_too_large(std::string where, std::string message) {
    add(base::ErrorCode::kTooLarge, std::move(where), std::move(message));
  }

  bool empty() const noexcept { return kept_.empty(); }

  // Nothing more is kept, so help such as "did you mean" need not be worked out.
  bool is_full() const noexcept;

  // The kept ones, then one that says how many more there were.
  base::Errors take() &&;

 private:
  void add(base::ErrorCode code, std::string where, std::string message);

  base::Errors kept_;
  std::size_t dropped_ = 0;
};

}  // namespace holdfast::tasks
