// SPDX-License-Identifier: Apache-2.0
// Offer: what a worker has for tasks, as it said when it enrolled. Read from the description that
// the world keeps (docs/worker-protocol.md, "Enrol").
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codec/buffer.h"
#include "codec/view.h"

namespace holdfast::dispatch {

struct Device {
  std::uint32_t index = 0;
  std::string type = {};
  std::uint64_t memory_bytes = 0;

  friend bool operator==(const Device&, const Device&) = default;
};

struct Offer {
  std::vector<std::string> queues = {};  // in order
  std::vector<std::string> types = {};   // in order
  bool has_any_type = false;
  std::uint32_t slots = 1;
  std::vector<std::pair<std::string, std::string>> labels = {};  // in order of keys
  std::uint64_t cpu_milli = 0;                                   // 0: not said
  std::uint64_t memory_bytes = 0;                                // 0: not said
  std::vector<Device> devices = {};                              // in order of indexes
  std::vector<std::string> recipes = {};                         // in order

  friend bool operator==(const Offer&, const Offer&) = default;
};

// The members queues, types, slots, labels, resources and recipes of a map; others are passed over.
// kInvalid names the place below "$".
base::Result<Offer> read_offer(codec::View description);

// What the world keeps, as CBOR. read_offer gives the offer again.
void write_offer(codec::Buffer& out, const Offer& offer);

}  // namespace holdfast::dispatch
