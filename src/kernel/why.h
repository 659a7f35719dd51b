// SPDX-License-Identifier: Apache-2.0
// Why an instance has not ended: what it waits for, as data. There is a reason for every instance
// that has not ended; one that waits for nothing says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/work.h"

namespace holdfast::kernel {

// An effect is open.
struct WaitsForReceipt {
  base::Hash intent;
  std::string effect;
  std::string executor;
  std::uint64_t opened_at = 0;  // the record
  std::uint64_t since_ns = 0;
  std::optional<std::uint64_t> due_ns;  // a timer: when it is due

  bool by_workers = false;          // a worker performs it
  std::optional<Lease> lease = {};  // that one; nothing: it waits for a worker, since queued_ns
  std::uint64_t queued_ns = 0;
  std::uint64_t losses = 0;  // workers that were lost with it

  // An instance runs for it: that one.
  std::string child_workflow = {};
  base::Bytes child_key = {};
};

// Mail is there, and its turn has not come.
struct WaitsForTurn {
  std::uint64_t mail = 0;
};

// Mail is there, and a step that would take it sends mail to an instance whose mailbox is full.
struct WaitsForRoom {
  std::uint64_t mail = 0;
  std::string workflow = {};  // of the instance; empty: too much mail waits in the whole world
  base::Bytes key = {};
};

// Mail is there. The instance takes events again when an effect that it has open has answered.
struct HoldsEvents {
  std::uint64_t mail = 0;
};

// Somebody paused it, or it could not take a step.
struct IsPaused {
  std::uint64_t mail = 0;
  std::string missing_code = {};  // for the version that it goes on with; empty: nothing is missing
};

// Nothing is under way; an event of one of these schemas would wake it.
struct WaitsForEvent {
  std::vector<std::string> schemas;
};

// Nothing is under way, and no event is routed to its workflow: nothing that happens by itself will
// wake it. Somebody who knows it still can, with an event that names it.
struct WaitsForNothing {};

// An instance that has not ended and goes on with an earlier version of its workflow. The hashes
// are those of a definition and all that it leads to: a version may differ only in a schema.
struct KeptVersion {
  base::Hash form;                 // that it goes on with
  base::Hash present;              // that instances begin with now
  std::string stays_because = {};  // why it cannot move to that now; empty: it can
};

using Reason = std::variant<WaitsForReceipt, WaitsForTurn, WaitsForRoom, HoldsEvents, IsPaused,
                            WaitsForEvent, WaitsForNothing>;

}  // namespace holdfast::kernel
