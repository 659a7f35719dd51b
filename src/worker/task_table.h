// SPDX-License-Identifier: Apache-2.0
// TaskTable: the tasks that run, from the moment they are handed out until their report is in the
// outbox. It starts them with the runner of their type, keeps their time limits, and ends those
// that are to be stopped: first the task is asked, then its process group gets SIGTERM, then
// SIGKILL.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/clock.h"
#include "worker/conversation.h"
#include "worker/log_lines.h"
#include "worker/outbox.h"
#include "worker/recipes.h"
#include "worker/runner.h"

namespace holdfast::work {

class TaskTable : public TaskReports {
 public:
  using Runners = std::vector<std::unique_ptr<Runner>>;

  TaskTable(Conversation& conversation, Outbox& outbox, LogLines& logs, env::Clock& clock,
            Runners runners, Recipes* recipes = nullptr);

  void start(const Task& task);
  void stop(const Stop& stop);

  // Asks it to make room, without force: it may go on, and be asked to stop for another reason.
  void ask_to_yield(const std::string& dispatch);

  // Ends it at once; nobody waits for its result.
  void drop(const std::string& dispatch);

  // Asks all tasks to end and gives them back unless they end well.
  void stop_all(std::uint64_t grace_ms);

  // Gives back all tasks at once.
  void give_back_all();

  // Time limits and graces that are over; due_ns() says when there is one.
  void keep_time();
  std::int64_t due_ns() const;

  const Runners& runners() const noexcept { return runners_; }
  bool empty() const noexcept { return tasks_.empty(); }

  void ended(const std::string& dispatch, Ended ended) override;
  void yielded(const std::string& dispatch, base::Bytes resume) override;
  void line(const std::string& dispatch, bool is_error, std::string_view text) override;
  void progress(const std::string& dispatch, std::string json) override;

 private:
  enum class Stage : std::uint8_t { kRuns, kAsked, kTerminated, kKilled };
  struct Running {
    Runner* runner = nullptr;
    std::uint64_t started_ns = 0;  // by the wall clock
    std::uint64_t timeout_ms = 0;
    Stage stage = Stage::kRuns;
    StopReason reason = StopReason::kCancelled;  // once it is asked
    bool is_to_yield = false;                    // it was asked to make room
    base::Bytes resume = {};                     // what an earlier run left
    std::int64_t due_ns = INT64_MAX;             // when the next stage begins
  };
  using Tasks = std::map<std::string, Running>;

  Runner* runner_for(const Task& task) const;
  std::uint64_t wall_ns();
  void ask(const std::string& dispatch, Running& running, StopReason reason,
           std::uint64_t grace_ms);
  Running take(Tasks::iterator at);
  void next_stage(const std::string& dispatch, Running& running);
  void report(const std::string& dispatch, EntryList list, const std::string& entry);
  void give_back(const std::string& dispatch, std::string_view reason, base::ByteView resume = {});

  Conversation& conversation_;
  Outbox& outbox_;
  LogLines& logs_;
  env::Clock& clock_;
  const Runners runners_;
  Recipes* const recipes_;  // null: there is no registry
  std::map<std::string, Runner*, std::less<>> by_type_;
  Tasks tasks_;
};

}  // namespace holdfast::work
