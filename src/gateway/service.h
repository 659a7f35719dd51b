// SPDX-License-Identifier: Apache-2.0
// Service: what those who answer requests have to answer them with. The serving thread's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "codec/normaliser.h"
#include "gateway/definitions.h"
#include "gateway/helper.h"
#include "gateway/limits.h"
#include "gateway/queries.h"
#include "gateway/timers.h"
#include "gateway/wake.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

// Since the server began, but for the first two.
struct Traffic {
  std::uint64_t connections = 0;
  std::uint64_t body_bytes = 0;  // of requests that are here
  std::uint64_t accepted = 0;
  std::uint64_t requests = 0;
  std::uint64_t problems = 0;             // answers of 400 and above
  std::uint64_t refused_connections = 0;  // there were too many
  std::uint64_t timeouts = 0;             // connections that were too slow
};

struct Service {
  Engine& engine;
  const Limits& limits;
  Definitions definitions;
  std::shared_ptr<Wake> wake;
  Helper helper;
  Queries queries;
  std::function<void(std::string_view line)> log = {};
  Timers timers = {};
  Traffic traffic = {};
  codec::Normaliser normaliser = {};
  bool is_stopping = false;
};

}  // namespace holdfast::gateway
