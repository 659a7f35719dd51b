// SPDX-License-Identifier: Apache-2.0
#include "node/retention.h"

#include <algorithm>
#include <span>
#include <utility>

#include "codec/buffer.h"
#include "kernel/forget_list.h"
#include "kernel/limits.h"
#include "kernel/record_view.h"

namespace holdfast::node {
namespace {

// How many ticks one look becomes.
constexpr std::size_t kTicksPerLook = 4;

constexpr std::uint64_t kSecond = 1'000'000'000;

// The wall clock may jump, and a thread that waits does not hear of it.
constexpr std::uint64_t kLongestWaitNs = 3600 * kSecond;

Input forget(std::span<const store::EndedInstance> ended) {
  std::vector<kernel::ForgetName> names;
  for (const store::EndedInstance& one : ended)
    names.push_back({one.workflow, one.key, one.last_record});
  codec::Buffer list;
  kernel::write_forget_list(list, names);
  return Input::forget({list.view()});
}

}  // namespace

Retention::Retention(env::Clock& clock, std::uint64_t keep_ns, Send send,
                     std::function<void()> wake, store::RecordNumber durable)
    : clock_(clock), keep_ns_(keep_ns), send_(std::move(send)), wake_(std::move(wake)) {
  answers_->record = durable;
}

std::optional<std::int64_t> Retention::next_ns(store::RecordNumber seen) const {
  if (answers_->pending != 0 || seen < answers_->record) return std::nullopt;
  return next_ns_;
}

void Retention::look_after(std::uint64_t wait_ns) {
  next_ns_ = clock_.since_boot_ns() + static_cast<std::int64_t>(std::min(wait_ns, kLongestWaitNs));
}

void Retention::index_changed() {
  if (!next_ns_) look_after(keep_ns_);
}

base::Result<void> Retention::look(store::HistoryIndex& index) {
  if (answers_->is_refused.exchange(false)) {
    named_.reset();
    look_after(kSecond);
    return {};
  }
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.wall_ns()));
  const auto oldest = TRY(index.oldest_over_ns());
  if (!oldest || *oldest + keep_ns_ > now) {
    named_.reset();
    next_ns_.reset();
    if (oldest) look_after(*oldest + keep_ns_ - now);
    return {};
  }
  const auto ended =
      TRY(index.over_since(now - keep_ns_, kTicksPerLook * kernel::kMaxForgottenPerTick));
  const store::EndedInstance& first = ended.front();
  if (named_ && named_->workflow == first.workflow && named_->key == first.key &&
      named_->last_record == first.last_record) {
    look_after(kLongestWaitNs);
    return base::Error(base::ErrorCode::kConflict, store::kHistoryFile,
                       "shows the end of " + kernel::instance_text(first.workflow, first.key) +
                           ", which the world does not know of");
  }
  named_ = first;
  next_ns_ = 0;  // as soon as the index has seen what came of it
  return send(ended);
}

base::Result<void> Retention::send(const std::vector<store::EndedInstance>& ended) {
  std::span<const store::EndedInstance> rest = ended;
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), kernel::kMaxForgottenPerTick));
    rest = rest.subspan(part.size());
    ++answers_->pending;
    const auto heard = [answers = answers_, wake = wake_](const kernel::Answer& answer) {
      if (const auto* accepted = std::get_if<kernel::Accepted>(&answer)) {
        answers->record = std::max(answers->record.load(), accepted->record);
      } else {
        answers->is_refused = true;
      }
      --answers->pending;
      wake();
    };
    auto sent = send_(forget(part), heard);
    if (sent) continue;
    --answers_->pending;
    named_.reset();
    // It is full, or ends: later, or never.
    look_after(kSecond);
    return {};
  }
  return {};
}

}  // namespace holdfast::node
