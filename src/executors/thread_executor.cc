// SPDX-License-Identifier: Apache-2.0
#include "executors/thread_executor.h"

#include <exception>
#include <string>
#include <utility>

#include "env/quiet_thread.h"

namespace holdfast::executors {

std::optional<std::uint64_t> Performer::time_limit_ns(const kernel::OpenIntent& intent) const {
  return intent.effect->timeout_ns;
}

ThreadExecutor::ThreadExecutor(std::unique_ptr<Performer> performer, std::size_t most_waiting)
    : performer_(std::move(performer)),
      desk_(most_waiting,
            [this](const kernel::OpenIntent& intent) { return performer_->share_of(intent); }),
      thread_(env::quiet_thread([this] { run(); })) {}

ThreadExecutor::~ThreadExecutor() { ThreadExecutor::shut_down(); }

void ThreadExecutor::start(const kernel::OpenIntent& intent, Reports& reports) {
  if (desk_.start(intent, reports)) performer_->wake();
}

void ThreadExecutor::stop(const base::Hash& intent) {
  if (desk_.stop(intent)) performer_->wake();
}

bool ThreadExecutor::end_late(const base::Hash& intent) {
  if (!performer_->ends_late()) return Executor::end_late(intent);
  if (desk_.end_late(intent)) return true;
  performer_->wake();
  return false;
}

void ThreadExecutor::shut_down() {
  desk_.end();
  performer_->wake();
  const std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

// Nothing of ours throws, but what others wrote, and memory that is not there, may.
void ThreadExecutor::run() noexcept {
  std::string why = "it left";
  try {
    performer_->perform(desk_);
  } catch (const std::exception& thrown) {
    why = thrown.what();
  } catch (...) {
    why = "something unknown was thrown";
  }
  desk_.left(why);
}

}  // namespace holdfast::executors
