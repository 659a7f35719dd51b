// SPDX-License-Identifier: Apache-2.0
// Sealing: when records are sealed. What has become durable waits for company, a second at most. An
// error ends nothing: it is told, and tried again after a while, unless the seals do not fit the
// journal, which time does not mend.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "env/clock.h"
#include "node/sealer.h"

namespace holdfast::node {

class Sealing {
 public:
  static constexpr std::int64_t kGatherNs = 1'000'000'000;
  static constexpr std::int64_t kRetryNs = 60 * kGatherNs;
  using Trouble = std::function<void(const base::Error&)>;

  // All of them must outlive it. Nothing is opened yet.
  Sealing(store::WorldFolder& folder, store::Journal& journal, env::Clock& clock,
          const SliceLimits& slice, Trouble trouble)
      : folder_(folder),
        journal_(journal),
        clock_(clock),
        slice_(slice),
        trouble_(std::move(trouble)) {}

  // When there is something to do; nothing: not before something becomes durable.
  std::optional<std::int64_t> due_ns() const;
  void work();

  // Everything that is left, but not for ever.
  void finish();

  // The record that is worth waking up for.
  store::RecordNumber wakes_at() const {
    return sealer_ && sealer_->lag() == 0 ? sealer_->next() : kNothing;
  }

  // For whoever copies it, on the thread that works. Null: it is not open.
  store::SqliteDatabase* database() { return sealer_ ? &sealer_->database() : nullptr; }

  // For any thread: the first record that the journal must keep for it, while it is well.
  store::RecordNumber needs_from() const { return needs_from_; }

 private:
  static constexpr store::RecordNumber kNothing = std::numeric_limits<store::RecordNumber>::max();
  static constexpr int kMostSlicesAtTheEnd = 64;

  base::Result<bool> seal();

  store::WorldFolder& folder_;
  store::Journal& journal_;
  env::Clock& clock_;
  SliceLimits slice_;
  Trouble trouble_;
  std::unique_ptr<Sealer> sealer_;
  std::int64_t sealed_ns_ = 0;
  std::optional<std::int64_t> retry_ns_ = 0;
  bool has_more_ = false;  // than one slice
  std::string last_trouble_;
  std::atomic<store::RecordNumber> needs_from_ = kNothing;
};

}  // namespace holdfast::node
