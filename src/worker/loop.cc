// SPDX-License-Identifier: Apache-2.0
#include "worker/loop.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "env/system_error.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

constexpr std::int64_t kLoopNsOfMs = 1'000'000;

// For the server to answer the last reports after the tasks are over.
constexpr std::uint64_t kFarewellMs = 5'000;

// A disk that is full may have room again.
constexpr std::int64_t kFlushAgainNs = 1'000 * kLoopNsOfMs;

}  // namespace

Loop::Loop(LoopOptions options, Home& home, env::Clock& clock, Link& link,
           Conversation& conversation, TaskTable& tasks, Recipes* recipes)
    : options_(std::move(options)),
      home_(home),
      clock_(clock),
      link_(link),
      conversation_(conversation),
      tasks_(tasks),
      recipes_(recipes) {
  if (recipes_ != nullptr) conversation_.set_recipes(recipes_->report());
}

void Loop::say(const std::string& text) const {
  if (options_.log && !text.empty()) options_.log(text);
}

void Loop::drain() noexcept {
  ++drains_asked_;
  link_.wake();
}

base::Result<void> Loop::run() {
  const Outbox::Recovered& recovered = home_.outbox().recovered();
  if (recovered.reports != 0)
    say("the outbox holds " + std::to_string(recovered.reports) + " reports to send");
  if (recovered.unreadable_bytes != 0)
    say("the outbox ended with " + std::to_string(recovered.unreadable_bytes) +
        " bytes that cannot be read; they were never acknowledged as written");
  while (!fatal_ && !conversation_.has_left()) {
    turn();
    if (is_draining_ && go_on_draining()) break;
  }
  flush();
  if (fatal_) return std::move(*fatal_);
  const std::size_t left = home_.outbox().held().size();
  if (left != 0) say(std::to_string(left) + " reports stay in the outbox for the next start");
  return {};
}

void Loop::turn() {
  flush();
  while (auto request = conversation_.next(clock_.since_boot_ns())) link_.send(std::move(*request));
  std::vector<pollfd> polled;
  polled.push_back({options_.signals, POLLIN, 0});
  for (const auto& runner : tasks_.runners()) runner->add_polled(polled);
  std::vector<Link::Done> done = link_.wait(polled, timeout_ms(clock_.since_boot_ns()));
  const std::int64_t now = clock_.since_boot_ns();
  // The runners first: news may start tasks, and then the descriptors are other ones.
  const pollfd* at = polled.data() + 1;
  for (const auto& runner : tasks_.runners()) {
    const std::size_t count = runner->polled_count();
    runner->go_on(at, tasks_);
    at += count;
  }
  tasks_.keep_time();
  for (Link::Done& each : done) {
    heed(each.answer ? conversation_.answered(each.id, *each.answer, now)
                     : conversation_.lost(each.id, each.answer.error(), now));
  }
  keep_recipes();
  std::size_t blocked = 0;
  for (const auto& runner : tasks_.runners()) blocked += runner->blocked();
  conversation_.set_blocked(blocked);
  if (polled[0].revents != 0) read_signals();
  while (drains_heeded_ < drains_asked_) {
    ++drains_heeded_;
    begin_drain();
  }
}

// After the news, which may want another recipe, and before anything is sent.
void Loop::keep_recipes() {
  if (recipes_ == nullptr) return;
  for (const std::string& dispatch : recipes_->go_on()) {
    say("a task is asked to yield to a swap");
    tasks_.ask_to_yield(dispatch);
  }
  conversation_.set_recipes(recipes_->report());
}

// What has ended is durable before it is sent.
void Loop::flush() {
  if (!home_.outbox().has_unwritten()) return;
  const auto flushed = home_.outbox().flush();
  const bool was_durable = std::exchange(is_durable_, flushed.has_value());
  conversation_.set_durable(is_durable_);
  if (!flushed && was_durable)
    say("the outbox cannot be written; no new work is taken until it can be: " +
        flushed.error().to_string());
  if (flushed && !was_durable) say("the outbox can be written again");
}

void Loop::heed(News news) {
  say(news.remark);
  for (const std::string& dispatch : news.drop) tasks_.drop(dispatch);
  for (const Task& task : news.start) tasks_.start(task);
  for (const Stop& stop : news.stop) tasks_.stop(stop);
  if (news.swap && recipes_ != nullptr) recipes_->set_wanted(std::move(*news.swap));
  if (news.drains && !is_draining_) {
    say("the server asks this worker to drain");
    ++drains_asked_;
  }
  if (news.fatal) fatal_ = std::move(news.fatal);
}

void Loop::read_signals() {
  signalfd_siginfo info{};
  while (env::again_after_signals([&] { return ::read(options_.signals, &info, sizeof info); }) ==
         static_cast<ssize_t>(sizeof info))
    ++drains_asked_;
}

void Loop::begin_drain() {
  if (!is_draining_) {
    is_draining_ = true;
    conversation_.drain();
    if (recipes_ != nullptr) recipes_->drain();
    const std::int64_t now = clock_.since_boot_ns();
    drain_ends_ns_ = now + static_cast<std::int64_t>(options_.drain_ms) * kLoopNsOfMs;
    if (!tasks_.empty())
      say("draining: " + std::to_string(conversation_.running()) + " tasks are still running");
    return;
  }
  say("stopping at once; tasks that run are given back");
  tasks_.give_back_all();
  is_stopping_ = true;
}

// True: the worker may end.
bool Loop::go_on_draining() {
  const std::int64_t now = clock_.since_boot_ns();
  if (!tasks_.empty()) {
    if (now < drain_ends_ns_) return false;
    if (!std::exchange(is_stopping_, true)) {
      say("the time to drain is over; tasks that run are asked to stop");
      tasks_.stop_all(static_cast<std::uint64_t>(kStopGrace.count()));
    }
    return false;
  }
  if (!conversation_.holds_anything() && conversation_.is_connected()) {
    conversation_.leave();
    return false;
  }
  // The server is away, or slow: what it has not answered is durable here.
  if (!std::exchange(is_farewell_, true))
    farewell_ends_ns_ = now + static_cast<std::int64_t>(kFarewellMs) * kLoopNsOfMs;
  return now >= farewell_ends_ns_;
}

int Loop::timeout_ms(std::int64_t now_ns) const {
  std::int64_t due = std::min(conversation_.wake_at_ns(), tasks_.due_ns());
  for (const auto& runner : tasks_.runners()) due = std::min(due, runner->due_ns());
  if (recipes_ != nullptr) due = std::min(due, recipes_->due_ns());
  if (is_draining_ && !is_stopping_) due = std::min(due, drain_ends_ns_);
  if (is_farewell_) due = std::min(due, farewell_ends_ns_);
  if (!is_durable_) due = std::min(due, now_ns + kFlushAgainNs);
  if (due == INT64_MAX) return INT_MAX;
  const std::int64_t left = due <= now_ns ? 0 : (due - now_ns + kLoopNsOfMs - 1) / kLoopNsOfMs;
  return static_cast<int>(std::min<std::int64_t>(left, INT_MAX));
}

}  // namespace holdfast::work
