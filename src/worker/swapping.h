// SPDX-License-Identifier: Apache-2.0
// Swapping: one swap of the registry around one command, on a thread of its own. The swap ends with
// the thread: finished if the command exits with 0, and aborted otherwise. The command dies with
// the thread, and so with this process.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/registry.h"

namespace holdfast::work {

struct SwapPlan {
  std::string recipe;
  std::string command;  // for /bin/sh, with HOLDFAST_RECIPE in its environment
  std::chrono::milliseconds deadline{0};
  std::function<void()> wake;  // called on the thread: there are lines, or the swap is over
};

class Swapping {
 public:
  enum class End : std::uint8_t {
    kDone,
    kNotBegun,  // the command did not run: what was served before is still there
    kFailed,    // nobody knows what is served now
  };

  Swapping(std::shared_ptr<Registry> registry, SwapPlan plan);
  // Gives up: the command gets SIGTERM, and SIGKILL later.
  ~Swapping();
  Swapping(const Swapping&) = delete;
  Swapping& operator=(const Swapping&) = delete;

  const std::string& recipe() const noexcept { return plan_.recipe; }

  // If the command does not run yet, it never will.
  void give_up() noexcept { is_given_up_ = true; }

  bool is_over() const noexcept { return is_over_; }
  // Once it is over.
  End end() const noexcept { return end_; }
  const std::string& problem() const noexcept { return problem_; }

  // What the command has printed since the last call. Of very many lines the newest are left out.
  std::vector<std::string> take_lines();

 private:
  void run();
  End swap();
  // Empty: it exited with 0.
  std::string run_command();
  void add_line(std::string_view line);

  const std::shared_ptr<Registry> registry_;
  const SwapPlan plan_;
  std::atomic<bool> is_given_up_ = false;
  std::atomic<bool> is_ended_ = false;  // the command is to end, too
  std::atomic<bool> is_over_ = false;
  End end_ = End::kNotBegun;
  std::string problem_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::string last_line_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace holdfast::work
