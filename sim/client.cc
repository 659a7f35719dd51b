// SPDX-License-Identifier: Apache-2.0
#include "sim/client.h"

#include <algorithm>

#include "sim/census.h"
#include "sim/survey.h"

namespace holdfast::sim {
namespace {

// An inbox of at most 20, of which each slice takes 8: three slices of 32 inputs, and the one that
// is being reduced. Each may be a turn of its own, with a tick that goes on with a cascade.
constexpr std::uint64_t kMostBetween = 4 * 32 * 2;
constexpr std::uint64_t kStorms = 5;
constexpr std::uint64_t kTimersOfStorm = 64;

}  // namespace

Client::Client(Dice& dice, Report& report, Ledger& ledger, std::uint64_t start_ns, Load load)
    : dice_(dice), report_(report), ledger_(ledger) {
  const std::uint64_t orders = load == Load::kPlain ? 2 + dice.below(10) : dice.below(3);
  for (std::uint64_t i = 0; i < orders; ++i) {
    const std::string id = "o-" + std::to_string(i);
    wish(demo::OrderPlaced{id, "mug", 1 + i, 100 * i});
    if (dice.one_in(4)) wish(demo::OrderCancelled{id});
    if (dice.one_in(6)) wish(demo::OrderPlaced{id, "mug", 1 + i, 100 * i});
  }
  // Alarms take long, and steps have timers of their own.
  for (std::uint64_t i = load == Load::kPlain ? dice.below(4) : 0; i > 0; --i) {
    wish(AlarmSet{"a-" + std::to_string(i), start_ns + dice.below(200) * kSecondNs,
                  dice.below(3) * kSecondNs, 1 + dice.below(6)});
  }
  if (dice.one_in(3)) wish(WordPassed{"r-0", dice.one_in(8) ? 1500 : dice.below(40)});
  if (load == Load::kPlain && dice.one_in(8)) {
    for (std::uint64_t i = 0; i < kStorms; ++i)
      wish(StormBegun{"w-" + std::to_string(i), kTimersOfStorm, 2 * kTimersOfStorm});
  }
  if (load == Load::kPlain) return;
  wish_surveys();
  wish_vigils();
  wish_censuses();
}

// Some of what people say comes before anybody asks.
void Client::wish_surveys() {
  for (std::uint64_t i = 1 + dice_.below(3); i > 0; --i) {
    const std::string id = "s-" + std::to_string(i);
    SurveyBegun begun{id, dice_.below(6), dice_.below(6), dice_.below(3)};
    if (dice_.one_in(2)) begun.patience_s = 5 + dice_.below(40);
    if (dice_.one_in(2)) begun.unlucky = dice_.next();
    if (dice_.one_in(2)) begun.asking = dice_.next();
    begun.watched = dice_.one_in(2);
    wish(begun);
    for (std::uint64_t n = 0; n < begun.parts; ++n) {
      if (dice_.one_in(3)) wish(Decision{id, kRoundOfPart + n, ++last_serial_});
    }
    if (dice_.one_in(3)) wish(Decision{id, 1 + dice_.below(2), ++last_serial_});
    if (dice_.one_in(3)) wish(Decision{id, kRoundOfWatch, ++last_serial_});
  }
}

void Client::wish_vigils() {
  for (std::uint64_t i = dice_.below(3); i > 0; --i) {
    const std::string id = "v-" + std::to_string(i);
    const std::uint64_t nudges = dice_.below(5);
    wish(VigilBegun{id, nudges});
    if (dice_.one_in(4)) wish(VigilBegun{id, nudges});
    for (std::uint64_t n = dice_.below(2 * nudges + 1); n > 0; --n) wish(Nudge{id, ++last_serial_});
  }
}

// What the tally is told may come before it is there, or never.
void Client::wish_censuses() {
  for (std::uint64_t i = dice_.below(3); i > 0; --i) {
    const std::string id = "c-" + std::to_string(i);
    wish(CensusBegun{id, dice_.below(5), dice_.next(), dice_.one_in(2) ? dice_.next() : 0});
    for (std::uint64_t n = dice_.below(4); n > 0; --n) wish(TallyHeard{tally_of(id)});
  }
}

void Client::answer(const std::string& survey, std::uint64_t round) {
  const bool is_about_part = round >= kRoundOfPart;
  if (is_about_part && dice_.one_in(2)) return;
  if (dice_.one_in(4)) wish(Decision{survey, round + 50, ++last_serial_});
  wish(Decision{survey, round, ++last_serial_, !is_about_part && dice_.one_in(12)});
  if (dice_.one_in(4)) wish(Decision{survey, round, ++last_serial_});
}

bool Client::is_in_time(std::uint64_t reduced, std::uint64_t record) {
  return record - reduced <= kMostBetween;
}

void Client::send(node::Loop& loop, store::Journal& journal, std::uint64_t reduced) {
  Wish& wish = wishes_[dice_.below(wishes_.size())];
  if (wish.is_asked || (wish.record != 0 && !dice_.one_in(10))) return;
  const auto sent = loop.send(
      node::Input::event({wish.schema, wish.value, wish.id}),
      [this, &wish, &journal](const kernel::Answer& answer) { hear(wish, answer, journal); });
  if (sent) {
    wish.is_asked = true;
    wish.reduced = reduced;
  } else if (sent.error().code() == base::ErrorCode::kUnavailable) {
    report_.sometimes("the node takes nothing new");
  }
}

void Client::hear(Wish& wish, const kernel::Answer& answer, store::Journal& journal) {
  wish.is_asked = false;
  std::uint64_t record = 0;
  if (const auto* accepted = std::get_if<kernel::Accepted>(&answer)) {
    record = accepted->record;
    wish.unhandled = accepted->unhandled;
    if (!is_in_time(wish.reduced, record))
      report_.violation("event " + wish.id + " waits while others are taken that came later");
  }
  if (const auto* repeated = std::get_if<kernel::Repeated>(&answer)) {
    record = repeated->record;
    // An answer that was lost with its node has not been heard.
    if (wish.unhandled && *wish.unhandled != repeated->unhandled)
      report_.violation("event " + wish.id + " is answered otherwise when it is sent again");
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
