// SPDX-License-Identifier: Apache-2.0
// Lists of instances, from the index behind a world: what to look for, and what was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/types.h"

namespace holdfast {

// What does not matter is left empty.
struct ListOptions {
  std::string workflow = {};
  // running, waiting, completed, failed, cancelled, deleted; or several with commas between them
  std::string status = {};
  std::optional<bool> paused = {};
  std::uint64_t since_ns = 0;  // touched then or later
  std::uint64_t until_ns = 0;  // last touched before; 0: whenever
  std::string key = {};        // the key is a text that begins with this
  std::string code = {};       // the error code that it failed with
  std::string words = {};      // all of them occur in what the instance put out
  std::uint64_t after = 0;     // InstanceList::next of the part before
  std::size_t limit = 50;      // from 1 to 1000
  bool counts = false;         // also InstanceList::counts

  // Not 0: also InstanceList::rates, from this time on, in steps of whole 10 s.
  std::uint64_t rates_from_ns = 0;
  std::uint64_t rates_step_ns = 0;
};

// How many instances began and ended in a step of time. Those of the last two days are kept.
struct InstanceRate {
  std::uint64_t from_ns = 0;  // where the step begins
  std::uint64_t begun = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t cancelled = 0;
};

// How many instances of a workflow have a status.
struct InstanceCount {
  std::string workflow;
  std::string status;  // as in ListOptions
  std::uint64_t count = 0;
};

// An instance as the index has it.
struct ListedInstance {
  std::string workflow;
  Bytes key;           // canonical; empty if the workflow has none
  std::string status;  // as in ListOptions
  bool is_paused = false;
  std::uint64_t first_record = 0;  // 0: it began before the index did
  std::uint64_t first_ns = 0;
  std::uint64_t last_record = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t ended_record = 0;  // 0: it has not ended, or before the index began
  std::uint64_t ended_ns = 0;      // 0: not known, as the journal does not have that record
  std::uint64_t steps = 0;
  std::string error_code;  // that it failed with; empty: it has not
  std::string error_message;
  std::uint64_t place = 0;  // in the list: what `after` goes on behind
};

// Those that were seen last come first. A part may have fewer than were asked for, and even none,
// though there are more: the number of instances that are looked at for one part is limited.
struct InstanceList {
  std::vector<ListedInstance> instances;
  std::uint64_t next = 0;                  // where to go on; 0: there are no more
  std::uint64_t seen = 0;                  // the record that the index has come to
  std::uint64_t lag = 0;                   // durable records that it has not seen
  std::vector<InstanceCount> counts = {};  // of all instances, whatever the list is of
  std::vector<InstanceRate> rates = {};    // the same; steps in which nothing happened are left out
};

}  // namespace holdfast
