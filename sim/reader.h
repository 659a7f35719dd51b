// SPDX-License-Identifier: Apache-2.0
// Reader: somebody who reads the streams of instances along, from history, a few entries at a time,
// and holds them against what the journal said: nothing is missing, nothing comes twice, and a
// stream that is over has one end.
#pragma once

#include <map>

#include "node/history.h"
#include "node/local_world.h"
#include "sim/dice.h"
#include "sim/ledger.h"

namespace holdfast::sim {

class Reader {
 public:
  Reader(Dice& dice, Report& report, const Ledger& ledger)
      : dice_(dice), report_(report), ledger_(ledger) {}

  // Asks for the next entries of some instance. Only when everything is durable.
  void read(node::LocalWorld& world, node::History& history);

 private:
  void hear(const Ledger::Name& name, std::uint64_t after, std::uint64_t asked_at,
            const node::StreamPage& page);

  Dice& dice_;
  Report& report_;
  const Ledger& ledger_;
  std::map<Ledger::Name, std::uint64_t> read_;  // up to which sequence
};

}  // namespace holdfast::sim
