// SPDX-License-Identifier: Apache-2.0
// One instance at moments of the past, read with the definitions that its world had then: they say
// what its key is, and what the state of a step workflow means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codec/buffer.h"
#include "gateway/definitions.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

class PastReader {
 public:
  struct Found {
    RawInstance instance;
    const steps::Graph* graph;  // null: it is not made of steps; until the next is read
  };

  // As a path names it.
  PastReader(std::string workflow, std::string key)
      : workflow_(std::move(workflow)), key_(std::move(key)) {}

  // kNotFound: there was none. kCorrupt: the definitions cannot be read.
  Result<Found> read(PastMoment& moment);

  // The same for whoever knows the canonical key.
  Result<Found> read(PastMoment& moment, const Bytes& key);

 private:
  Result<Done> use(const Bytes& definitions);

  const std::string workflow_;
  const std::string key_;
  // Of the moment before: most have the same.
  std::optional<Definitions> definitions_;
};

// {"at", "record", "status", "state"}; `at` 0: now, and it is not said.
void put_state_of(codec::Buffer& out, const RawInstance& instance, std::uint64_t at,
                  const steps::Graph* graph);

}  // namespace holdfast::gateway
