// SPDX-License-Identifier: Apache-2.0
#include "adapters/memory_run.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace holdfast::adapters {
namespace {

// Bodies that one run may run here before others have their turn.
constexpr std::uint64_t kBodiesPerTurn = 16;

// Messages that were taken out of a mailbox which was never empty since, before their places are.
constexpr std::size_t kTakenMail = 64;

}  // namespace

MemoryRun::MemoryRun(RunHost& host, Bytes the_key, std::string id)
    : key(std::move(the_key)), host_(host), id_(std::move(id)) {}

MemoryRun::Delivered MemoryRun::deliver(StepMessage& message) {
  const bool is_event = message.kind == StepInput::Kind::kEvent;
  {
    const std::lock_guard lock(mutex_);
    if (is_forgotten_) return Delivered::kForgotten;
    if (outcome_) return Delivered::kEnded;
    if (is_event && events_ >= host_.options().max_mail) return Delivered::kFull;
    events_ += is_event ? 1 : 0;
    mail_.push_back(std::move(message));
    has_mail_ = true;
    if (std::exchange(is_scheduled_, true)) return Delivered::kYes;
  }
  host_.schedule(shared_from_this());
  return Delivered::kYes;
}

bool MemoryRun::wake() {
  const std::lock_guard lock(mutex_);
  if (outcome_ || is_forgotten_) return false;
  is_woken_ = true;
  return !std::exchange(is_scheduled_, true);
}

bool MemoryRun::receive(StepMessage& message) {
  if (!has_mail_) return false;
  const std::lock_guard lock(mutex_);
  message = std::move(mail_[next_mail_++]);
  events_ -= message.kind == StepInput::Kind::kEvent ? 1 : 0;
  if (next_mail_ == mail_.size()) {
    mail_.clear();
    next_mail_ = 0;
    has_mail_ = false;
  } else if (next_mail_ >= kTakenMail && 2 * next_mail_ >= mail_.size()) {
    mail_.erase(mail_.begin(), mail_.begin() + static_cast<std::ptrdiff_t>(next_mail_));
    next_mail_ = 0;
  }
  return true;
}

void MemoryRun::publish(const StepEntryView& entry) {
  if (host_.options().max_entries == 0) return;  // they are made for a recording
  const std::lock_guard lock(mutex_);
  if (entries_.size() < host_.options().max_entries) {
    entries_.push_back(entry.copy());
    return;
  }
  entries_[oldest_entry_] = entry.copy();
  oldest_entry_ = (oldest_entry_ + 1) % entries_.size();
}

StepNext MemoryRun::wait_for_next(const StepWait& wait) {
  wake_at_ = wait.until;
  return StepNext::kLater;
}

void MemoryRun::hand_over(StepJob job) { host_.hand_over(shared_from_this(), std::move(job)); }

void MemoryRun::begin() {
  StepAdapter* adapter = this;
  if (host_.options().record) {
    if (!recorder_) recorder_.emplace(*adapter);
    adapter = &*recorder_;
  }
  if (host_.options().release_after) {
    releaser_.emplace(*adapter, *host_.options().release_after);
    adapter = &*releaser_;
  }
  loop_ = host_.take_loop(*adapter, key, id_);
  Bytes released;
  {
    const std::lock_guard lock(mutex_);
    released = std::exchange(released_, {});
  }
  if (!released.empty()) CHECK(loop_->read(released));  // we have written it
}

MemoryRun::Left MemoryRun::run() {
  wake_at_.reset();
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = false;
  }
  if (!loop_) begin();
  auto status = loop_->run(kBodiesPerTurn);
  // Events were looked at when they were sent, so a recording is full: the run ends with it.
  if (!status) return end(StepOutcome{EffectError{"memory.refused", status.error().message}, {}});
  switch (*status) {
    case StepLoop::Status::kEnded: return end(loop_->outcome());
    case StepLoop::Status::kReleased:
      if (!release()) return Left::kToDo;
      return leave(Left::kNothing);
    case StepLoop::Status::kNew: return leave(Left::kNeverBegun);
    case StepLoop::Status::kWaiting: return loop_->has_more() ? Left::kToDo : leave(Left::kNothing);
  }
  return Left::kNothing;
}

// Not if something has come meanwhile.
bool MemoryRun::release() {
  Bytes written = loop_->write();
  {
    const std::lock_guard lock(mutex_);
    if (has_mail_) return false;
    wake_at_ = loop_->next_due();
    released_ = std::move(written);
  }
  host_.give_loop(std::move(loop_));
  return true;
}

// From here on whoever delivers or wakes schedules it. The timer is set before, while nobody else
// runs it: should it go off at once, the run is woken.
MemoryRun::Left MemoryRun::leave(Left left) {
  if (wake_at_ || has_timer) host_.set_timer(shared_from_this(), wake_at_);
  const std::lock_guard lock(mutex_);
  if (has_mail_ || is_woken_) return Left::kToDo;
  is_scheduled_ = false;
  return left;
}

MemoryRun::Left MemoryRun::end(std::optional<StepOutcome> outcome) {
  if (has_timer) host_.set_timer(shared_from_this(), std::nullopt);
  host_.give_loop(std::move(loop_));
  const std::lock_guard lock(mutex_);
  outcome_ = std::move(outcome);
  is_scheduled_ = false;
  return Left::kEnded;
}

holdfast::MemoryRun MemoryRun::look() const {
  const std::lock_guard lock(mutex_);
  return {!released_.empty(), outcome_};
}

std::vector<StepEntry> MemoryRun::stream() const {
  const std::lock_guard lock(mutex_);
  std::vector<StepEntry> all = entries_;
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(oldest_entry_), all.end());
  return all;
}

std::optional<StepRecording> MemoryRun::recording() const {
  const std::lock_guard lock(mutex_);
  if (is_scheduled_ || !recorder_) return std::nullopt;
  return recorder_->recording();
}

std::size_t MemoryRun::released_bytes() const {
  const std::lock_guard lock(mutex_);
  return released_.size();
}

bool MemoryRun::forget() {
  const std::lock_guard lock(mutex_);
  is_forgotten_ = !is_scheduled_;
  return is_forgotten_;
}

bool MemoryRun::has_ended() const {
  const std::lock_guard lock(mutex_);
  return outcome_.has_value();
}

}  // namespace holdfast::adapters
