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
#include "gateway/board/batches.h"
#include "gateway/definitions.h"
#include "gateway/helper.h"
#include "gateway/limits.h"
#include "gateway/queries.h"
#include "gateway/request.h"
#include "gateway/role.h"
#include "gateway/route_figures.h"
#include "gateway/slots.h"
#include "gateway/timers.h"
#include "gateway/wake.h"
#include "holdfast/engine.h"

namespace holdfast::workers {
class Desk;
}
namespace holdfast::cursors {
class CursorBook;
}

namespace holdfast::gateway {

class MetricsText;

// Since the server began, but for the first four.
struct Traffic {
  std::uint64_t connections = 0;
  std::uint64_t body_bytes = 0;    // of requests that are here
  std::uint64_t answer_bytes = 0;  // of answers that wait to be sent
  std::uint64_t streams = 0;       // event streams that are read, or asked for
  std::uint64_t accepted = 0;
  std::uint64_t problems = 0;                              // answers of 400 and above
  std::map<std::string_view, std::uint64_t> refused = {};  // the same by the code of the problem
  std::uint64_t refused_connections = 0;                   // there were too many
  std::uint64_t shed_connections = 0;                      // idle ones that made room for others
  std::uint64_t cut_readers = 0;     // that took nothing, for room for other answers
  std::uint64_t timeouts = 0;        // connections that were too slow
  std::uint64_t gone = 0;            // clients that left before they were answered
  std::uint64_t world_left_out = 0;  // answers about figures that had none of the world
  std::uint64_t disk_left_out = 0;   // or of the disk
};

// What one connection counts for in one of the figures of Traffic.
class Share {
 public:
  explicit Share(std::uint64_t& total) : total_(total) {}
  void set(std::size_t now) noexcept {
    total_ += now;
    total_ -= now_;
    now_ = now;
  }
  std::size_t now() const noexcept { return now_; }

 private:
  std::uint64_t& total_;
  std::size_t now_ = 0;
};

// What all connections of one token, or of one worker, count for: a sum for each account
// (Exchange::account). The account "" is everybody on a server without tokens, and has no share.
using Accounts = std::map<std::string, std::uint64_t>;

inline std::uint64_t sum_of(const Accounts& all, const std::string& account) {
  const auto found = all.find(account);
  return found == all.end() ? 0 : found->second;
}

// What one connection counts for in one of these.
class AccountShare {
 public:
  explicit AccountShare(Accounts& all) : all_(all) {}
  void set(const std::string& account, std::size_t now) {
    if (now_ != 0) {
      const auto counted = all_.find(account_);
      if ((counted->second -= now_) == 0) all_.erase(counted);
    }
    now_ = account.empty() ? 0 : now;
    if (now_ == 0) return account_.clear();
    if (account_ != account) account_ = account;
    all_[account_] += now_;
  }
  void clear() { set({}, 0); }
  const std::string& account() const noexcept { return account_; }  // empty: it counts for none

 private:
  Accounts& all_;
  std::string account_;
  std::size_t now_ = 0;
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
  LogSink log_lines = {};                  // of requests
  bool logs_requests = false;              // also those that were not refused
  workers::Desk* desk = nullptr;           // of the workers; null: this server takes none
  cursors::CursorBook* cursors = nullptr;  // of the events of tasks; null: none are kept
  std::function<void(MetricsText&)> more_metrics = {};  // adds to GET /metrics
  Timers timers = {};
  Traffic traffic = {};
  AllRouteFigures routes = {};
  codec::Normaliser normaliser = {};
  Batches batches{engine, wake, timers};
  bool is_stopping = false;

  // Ends the process at once, where something starts it again; null: nothing does.
  std::function<void()> kill = {};

  // Who sent a request.
  std::function<Caller(const Request&)> caller_of = {};
  Accounts connections_of = {};
  Accounts streams_of = {};
  Accounts body_bytes_of = {};
  Accounts answer_bytes_of = {};

  // Whether an answer of so many bytes fits, into its account's share too.
  bool fits(std::size_t bytes, const std::string& account) const {
    return traffic.answer_bytes + bytes <= limits.all_answer_bytes &&
           (account.empty() ||
            sum_of(answer_bytes_of, account) + bytes <= limits.answer_bytes_of_token);
  }

  // Cuts off clients that take nothing until it fits. False: it does not.
  std::function<bool(std::size_t bytes, const std::string& account)> make_room = {};

  // What was read from files for the serving thread, which may be large: one result that it is at,
  // and one that waits.
  std::shared_ptr<Slots> results = std::make_shared<Slots>(2);

  // Lists that are sifted by values. Whoever does may end on another thread, after the server.
  std::shared_ptr<std::atomic<std::size_t>> sifts = std::make_shared<std::atomic<std::size_t>>(0);

  // Graphs that are being entered, likewise.
  std::shared_ptr<std::atomic<std::size_t>> entering =
      std::make_shared<std::atomic<std::size_t>>(0);

  std::shared_ptr<std::atomic<std::size_t>> waits = std::make_shared<std::atomic<std::size_t>>(0);

  // The definitions may be others by now.
  void refresh();
  std::uint64_t definitions_version = 0;
};

}  // namespace holdfast::gateway
