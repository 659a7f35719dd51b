// SPDX-License-Identifier: Apache-2.0
#include "worker/task_table.h"

#include <algorithm>
#include <utility>

#include "worker/limits.h"

namespace holdfast::work {
namespace {

constexpr std::int64_t kMsInNs = 1'000'000;

// A task whose time limit is over has had its time already.
constexpr std::uint64_t kTimeoutGraceMs = 2'000;

constexpr std::uint64_t kLongestMs = std::uint64_t{366} * 24 * 3600 * 1000;

std::int64_t after_ms(std::int64_t now_ns, std::uint64_t ms) {
  return now_ns + static_cast<std::int64_t>(std::min(ms, kLongestMs)) * kMsInNs;
}

}  // namespace

TaskTable::TaskTable(Conversation& conversation, Outbox& outbox, LogLines& logs, env::Clock& clock,
                     Runners runners, Recipes* recipes)
    : conversation_(conversation),
      outbox_(outbox),
      logs_(logs),
      clock_(clock),
      runners_(std::move(runners)),
      recipes_(recipes) {
  for (const auto& runner : runners_)
    for (const std::string& type : runner->types()) by_type_.emplace(type, runner.get());
}

std::uint64_t TaskTable::wall_ns() {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.wall_ns()));
}

Runner* TaskTable::runner_for(const Task& task) const {
  if (task.kind != "task") return nullptr;
  const auto found = by_type_.find(task.type);
  return found == by_type_.end() ? nullptr : found->second;
}

void TaskTable::start(const Task& task) {
  Runner* const runner = runner_for(task);
  if (runner == nullptr) return give_back(task.dispatch, "refused");
  // It was on its way when its recipe went. What it was to resume with stays with it.
  if (recipes_ != nullptr && !recipes_->admit(task))
    return give_back(task.dispatch, "yield", task.resume);
  Running& running = tasks_[task.dispatch];
  running.runner = runner;
  running.started_ns = wall_ns();
  running.timeout_ms = task.timeout_ms;
  running.resume = task.resume;
  if (task.timeout_ms != 0) running.due_ns = after_ms(clock_.since_boot_ns(), task.timeout_ms);
  runner->start(task, *this);  // may have ended by now
}

void TaskTable::stop(const Stop& stop) {
  const auto found = tasks_.find(stop.dispatch);
  // A server repeats what it wants until it is done.
  if (found == tasks_.end() || found->second.stage != Stage::kRuns) return;
  ask(found->first, found->second, stop.reason, stop.grace_ms);
}

void TaskTable::ask_to_yield(const std::string& dispatch) {
  const auto found = tasks_.find(dispatch);
  if (found == tasks_.end() || found->second.stage != Stage::kRuns) return;
  found->second.is_to_yield = true;
  found->second.runner->stop(dispatch, StopReason::kPreempt, Urgency::kSoft);
}

// Its lease goes with it.
TaskTable::Running TaskTable::take(Tasks::iterator at) {
  Running running = std::move(at->second);
  if (recipes_ != nullptr) recipes_->release(at->first);
  tasks_.erase(at);
  return running;
}

void TaskTable::drop(const std::string& dispatch) {
  const auto found = tasks_.find(dispatch);
  if (found == tasks_.end()) return;
  take(found).runner->abandon(dispatch);
}

void TaskTable::stop_all(std::uint64_t grace_ms) {
  for (auto& [dispatch, running] : tasks_)
    if (running.stage == Stage::kRuns) ask(dispatch, running, StopReason::kDrain, grace_ms);
}

void TaskTable::give_back_all() {
  while (!tasks_.empty()) {
    const std::string dispatch = tasks_.begin()->first;
    drop(dispatch);
    give_back(dispatch, "drain");
  }
}

void TaskTable::ask(const std::string& dispatch, Running& running, StopReason reason,
                    std::uint64_t grace_ms) {
  running.stage = Stage::kAsked;
  running.reason = reason;
  running.due_ns = after_ms(clock_.since_boot_ns(), grace_ms);
  running.runner->stop(dispatch, reason, Urgency::kSoft);
}

void TaskTable::next_stage(const std::string& dispatch, Running& running) {
  switch (running.stage) {
    case Stage::kRuns: return ask(dispatch, running, StopReason::kTimeout, kTimeoutGraceMs);
    case Stage::kAsked:
      running.stage = Stage::kTerminated;
      running.due_ns = after_ms(clock_.since_boot_ns(), kKillGrace.count());
      return running.runner->stop(dispatch, running.reason, Urgency::kTerminate);
    case Stage::kTerminated:
      running.stage = Stage::kKilled;
      running.due_ns = after_ms(clock_.since_boot_ns(), kKillGrace.count());
      return running.runner->stop(dispatch, running.reason, Urgency::kKill);
    case Stage::kKilled:
      // A function that does not listen, or a process that the system does not let go.
      running.runner->abandon(dispatch);
      return ended(dispatch,
                   Ended::failed("task.unstoppable", "the task did not end when stopped"));
  }
}

