// SPDX-License-Identifier: Apache-2.0
// WorkerEffects: effects of the kind `worker`. Those that have a function are performed here; the
// others are left to workers outside, which are leased them, and a listener hears of each of them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "executors/functions.h"

namespace holdfast::executors {

// Hears what those who place work need to know, in the order of the records. `recovered` comes
// behind everything that was open or known before the node began.
class WorkListener {
 public:
  virtual ~WorkListener() = default;
  virtual void opened(const kernel::OpenIntent& open,
                      const std::shared_ptr<const kernel::Work>& work) = 0;
  virtual void heard(const kernel::WorkNews& news) = 0;
  virtual void recovered() = 0;
};

class WorkerEffects : public Executor {
 public:
  using Names = std::set<std::string, std::less<>>;

  // `here` are the effects that have a function. Without a listener the others get an error receipt
  // from the functions, but for the tasks of the system, which stay open.
  WorkerEffects(std::unique_ptr<Functions> functions, const Names& here, WorkListener* listener)
      : functions_(std::move(functions)), here_(here), listener_(listener) {}

  void start(const kernel::OpenIntent& open, Reports& reports) override;
  bool has_room(const kernel::OpenIntent& open) override {
    return is_leased_out(open) || functions_->has_room(open);
  }
  std::optional<std::uint64_t> time_limit_ns(const kernel::OpenIntent& open) const override;
  bool is_leased_out(const kernel::OpenIntent& open) const override;
  void resume(const kernel::OpenIntent& open,
              const std::shared_ptr<const kernel::Work>& work) override;
  void recovered() override;
  void hear(const kernel::WorkNews& news) override;
  bool end_late(const base::Hash& intent) override { return functions_->end_late(intent); }
  void stop(const base::Hash& intent) override { functions_->stop(intent); }
  void shut_down() override { functions_->shut_down(); }

  Functions& functions() noexcept { return *functions_; }

 private:
  const std::unique_ptr<Functions> functions_;
  const Names& here_;
  WorkListener* const listener_;
};

}  // namespace holdfast::executors
