// SPDX-License-Identifier: Apache-2.0
// Effects that are performed outside of the engine: another program finds the open ones, performs
// them, and reports what came of them. The definition of such an effect has the executor "outside".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/effect.h"
#include "holdfast/types.h"

namespace holdfast {

constexpr Executor outside() { return {"outside", {}}; }

// An effect that is open.
struct OpenEffect {
  Hash intent;
  std::string effect;
  std::string executor;
  std::string workflow;         // that opened it
  Bytes key;                    // of the instance; empty if the workflow has none
  Bytes params;                 // canonical
  std::uint64_t opened_at = 0;  // the record
  std::uint64_t opened_ns = 0;
  std::uint64_t last_progress = 0;  // the sequence of the last sign of life
};

// Some of those that are open.
struct OpenEffectsPart {
  std::vector<OpenEffect> effects;
  std::string next;  // where to go on; empty: there are no more
};

struct RawReceipt {
  Hash intent;
  Status status = Status::kOk;
  Bytes payload;  // by the receipt schema of the effect, or sys/EffectError@1 where it is not ok
  std::optional<std::uint64_t> cost_cents = {};
};

struct RawProgress {
  Hash intent;
  std::uint64_t sequence = 0;  // from 1
  std::string kind;
  Bytes payload;
};

struct Reported {
  std::uint64_t record = 0;
  bool is_repeated = false;            // it was said before, or is settled: nothing happened now
  std::optional<Status> settled = {};  // how it is settled, if it was before
};

}  // namespace holdfast
