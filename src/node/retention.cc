// SPDX-License-Identifier: Apache-2.0
#include "node/retention.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "codec/buffer.h"
#include "codec/view.h"
#include "defs/system_names.h"
#include "kernel/forget_list.h"
#include "kernel/limits.h"
#include "kernel/record_view.h"
#include "tasks/messages.h"

namespace holdfast::node {
namespace {

// How many ticks one look becomes.
constexpr std::size_t kTicksPerLook = 4;
constexpr std::size_t kNamesPerLook = kTicksPerLook * kernel::kMaxForgottenPerTick;

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

Retention::Retention(env::Clock& clock, Times keep, Send send, std::function<void()> wake,
                     store::RecordNumber durable)
    : clock_(clock), keep_(keep), send_(std::move(send)), wake_(std::move(wake)) {
  answers_->record = durable;
}

std::optional<std::int64_t> Retention::next_ns(store::RecordNumber seen) const {
  if (answers_->pending != 0 || seen < answers_->record) return std::nullopt;
  return next_ns_;
}

// Or sooner, if something else is due before.
void Retention::look_after(std::uint64_t wait_ns) {
  const std::int64_t at =
      clock_.since_boot_ns() + static_cast<std::int64_t>(std::min(wait_ns, kLongestWaitNs));
  next_ns_ = next_ns_ ? std::min(*next_ns_, at) : at;
}

void Retention::index_changed() {
  if (next_ns_) return;
  for (const std::uint64_t keep_ns : {keep_.instances_ns, keep_.graphs_ns})
    if (keep_ns != 0) look_after(keep_ns);
}

// Nothing is: it is said when to look again.
base::Result<Retention::Ended> Retention::find_due(store::HistoryIndex& index,
                                                   const store::OverQuery& of,
                                                   std::uint64_t keep_ns, std::uint64_t now_ns) {
  if (keep_ns == 0) return Ended();
  const auto oldest = TRY(index.oldest_over_ns(of));
  if (oldest && *oldest + keep_ns <= now_ns)
    return index.over_since(now_ns - keep_ns, kNamesPerLook, of);
  if (oldest) look_after(*oldest + keep_ns - now_ns);
  return Ended();
}

// Those whose tasks are all gone, and tasks of the others.
base::Result<Retention::Ended> Retention::find_due_graphs(store::HistoryIndex& index,
                                                          std::uint64_t now_ns) {
  const Ended graphs =
      TRY(find_due(index, {.only = std::string(defs::kGraphWorkflow)}, keep_.graphs_ns, now_ns));
  Ended due;
  for (const store::EndedInstance& graph : graphs) {
    const std::size_t before = due.size();
    const std::string_view id = codec::View::of(graph.key).text().value_or("");
    for (const auto& [first, end] : tasks::task_key_ranges(id)) {
      if (due.size() >= kNamesPerLook) return due;
      Ended some =
          TRY(index.over_between(defs::kTaskWorkflow, first, end, kNamesPerLook - due.size()));
      due.insert(due.end(), std::make_move_iterator(some.begin()),
                 std::make_move_iterator(some.end()));
    }
    if (due.size() == before && due.size() < kNamesPerLook) due.push_back(graph);
  }
  return due;
}

base::Result<void> Retention::look(store::HistoryIndex& index) {
  if (answers_->is_refused.exchange(false)) {
    named_.reset();
    next_ns_.reset();
    look_after(kSecond);
    return {};
  }
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.wall_ns()));
  next_ns_.reset();
  Ended ended = TRY(find_due(
      index, {.but = {std::string(defs::kGraphWorkflow), std::string(defs::kTaskWorkflow)}},
      keep_.instances_ns, now));
  if (ended.empty()) ended = TRY(find_due_graphs(index, now));
  if (ended.empty()) {
    named_.reset();
    return {};
  }
  const store::EndedInstance& first = ended.front();
  if (named_ && named_->workflow == first.workflow && named_->key == first.key &&
      named_->last_record == first.last_record) {
    next_ns_.reset();
    look_after(kLongestWaitNs);
    return base::Error(base::ErrorCode::kConflict, store::kHistoryFile,
                       "shows the end of " + kernel::instance_name(first.workflow, first.key) +
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
    next_ns_.reset();
    look_after(kSecond);
    return {};
  }
  return {};
}

}  // namespace holdfast::node
