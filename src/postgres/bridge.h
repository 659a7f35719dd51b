// SPDX-License-Identifier: Apache-2.0
// Bridge: brings requests from a database to the engine, and what became of them back. It has one
// thread and one connection, and no state that a crash could lose: whatever happens, it reads again
// what has no outcome.
//
//   wake up (NOTIFY, sweep, something is due) -> read requests in bounded batches -> admit them
//   (postgres/admission.h) -> wait until they are durable in the engine -> mark them
//
// A database that is away is asked again and again, with growing pauses. A bridge whose world is
// served by another one stands by.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "holdfast/engine.h"
#include "postgres/connection.h"
#include "postgres/figures.h"

namespace holdfast::postgres {

struct BridgeOptions {
  std::string conninfo;
  std::string world;  // as a UUID
  // Everything is looked at again after so long, whatever notifications have come.
  std::chrono::milliseconds sweep = std::chrono::seconds(5);
  // Without LISTEN and locks of the session, as behind a pooler: the inbox is read this often. 0:
  // not so.
  std::chrono::milliseconds poll = std::chrono::milliseconds(0);
  std::chrono::seconds retention = std::chrono::hours(7 * 24);  // 0: rows are kept for ever
  std::uint64_t keep_rows = 1'000'000;  // of ended instances; 0: all that the retention leaves
  bool has_sql_steps = false;  // the engine can run the SQL of flows, which are published then
  std::shared_ptr<BridgeFigures> figures = std::make_shared<BridgeFigures>();
  std::function<void(std::string_view line)> log = {};
};

class Bridge {
 public:
  // Begins to serve; the database need not be there yet. kInvalid: the connection string cannot be
  // read.
  static base::Result<std::unique_ptr<Bridge>> start(Engine& engine, BridgeOptions options);
  ~Bridge();
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  // Nothing new is taken from now on. The engine may be closed then, and must not end before this
  // has.
  void stop() noexcept;

 private:
  Bridge(Engine& engine, BridgeOptions options, executors::WakeUp wake);
  void run();

  Engine& engine_;
  const BridgeOptions options_;
  const std::shared_ptr<Patience> patience_;  // callbacks of the engine may come late
  const std::string holder_;
  std::string last_wal_;  // of the database, when it was last heard of
  std::thread thread_;
};

}  // namespace holdfast::postgres
