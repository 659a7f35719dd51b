// SPDX-License-Identifier: Apache-2.0
#include "sim/outside.h"

#include "codec/buffer.h"
#include "kernel/effect_error.h"
#include "sim/workflows.h"

namespace holdfast::sim {
namespace {

constexpr std::size_t kRoom = 4;

}  // namespace

// It is asked about what was open before the process began, and nothing else.
bool Outside::has_room(const kernel::OpenIntent& intent) {
  if (under_way_.contains(intent.intent) || under_way_.size() < kRoom) return true;
  report_.sometimes("an effect waits for room");
  return false;
}

void Outside::start(const kernel::OpenIntent& intent, executors::Reports& reports) {
  listens_ = &reports;
  ledger_.catch_up(*journal_);
  const Ledger::Intent* known = ledger_.find(intent.intent);
  if (known == nullptr) {
    report_.violation("an effect begins before what opened it is durable");
  } else if (known->effect != intent.effect->name) {
    report_.violation("an intent is begun as another effect");
  } else if (is_recovering_ && known->is_settled) {
    report_.violation("an effect that has settled is begun again");
  }
  report_.trace(intent.intent.bytes);
  auto [at, is_new] = under_way_.try_emplace(intent.intent);
  if (!is_new) report_.sometimes("an effect is begun again");
  at->second = {intent.effect->name, &reports};
}

void Outside::stop(const base::Hash& intent) {
  const auto found = under_way_.find(intent);
  if (found == under_way_.end()) return;
  report_.sometimes("an effect is stopped");
  if (dice_.one_in(2)) under_way_.erase(found);  // else it is too late; it will be heard of
}

void Outside::forget() {
  listens_ = nullptr;
  reported_.clear();
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    at->second.reports = nullptr;
    at = dice_.one_in(3) ? std::next(at) : under_way_.erase(at);
  }
}

// What comes of an intent follows from the intent, however often it is asked for.
void Outside::report(const base::Hash& intent, const Work& work) {
  kernel::ReceiptArrived receipt;
  receipt.intent = intent;
  const std::uint8_t luck = intent.bytes[0];
  codec::Buffer error;
  base::Bytes payload;
  if (luck < 24) {
    receipt.status = luck < 16 ? kernel::ReceiptStatus::kError : kernel::ReceiptStatus::kTimeout;
    kernel::write_effect_error(error, "unlucky", "it did not work");
    payload = error.to_bytes();
    report_.sometimes("an effect fails");
  } else if (luck < 28) {
    payload = value_of(std::string("not what was expected"));
    report_.sometimes("a receipt does not fit");
  } else if (work.effect == demo::Charge::kEffect) {
    payload = value_of(demo::Charge::Receipt{"p-" + std::to_string(luck)});
  } else if (work.effect == demo::Ship::kEffect) {
    payload = value_of(demo::Ship::Receipt{"t-" + std::to_string(luck)});
  } else {
    payload = value_of(demo::Reserve::Receipt{});
  }
  receipt.payload = payload;
  executors::Reports& reports = work.reports != nullptr ? *work.reports : *listens_;
  reported_.insert(intent);
  reports.report(receipt);
}

void Outside::say_progress(const base::Hash& intent, const Work& work) {
  if (work.reports == nullptr) return;
  const base::Bytes payload = value_of(std::string("getting on"));
  work.reports->report(kernel::ProgressArrived{intent, ++progress_[intent], "step", payload});
  report_.sometimes("an effect gives a sign of life");
}

void Outside::work(bool all) {
  if (listens_ == nullptr) {
    // Not one of them is open any more: whoever was started since would have told us so.
    if (all) under_way_.clear();
    return;
  }
  for (auto at = under_way_.begin(); at != under_way_.end();) {
    if (!all && !dice_.one_in(3)) {
      ++at;
      continue;
    }
    if (!all && dice_.one_in(5)) say_progress(at->first, at->second);
    report(at->first, at->second);
    if (!all && dice_.one_in(6)) {  // it will be reported once more
      report_.sometimes("a receipt comes twice");
      ++at;
    } else {
      at = under_way_.erase(at);
    }
  }
}

}  // namespace holdfast::sim
