// SPDX-License-Identifier: Apache-2.0
#include "executors/live_progress.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"

namespace holdfast::executors {
namespace {

// A frame has fewer pieces than a record has places for entries.
constexpr std::size_t kMostInFrame = 24;
constexpr std::size_t kMostFrameBytes = std::size_t{128} << 10;
constexpr std::size_t kMostWaiting = 256;
constexpr std::size_t kMostWaitingBytes = std::size_t{256} << 10;

// Until a frame that was refused is offered again: at first, and at most.
constexpr std::chrono::milliseconds kFirstDelay(20);
constexpr std::chrono::milliseconds kLongestDelay(1000);

// Of what was refused: whether there may be room for it later.
bool may_help(const kernel::Answer& answer) {
  const auto* refused = std::get_if<kernel::Refused>(&answer);
  return refused != nullptr &&
         (refused->code == base::ErrorCode::kUnavailable || refused->code == base::ErrorCode::kIo);
}

bool is_taken(const kernel::Answer& answer) {
  return std::holds_alternative<kernel::Accepted>(answer) ||
         std::holds_alternative<kernel::Repeated>(answer);
}

}  // namespace

LiveProgress::LiveProgress(const base::Hash& intent, std::uint64_t last_sequence, Reports& reports,
                           ProgressRetries& retries)
    : intent_(intent),
      reports_(reports),
      retries_(retries),
      sequence_(last_sequence),
      begins_again_(last_sequence != 0),
      delay_(kFirstDelay) {}

void LiveProgress::begin() {
  const std::lock_guard lock(mutex_);
  send_next();
}

bool LiveProgress::put(base::ByteView piece) {
  std::unique_lock lock(mutex_);
  while (!closed_ && !waiting_.empty() &&
         (waiting_.size() >= kMostWaiting || waiting_bytes_ + piece.size() > kMostWaitingBytes))
    wait(lock);
  if (closed_) return false;
  waiting_.emplace_back(piece.begin(), piece.end());
  waiting_bytes_ += piece.size();
  send_next();
  offer_if_due();
  return true;
}

void LiveProgress::finish() {
  std::unique_lock lock(mutex_);
  while (!closed_ && (on_its_way_ || !waiting_.empty())) wait(lock);
  closed_ = true;
}

void LiveProgress::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void LiveProgress::wait(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, kFirstDelay);
  offer_if_due();
}

void LiveProgress::offer_if_due() {
  if (is_refused_ && !closed_ && std::chrono::steady_clock::now() >= again_at_) offer();
}

void LiveProgress::try_again() {
  const std::lock_guard lock(mutex_);
  will_be_tried_ = false;
  if (!is_refused_ || closed_) return;
  offer_if_due();
  // It was offered meanwhile, and refused.
  if (is_refused_ && !std::exchange(will_be_tried_, true))
    retries_.add(again_at_, weak_from_this());
}

// An instance may be paused for long: the node is not asked often then.
void LiveProgress::refused() {
  is_refused_ = true;
  again_at_ = std::chrono::steady_clock::now() + delay_;
  delay_ = std::min(2 * delay_, kLongestDelay);
  if (!std::exchange(will_be_tried_, true)) retries_.add(again_at_, weak_from_this());
}

LiveProgress::Frame LiveProgress::gathered() {
  if (std::exchange(begins_again_, false)) return {kBeganAgain, {0xf6}};
  std::size_t count = 0;
  std::size_t bytes = 0;
  while (count < waiting_.size() && count < kMostInFrame &&
         (count == 0 || bytes + waiting_[count].size() <= kMostFrameBytes))
    bytes += waiting_[count++].size();
  codec::Buffer out;
  codec::write_list_head(out, count);
  for (; count != 0; --count) {
    out.append(waiting_.front());
    waiting_bytes_ -= waiting_.front().size();
    waiting_.pop_front();
  }
  return {kPieces, out.to_bytes()};
}

void LiveProgress::send_next() {
  if (closed_ || on_its_way_ || (waiting_.empty() && !begins_again_)) return;
  on_its_way_ = gathered();
  ++sequence_;
  offer();
}

void LiveProgress::offer() {
  kernel::ProgressArrived progress;
  progress.intent = intent_;
  progress.sequence = sequence_;
  progress.kind = on_its_way_->kind;
  progress.payload = on_its_way_->payload;
  is_refused_ = false;
  const bool has_room = reports_.offer(
      progress, [self = shared_from_this()](const kernel::Answer& answer) { self->heard(answer); });
  if (!has_room) refused();
}

void LiveProgress::heard(const kernel::Answer& answer) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (is_taken(answer)) {
    on_its_way_.reset();
    delay_ = kFirstDelay;
    send_next();
  } else if (may_help(answer)) {
    refused();
  } else {
    closed_ = true;  // it is not open any more
  }
  changed_.notify_all();
}

}  // namespace holdfast::executors
