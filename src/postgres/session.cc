// SPDX-License-Identifier: Apache-2.0
#include "postgres/session.h"

#include <algorithm>
#include <utility>

#include "postgres/answers.h"
#include "postgres/install.h"

namespace holdfast::postgres {
namespace {

using std::chrono::milliseconds;

constexpr int kMostRequests = 512;
constexpr int kMostLive = 512;
constexpr int kMostPruned = 1000;
constexpr const char* kNoId = "00000000-0000-0000-0000-000000000000";

// A read from the beginning finds what committed late, while new requests keep coming.
constexpr milliseconds kLongestWalk{250};

// Until requests that the engine had no room for are tried again, and until commits that were under
// way are looked for again.
constexpr milliseconds kShortestPause{1};
constexpr milliseconds kLongestPause{200};

std::string milliseconds_text(milliseconds time) { return std::to_string(time.count()) + " ms"; }

std::string channel_of(std::string world) {
  std::erase(world, '-');
  return "holdfast_" + world;
}

// Of "000000010000000000000003 0/301A2B8", the file of the log and the place in it. Another
// timeline is another history, from some place on.
std::string_view timeline_of(std::string_view wal) { return wal.substr(0, 8); }

constexpr std::size_t kMostRemembered = 256;

// A mark of the engine is a record, so there are few of them. What is not marked is remembered
// longer than needed, and nothing else.
constexpr std::chrono::minutes kMarkInterval{10};

// How much a sweep looks at instances that run and cannot be watched.
constexpr int kLivePagesPerSweep = 4;

}  // namespace

Session::Session(Engine& engine, const BridgeOptions& options, std::shared_ptr<Patience> patience,
                 std::string holder)
    : engine_(engine),
      options_(options),
      patience_(std::move(patience)),
      holder_(std::move(holder)),
      values_(engine),
      ends_(engine, patience_),
      live_after_(kNoId) {}

void Session::log(const std::string& line) const {
  if (options_.log) options_.log("postgres: " + line);
}

base::Result<void> Session::serve(Heard& heard) {
  heard_ = &heard;
  connection_ = std::make_unique<Connection>(TRY(Connection::open(options_.conninfo, *patience_)));
  ++options_.figures->connections;
  TRY(hold_world());
  TRY(publish());
  if (options_.poll.count() == 0) {
    // What the bridge does not wait for any more, the server does not go on with.
    TRY(connection_->run("SET statement_timeout = '30s'; LISTEN " + channel_of(options_.world)));
  }
  next_sweep_ = Clock::now() + options_.sweep;
  has_served_ = true;
  options_.figures->is_serving = true;
  auto served = serve_requests();
  options_.figures->is_serving = false;
  if (!patience_->is_stopped()) return served;
  // The next bridge need not wait for the end of the lease.
  connection_->run_last("SELECT holdfast.release_world($1, $2)", {options_.world, holder_});
  return {};
}

base::Result<void> Session::hold_world() {
  const milliseconds lease = options_.sweep * 4;
  auto rows = connection_->run("SELECT * FROM holdfast.hold_world($1, $2, $3, $4)",
                               {options_.world, holder_, milliseconds_text(lease),
                                options_.poll.count() == 0 ? "true" : "false"});
  if (!rows) {
    if (rows.error().message().ends_with("3F000)"))  // there is no such schema
      return base::Error(base::ErrorCode::kNotFound, "postgres",
                         "the schema holdfast is not installed: holdfast pg install does that");
    return std::move(rows).error();
  }
  if (rows->size() == 0)
    return base::Error(base::ErrorCode::kConflict, "postgres", "another bridge serves this world");
  if (!epoch_.empty() && epoch_ != rows->text(0, 0))
    return base::Error(base::ErrorCode::kConflict, "postgres", "another bridge served this world");
  if (rows->number(0, 2) > newest_version()) {
    return base::Error(base::ErrorCode::kConflict, "postgres",
                       "the schema has version " + rows->string(0, 2) +
                           ", and this program knows versions up to " +
                           std::to_string(newest_version()));
  }
  epoch_ = rows->string(0, 0);
  version_ = rows->number(0, 2);
  if (!admission_) admission_ = std::make_unique<Admission>(engine_, values_, rows->string(0, 1));
  TRY(compare(rows->string(0, 3)));
  return tell_marks();
}

// The engine remembers ids of this source until it hears that they are marked, so it must know the
// source before the first request.
base::Result<void> Session::tell_marks() {
  const std::string source = admission_->source();
  const bool is_new = heard_->source != source;
  const std::uint64_t marked = has_walked_ ? admission_->newest_record() : 0;
  if (!is_new && (marked <= heard_->told || Clock::now() < heard_->told_at + kMarkInterval))
    return {};
  Answers<Done> answers;
  engine_.mark_source(source, is_new ? 0 : marked, answers.next());
  const auto done = answers.wait();
  if (!done[0])
    return base::Error(base::ErrorCode::kUnavailable, "engine", done[0].error().message);
  heard_->told = is_new ? 0 : marked;
  heard_->told_at = Clock::now();
  heard_->source = source;
  return {};
}

// A standby that takes over may lack the last commits. Marks that are gone are made again, as all
// requests without an outcome are read. Requests that are gone cannot be.
base::Result<void> Session::compare(const std::string& wal) {
  const bool is_other = !heard_->wal.empty() && timeline_of(heard_->wal) != timeline_of(wal);
  if (is_other && !heard_->marked.empty()) {
    const Rows lost = TRY(connection_->run(
        "SELECT holdfast.count_unmarked($1)",
        {array_of(std::vector<Value>(heard_->marked.begin(), heard_->marked.end()))}));
    if (lost.number(0, 0) != 0) {
      log("the database has lost commits: of the last " + std::to_string(heard_->marked.size()) +
          " requests that were marked, " + lost.string(0, 0) + " are open or gone (log was at " +
          heard_->wal + ", is at " + wal + ")");
    }
    heard_->marked.clear();
  }
  heard_->wal = wal;
  return {};
}

base::Result<void> Session::publish() {
  if (!TRY(values_.refresh())) return {};
  TRY(connection_->run("SELECT holdfast.publish($1, $2)",
                       {options_.world, values_.catalogue(options_.has_sql_steps)}));
  return {};
}

base::Result<void> Session::serve_requests() {
  while (!patience_->is_stopped()) {
    const Walk seen = TRY(walk(options_.poll.count() == 0));
    has_walked_ = has_walked_ || (!seen.is_cut_short && seen.left == 0);
    TRY(look_around());
    if (seen.is_cut_short) continue;
    if (!TRY(fall_asleep())) {
      pause_ = std::clamp(pause_ * 2, kShortestPause, kLongestPause);
      static_cast<void>(TRY(connection_->wait_for_notification(pause_)));
      continue;
    }
    const Walk last = TRY(walk(false));
    if (last.decided == 0 && !last.is_cut_short && has_seen_live_ && !is_pruning_)
      TRY(sleep(last.left));
  }
  return {};
}

base::Result<Session::Walk> Session::walk(bool stay_awake) {
  Walk seen;
  std::string due = "-infinity";
  std::string seq = "0";
  const Clock::time_point until = Clock::now() + kLongestWalk;
  for (;;) {
    const bool wants_lock = stay_awake && !is_awake_;
    const Rows rows = TRY(connection_->run(
        "SELECT * FROM holdfast.read_requests($1, $2, $3, $4, $5)",
        {options_.world, due, seq, std::to_string(kMostRequests), wants_lock ? "true" : "false"}));
    if (rows.size() == 0) return seen;
    if (wants_lock) is_awake_ = rows.is_true(0, 13);
    TRY(publish());
    const std::vector<Request> requests = requests_of(rows);
    admission_->admit(requests);
    TRY(mark());
    TRY(write_ends());
    const std::size_t left = admission_->left();
    if (left != requests.size()) pause_ = milliseconds(0);
    seen.left += left;
    seen.decided += requests.size() - left;
    due = requests.back().due;
    seq = requests.back().seq;
    seen.is_cut_short = Clock::now() > until;
    if (seen.is_cut_short || patience_->is_stopped()) return seen;
  }
}

// Besides requests.
base::Result<void> Session::look_around() {
  TRY(write_ends());
  if (!has_seen_live_) TRY(look_at_live());
  if (is_pruning_) TRY(prune());
  if (Clock::now() >= next_sweep_) TRY(sweep());
  return {};
}

base::Result<void> Session::mark() {
  std::vector<Value> ids;
  std::vector<Value> outcomes;
  std::vector<Value> details;
  for (const Decision& decision : admission_->decisions()) {
    if (decision.outcome == Outcome::kLeft) continue;
    ids.emplace_back(decision.id);
    outcomes.emplace_back(name_of(decision.outcome));
    details.push_back(decision.detail.empty() ? Value() : Value(decision.detail));
  }
  if (ids.empty()) return {};
  TRY(connection_->run(
      "SELECT holdfast.decide($1, $2, $3, $4, $5)",
      {options_.world, epoch_, array_of(ids), array_of(outcomes), array_of(details)}));
  options_.figures->requests += ids.size();
  options_.figures->refused += static_cast<std::uint64_t>(
      std::ranges::count(admission_->decisions(), Outcome::kRefused, &Decision::outcome));
  for (const Started& started : admission_->started()) ends_.watch(started);
  for (const Value& id : ids) heard_->marked.push_back(*id);
  while (heard_->marked.size() > kMostRemembered) heard_->marked.pop_front();
  return {};
}

base::Result<void> Session::write(const std::vector<Ends::Ended>& ended) {
  std::vector<Value> ids;
  std::vector<Value> statuses;
  std::vector<Value> results;
  std::vector<Value> errors;
  for (const Ends::Ended& each : ended) {
    ids.emplace_back(each.id);
    statuses.emplace_back(each.status);
    results.push_back(each.result);
    errors.push_back(each.error);
  }
  TRY(connection_->run("SELECT holdfast.write_ends($1, $2, $3, $4, $5, $6)",
                       {options_.world, epoch_, array_of(ids), array_of(statuses),
                        array_of(results), array_of(errors)}));
  options_.figures->ends += ended.size();
  ends_.forget(ended);
  return {};
}

base::Result<void> Session::write_ends() {
  for (auto ended = ends_.some_ended(); !ended.empty(); ended = ends_.some_ended()) {
    auto written = write(ended);
    if (written) continue;
    if (written.error().code() != base::ErrorCode::kInvalid) return written;
    TRY(write_one_by_one(ended));
  }
  return {};
}

// One of them has a value that the database cannot hold. It ends without it.
base::Result<void> Session::write_one_by_one(const std::vector<Ends::Ended>& ended) {
  for (const Ends::Ended& each : ended) {
    const auto written = write({each});
    if (written) continue;
    if (written.error().code() != base::ErrorCode::kInvalid)
      return base::Error(written.error().code(), written.error().to_string());
    log("the end of " + each.id + " cannot be stored: " + written.error().message());
    TRY(write(
        {{each.id, each.status, std::nullopt,
          R"({"code":"postgres.unstorable","message":"the database cannot hold the value"})"}}));
  }
  return {};
}

// False: commits are under way that rely on this bridge to be awake.
base::Result<bool> Session::fall_asleep() {
  if (options_.poll.count() != 0) return true;
  const Rows rows = TRY(connection_->run("SELECT holdfast.fall_asleep($1, $2)",
                                         {options_.world, is_awake_ ? "true" : "false"}));
  is_awake_ = false;
  return rows.is_true(0, 0);
}

base::Result<void> Session::sleep(std::size_t left) {
  options_.figures->waiting = left;
  // Nothing new: those that the engine had no room for are tried again after a while.
  milliseconds limit = std::chrono::ceil<milliseconds>(next_sweep_ - Clock::now());
  if (left != 0) {
    // Said once for each reason.
    if (why_left_ != admission_->why_left())
      log(std::to_string(left) + " requests wait: " + admission_->why_left());
    why_left_ = admission_->why_left();
    pause_ = std::clamp(pause_ * 2, kShortestPause, kLongestPause);
    limit = std::min(limit, pause_);
  } else {
    why_left_.clear();
    const Rows due = TRY(connection_->run("SELECT holdfast.next_due($1)", {options_.world}));
    if (!due.is_null(0, 0)) limit = std::min(limit, milliseconds(due.number(0, 0)));
  }
  if (options_.poll.count() != 0) limit = std::min(limit, options_.poll);
  const bool is_woken = TRY(connection_->wait_for_notification(std::max(limit, milliseconds(0))));
  // An instance has ended, and nothing else has happened.
  if (!is_woken && options_.poll.count() == 0) TRY(write_ends());
  return {};
}

base::Result<void> Session::sweep() {
  ++options_.figures->sweeps;
  TRY(hold_world());
  TRY(publish());
  has_seen_live_ = has_seen_all_ && !ends_.has_unwatched();
  live_pages_ = kLivePagesPerSweep;
  TRY(prune());
  next_sweep_ = Clock::now() + options_.sweep;
  return {};
}

// Some rows. What is left goes on between requests, so that removing keeps up with what ends.
base::Result<void> Session::prune() {
  const std::string most = std::to_string(kMostPruned);
  is_pruning_ = false;
  if (options_.retention.count() != 0) {
    const Rows rows = TRY(connection_->run(
        "SELECT holdfast.prune($1, $2, $3, $4)",
        {options_.world, epoch_, std::to_string(options_.retention.count()) + " s", most}));
    is_pruning_ = rows.is_true(0, 0);
  }
  if (options_.keep_rows != 0 && version_ >= 3) {
    const Rows rows =
        TRY(connection_->run("SELECT holdfast.prune_to($1, $2, $3, $4)",
                             {options_.world, epoch_, std::to_string(options_.keep_rows), most}));
    is_pruning_ = is_pruning_ || rows.is_true(0, 0);
  }
  return {};
}

base::Result<void> Session::look_at_live() {
  const Rows rows = TRY(connection_->run("SELECT * FROM holdfast.read_live($1, $2, $3)",
                                         {options_.world, live_after_, std::to_string(kMostLive)}));
  std::vector<Started> some;
  for (int row = 0; row < rows.size(); ++row) {
    const std::string id = rows.string(row, 0);
    live_after_ = id;
    if (ends_.is_watched(id)) continue;
    const std::string workflow = rows.string(row, 1);
    auto key =
        values_.key_of(workflow, rows.is_null(row, 2) ? Value() : Value(rows.string(row, 2)));
    // A workflow that the definitions do not have any more has no instances that run.
    if (key) some.push_back({id, workflow, std::move(*key)});
  }
  if (!some.empty()) ends_.look_at(std::move(some));
  const bool is_end = rows.size() < kMostLive;
  has_seen_all_ = has_seen_all_ || is_end;
  has_seen_live_ = is_end || (has_seen_all_ && --live_pages_ <= 0);
  if (!is_end) return {};
  live_after_ = kNoId;
  ends_.looked_at_all();
  return {};
}

}  // namespace holdfast::postgres