void TaskTable::keep_time() {
  const std::int64_t now = clock_.since_boot_ns();
  std::vector<std::string> due;
  for (const auto& [dispatch, running] : tasks_)
    if (running.due_ns <= now) due.push_back(dispatch);
  for (const std::string& dispatch : due) {
    const auto found = tasks_.find(dispatch);
    if (found != tasks_.end()) next_stage(dispatch, found->second);
  }
}

std::int64_t TaskTable::due_ns() const {
  std::int64_t due = INT64_MAX;
  for (const auto& [dispatch, running] : tasks_) due = std::min(due, running.due_ns);
  return due;
}

void TaskTable::ended(const std::string& dispatch, Ended ended) {
  const auto found = tasks_.find(dispatch);
  if (found == tasks_.end()) return;
  const Running running = take(found);
  const bool was_asked = running.stage != Stage::kRuns;
  const bool went_well = ended.status == Status::kOk;
  if (was_asked && running.reason == StopReason::kTimeout) {
    ended = {.status = Status::kTimeout,
             .error = {
                 "task.timeout",
                 running.timeout_ms == 0
                     ? "the task was stopped because its time limit is over"
                     : "the task had not ended after " + std::to_string(running.timeout_ms) + " ms",
                 true}};
  } else if (!went_well &&
             (was_asked ? running.reason == StopReason::kPreempt : running.is_to_yield)) {
    // It has left nothing new: the next run begins where this one did.
    return give_back(dispatch, "yield", running.resume);
  } else if (was_asked && !went_well && running.reason == StopReason::kDrain) {
    return give_back(dispatch, "drain");
  } else if (was_asked && !went_well) {
    ended.status = Status::kCancelled;
    ended.error.code = "task.cancelled";
  } else if (went_well && ended.payload.size() > conversation_.max_result_bytes()) {
    ended = Ended::failed("task.result_too_large",
                          "the result has " + std::to_string(ended.payload.size()) +
                              " bytes; the server takes " +
                              std::to_string(conversation_.max_result_bytes()),
                          false);
  }
  const Times times{running.started_ns, wall_ns()};
  std::string entry = done_entry(dispatch, ended, times);
  if (entry.size() >= kMaxReportBytes) {
    ended = Ended::failed("task.result_too_large", "the result is too large as JSON", false);
    entry = done_entry(dispatch, ended, times);
  }
  report(dispatch, EntryList::kDone, entry);
}

void TaskTable::yielded(const std::string& dispatch, base::Bytes resume) {
  const auto found = tasks_.find(dispatch);
  if (found == tasks_.end()) return;
  const bool was_asked = found->second.stage != Stage::kRuns;
  if (was_asked ? found->second.reason == StopReason::kCancelled ||
                      found->second.reason == StopReason::kTimeout
                : !found->second.is_to_yield)
    return ended(dispatch,
                 Ended::failed("task.yielded", "the task yielded without being asked to"));
  const bool is_too_large = resume.size() > kMaxResumeBytes;
  if (is_too_large)
    line(dispatch, true,
         "what the task yielded with has " + std::to_string(resume.size()) + " bytes; at most " +
             std::to_string(kMaxResumeBytes) + " are kept, so it begins again where it did before");
  const Running running = take(found);
  if (was_asked && running.reason == StopReason::kDrain) return give_back(dispatch, "drain");
  give_back(dispatch, "yield", is_too_large ? running.resume : resume);
}

void TaskTable::line(const std::string& dispatch, bool is_error, std::string_view text) {
  if (tasks_.contains(dispatch)) logs_.add(dispatch, wall_ns(), is_error, text);
}

void TaskTable::progress(const std::string& dispatch, std::string json) {
  if (json.size() <= kMaxProgressBytes) conversation_.progressed(dispatch, std::move(json));
}

void TaskTable::give_back(const std::string& dispatch, std::string_view reason,
                          base::ByteView resume) {
  report(dispatch, EntryList::kBack, back_entry(dispatch, reason, resume));
}

void TaskTable::report(const std::string& dispatch, EntryList list, const std::string& entry) {
  outbox_.put(dispatch, held_entry(list, entry));
  conversation_.reported(dispatch);
}

}  // namespace holdfast::work
