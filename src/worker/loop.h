// SPDX-License-Identifier: Apache-2.0
// Loop: a worker from start to end, on one thread: it puts together what the runners, the outbox,
// the conversation with the server and the link do.
//
// A result goes into the outbox, is made durable there together with all others that ended in the
// same turn, and is sent then. If the outbox cannot be written, results are sent all the same, and
// no new work is asked for until it can be written again.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/clock.h"
#include "worker/conversation.h"
#include "worker/home.h"
#include "worker/link.h"
#include "worker/task_table.h"

namespace holdfast::work {

struct LoopOptions {
  std::uint64_t drain_ms = 60'000;  // how long running tasks have when the worker is to end
  int signals = -1;                 // a signalfd; each signal that is read from it drains
  std::function<void(std::string_view)> log;
};

class Loop {
 public:
  Loop(LoopOptions options, Home& home, env::Clock& clock, Link& link, Conversation& conversation,
       TaskTable& tasks, Recipes* recipes = nullptr);

  // Until the worker has drained, or cannot go on.
  base::Result<void> run();

  // From any thread. The second time: at once.
  void drain() noexcept;

 private:
  void say(const std::string& text) const;
  void flush();
  void heed(News news);
  void keep_recipes();
  void read_signals();
  void begin_drain();
  bool go_on_draining();
  int timeout_ms(std::int64_t now_ns) const;
  void turn();

  const LoopOptions options_;
  Home& home_;
  env::Clock& clock_;
  Link& link_;
  Conversation& conversation_;
  TaskTable& tasks_;
  Recipes* const recipes_;  // null: there is no registry
  std::atomic<int> drains_asked_ = 0;
  int drains_heeded_ = 0;
  bool is_draining_ = false;
  bool is_stopping_ = false;  // the tasks have had their time
  std::int64_t drain_ends_ns_ = INT64_MAX;
  bool is_farewell_ = false;  // nothing runs any more; the last reports are under way
  std::int64_t farewell_ends_ns_ = INT64_MAX;
  bool is_durable_ = true;
  std::optional<base::Error> fatal_;
};

}  // namespace holdfast::work
