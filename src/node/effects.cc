// SPDX-License-Identifier: Apache-2.0
#include "node/effects.h"

#include <utility>

#include "codec/buffer.h"
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

}  // namespace

Effects::Effects(Executors executors, executors::Reports& reports)
    : executors_(std::move(executors)), reports_(reports) {
  executors_["timer"] = &timers_;
}

executors::Executor* Effects::executor_of(const kernel::EffectProgram& effect) {
  const auto found = executors_.find(effect.executor.kind);
  return found == executors_.end() ? nullptr : found->second;
}

bool Effects::try_start(const kernel::OpenIntent& open) {
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) {
    ++unperformed_[open.effect->executor.kind];
    return true;
  }
  const std::lock_guard lock(starting_);
  if (!executor->has_room(open)) return false;
  executor->start(open, reports_);
  return true;
}

void Effects::start(const kernel::OpenIntent& open) {
  if (!starts_) return;
  executors::Executor* executor = executor_of(*open.effect);
  if (executor == nullptr) return report_unknown(open, reports_);
  const std::lock_guard lock(starting_);
  executor->start(open, reports_);
}

void Effects::stop(const kernel::StopIntent& stop) {
  if (executors::Executor* executor = executor_of(*stop.effect)) executor->stop(stop.intent);
}

void Effects::shut_down() {
  for (const auto& [kind, executor] : executors_) executor->shut_down();
}

}  // namespace holdfast::node
