// SPDX-License-Identifier: Apache-2.0
// Parking: which runs of steps are not in memory, and who wakes them. It only counts: what must
// come of it the ledger and the judge hold.
#pragma once

#include <cstdint>
#include <deque>
#include <set>

#include "kernel/record_view.h"
#include "kernel/world.h"
#include "sim/ledger.h"

namespace holdfast::sim {

class Parking {
 public:
  Parking(Report& report, const Ledger& ledger) : report_(report), ledger_(ledger) {}

  // The world is about to reduce something.
  void before_turn(const kernel::World& world);

  // A snapshot is begun, by which runs may leave memory, and is finished later.
  void begin_putting_away(const kernel::World& world) { before_ = in_memory(world); }
  void put_away(const kernel::World& world);
  void finished() { leaving_.clear(); }

  // The process has died.
  void forget();

  // A record that touched a run has become durable.
  void add(const kernel::RecordView& record, const kernel::InstanceView& instance);

 private:
  using Names = std::set<Ledger::Name>;
  Names in_memory(const kernel::World& world) const;

  // As it was before some records were made.
  struct Look {
    std::uint64_t from = 0;  // the first of them
    Names away;
    Names leaving;
  };

  Report& report_;
  const Ledger& ledger_;
  Names before_;
  Names leaving_;  // those that the snapshot under way has put away
  std::deque<Look> looks_;
};

}  // namespace holdfast::sim
