// SPDX-License-Identifier: Apache-2.0
// Service: what those who answer requests have to answer them with. The serving thread's own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "codec/normaliser.h"
#include "gateway/definitions.h"
#include "gateway/helper.h"
#include "gateway/limits.h"
#include "gateway/queries.h"
#include "gateway/request.h"
#include "gateway/role.h"
#include "gateway/route_figures.h"
#include "gateway/timers.h"
#include "gateway/wake.h"
#include "holdfast/engine.h"

namespace holdfast::gateway {

// Since the server began, but for the first three.
struct Traffic {
  std::uint64_t connections = 0;
  std::uint64_t body_bytes = 0;  // of requests that are here
  std::uint64_t streams = 0;     // event streams that are read, or asked for
  std::uint64_t accepted = 0;
  std::uint64_t problems = 0;             // answers of 400 and above
  std::uint64_t refused_connections = 0;  // there were too many
  std::uint64_t timeouts = 0;             // connections that were too slow
  std::uint64_t gone = 0;                 // clients that left before they were answered
  std::uint64_t world_left_out = 0;       // answers about figures that had none of the world
  std::uint64_t disk_left_out = 0;        // or of the disk
};

struct Service {
  Engine& engine;
  const Limits& limits;
  Definitions definitions;
  std::shared_ptr<Wake> wake;
  Helper helper;
  Helper past;  // for those who go back to it, one at a time
  Queries queries;
  std::function<void(std::string_view line)> log = {};
  Timers timers = {};
  Traffic traffic = {};
  AllRouteFigures routes = {};
  codec::Normaliser normaliser = {};
  bool is_stopping = false;

  // Who sent a request.
  std::function<Caller(const Request&)> caller_of = {};
  std::map<std::string, std::uint64_t> streams_of = {};  // by token; none is 0

  // Lists that are sifted by values. Whoever does may end on another thread, after the server.
  std::shared_ptr<std::atomic<std::size_t>> sifts = std::make_shared<std::atomic<std::size_t>>(0);

  // The definitions may be others by now.
  void refresh();
  std::uint64_t definitions_version = 0;
};

}  // namespace holdfast::gateway
