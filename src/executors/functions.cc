// SPDX-License-Identifier: Apache-2.0
#include "executors/functions.h"

#include <exception>
#include <utility>

#include "env/quiet_thread.h"

namespace holdfast::executors {

Functions::Functions(std::map<std::string, Function, std::less<>> functions,
                     const FunctionOptions& options)
    : functions_(std::move(functions)), desk_(options.waiting) {
  for (std::size_t i = 0; i < options.threads; ++i)
    threads_.push_back(env::quiet_thread([this] { run(); }));
}

Functions::~Functions() { Functions::shut_down(); }

void Functions::start(const kernel::OpenIntent& intent, Reports& reports) {
  if (!desk_.start(intent, reports)) return;
  {
    const std::lock_guard lock(mutex_);
    ++orders_;
  }
  changed_.notify_one();  // whoever is woken need not wait for the mutex
}

void Functions::stop(const base::Hash& intent) {
  if (!desk_.stop(intent)) return;
  const std::lock_guard lock(mutex_);
  if (const auto found = running_.find(intent); found != running_.end()) found->second.stop();
}

void Functions::shut_down() {
  desk_.end();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (const auto& [intent, running] : running_) running.stop();
    changed_.notify_all();
  }
  const std::lock_guard lock(joining_);
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

// Nothing: it is over. The flags are there before anybody can be told to stop what was taken.
std::optional<Orders> Functions::wait_for_orders() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return orders_ != 0 || ended_; });
  if (ended_) return std::nullopt;
  --orders_;
  Orders orders = desk_.take(1);  // none, if it was stopped while it waited
  for (const kernel::OpenIntent& intent : orders.starts)
    running_.emplace(intent.intent, Running{std::make_shared<StopFlag>(false), nullptr});
  return orders;
}

void Functions::run() {
  while (const auto orders = wait_for_orders()) {
    for (const kernel::OpenIntent& intent : orders->starts)
      desk_.done(intent.intent, perform(intent));
  }
}

// One that is stopped from now on is told so.
std::shared_ptr<LiveProgress> Functions::begin(const kernel::OpenIntent& intent) {
  Reports* const reports = desk_.reports_of(intent.intent);
  if (reports == nullptr) return nullptr;
  const auto progress =
      std::make_shared<LiveProgress>(intent.intent, intent.last_progress, *reports);
  const std::lock_guard lock(mutex_);
  Running& running = running_.at(intent.intent);
  running.progress = progress;
  if (*running.stopped) progress->close();
  return progress;
}

Receipt Functions::perform(const kernel::OpenIntent& intent) {
  std::shared_ptr<StopFlag> stopped;
  {
    const std::lock_guard lock(mutex_);
    stopped = running_.at(intent.intent).stopped;
  }
  const auto progress = begin(intent);
  if (progress != nullptr) progress->begin();
  NoProgress none;
  Receipt receipt =
      call(intent, *stopped, progress != nullptr ? static_cast<Progress&>(*progress) : none);
  if (progress != nullptr) progress->finish();  // a receipt comes after all of it
  const std::lock_guard lock(mutex_);
  running_.erase(intent.intent);
  return receipt;
}

Receipt Functions::call(const kernel::OpenIntent& intent, const StopFlag& stopped,
                        Progress& progress) const {
  const auto function = functions_.find(intent.effect->name);
  if (function == functions_.end())
    return failed("handler.unknown", "nobody here handles " + intent.effect->name);
  try {
    return function->second(intent, stopped, progress);
  } catch (const std::exception& thrown) {
    return failed("handler.exception", thrown.what());
  } catch (...) {
    return failed("handler.exception", "something that is no std::exception was thrown");
  }
}

}  // namespace holdfast::executors
