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
  if (made.pin == nullptr) return reports.report(receipt);
  reports.report_with_pin(receipt, made.pin);
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

bool Desk::is_full_for(const kernel::OpenIntent& intent, const std::string& share) const {
  if (waiting_ >= most_waiting_ || intent.params.size() > kMaxWaitingBytes - waiting_bytes_)
    return true;
  if (share.empty()) return false;
  const auto known = shares_.find(share);
  return known != shares_.end() &&
         known->second.waiting >= std::max<std::size_t>(1, most_waiting_ / 4);
}

bool Desk::has_room(const kernel::OpenIntent& intent) {
  const std::string share = share_name(intent);
  const std::lock_guard lock(mutex_);
  return ended_ || !died_of_.empty() || known_.contains(intent.intent) ||
         !is_full_for(intent, share);
}

void Desk::add(const kernel::OpenIntent& intent, const std::string& share, Reports& reports) {
  const auto shared = shares_.try_emplace(share).first;
  const Lines::Place place = lines_.line(share + '\n' + std::string(intent.workflow));
  Line& line = place->second;
  line.share = shared;
  line.waiting.push_back(kept(intent));
  known_.emplace(intent.intent,
                 Entry{&reports, Stage::kWaits, shared, place, std::prev(line.waiting.end())});
  ++shared->second.waiting;
  ++waiting_;
  waiting_bytes_ += intent.params.size();
}

bool Desk::start(const kernel::OpenIntent& intent, Reports& reports) {
  Receipt refusal;
  const std::string share = share_name(intent);
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return false;
    if (const auto found = known_.find(intent.intent); found != known_.end()) {
      found->second.reports = &reports;
      return false;
    }
    if (!died_of_.empty()) {
      refusal = died(died_of_);
    } else if (is_full_for(intent, share)) {
      refusal =
          failed("executor.busy", "too many effects of this kind wait already", Retry::kMayHelp);
    } else {
      add(intent, share, reports);
      return true;
    }
  }
  report(reports, intent.intent, refusal);
  return false;
}

void Desk::leave(Shares::iterator share) {
  if (share->second.waiting + share->second.given == 0) shares_.erase(share);
}

void Desk::drop_waiting(Known::iterator known) {
  const Entry entry = known->second;
  waiting_bytes_ -= entry.waiting->params.size();
  --waiting_;
  --entry.share->second.waiting;
  entry.line->second.waiting.erase(entry.waiting);
  known_.erase(known);
  leave(entry.share);
}

// Of one that was handed out.
void Desk::drop(Known::iterator known) {
  const Shares::iterator share = known->second.share;
  --share->second.given;
  known_.erase(known);
  leave(share);
}

bool Desk::stop(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(intent);
  if (found == known_.end() || found->second.stage == Stage::kStopped) return false;
  if (found->second.stage == Stage::kWaits) {
    drop_waiting(found);
    return false;
  }
  found->second.stage = Stage::kStopped;
  stops_.push_back(intent);
  return true;
}

bool Desk::end_late(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(intent);
  if (found == known_.end() || found->second.stage == Stage::kStopped) return true;
  if (found->second.stage == Stage::kWaits) {
    drop_waiting(found);
    return true;
  }
  late_.push_back(intent);
  return false;
}

void Desk::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

Orders Desk::take(std::size_t places) {
  const std::lock_guard lock(mutex_);
  Orders orders;
  orders.end = ended_;
  orders.stops = std::exchange(stops_, {});
  orders.late = std::exchange(late_, {});
  const auto take_one = [&](Line& line) {
    Share& share = line.share->second;
    if (!line.share->first.empty() && share.given >= places) return false;
    kernel::OpenIntent& next = orders.starts.emplace_back(std::move(line.waiting.front()));
    line.waiting.pop_front();
    --share.waiting;
    ++share.given;
    --waiting_;
    waiting_bytes_ -= next.params.size();
    known_.at(next.intent).stage = Stage::kGiven;
    return true;
  };
  while (places > 0 && lines_.serve(take_one)) --places;
  return orders;
}

void Desk::done(const base::Hash& intent, const Receipt& receipt) {
  Reports* reports = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(intent);
    if (found == known_.end()) return;
    if (found->second.stage == Stage::kGiven && !ended_) reports = found->second.reports;
    drop(found);
  }
  if (reports != nullptr) report(*reports, intent, receipt);
}

Reports* Desk::reports_of(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(intent);
  const bool is_heard = found != known_.end() && found->second.stage == Stage::kGiven && !ended_;
  return is_heard ? found->second.reports : nullptr;
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
    lines_.clear();
    shares_.clear();
    waiting_ = waiting_bytes_ = 0;
    stops_.clear();
    late_.clear();
  }
  for (const auto& [intent, reports] : open) report(*reports, intent, died(why));
}

}  // namespace holdfast::executors
