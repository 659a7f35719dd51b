// SPDX-License-Identifier: Apache-2.0
// Conversation: the worker's side of docs/worker-protocol.md, without sockets, clocks and
// processes. It says which request goes next and takes its answer; what the answer asks of the
// worker comes back as news.
//
//  1. Everything that the server has handed out is listed in `holding` until its result is
//     acknowledged: what runs, and what is in the outbox.
//  2. `work`, `stop`, `drop` and `mode` are taken only from an answer that is newer than all before
//     it. A dispatch that is held is never started again.
//  3. A report leaves the outbox only when an answer says so, or the server drops its dispatch.
//  4. At most two syncs are under way: one that the server holds back, and a newer one with news.
//
// Times are of any clock that only goes forward, in nanoseconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/random.h"
#include "worker/log_lines.h"
#include "worker/messages.h"
#include "worker/outbox.h"

namespace holdfast::work {

struct Request {
  enum class Kind : std::uint8_t { kEnrol, kSession, kSync, kLeave };
  Kind kind = Kind::kSync;
  std::uint64_t id = 0;
  std::string path;
  std::string body;
  std::string credential;  // empty: none
  std::uint64_t patience_ms = 0;
};

struct Answer {
  long status = 0;
  std::string body;
  std::uint64_t retry_after_s = 0;
};

struct News {
  std::vector<Task> start;
  std::vector<Stop> stop;
  std::vector<std::string> drop;     // end these at once; nobody waits for them
  std::optional<base::Error> fatal;  // the worker cannot go on
  std::string remark;                // for the log; empty: nothing
  bool drains = false;               // the server wants this worker to drain and leave
  std::optional<std::string> swap;   // the recipe that the server wants now; empty: none
};

struct ConversationOptions {
  Offer offer;
  std::string secret;
  std::string token;    // for the enrolment; empty: none
  std::string process;  // random, of this start of the program
};

class Conversation {
 public:
  Conversation(ConversationOptions options, Outbox& outbox, LogLines& logs, env::Random& random);

  // The request to send now. Nothing: there is none until wake_at_ns(), or until something happens.
  std::optional<Request> next(std::int64_t now_ns);
  std::int64_t wake_at_ns() const;

  News answered(std::uint64_t id, const Answer& answer, std::int64_t now_ns);
  News lost(std::uint64_t id, const base::Error& why, std::int64_t now_ns);

  // A task that runs has ended, or is given back: its entry is in the outbox already.
  void reported(const std::string& dispatch);

  // Of a task that runs. `json` is a value.
  void progressed(const std::string& dispatch, std::string json);

  // No new work from now on.
  void drain() { is_draining_ = true; }
  // Slots that cannot be used although no task is held for them.
  void set_blocked(std::size_t slots) { blocked_ = slots; }
  // What this worker serves, for a worker with a registry. A change is told at once.
  void set_recipes(const RecipeReport& recipes) {
    if (recipes_ != recipes) recipes_ = recipes;
  }
  // False: the outbox cannot be written, so no new work is asked for.
  void set_durable(bool is_durable) { is_durable_ = is_durable; }

  // Says good-bye once nothing is held.
  void leave() { phase_ = phase_ == Phase::kSync ? Phase::kLeave : phase_; }
  bool has_left() const noexcept { return phase_ == Phase::kGone; }

  bool is_running(const std::string& dispatch) const { return running_.contains(dispatch); }
  std::size_t running() const noexcept { return running_.size(); }
  bool holds_anything() const { return !running_.empty() || !outbox_.held().empty(); }
  bool is_connected() const noexcept { return failures_ == 0 && phase_ >= Phase::kSync; }
  std::size_t max_result_bytes() const noexcept { return max_result_bytes_; }

 private:
  enum class Phase : std::uint8_t { kEnrol, kSession, kSync, kLeave, kGone };
  struct Flight {
    Request::Kind kind;
    std::uint64_t seq = 0;
    std::uint64_t want = 0;
    bool is_draining = false;
    bool is_parked = false;                 // the server may hold it back
    std::vector<std::string> reports = {};  // dispatches whose entries it carries
    std::vector<Progress> progress = {};
    std::string session = {};
    std::optional<RecipeReport> recipes = {};
  };

  std::vector<std::string> holding() const;
  std::uint64_t want() const;
  // Something to report at once, and something that may wait for a moment.
  bool has_reports() const { return !unsent_.empty(); }
  bool has_remarks() const { return logs_.has_unsent() || !progress_.empty(); }
  std::int64_t remarks_due_ns() const;
  Request request(Request::Kind kind, std::string path, std::string body, std::uint64_t wait_ms);
  Request sync(std::int64_t now_ns);
  void take_back(Flight flight);
  News failed(const base::Error& why, std::int64_t now_ns);
  void back_off(std::int64_t now_ns, std::uint64_t at_least_s = 0);
  News refused(const Flight& flight, const Answer& answer, std::int64_t now_ns);
  base::Result<News> enrolled(const Answer& answer);
  base::Result<News> begun(const Answer& answer);
  base::Result<News> synced(const Flight& flight, const Answer& answer);
  void replace_by_error(const std::string& dispatch, const std::string& why);
  void decline(const std::string& dispatch);
  void drop(const std::string& dispatch, News& news);
  void settle(const std::string& dispatch);

  const ConversationOptions options_;
  Outbox& outbox_;
  LogLines& logs_;
  env::Random& random_;

  Phase phase_ = Phase::kEnrol;
  std::map<std::uint64_t, Flight> flights_;
  std::uint64_t last_id_ = 0;
  std::string worker_;
  std::string session_;
  std::uint64_t max_wait_ms_ = 0;
  std::uint64_t max_batch_ = 1;
  std::size_t max_result_bytes_ = 0;
  std::size_t batch_ = 1;  // at most this many reports in one request
  bool is_first_ = true;
  bool was_enrolled_ = false;
  bool is_draining_ = false;
  bool is_durable_ = true;
  std::size_t blocked_ = 0;
  std::optional<RecipeReport> recipes_;
  std::uint64_t last_seq_ = 0;
  std::uint64_t newest_answer_ = 0;
  std::set<std::string> running_;
  std::set<std::string> unsent_;  // dispatches in the outbox that no request under way carries
  std::map<std::string, Progress> progress_;
  std::map<std::string, std::uint64_t> progress_numbers_;
  std::uint64_t failures_ = 0;  // since the last sync that was answered
  bool was_told_ = false;       // the log has the first of these failures
  std::int64_t last_sync_ns_ = INT64_MIN;
  std::int64_t not_before_ns_ = 0;
};

}  // namespace holdfast::work
