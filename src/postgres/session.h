// SPDX-License-Identifier: Apache-2.0
// Session: what a bridge does on one connection, from the lease of its world until the connection
// is lost. Nothing is carried over to the next one.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "holdfast/engine.h"
#include "postgres/admission.h"
#include "postgres/bridge.h"
#include "postgres/connection.h"
#include "postgres/ends.h"
#include "postgres/values.h"

namespace holdfast::postgres {

// What is remembered from one connection to the next.
struct Heard {
  // To notice a database that has lost commits.
  std::string& wal;                     // of the database, when it was last heard of
  std::deque<std::string> marked = {};  // the last requests that were marked

  // What the engine was told of marks.
  std::string source = {};  // that it knows
  std::uint64_t told = 0;   // up to this record
  std::chrono::steady_clock::time_point told_at = {};
};

class Session {
 public:
  Session(Engine& engine, const BridgeOptions& options, std::shared_ptr<Patience> patience,
          std::string holder);

  // Serves until it is stopped. An error: the connection is of no use, or kConflict: another bridge
  // has the world.
  base::Result<void> serve(Heard& heard);

  // Whether it got as far as serving, so that the next connection need not wait.
  bool has_served() const noexcept { return has_served_; }

 private:
  using Clock = std::chrono::steady_clock;

  base::Result<void> hold_world();
  base::Result<void> compare(const std::string& wal);
  base::Result<void> tell_marks();
  base::Result<void> publish();
  base::Result<void> serve_requests();
  // From the first open request to the last.
  struct Walk {
    std::size_t decided = 0;
    std::size_t left = 0;       // to be tried again
    bool is_cut_short = false;  // it took long, and what committed meanwhile may lie before its end
  };
  base::Result<Walk> walk(bool stay_awake);
  base::Result<void> look_around();
  base::Result<void> mark();
  base::Result<void> write_ends();
  base::Result<void> write_one_by_one(const std::vector<Ends::Ended>& ended);
  base::Result<void> write(const std::vector<Ends::Ended>& ended);
  base::Result<bool> fall_asleep();
  base::Result<void> sleep(std::size_t left);
  base::Result<void> sweep();
  base::Result<void> prune();
  base::Result<void> look_at_live();
  void log(const std::string& line) const;

  Engine& engine_;
  const BridgeOptions& options_;
  const std::shared_ptr<Patience> patience_;
  const std::string holder_;
  Heard* heard_ = nullptr;
  std::unique_ptr<Connection> connection_;
  Values values_;
  std::unique_ptr<Admission> admission_;
  Ends ends_;

  std::string epoch_;
  std::int64_t version_ = 0;  // of the schema
  bool has_served_ = false;
  bool is_awake_ = false;  // holds the awake lock

  bool has_walked_ = false;  // all that was open when this began is decided
  bool is_pruning_ = false;  // there is more to remove

  // The look at live instances: the last one seen, and how many pages a sweep still looks at. The
  // first look goes through all of them. Later ones are for those that cannot be watched, if there
  // are some.
  std::string live_after_;
  bool has_seen_live_ = false;
  bool has_seen_all_ = false;  // once
  int live_pages_ = 0;
  Clock::time_point next_sweep_;
  std::chrono::milliseconds pause_{0};
  std::string why_left_;  // that was logged last
};

}  // namespace holdfast::postgres
