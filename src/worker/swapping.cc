// SPDX-License-Identifier: Apache-2.0
#include "worker/swapping.h"

#include <poll.h>
#include <signal.h>

#include <array>
#include <optional>
#include <utility>

#include "env/quiet_thread.h"
#include "executors/child.h"
#include "worker/child_output.h"
#include "worker/child_setup.h"
#include "worker/limits.h"
#include "worker/line_splitter.h"

namespace holdfast::work {
namespace {

// How often the thread looks whether it is to end.
constexpr int kLookMs = 100;

// Lines of the command that the loop has not taken yet.
constexpr std::size_t kMostSwapLines = 1000;

constexpr std::size_t kMaxSwapLineBytes = 512;

}  // namespace

Swapping::Swapping(std::shared_ptr<Registry> registry, SwapPlan plan)
    : registry_(std::move(registry)), plan_(std::move(plan)) {
  thread_ = env::quiet_thread([this] { run(); });
}

Swapping::~Swapping() {
  is_given_up_ = true;
  is_ended_ = true;
  thread_.join();
}

void Swapping::run() {
  end_ = swap();
  is_over_ = true;
  plan_.wake();
}

Swapping::End Swapping::swap() {
  auto swap = registry_->begin_swap({.recipe = plan_.recipe,
                                     .deadline = plan_.deadline,
                                     .is_given_up = [this] { return is_given_up_.load(); }});
  if (!swap) {
    problem_ = swap.error().message;
    return End::kNotBegun;
  }
  if (is_given_up_) {
    problem_ = "the worker is being stopped";
    const auto aborted = swap->abort(problem_);
    if (!aborted) problem_ += "; " + aborted.error().message;
    return End::kNotBegun;
  }
  problem_ = run_command();
  const auto ended = problem_.empty() ? swap->finish() : swap->abort(problem_);
  if (!ended) problem_ += (problem_.empty() ? "" : "; ") + ended.error().message;
  return problem_.empty() ? End::kDone : End::kFailed;
}

std::string Swapping::run_command() {
  auto shell = executors::Program::allow("/bin/sh");
  if (!shell) return shell.error().to_string();
  executors::ChildPlan plan;
  plan.program = &*shell;
  plan.argv = {shell->path, "-c", plan_.command};
  plan.environment = child_environment();
  plan.environment.push_back("HOLDFAST_RECIPE=" + plan_.recipe);
  plan.folder = present_folder();
  auto started = executors::Child::start(plan);
  if (!started) return started.error().to_string();
  executors::Child& child = *started;
  LineSplitter output(kMaxLineBytes);
  LineSplitter errors(kMaxLineBytes);
  const auto take_line = [this](std::string_view line) { add_line(line); };
  const auto read = [&](int from, LineSplitter& into, std::size_t most) {
    return from < 0 ||
           read_available(from, most, [&](std::string_view bytes) { into.add(bytes, take_line); });
  };
  int looks_since_asked = 0;
  for (bool has_ended = false; !has_ended;) {
    std::array<pollfd, 3> polled{
        {{child.ended(), POLLIN, 0}, {child.output(), POLLIN, 0}, {child.errors(), POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), kLookMs);
    has_ended = polled[0].revents != 0;
    const std::size_t most = has_ended ? kReadOfEnded : kReadOfTurn;
    if (!read(child.output(), output, most)) child.close_output();
    if (!read(child.errors(), errors, most)) child.close_errors();
    if (!is_ended_ || has_ended) continue;
    child.signal_group(looks_since_asked++ * kLookMs < kKillGrace.count() ? SIGTERM : SIGKILL);
  }
  output.finish(take_line);
  errors.finish(take_line);
  const auto ending = child.wait();
  if (!ending) return ending.error().to_string();
  if (ending->code == 0 && ending->signal == 0) return "";
  const std::string how = "the swap command " + ending_text(ending->code, ending->signal);
  const std::lock_guard lock(mutex_);
  return last_line_.empty() ? how : how + ": " + last_line_;
}

void Swapping::add_line(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    last_line_ = plain_text(line, kMaxSwapLineBytes);
    if (lines_.size() < kMostSwapLines) lines_.push_back(last_line_);
  }
  plan_.wake();
}

std::vector<std::string> Swapping::take_lines() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

}  // namespace holdfast::work
