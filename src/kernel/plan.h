// SPDX-License-Identifier: Apache-2.0
// Plan: what a step asks for, checked and canonical, but not yet true. Its bytes are those that the
// machine wrote, or, where those were not canonical, kept by the draft.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/cell.h"
#include "kernel/limits.h"
#include "kernel/program.h"

namespace holdfast::kernel {

// One instance that an event goes to.
struct Target {
  std::uint32_t workflow = 0;
  base::ByteView key = {};  // in the event's bytes, or kept by the draft
  base::Hash id = {};       // of the key
  Cell* cell = nullptr;     // null: there was none when it was looked for
  std::size_t bytes = 0;  // what the event counts for in its mail; 0: it has ended, and ignores it
};

struct Targets {
  std::vector<Target> all;
  std::size_t bytes = 0;              // of all of them
  std::size_t limit = kMaxMailBytes;  // of what waits in the whole world, with theirs

  void add(const Target& target) {
    all.push_back(target);
    bytes += target.bytes;
  }
  void clear() noexcept {
    all.clear();
    bytes = 0;
  }
};

struct Plan {
  struct Effect {
    const AllowedEffect* allowed;
    base::ByteView params;
    std::string_view requested_key;
    std::string_view issuer_ref;
  };
  struct Event {
    const EventProgram* event;
    base::ByteView value;
    std::size_t targets;  // how many
  };
  base::ByteView state;
  base::ByteView result;
  std::vector<base::ByteView> annotations;
  std::vector<Effect> effects;
  std::vector<Event> events;
  Targets targets{{}, 0, kMaxMailBytesWithEmitted};  // of one event after the other

  void clear() noexcept {
    state = result = {};
    annotations.clear();
    effects.clear();
    events.clear();
    targets.clear();
  }
};

}  // namespace holdfast::kernel
