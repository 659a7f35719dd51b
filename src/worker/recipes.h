// SPDX-License-Identifier: Apache-2.0
// Recipes: which recipe this machine serves for its tasks, by the registry (docs/registry.md).
//
//  1. A task that needs a recipe runs under a lease of its own. The lease goes with the task, and
//     with this process.
//  2. A worker that can swap serves one recipe at a time. Meanwhile it holds a preemptible lease
//     for it, so no other process can swap without this worker hearing of it.
//  3. A swap is begun when the server asks for it and no task here that is not preemptible needs
//     another recipe. Preemptible ones are asked to yield, but only after the recipe was served for
//     a while: otherwise two recipes could take turns without end, and get nothing done.
//  4. What is loaded is known only after a swap of ours: at the start, after a swap command that
//     failed and after a swap of another process, nothing is served until the next swap.
//
// Waiting for leases and running the command is done on a thread of its own; everything else is
// called on the thread of the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/clock.h"
#include "holdfast/registry.h"
#include "worker/messages.h"

namespace holdfast::work {

struct RecipeOptions {
  std::string registry;              // the folder
  std::vector<std::string> recipes;  // that may be served
  std::string swap_command;  // for /bin/sh; empty: all recipes are served, and never swapped
  std::chrono::milliseconds swap_deadline = std::chrono::seconds(60);  // for tasks to yield
  std::chrono::milliseconds preempt_after = std::chrono::seconds(60);  // that a recipe is served
  std::string worker;                                                  // its name
  std::function<void(const std::string&)> log;
  std::function<void()> wake;  // from any thread: the loop is to call go_on
};

class Swapping;

class Recipes {
 public:
  // kInvalid: an option is wrong.
  static base::Result<std::unique_ptr<Recipes>> open(RecipeOptions options, env::Clock& clock);
  ~Recipes();
  Recipes(const Recipes&) = delete;
  Recipes& operator=(const Recipes&) = delete;

  // Takes the lease of a task. An error: the task cannot begin here now.
  base::Result<void> admit(const Task& task);
  // The task is over.
  void release(const std::string& dispatch);

  // The recipe that the server wants; empty: none.
  void set_wanted(std::string recipe) { wanted_ = std::move(recipe); }
  // No swap is begun any more.
  void drain();

  // What has happened, and what time has brought. Dispatches of tasks that are to yield now; each
  // is named once.
  std::vector<std::string> go_on();
  std::int64_t due_ns() const;

  const RecipeReport& report() const noexcept { return report_; }

 private:
  struct Held {
    Lease lease;
    std::string recipe;
    bool is_preemptible = false;
    bool is_asked = false;
  };
  struct Pause {
    std::int64_t until_ns = 0;
    std::int64_t length_ns = 0;
  };

  Recipes(RecipeOptions options, env::Clock& clock, std::shared_ptr<Registry> registry);

  bool can_swap() const noexcept { return !options_.swap_command.empty(); }
  void say(const std::string& text) const;
  void serve(const std::string& recipe);
  void stop_serving(const std::string& problem);
  void renew(std::int64_t now_ns);
  void look_at_standing();
  void look_at_blocked(std::int64_t now_ns);
  std::vector<std::string> asked_to_yield();
  bool may_begin(std::int64_t now_ns) const;
  void begin(std::int64_t now_ns);
  void end(std::int64_t now_ns);
  void pause(const std::string& recipe, std::int64_t now_ns);

  const RecipeOptions options_;
  env::Clock& clock_;
  const std::shared_ptr<Registry> registry_;
  std::map<std::string, Held> held_;  // by dispatch
  std::optional<Lease> standing_;     // for the recipe that is served
  RecipeReport report_;
  std::string wanted_;
  bool is_draining_ = false;
  std::unique_ptr<Swapping> swapping_;
  std::string served_before_;
  std::int64_t served_since_ns_ = 0;
  std::int64_t renew_at_ns_ = INT64_MAX;
  std::int64_t look_at_ns_ = 0;
  std::int64_t blocked_until_ns_ = INT64_MAX;  // a swap of another process is under way
  std::map<std::string, Pause> pauses_;        // after swaps that were not done, by recipe
};

}  // namespace holdfast::work
