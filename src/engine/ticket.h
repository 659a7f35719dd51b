// SPDX-License-Identifier: Apache-2.0
// Ticket: where an answer goes. It is told once: by whoever has the answer or, when nobody is left
// who could have it, that there is none.
#pragma once

#include <memory>
#include <utility>

#include "holdfast/engine.h"

namespace holdfast::engine {

template <class T>
class Ticket {
 public:
  explicit Ticket(Engine::Then<T> then) : then_(std::move(then)) {}
  ~Ticket() {
    if (then_)
      then_(Error{ErrorCode::kEnded,
                  "the engine was closed before answering, or the question was taken back; it may "
                  "have happened"});
  }
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  void tell(Result<T> answer) {
    if (auto then = std::exchange(then_, nullptr)) then(std::move(answer));
  }

 private:
  Engine::Then<T> then_;
};

// Shared, as a std::function must be copied; nobody but the last one who has it tells.
template <class T>
std::shared_ptr<Ticket<T>> ticket(Engine::Then<T> then) {
  return std::make_shared<Ticket<T>>(std::move(then));
}

}  // namespace holdfast::engine
