// SPDX-License-Identifier: Apache-2.0
// Plan: what a step asks for, checked and canonical, but not yet true. Its bytes are those that the
// machine wrote, or, where those were not canonical, kept by the draft.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "kernel/cell.h"
#include "kernel/limits.h"
#include "kernel/program.h"
#include "kernel/waiting.h"

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
  // Events from outside are refused where there is no room; a step waits, and is asked about in
  // step.cc.
  enum class From : std::uint8_t { kOutside, kStep };
  struct Sum {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };

  explicit Targets(From the_sender = From::kOutside) : from(the_sender) {}

  From from;
  std::vector<Target> all;
  std::size_t bytes = 0;  // of all of them

  void add(const Target& target) {
    all.push_back(target);
    bytes += target.bytes;
  }

  // What of it goes to the instance of this target. They are put together when that is first asked
  // for, which is seldom.
  Sum for_instance_of(const Target& target) {
    for (; summed_ < all.size(); ++summed_) {
      Sum& sum = sums_[{all[summed_].workflow, all[summed_].id}];
      ++sum.messages;
      sum.bytes += all[summed_].bytes;
    }
    const auto found = sums_.find({target.workflow, target.id});
    return found == sums_.end() ? Sum() : found->second;
  }

  void clear() noexcept {
    all.clear();
    bytes = 0;
    if (summed_ == 0) return;
    summed_ = 0;
    sums_.clear();
  }

 private:
  std::size_t summed_ = 0;  // so many of them are in the sums
  std::map<CellName, Sum> sums_;
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
  Targets targets{Targets::From::kStep};  // of one event after the other

  void clear() noexcept {
    state = result = {};
    annotations.clear();
    effects.clear();
    events.clear();
    targets.clear();
  }
};

}  // namespace holdfast::kernel
