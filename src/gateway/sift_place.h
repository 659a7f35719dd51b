// SPDX-License-Identifier: Apache-2.0
// SiftPlace: a place among the requests that read many instances in the world for one answer, of
// which there are few at once. Other threads may be the last to let go of it.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "gateway/exchange.h"

namespace holdfast::gateway {

class SiftPlace {
 public:
  // Null: there are too many, and that is answered.
  static std::shared_ptr<SiftPlace> take(Exchange& exchange) {
    auto place = std::make_shared<SiftPlace>(exchange.service().sifts);
    if (place->before_ < exchange.service().limits.sifts) return place;
    exchange.refuse({ProblemCode::kFull, "too many requests read many instances"});
    return nullptr;
  }

  explicit SiftPlace(std::shared_ptr<std::atomic<std::size_t>> taken)
      : taken_(std::move(taken)), before_(taken_->fetch_add(1)) {}
  ~SiftPlace() { give_back(); }
  SiftPlace(const SiftPlace&) = delete;
  SiftPlace& operator=(const SiftPlace&) = delete;

  // Before the answer is sent: the client may ask again at once.
  void give_back() noexcept {
    if (taken_) taken_->fetch_sub(1);
    taken_ = nullptr;
  }

 private:
  std::shared_ptr<std::atomic<std::size_t>> taken_;
  std::size_t before_;
};

}  // namespace holdfast::gateway
