// SPDX-License-Identifier: Apache-2.0
#include "executors/timers.h"

#include "codec/buffer.h"
#include "codec/cbor_writer.h"
#include "codec/view.h"
#include "executors/receipt.h"

namespace holdfast::executors {

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
  if (!due_.emplace(intent.intent, *at->nat()).second) return;
  order_.emplace(*at->nat(), intent.intent);
  const auto key = params.find("key");
  if (key && key->text()) keys_.emplace(intent.intent, *key->text());
}

void Timers::stop(const base::Hash& intent) {
  const auto found = due_.find(intent);
  if (found == due_.end()) return;
  order_.erase({found->second, intent});
  due_.erase(found);
  keys_.erase(intent);
}

std::optional<std::uint64_t> Timers::next_ns() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->first;
}

void Timers::fire(std::uint64_t now_ns, std::size_t most, Reports& reports) {
  codec::Buffer payload;
  for (; most > 0 && !order_.empty() && order_.begin()->first <= now_ns; --most) {
    const base::Hash intent = order_.begin()->second;
    payload.clear();
    codec::write_map_head(payload, 2);  // sys/TimerSetReceipt@1
    codec::write_text(payload, "key");
    if (const auto key = keys_.find(intent); key != keys_.end()) {
      codec::write_text(payload, key->second);
    } else {
      codec::write_null(payload);
    }
    codec::write_text(payload, "delivered_at_ns");
    codec::write_nat(payload, now_ns);
    kernel::ReceiptArrived receipt;
    receipt.intent = intent;
    receipt.payload = payload.view();
    reports.report(receipt);
    stop(intent);
  }
}

}  // namespace holdfast::executors
