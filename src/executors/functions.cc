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
  std::unique_lock lock(mutex_);
  ++orders_;
  wake_one(std::move(lock));
}

// At most one thread is on its way to wake up, and wakes the next one if more is to be done: a
// batch of effects starts at once, and a wake-up takes longer than a short function. The mutex is
// given back first, so that the one that wakes need not wait for it.
void Functions::wake_one(std::unique_lock<std::mutex> lock) {
  if (orders_ == 0 || idle_ == 0 || is_waking_) return;
  is_waking_ = true;
  lock.unlock();
  changed_.notify_one();
}

std::size_t Functions::busy_threads() {
  const std::lock_guard lock(mutex_);
  return running_.size();
}

bool Functions::waits_for_thread(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  return running_.size() >= threads_.size() && !running_.contains(intent);
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
  retries_.end();
}

// Nothing: it is over.
std::optional<Functions::Job> Functions::next_job(const std::optional<Job>& before) {
  std::unique_lock lock(mutex_);
  if (before) running_.erase(before->intent.intent);
  for (;;) {
    ++idle_;
    while (orders_ == 0 && !ended_) {
      changed_.wait(lock);
      is_waking_ = false;
    }
    --idle_;
    if (ended_) return std::nullopt;
    --orders_;
    Orders orders = desk_.take(1);
    if (orders.starts.empty()) continue;  // it was stopped while it waited
    // The flag is there before stop() can ask for it.
    Job job{std::move(orders.starts.front()), std::make_shared<StopFlag>(false)};
    running_.emplace(job.intent.intent, Running{job.stopped, nullptr});
    wake_one(std::move(lock));
    return job;
  }
}

void Functions::run() {
  std::optional<Job> job;
  while ((job = next_job(job))) desk_.done(job->intent.intent, perform(*job));
}

// One that is stopped from now on is told so.
std::shared_ptr<LiveProgress> Functions::begin(const kernel::OpenIntent& intent) {
  Reports* const reports = desk_.reports_of(intent.intent);
  if (reports == nullptr) return nullptr;
  const auto progress =
      std::make_shared<LiveProgress>(intent.intent, intent.last_progress, *reports, retries_);
  const std::lock_guard lock(mutex_);
  Running& running = running_.at(intent.intent);
  running.progress = progress;
  if (*running.stopped) progress->close();
  return progress;
}

Receipt Functions::perform(const Job& job) {
  const auto progress = begin(job.intent);
  if (progress != nullptr) progress->begin();
  NoProgress none;
  Receipt receipt = call(job.intent, *job.stopped,
                         progress != nullptr ? static_cast<Progress&>(*progress) : none);
  if (progress != nullptr) progress->finish();  // a receipt comes after all of it
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
