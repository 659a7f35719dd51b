// SPDX-License-Identifier: Apache-2.0
// Report: what one simulated run came to. The trace is a hash over everything that happened: the
// same seed gives the same trace, or something is not under the seed's control.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace holdfast::sim {

class Report {
 public:
  void trace(base::ByteView bytes) {
    for (const std::uint8_t byte : bytes) trace_ = (trace_ ^ byte) * 0x100000001b3;
  }
  void trace(std::uint64_t number) {
    trace_ = (trace_ ^ number) * 0x100000001b3;
    trace_ ^= trace_ >> 29;
  }

  // Something rare took place. A rare thing that never takes place is not tested.
  void sometimes(std::string_view what) { ++sometimes_[std::string(what)]; }

  // A promise was broken. The first one counts.
  void violation(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }

  // For people who look at one run.
  void note(std::string line) {
    if (keeps_notes) notes_.push_back(std::move(line));
  }

  std::uint64_t trace() const noexcept { return trace_; }
  const std::string& violation() const noexcept { return violation_; }
  const std::map<std::string, std::uint64_t>& counts() const noexcept { return sometimes_; }
  const std::vector<std::string>& notes() const noexcept { return notes_; }

  bool keeps_notes = false;
  std::uint64_t steps = 0;

 private:
  std::uint64_t trace_ = 0xcbf29ce484222325;
  std::string violation_;
  std::map<std::string, std::uint64_t> sometimes_;
  std::vector<std::string> notes_;
};

}  // namespace holdfast::sim
