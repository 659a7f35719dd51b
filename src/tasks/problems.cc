// SPDX-License-Identifier: Apache-2.0
#include "tasks/problems.h"

#include <algorithm>
#include <utility>

#include "tasks/limits.h"

namespace holdfast::tasks {

bool Problems::is_full() const noexcept { return kept_.size() >= kMaxProblems; }

void Problems::add(base::ErrorCode code, std::string where, std::string message) {
  const auto is_same = [&](const base::Error& kept) {
    return kept.where() == where && kept.message() == message;
  };
  if (std::any_of(kept_.begin(), kept_.end(), is_same)) return;
  if (is_full()) {
    ++dropped_;
  } else {
    kept_.push_back({code, std::move(where), std::move(message)});
  }
}

base::Errors Problems::take() && {
  if (dropped_ > 0)
    kept_.push_back(
        {base::ErrorCode::kTooLarge, "and " + std::to_string(dropped_) + " more errors"});
  return std::move(kept_);
}

}  // namespace holdfast::tasks
