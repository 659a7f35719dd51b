// SPDX-License-Identifier: Apache-2.0
#include "executors/worker_effects.h"

#include "codec/view.h"
#include "defs/system_names.h"

namespace holdfast::executors {

bool WorkerEffects::is_leased_out(const kernel::OpenIntent& open) const {
  if (!open.effect->by_workers || here_.contains(open.effect->name)) return false;
  return listener_ != nullptr || open.effect->name == defs::kTaskRun;
}

void WorkerEffects::start(const kernel::OpenIntent& open, Reports& reports) {
  if (!is_leased_out(open)) return functions_->start(open, reports);
  resume(open, nullptr);
}

// Of what is leased out: how long it may wait for a worker. How long a worker may take is said by
// its lease.
std::optional<std::uint64_t> WorkerEffects::time_limit_ns(const kernel::OpenIntent& open) const {
  if (!is_leased_out(open)) return functions_->time_limit_ns(open);
  if (open.effect->name != defs::kTaskRun) return std::nullopt;
  const auto limit = codec::View::of(open.params).find("queue_timeout_ns");
  return limit ? limit->nat() : std::nullopt;
}

void WorkerEffects::resume(const kernel::OpenIntent& open,
                           const std::shared_ptr<const kernel::Work>& work) {
  if (listener_ != nullptr) listener_->opened(open, work);
}

void WorkerEffects::recovered() {
  if (listener_ != nullptr) listener_->recovered();
}

// What is performed here has ended without anybody outside having known of it.
void WorkerEffects::hear(const kernel::WorkNews& news) {
  if (listener_ == nullptr) return;
  const bool is_worker = news.kind == kernel::WorkNews::Kind::kWorker;
  if (is_worker || is_leased_out(news.open)) listener_->heard(news);
}

}  // namespace holdfast::executors
