// SPDX-License-Identifier: Apache-2.0
#include "node/sealing.h"

#include <algorithm>
#include <utility>

namespace holdfast::node {

std::optional<std::int64_t> Sealing::due_ns() const {
  if (!sealer_) return retry_ns_;
  const store::RecordNumber lag = sealer_->lag();
  if (lag == 0) return std::nullopt;
  return has_more_ || lag >= slice_.records ? 0 : sealed_ns_ + kGatherNs;
}

void Sealing::work() {
  auto sealed = seal();
  sealed_ns_ = clock_.since_boot_ns();
  if (sealed) {
    has_more_ = *sealed;
    last_trouble_.clear();
    needs_from_ = sealer_->next();
    return;
  }
  // What is not sealed keeps nobody from trimming: the chain begins anew behind it.
  needs_from_ = kNothing;
  sealer_.reset();
  has_more_ = false;
  retry_ns_.reset();
  if (sealed.error().code() != base::ErrorCode::kConflict) retry_ns_ = sealed_ns_ + kRetryNs;
  std::string text = sealed.error().to_string();
  if (trouble_ && text != std::exchange(last_trouble_, text))
    trouble_({sealed.error().code(), "seals", text});
}

void Sealing::finish() {
  if (!sealer_ && !retry_ns_) return;
  for (int i = 0; i < kMostSlicesAtTheEnd; ++i) {
    work();
    if (!has_more_) return;
  }
}

base::Result<bool> Sealing::seal() {
  if (!sealer_) sealer_ = TRY(Sealer::open(folder_, journal_));
  return sealer_->run(slice_);
}

}  // namespace holdfast::node
