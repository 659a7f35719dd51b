// SPDX-License-Identifier: Apache-2.0
#include "gateway/queries.h"

#include <iterator>

#include "gateway/exchange.h"

namespace holdfast::gateway {

void Queries::ask(Exchange& exchange, const std::string& workflow, Bytes key, Then then) {
  if (unanswered_ >= kMost)
    return exchange.refuse({ProblemCode::kFull, "too many questions wait for an answer"});
  ++unanswered_;
  next_.names.push_back({workflow, key});
  next_.asked.push_back(
      {exchange.shared_from_this(), exchange.number(), workflow, std::move(key), std::move(then)});
  if (next_.asked.size() == 1) return soon_();
  if (next_.asked.size() % kMostAtOnce == 0) ask_all(exchange.service().wake);
}

// When too many askings are under way, the first that ends asks what has gathered.
void Queries::ask_all(const std::shared_ptr<Wake>& wake) {
  if (next_.asked.empty() || askings_ == kMostAskings) return;
  ++askings_;
  auto asking = std::make_shared<Asking>();
  if (next_.asked.size() <= kMostAtOnce) {
    *asking = std::exchange(next_, {});
    next_.asked.reserve(asking->asked.size());
  } else {
    const auto move_some = [](auto& from, auto& to) {
      const auto end = from.begin() + static_cast<std::ptrdiff_t>(kMostAtOnce);
      to.assign(std::make_move_iterator(from.begin()), std::make_move_iterator(end));
      from.erase(from.begin(), end);
    };
    move_some(next_.asked, asking->asked);
    move_some(next_.names, asking->names);
  }
  ask_engine(wake, std::move(asking));
}

void Queries::ask_engine(const std::shared_ptr<Wake>& wake, std::shared_ptr<Asking> asking) {
  std::vector<Engine::RawName> names = std::exchange(asking->names, {});
  auto answered = [this, wake, asking](Result<Engine::RawInstances> found) {
    wake->post([this, wake, asking, found = std::move(found)] { answer(wake, asking, found); });
  };
  engine_.query_raw(std::move(names), std::move(answered), kBytesAtOnce);
}

void Queries::answer(const std::shared_ptr<Wake>& wake, const std::shared_ptr<Asking>& asking,
                     const Result<Engine::RawInstances>& found) {
  const std::size_t count = found ? found->size() : asking->asked.size();
  const auto rest = std::make_shared<Asking>();
  for (std::size_t i = count; i < asking->asked.size(); ++i) {
    Asked& one = asking->asked[i];
    if (one.exchange->number() != one.number) {
      --unanswered_;
      continue;
    }
    rest->names.push_back({one.workflow, one.key});
    rest->asked.push_back(std::move(one));
  }
  unanswered_ -= count;
  if (rest->asked.empty()) {
    --askings_;
    ask_all(wake);
  } else {
    ask_engine(wake, rest);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Asked& one = asking->asked[i];
    if (one.exchange->number() != one.number) continue;
    if (found) {
      one.then(*one.exchange, one.key, (*found)[i]);
    } else {
      one.then(*one.exchange, one.key, found.error());
    }
  }
}

}  // namespace holdfast::gateway
