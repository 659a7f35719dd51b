// SPDX-License-Identifier: Apache-2.0
#include "node/core.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "codec/buffer.h"
#include "executors/receipt.h"
#include "kernel/effect_error.h"

namespace holdfast::node {
namespace {

// The receipt of an effect that nobody here can perform.
void report_unknown(const kernel::OpenIntent& open, executors::Reports& reports) {
  codec::Buffer error;
  kernel::write_effect_error(error, "executor.unknown",
                             "this node has no executor '" + open.effect->executor.kind + "'");
  kernel::ReceiptArrived receipt;
  receipt.intent = open.intent;
  receipt.status = kernel::ReceiptStatus::kError;
  receipt.payload = error.view();
  reports.report(receipt);
}

void report_late(const base::Hash& intent, executors::Reports& reports) {
  const executors::Receipt late =
      executors::timed_out("effect.timeout", "it has not ended within its time limit");
  kernel::ReceiptArrived receipt;
  receipt.intent = intent;
  receipt.status = late.status;
  receipt.payload = late.payload;
  reports.report(receipt);
}

// Nothing: it may take as long as it likes, or somebody else looks at the clock.
std::optional<std::uint64_t> end_of_time(const executors::Executor& executor,
                                         const kernel::OpenIntent& open) {
  if (!open.effect->timeout_ns || executor.keeps_time_limits()) return std::nullopt;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - open.opened_ns;
  return open.opened_ns + std::min(*open.effect->timeout_ns, most);
}

}  // namespace

Core::Core(kernel::World& world, env::Clock& clock, env::Random& random, Executors executors,
           executors::Reports& reports)
    : world_(world),
      clock_(clock, world.latest_ns()),
      random_(random),
      executors_(std::move(executors)),
      reports_(reports),
      resumption_(world) {
  executors_["timer"] = &timers_;
}

base::Result<void> Core::recover() {
  go_on_ = world_.has_ready();
  return resume();
}

base::Result<void> Core::resume() {
  if (resumption_.is_done() || !starts_) return {};
  return resumption_.go_on([this](const kernel::OpenIntent& open) { return try_start(open); });
}

base::Result<void> Core::reduce(const Input& input, Heard heard) {
  tick_.time_ns = clock_.now_ns();
  fill(tick_.entropy);
  tick_.input = input.tick();
  if (std::holds_alternative<kernel::Continue>(tick_.input)) go_on_ = false;
  world_.reduce(tick_, outcome_);
  if (outcome_.failure) return std::move(*outcome_.failure);
  if (!outcome_.record.empty()) {
    if (const auto* receipt = std::get_if<kernel::ReceiptArrived>(&tick_.input))
      limits_.remove(receipt->intent);
    batch_.records.add(outcome_.record);
    batch_.ends_work = batch_.ends_work && input.ends_work();
  }
  tell_of_ends();
  for (kernel::Command& command : outcome_.commands) {
    if (std::holds_alternative<kernel::ContinueSoon>(command)) {
      go_on_ = true;
    } else {
      batch_.commands.push_back(std::move(command));
    }
  }
  if (heard) batch_.replies.push_back({std::move(heard), std::move(outcome_.answer)});
  return {};
}

void Core::tell_of_ends() {
  if (watchers_.empty() || outcome_.ended.empty()) return;
  std::vector<Question> questions;
  for (const kernel::InstanceEnd& ended : outcome_.ended) watchers_.take(ended, questions);
  for (const Question& question : questions) ask(question);  // may look at what has ended
}

void Core::ask(const Question& question) {
  if (auto seen = question(world_)) batch_.seen.push_back(std::move(seen));
}

bool Core::ask_at_end(std::uint64_t number, const kernel::InstanceName& instance,
                      Question question) {
  const auto cell = world_.find(instance.workflow, instance.key);
  // What cannot be read says so to whoever asks for it.
  if (cell && (*cell == nullptr || !(*cell)->terminal()))
    return watchers_.add(number, instance, std::move(question));
  ask(question);
  return true;
}

void Core::let_go() {
  batch_ = {};
  watchers_ = {};
}

void Core::release(Batch batch) {
  for (const Batch::Reply& reply : batch.replies) reply.heard(reply.answer);
  for (const auto& seen : batch.seen) seen();
  for (const kernel::Command& command : batch.commands) {
    const auto* open = std::get_if<kernel::OpenIntent>(&command);
    if (open != nullptr && starts_) start(*open);
    if (const auto* stopped = std::get_if<kernel::StopIntent>(&command)) stop(*stopped);
  }
}

void Core::fire_timers(std::size_t most) {
  // The tick that a timer becomes is not before its time, wherever the wall clock jumps meanwhile.
  const std::uint64_t now_ns = clock_.now_ns();
  timers_.fire(now_ns, most, reports_);
  for (; most > 0; --most) {
    const auto over = limits_.take(now_ns);
    if (!over) return;
    over->executor->stop(over->intent);
    report_late(over->intent, reports_);
  }
}

std::optional<std::uint64_t> Core::next_timer_ns() const {
  const auto timer = timers_.next_ns();
  const auto limit = limits_.next_ns();
  return timer && limit ? std::min(*timer, *limit) : timer ? timer : limit;
}

bool Core::has_timer_due() {
  const auto next = next_timer_ns();
  return next && *next <= clock_.now_ns();
}

bool Core::set(env::Alarm& alarm) {
  const auto next = next_timer_ns();
  return !next || clock_.set(alarm, *next);
}

void Core::shut_down_executors() {
  for (const auto& [kind, executor] : executors_) executor->shut_down();
}

// From a stock: asking the system for each tick would be a good part of what a tick costs.
void Core::fill(kernel::Entropy& entropy) {
  if (entropy_left_ == 0) {
    random_.fill(entropy_stock_);
    entropy_left_ = entropy_stock_.size();
  }
  entropy_left_ -= entropy.size();
  std::copy_n(entropy_stock_.begin() + static_cast<std::ptrdiff_t>(entropy_left_), entropy.size(),
              entropy.begin());
}

executors::Executor* Core::executor_of(const kernel::EffectProgram& effect) {
  const auto found = executors_.find(effect.executor.kind);
  return found == executors_.end() ? nullptr : found->second;
}

// Of what was open before this node began. Nobody is told that it failed who could still have it
// done: by another node, or by this one when it is set up as it should be.
bool Core::try_start(const kernel::OpenIntent& open) {
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) {
    ++unperformed_[open.effect->executor.kind];
    return true;
  }
  if (!executor->has_room(open)) return false;
  start_in_time(*executor, open);
  return true;
}

void Core::start(const kernel::OpenIntent& open) {
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) return report_unknown(open, reports_);
  start_in_time(*executor, open);
}

// What is late already, as after a long time without a node, is not begun any more.
void Core::start_in_time(executors::Executor& executor, const kernel::OpenIntent& open) {
  if (const auto end_ns = end_of_time(executor, open)) {
    if (*end_ns <= clock_.now_ns()) return report_late(open.intent, reports_);
    limits_.add(*end_ns, open.intent, executor);
  }
  executor.start(open, reports_);
}

void Core::stop(const kernel::StopIntent& stop) {
  limits_.remove(stop.intent);
  if (executors::Executor* executor = executor_of(*stop.effect)) executor->stop(stop.intent);
}

}  // namespace holdfast::node
