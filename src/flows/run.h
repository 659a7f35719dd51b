// SPDX-License-Identifier: Apache-2.0
// Run: how far a flow has come. A frame stands for each node that has begun and not ended; those
// without frames below them wait for an effect or a signal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::flows {

using FrameId = std::uint32_t;  // never used twice in a run; 0: none

struct Binding {
  std::string name;
  base::Bytes value;  // encoded
};

// How a node has ended.
struct Outcome {
  enum class Kind : std::uint8_t { kOk, kFailed, kBroke };
  Kind kind = Kind::kOk;
  base::Bytes value = {};    // kOk, kBroke; encoded
  std::string code = {};     // kFailed
  std::string message = {};  // kFailed
};

// A branch of a join or each that has ended.
struct EndedBranch {
  std::uint32_t branch = 0;
  Outcome outcome;
  std::vector<Binding> bindings;
};

struct Frame {
  FrameId parent = 0;
  std::uint32_t node = 0;
  std::uint32_t branch = 0;  // among the children of its parent
  std::uint32_t phase = 0;   // what of a node of several parts is under way
  std::uint64_t count = 0;   // children, attempts or rounds so far
  std::uint64_t mark = 0;    // of a loop: effects that were opened before this round
  bool is_scope = false;     // results that are named below it stay here until it ends
  std::vector<Binding> bindings = {};
  std::vector<EndedBranch> ended = {};
  base::Bytes value = {};  // of a loop: what its body last came to
};

struct KeptSignal {
  std::string name;
  base::Bytes data;  // encoded
};

struct Run {
  std::uint64_t role = 0;  // that submitted it; SQL runs as this role
  FrameId next = 1;
  std::uint64_t opened = 0;  // effects, from the beginning
  std::map<FrameId, Frame> frames;
  std::vector<FrameId> unopened;    // whose effect is still to be opened, in order
  std::vector<KeptSignal> signals;  // that came before anything waited for them
  base::Hash part;                  // that the program is kept in; zero: it is in `program`
  base::Bytes program;              // encoded
};

void write_run(codec::Buffer& out, const Run& run);
std::optional<Run> read_run(codec::View value);

}  // namespace holdfast::flows
