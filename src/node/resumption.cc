// SPDX-License-Identifier: Apache-2.0
#include "node/resumption.h"

#include <utility>

namespace holdfast::node {

base::Result<void> Resumption::go_on(const TryStart& try_start) {
  for (auto line = waiting_.begin(); line != waiting_.end();) {
    TRY(start_some(line->second, try_start));
    line = line->second.empty() ? waiting_.erase(line) : std::next(line);
  }
  if (waiting_.empty() && is_more_) return look(try_start);
  return {};
}

base::Result<void> Resumption::start_some(Line& line, const TryStart& try_start) {
  while (!line.empty()) {
    const kernel::Intent* intent = TRY(world_.find_intent(line.front()));
    if (intent != nullptr && !try_start(world_.command_of(line.front(), *intent))) return {};
    line.pop_front();
    --count_;
  }
  return {};
}

// In the order of the intents, so that it is known where to go on.
base::Result<void> Resumption::look(const TryStart& try_start) {
  is_more_ = false;
  const bool counts = !std::exchange(has_counted_, true);
  if (counts) world_.begin_counting_intents();
  return world_.visit_intents([&](const base::Hash& hash, const kernel::Intent& intent) {
    if (counts) world_.count_intent(intent);
    if (is_more_) return true;  // only counted
    if (intent.opened_at() >= opened_before_ || (after_ && hash <= *after_)) return true;
    const kernel::OpenIntent open = world_.command_of(hash, intent);
    if (open.effect->in_kernel != kernel::InKernel::kNo) return true;
    const std::string& kind = open.effect->executor.kind;
    if (waiting_.contains(kind) || !try_start(open)) {
      is_more_ = count_ == most_waiting_;
      if (is_more_) return counts;
      waiting_[kind].push_back(hash);
      ++count_;
    }
    after_ = hash;
    return true;
  });
}

}  // namespace holdfast::node
