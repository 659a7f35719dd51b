// SPDX-License-Identifier: Apache-2.0
#include "sim/outside.h"

#include <algorithm>

#include "codec/buffer.h"
#include "kernel/effect_error.h"
#include "sim/workflows.h"

namespace holdfast::sim {
namespace {

constexpr std::size_t kRoom = 4;

// Of 256 effects so many fail. A run of steps has many of them.
constexpr std::uint8_t kBad = 24;
constexpr std::uint8_t kBadOfFunctions = 9;

}  // namespace

// What goes on elsewhere since before the process began takes no room in it.
bool Outside::has_room(const kernel::OpenIntent& intent) {
  const auto here = std::count_if(under_way_.begin(), under_way_.end(),
                                  [](const auto& one) { return one.second.reports != nullptr; });
  const auto found = under_way_.find(intent.intent);
  const bool is_here = found != under_way_.end() && found->second.reports != nullptr;
  if (is_here || static_cast<std::size_t>(here) < kRoom) return true;
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
  if (const auto found = functions_.find(intent.effect->name); found != functions_.end()) {
    const executors::StopFlag stopped = false;
    executors::NoProgress progress;
    at->second.done = found->second(intent, stopped, progress);
  }
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

// What comes of an intent follows from the intent, however often it is asked for; what a function
// did is what it did when it was called.
executors::Receipt Outside::receipt_of(const base::Hash& intent, const Work& work) {
  const std::uint8_t luck = intent.bytes[0];
  const std::uint8_t bad = work.done ? kBadOfFunctions : kBad;
  if (luck < bad) {
    report_.sometimes("an effect fails");
    codec::Buffer error;
    kernel::write_effect_error(error, "unlucky", "it did not work");
    return {luck < bad / 3 * 2 ? kernel::ReceiptStatus::kError : kernel::ReceiptStatus::kTimeout,
            error.to_bytes()};
  }
  if (luck < bad + 4) {
    report_.sometimes("a receipt does not fit");
    return {kernel::ReceiptStatus::kOk, value_of(std::string("not what was expected"))};
  }
  if (work.done) return *work.done;
  const auto ok = [](base::Bytes payload) {
    return executors::Receipt{kernel::ReceiptStatus::kOk, std::move(payload)};
  };
  if (work.effect == demo::Charge::kEffect)
    return ok(value_of(demo::Charge::Receipt{"p-" + std::to_string(luck)}));
  if (work.effect == demo::Ship::kEffect)
    return ok(value_of(demo::Ship::Receipt{"t-" + std::to_string(luck)}));
  return ok(value_of(demo::Reserve::Receipt{}));
}

void Outside::report(const base::Hash& intent, const Work& work) {
  const executors::Receipt made = receipt_of(intent, work);
  kernel::ReceiptArrived receipt;
  receipt.intent = intent;
  receipt.status = made.status;
  receipt.payload = made.payload;
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
