// SPDX-License-Identifier: Apache-2.0
// Outside: whoever performs the effects of the simulated world. Slow, forgetful when the process
// dies, sometimes there twice. What it did for an intent it remembers for good, as a service that
// honours idempotency keys does, so telling it twice must not matter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/handlers.h"
#include "executors/executor.h"
#include "sim/dice.h"
#include "sim/ledger.h"

namespace holdfast::sim {

class Outside : public executors::Executor {
 public:
  // Effects that have a function are performed by it, the others by nobody in particular.
  Outside(Dice& dice, Report& report, Ledger& ledger, engine::FunctionsByEffect functions)
      : dice_(dice), report_(report), ledger_(ledger), functions_(std::move(functions)) {}

  // The journal that what it is told must stand in.
  void watch(store::Journal* journal) { journal_ = journal; }

  // While a world is opened again: then nothing that has settled may begin.
  void set_recovering(bool recovering) { is_recovering_ = recovering; }

  bool has_room(const kernel::OpenIntent& intent) override;
  void start(const kernel::OpenIntent& intent, executors::Reports& reports) override;
  void stop(const base::Hash& intent) override;

  // Some of it gets done. `all`: everything, and nothing twice.
  void work(bool all);

  // The process dies. What runs elsewhere goes on, and will be heard of.
  void forget();

  // Intents whose receipts this process was given.
  const std::set<base::Hash>& reported() const noexcept { return reported_; }

  bool is_busy() const noexcept { return !under_way_.empty(); }

 private:
  struct Work {
    std::string effect;
    executors::Reports* reports = nullptr;                  // nothing: nobody listens yet
    std::optional<executors::Receipt> done = std::nullopt;  // by its function
  };
  executors::Receipt receipt_of(const base::Hash& intent, const Work& work);
  void report(const base::Hash& intent, const Work& work);
  void say_progress(const base::Hash& intent, const Work& work);

  Dice& dice_;
  Report& report_;
  Ledger& ledger_;
  const engine::FunctionsByEffect functions_;
  store::Journal* journal_ = nullptr;
  bool is_recovering_ = false;
  executors::Reports* listens_ = nullptr;
  std::map<base::Hash, Work> under_way_;
  std::map<base::Hash, std::uint64_t> progress_;
  std::set<base::Hash> reported_;
};

}  // namespace holdfast::sim
