// SPDX-License-Identifier: Apache-2.0
#include "node/core.h"

#include <utility>

namespace holdfast::node {
namespace {

using WorkNews = std::shared_ptr<const kernel::WorkNews>;

}  // namespace

Core::Core(kernel::World& world, env::Clock& clock, env::Random& random, Executors executors,
           Results& results)
    : world_(world),
      clock_(clock, world.latest_ns()),
      random_(random),
      effects_(std::move(executors), results) {}

base::Result<void> Core::recover() {
  go_on_ = world_.has_ready();
  world_.begin_counting_intents();
  for (const auto& [id, worker] : world_.workers().all()) {
    kernel::WorkNews news;
    news.worker = id;
    news.now = worker;
    news.is_cordoned = world_.workers().is_cordoned(worker);
    effects_.hear(news);
  }
  TRY(world_.visit_intents([this](const base::Hash& hash, const kernel::Intent& intent) {
    world_.count_intent(intent);
    const kernel::OpenIntent open = world_.command_of(hash, intent);
    if (open.effect->in_kernel == kernel::InKernel::kNo)
      effects_.resume(open, intent.work, clock_.now_ns());
    return true;
  }));
  effects_.recovered();
  return {};
}

base::Result<void> Core::start_held(std::size_t most) {
  if (!effects_.may_start_held()) return {};
  using Found = std::optional<kernel::OpenIntent>;
  return effects_.start_held(
      clock_.now_ns(), most, [this](const base::Hash& hash) -> base::Result<Found> {
        const kernel::Intent* intent = TRY(world_.find_intent(hash));
        return intent == nullptr ? Found() : Found(world_.command_of(hash, *intent));
      });
}

base::Result<void> Core::reduce(const Input& input, Heard heard) {
  tick_.time_ns = clock_.now_ns();
  fill(tick_.entropy);
  tick_.input = input.tick();
  if (std::holds_alternative<kernel::Continue>(tick_.input)) go_on_ = false;
  world_.reduce(tick_, outcome_);
  if (outcome_.failure) return std::move(*outcome_.failure);
  const auto* receipt = std::get_if<kernel::ReceiptArrived>(&tick_.input);
  if (receipt != nullptr) effects_.reported();
  if (!outcome_.record.empty()) {
    if (receipt != nullptr) effects_.settled(receipt->intent);
    batch_.records.add(outcome_.record);
    batch_.ends_work = batch_.ends_work && input.ends_work();
  }
  tell_of_ends();
  for (kernel::Command& command : outcome_.commands) {
    if (std::holds_alternative<kernel::ContinueSoon>(command)) {
      go_on_ = true;
    } else {
      if (std::holds_alternative<WorkNews>(command)) batch_.has_news = true;
      batch_.commands.push_back(std::move(command));
    }
  }
  if (const auto* refused = std::get_if<kernel::Refused>(&outcome_.answer))
    ++refusals_.at(static_cast<std::size_t>(refused->code));
  if (heard) batch_.replies.push_back({std::move(heard), std::move(outcome_.answer)});
  return {};
}

void Core::tell_of_ends() {
  if (!has_watchers() || (outcome_.ended.empty() && outcome_.said.empty())) return;
  std::vector<Question> questions;
  for (const kernel::TouchedName& said : outcome_.said) listeners_.take(said, questions);
  for (const kernel::TouchedName& ended : outcome_.ended) {
    listeners_.take(ended, questions);
    watchers_.take(ended, questions);
  }
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

bool Core::ask_when_said(std::uint64_t number, const kernel::InstanceName& instance,
                         store::RecordNumber last, Question question) {
  const auto cell = world_.find(instance.workflow, instance.key);
  // One that is not there is waited for, unless it was when it was last seen.
  const store::RecordNumber now = cell && *cell != nullptr ? (*cell)->last_record : 0;
  if (cell && now == last) return listeners_.add(number, instance, std::move(question));
  ask(question);
  return true;
}

void Core::let_go() {
  batch_ = {};
  watchers_ = listeners_ = {};
}

// Effects begin before the answers to the same ticks: who hears that an event was taken finds what
// it opened among the open effects, and who hears that something is leased knows that it is.
void Core::release(const Batch& batch) {
  carry_out(batch);
  for (const Batch::Reply& reply : batch.replies) reply.heard(reply.answer);
  for (const auto& seen : batch.seen) seen();
}

void Core::carry_out(const Batch& batch) {
  for (const kernel::Command& command : batch.commands) {
    if (const auto* open = std::get_if<kernel::OpenIntent>(&command)) effects_.start(*open);
    if (const auto* stop = std::get_if<kernel::StopIntent>(&command)) effects_.stop(*stop);
    if (const auto* news = std::get_if<WorkNews>(&command)) effects_.hear(**news);
  }
}

void Core::fire_timers(std::size_t most) {
  // The tick that a timer becomes is not before its time, wherever the wall clock jumps meanwhile.
  effects_.fire_timers(clock_.now_ns(), most);
}

bool Core::has_timer_due() {
  const auto next = next_timer_ns();
  return next && *next <= clock_.now_ns();
}

bool Core::set(env::Alarm& alarm) {
  const auto next = next_timer_ns();
  return !next || clock_.set(alarm, *next);
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

}  // namespace holdfast::node
