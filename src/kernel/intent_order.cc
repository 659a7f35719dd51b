// SPDX-License-Identifier: Apache-2.0
#include "kernel/intent_order.h"

#include <algorithm>

namespace holdfast::kernel {

void IntentOrder::push_back(const base::Hash& intent) {
  places_.push_back(intent);
  if (finder_) finder_->place_of.emplace(intent, places_.size() - 1);
}

void IntentOrder::remove(const base::Hash& intent) {
  if (!finder_ && places_.size() <= kFew) {
    const auto found = std::find(places_.begin(), places_.end(), intent);
    if (found != places_.end()) places_.erase(found);
    return;
  }
  if (!finder_) make_finder();
  const auto found = finder_->place_of.find(intent);
  if (found == finder_->place_of.end()) return;
  places_[found->second] = {};
  finder_->place_of.erase(found);
  if (++finder_->gaps > places_.size() / 2) close_gaps();
}

void IntentOrder::make_finder() {
  finder_ = std::make_unique<Finder>();
  finder_->place_of.reserve(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) finder_->place_of.emplace(places_[i], i);
}

void IntentOrder::close_gaps() {
  std::erase(places_, base::Hash{});
  finder_.reset();
  if (places_.size() > kFew) make_finder();
}

}  // namespace holdfast::kernel
