// SPDX-License-Identifier: Apache-2.0
#include "executors/desk.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace holdfast::executors {
namespace {

void report(Reports& reports, const base::Hash& intent, const Receipt& made) {
  kernel::ReceiptArrived receipt;
  receipt.intent = intent;
  receipt.status = made.status;
  receipt.payload = made.payload;
  reports.report(receipt);
}

// Whether the effect has happened is not known.
Receipt died(const std::string& why) {
  return failed("executor.died", "the executor ended without a receipt: " + why);
}

// The command keeps what it borrows, unless somebody made it by hand.
kernel::OpenIntent kept(const kernel::OpenIntent& intent) {
  kernel::OpenIntent copy = intent;
  if (copy.bytes != nullptr) return copy;
  const std::size_t size = copy.key.size() + copy.params.size();
  const std::shared_ptr<std::uint8_t[]> bytes(new std::uint8_t[size + 1]);
  std::uint8_t* const params = std::copy(copy.key.begin(), copy.key.end(), bytes.get());
  std::copy(copy.params.begin(), copy.params.end(), params);
  copy.key = {bytes.get(), copy.key.size()};
  copy.params = {params, copy.params.size()};
  copy.bytes = bytes;
  return copy;
}

}  // namespace

bool Desk::is_full_for(const kernel::OpenIntent& intent) const {
  return waiting_.size() >= most_waiting_ ||
         intent.params.size() > kMaxWaitingBytes - waiting_bytes_;
}

bool Desk::has_room(const kernel::OpenIntent& intent) {
  const std::lock_guard lock(mutex_);
  return ended_ || !died_of_.empty() || known_.contains(intent.intent) || !is_full_for(intent);
}

bool Desk::start(const kernel::OpenIntent& intent, Reports& reports) {
  Receipt refusal;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    if (const auto found = known_.find(intent.intent); found != known_.end()) {
      found->second.reports = &reports;
      return false;
    }
    if (!died_of_.empty()) {
      refusal = died(died_of_);
    } else if (is_full_for(intent)) {
      refusal =
          failed("executor.busy", "too many effects of this kind wait already", Retry::kMayHelp);
    } else {
      waiting_.push_back(kept(intent));
      waiting_bytes_ += intent.params.size();
      known_.emplace(intent.intent, Entry{&reports, Stage::kWaits, std::prev(waiting_.end())});
      return true;
    }
  }
  report(reports, intent.intent, refusal);
  return false;
}

bool Desk::stop(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(intent);
  if (found == known_.end() || found->second.stage == Stage::kStopped) return false;
  if (found->second.stage == Stage::kWaits) {
    waiting_bytes_ -= found->second.waiting->params.size();
    waiting_.erase(found->second.waiting);
    known_.erase(found);
    return false;
  }
  found->second.stage = Stage::kStopped;
  stops_.push_back(intent);
  return true;
}

void Desk::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

Orders Desk::take(std::size_t most_starts) {
  const std::lock_guard lock(mutex_);
  Orders orders;
  orders.end = ended_;
  orders.stops = std::exchange(stops_, {});
  for (; most_starts > 0 && !waiting_.empty(); --most_starts) {
    orders.starts.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    waiting_bytes_ -= orders.starts.back().params.size();
    known_.at(orders.starts.back().intent).stage = Stage::kGiven;
  }
  return orders;
}

void Desk::done(const base::Hash& intent, const Receipt& receipt) {
  Reports* reports = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(intent);
    if (found == known_.end()) return;
    if (found->second.stage == Stage::kGiven && !ended_) reports = found->second.reports;
    known_.erase(found);
  }
  if (reports != nullptr) report(*reports, intent, receipt);
}

void Desk::left(const std::string& why) {
  std::vector<std::pair<base::Hash, Reports*>> open;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) {
      died_of_ = why.empty() ? "nobody knows why" : why;
      for (const auto& [intent, entry] : known_) {
        if (entry.stage != Stage::kStopped) open.emplace_back(intent, entry.reports);
      }
    }
    known_.clear();
    waiting_.clear();
    waiting_bytes_ = 0;
    stops_.clear();
  }
  for (const auto& [intent, reports] : open) report(*reports, intent, died(why));
}

}  // namespace holdfast::executors
