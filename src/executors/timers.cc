// SPDX-License-Identifier: Apache-2.0
#include "executors/timers.h"

#include <algorithm>
#include <functional>

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "executors/receipt.h"

namespace holdfast::executors {
namespace {

constexpr std::size_t kFewStopped = 1024;

}  // namespace

void Timers::start(const kernel::OpenIntent& intent, Reports& reports) {
  const codec::View params = codec::View::of(intent.params);
  const auto at = params.find("deliver_at_ns");
  if (!at ||
      !at->nat()) {  // who defines an effect of their own may have made the params of anything
    const Receipt refusal = failed("timer.params", "$.deliver_at_ns is not there, or no number");
    kernel::ReceiptArrived receipt;
    receipt.intent = intent.intent;
    receipt.status = refusal.status;
    receipt.payload = refusal.payload;
    return reports.report(receipt);
  }
  const std::lock_guard lock(mutex_);
  heap_.push_back({std::max(*at->nat(), intent.opened_ns), intent.intent, &reports});
  std::push_heap(heap_.begin(), heap_.end(), std::greater());
  const auto key = params.find("key");
  if (key && key->text()) keys_.emplace(intent.intent, *key->text());
}

void Timers::stop(const base::Hash& intent) {
  const std::lock_guard lock(mutex_);
  keys_.erase(intent);
  stopped_.insert(intent);
  if (stopped_.size() > kFewStopped && stopped_.size() > heap_.size() / 2) drop_stopped();
  drop_first_stopped();
}

std::optional<std::uint64_t> Timers::next_ns() const {
  const std::lock_guard lock(mutex_);
  if (heap_.empty()) return std::nullopt;
  return heap_.front().at_ns;
}

// And all that are the same: it may have been started twice.
void Timers::drop_first() {
  const Timer first = heap_.front();
  while (!heap_.empty() && heap_.front() == first) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater());
    heap_.pop_back();
  }
}

// The first one is one that will fire.
void Timers::drop_first_stopped() {
  while (!heap_.empty() && stopped_.erase(heap_.front().intent) != 0) drop_first();
}

void Timers::drop_stopped() {
  std::erase_if(heap_, [this](const Timer& timer) { return stopped_.contains(timer.intent); });
  std::make_heap(heap_.begin(), heap_.end(), std::greater());
  stopped_.clear();
}

void Timers::take_due(std::uint64_t now_ns, std::size_t most, std::vector<Due>& due) {
  for (; most > 0 && !heap_.empty() && heap_.front().at_ns <= now_ns; --most) {
    Due& next = due.emplace_back(Due{heap_.front().intent, heap_.front().reports, std::nullopt});
    if (const auto key = keys_.find(next.intent); key != keys_.end()) {
      next.key = std::move(key->second);
      keys_.erase(key);
    }
    drop_first();
    drop_first_stopped();
  }
}

void Timers::fire(std::uint64_t now_ns, std::size_t most) {
  std::vector<Due> due;
  {
    const std::lock_guard lock(mutex_);
    take_due(now_ns, most, due);
  }
  codec::Buffer payload;
  for (const Due& timer : due) {  // without the mutex: whoever hears it may ask for the next one
    payload.clear();
    codec::write_map_head(payload, 2);  // sys/TimerSetReceipt@1
    codec::write_text(payload, "key");
    if (timer.key) {
      codec::write_text(payload, *timer.key);
    } else {
      codec::write_null(payload);
    }
    codec::write_text(payload, "delivered_at_ns");
    codec::write_nat(payload, now_ns);
    kernel::ReceiptArrived receipt;
    receipt.intent = timer.intent;
    receipt.payload = payload.view();
    timer.reports->report(receipt);
  }
}

}  // namespace holdfast::executors
