// SPDX-License-Identifier: Apache-2.0
// The rehearsal of other definitions: a copy of a world as it is, with every instance under way,
// gets them, and instances of earlier versions move if that is asked for. The copy is in memory;
// the world goes on, and nothing is performed. On the way to the copy, records of the world are
// replayed with the code of this program: what comes out differently is told.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/outcome.h"
#include "kernel/world.h"
#include "node/past_world.h"

namespace holdfast::node {

struct RehearsalOptions {
  kernel::HowToApply how = {};
  bool migrate = false;
  // The records before the last one that are replayed, if a snapshot leads there.
  std::uint64_t replay = 200'000;
  PastLimits limits = {};
};

// Instances that do not move, and those that do.
struct MigrationSum {
  static constexpr std::size_t kMostListed = 1000;

  void add(const kernel::Migration& migration);

  std::uint64_t moved = 0;
  std::uint64_t stays = 0;
  std::vector<kernel::Migration::Stays> staying = {};  // the first of them
};

// The instances that replayed differently.
struct DifferenceSum {
  static constexpr std::size_t kMostListed = 100;
  static constexpr std::size_t kMostCounted = 100'000;

  struct Differing {
    std::string workflow;
    base::Bytes key;
    store::RecordNumber record = 0;  // the first of them that came out differently
    std::string why = {};
  };

  std::uint64_t active = 0;  // that have not ended
  std::uint64_t ended = 0;
  std::vector<Differing> listed = {};  // the first of those that have not ended
  // The record that could not be replayed, and why: instances that differ only after it are not
  // known. Empty: every record was compared.
  std::string stopped = {};
};

struct Rehearsal {
  store::RecordNumber at = 0;   // the copy is of the world behind this record
  std::uint64_t instances = 0;  // that have not ended
  kernel::Answer answer = {};   // to the definitions
  MigrationSum migration = {};
  std::uint64_t replayed = 0;
  std::string difference = {};  // the first record that came out differently; empty: none did
  DifferenceSum differences = {};
};

// Errors are those of PastWorld, but that a difference is none: it is told.
base::Result<Rehearsal> rehearse(const PastSource& source, const kernel::MachineSource& machines,
                                 base::ByteView definitions, const RehearsalOptions& options = {});

// Lists the instances of earlier versions that have not ended, of one workflow or of all (an empty
// name), in lists that a MigrateInstances tick takes.
base::Result<std::vector<base::Bytes>> list_earlier(kernel::World& world,
                                                    std::string_view workflow);

}  // namespace holdfast::node
