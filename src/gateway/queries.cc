// SPDX-License-Identifier: Apache-2.0
#include "gateway/queries.h"

#include "gateway/exchange.h"

namespace holdfast::gateway {

void Queries::ask(Exchange& exchange, const std::string& workflow, Bytes key, Then then) {
  if (unanswered_ >= kMost)
    return exchange.refuse({ProblemCode::kFull, "too many questions wait for an answer"});
  ++unanswered_;
  names_.push_back({workflow, key});
  asked_.push_back(
      {exchange.shared_from_this(), exchange.number(), std::move(key), std::move(then)});
  if (asked_.size() == 1) return soon_();
  if (asked_.size() == kMostAtOnce) ask_all(exchange.service().wake);
}

void Queries::ask_all(const std::shared_ptr<Wake>& wake) {
  if (asked_.empty()) return;
  auto asked = std::make_shared<std::vector<Asked>>(std::exchange(asked_, {}));
  asked_.reserve(asked->size());
  auto answered = [this, wake, asked](Result<Engine::RawInstances> found) {
    wake->post([this, asked, found = std::move(found)] {
      unanswered_ -= asked->size();
      for (std::size_t i = 0; i < asked->size(); ++i) {
        const Asked& one = (*asked)[i];
        if (one.exchange->number() != one.number) continue;
        if (found) {
          one.then(*one.exchange, one.key, (*found)[i]);
        } else {
          one.then(*one.exchange, one.key, found.error());
        }
      }
    });
  };
  engine_.query_raw(std::exchange(names_, {}), std::move(answered));
}

}  // namespace holdfast::gateway
