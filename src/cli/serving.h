// SPDX-License-Identifier: Apache-2.0
// Serving: an engine and its server, until somebody interrupts.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/exit_code.h"
#include "cli/log.h"
#include "gateway/server.h"
#include "holdfast/main.h"
#include "postgres/bridge.h"
#include "workers/desk.h"

namespace holdfast::cli {

struct ServingOptions {
  std::string listen = "127.0.0.1:7411";
  EngineOptions engine;
  gateway::TlsOptions tls;
  workers::DeskOptions desk;
  std::function<void()> stopping = {};  // called before the engine is closed
  std::function<void()> kill = {};      // for POST /v1/dev/kill; null: that is refused
  postgres::BridgeOptions postgres;     // without a connection string there is no bridge
  std::string postgres_exec;            // connection string; empty: the SQL of flows is not run
  LogFormat log_format = LogFormat::kText;
  LogLevel log_level = LogLevel::kInfo;
  bool logs_requests = false;  // all of them, not only those that are refused
};

// "127.0.0.1:7411", "[::1]:0"
struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
};
base::Result<ListenAddress> parse_listen(const std::string& text);

// `started` is called once, when the server listens; what it refuses ends it. Then until SIGINT or
// SIGTERM, or until the engine ends by itself.
using Started = std::function<base::Result<void>(Engine& engine, const std::string& url)>;
[[nodiscard]] ExitCode serve(ServingOptions options, const Started& started);

}  // namespace holdfast::cli
