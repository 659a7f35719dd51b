// SPDX-License-Identifier: Apache-2.0
#include "sim/client.h"

#include <algorithm>

#include "sim/workflows.h"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

Client::Client(Dice& dice, Report& report, Ledger& ledger, std::uint64_t start_ns)
    : dice_(dice), report_(report), ledger_(ledger) {
  const auto wish = [this]<class Event>(const Event& event) {
    wishes_.push_back(
        {"e-" + std::to_string(wishes_.size()), std::string(Event::kSchema), value_of(event)});
  };
  const std::uint64_t orders = 2 + dice.below(10);
  for (std::uint64_t i = 0; i < orders; ++i) {
    const std::string id = "o-" + std::to_string(i);
    wish(demo::OrderPlaced{id, "mug", 1 + i, 100 * i});
    if (dice.one_in(4)) wish(demo::OrderCancelled{id});
    if (dice.one_in(6)) wish(demo::OrderPlaced{id, "mug", 1 + i, 100 * i});
  }
  for (std::uint64_t i = dice.below(4); i > 0; --i) {
    wish(AlarmSet{"a-" + std::to_string(i), start_ns + dice.below(200) * kSecond,
                  dice.below(3) * kSecond, 1 + dice.below(6)});
  }
  if (dice.one_in(3)) wish(WordPassed{"r-0", dice.one_in(8) ? 1500 : dice.below(40)});
}

void Client::send(node::Loop& loop, store::Journal& journal) {
  Wish& wish = wishes_[dice_.below(wishes_.size())];
  if (wish.is_asked || (wish.record != 0 && !dice_.one_in(10))) return;
  const auto sent = loop.send(
      node::Input::event({wish.schema, wish.value, wish.id}),
      [this, &wish, &journal](const kernel::Answer& answer) { hear(wish, answer, journal); });
  if (sent) {
    wish.is_asked = true;
  } else if (sent.error().code() == base::ErrorCode::kUnavailable) {
    report_.sometimes("the node takes nothing new");
  }
}

void Client::hear(Wish& wish, const kernel::Answer& answer, store::Journal& journal) {
  wish.is_asked = false;
  std::uint64_t record = 0;
  if (const auto* accepted = std::get_if<kernel::Accepted>(&answer)) record = accepted->record;
  if (const auto* repeated = std::get_if<kernel::Repeated>(&answer)) {
    record = repeated->record;
    report_.sometimes("an event is sent again");
  }
  if (const auto* refused = std::get_if<kernel::Refused>(&answer)) {
    if (refused->code != base::ErrorCode::kUnavailable)
      report_.violation("event " + wish.id + " is refused: " + refused->message);
    return;
  }
  if (journal.durable() < record)
    report_.violation("event " + wish.id + " is acknowledged before it is durable");
  if (wish.record != 0 && wish.record != record)
    report_.violation("event " + wish.id + " is acknowledged as another record");
  wish.record = record;
  report_.trace(record);
}

void Client::lose_hope() {
  for (Wish& wish : wishes_) wish.is_asked = false;
}

bool Client::is_content() const {
  return std::all_of(wishes_.begin(), wishes_.end(),
                     [](const Wish& wish) { return wish.record != 0 && !wish.is_asked; });
}

void Client::check() const {
  for (const Wish& wish : wishes_) {
    if (wish.record != 0 && ledger_.record_of(wish.id) != wish.record)
      report_.violation("event " + wish.id + " was acknowledged as record " +
                        std::to_string(wish.record) + ", which does not have it");
  }
}

}  // namespace holdfast::sim
