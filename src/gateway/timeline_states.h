// SPDX-License-Identifier: Apache-2.0
// TimelineStates: the states of one instance along its timeline. A record has only the hash of a
// state that is not a small one (docs/formats/record.md), as those of step workflows are: whoever
// wants to see them looks back at the moments behind the records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gateway/past_state.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

class TimelineStates {
 public:
  // Of one part of a timeline; beyond that it is kTooLarge.
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  TimelineStates(std::string workflow, Bytes key)
      : workflow_(workflow), key_(std::move(key)), reader_(std::move(workflow), "") {}

  // Which moments to look at, in order, out of records as documents, the last first. None: the
  // records have every state.
  std::vector<std::uint64_t> wanted(const std::vector<Bytes>& records) const;

  // Keeps the state of this moment, as people read it. An instance that is gone by then has none.
  Result<Done> look(PastMoment& moment);

  // The same records, with what was seen.
  std::vector<Bytes> filled(const std::vector<Bytes>& records) const;

 private:
  bool is_of(const codec::View& instance) const;

  const std::string workflow_;
  const Bytes key_;
  PastReader reader_;
  std::map<std::uint64_t, Bytes> states_;  // by record
  std::size_t bytes_ = 0;
};

}  // namespace holdfast::gateway
