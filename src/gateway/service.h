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
#include "gateway/request.h"
#include "gateway/route_figures.h"
#include "gateway/timers.h"
#include "gateway/wake.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

// Since the server began, but for the first three.
struct Traffic {
  std::uint64_t connections = 0;
  std::uint64_t body_bytes = 0;  // of requests that are here
  std::uint64_t streams = 0;     // event streams that are read
  std::uint64_t accepted = 0;
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
  AllRouteFigures routes = {};
  codec::Normaliser normaliser = {};
  bool is_stopping = false;

  // The name of the token that a request shows; empty: there are none.
  std::function<std::string(const Request&)> client_of = {};

  // The definitions may be others by now.
  void refresh();
  std::uint64_t definitions_version = 0;
};

}  // namespace holdfast::gateway
