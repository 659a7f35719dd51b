// SPDX-License-Identifier: Apache-2.0
// Client: somebody who wants some things to happen once each, and asks again until it is told that
// they did: every event has an id.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "node/loop.h"
#include "sim/dice.h"
#include "sim/ledger.h"
#include "sim/workflows.h"

namespace holdfast::sim {

class Client {
 public:
  Client(Dice& dice, Report& report, Ledger& ledger, std::uint64_t start_ns, Load load);

  // A run asks people something: somebody answers, perhaps beside the point before, or twice.
  void answer(const std::string& survey, std::uint64_t round);

  // One more thing that is to happen: a relay gets a word.
  void pass_word(std::uint64_t relay, std::uint64_t hops) {
    wish(WordPassed{"r-" + std::to_string(relay), hops});
  }

  // Something that it has not heard of, or, now and then, something that it has.
  // `reduced`: the next record of the world, so many were reduced before it.
  void send(node::Loop& loop, store::Journal& journal, std::uint64_t reduced);

  // What was sent when `reduced` was the next record has become this one. Every input that is
  // admitted is reduced within a number of slices (node/loop.h), whatever else waits.
  static bool is_in_time(std::uint64_t reduced, std::uint64_t record);

  // Nobody will answer any more.
  void lose_hope();

  bool is_content() const;

  // Whatever it was told is in the journal, where it was told.
  void check() const;

 private:
  struct Wish {
    std::string id;
    std::string schema;
    base::Bytes value;
    bool is_asked = false;
    std::uint64_t reduced = 0;                    // when it was sent
    std::uint64_t record = 0;                     // that it was told; 0: not yet
    std::optional<std::uint32_t> unhandled = {};  // that it was told first
  };
  template <class Event>
  void wish(const Event& event) {
    wishes_.push_back(
        {"e-" + std::to_string(wishes_.size()), std::string(Event::kSchema), value_of(event)});
  }
  void wish_surveys();
  void wish_vigils();
  void wish_censuses();
  void hear(Wish& wish, const kernel::Answer& answer, store::Journal& journal);

  Dice& dice_;
  Report& report_;
  Ledger& ledger_;
  std::deque<Wish> wishes_;
  std::uint64_t last_serial_ = 0;
};

}  // namespace holdfast::sim
