// SPDX-License-Identifier: Apache-2.0
#include "worker/conversation.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "worker/limits.h"

namespace holdfast::work {
namespace {

constexpr std::int64_t kNsOfMs = 1'000'000;

// Lines and progress are collected for this long while the server holds a sync back.
constexpr std::int64_t kRemarksEveryNs = 200 * kNsOfMs;

// Beyond what the server may hold an answer back.
constexpr std::uint64_t kPatienceMs = 20'000;

constexpr std::uint64_t kFirstWaitMs = 1'000;
constexpr std::uint64_t kLongestWaitMs = 30'000;

bool is_mistake(long status) {
  return status == 400 || status == 413 || status == 415 || status == 422;
}

std::string describe_refusal(const Refusal& refusal, long status) {
  std::string text = "the server answers " + std::to_string(status);
  if (!refusal.code.empty()) text += " " + refusal.code;
  if (!refusal.detail.empty()) text += ": " + refusal.detail;
  return plain_text(text, kMaxErrorTextBytes);
}

}  // namespace

Conversation::Conversation(ConversationOptions options, Outbox& outbox, LogLines& logs,
                           env::Random& random)
    : options_(std::move(options)), outbox_(outbox), logs_(logs), random_(random) {
  for (const auto& [dispatch, report] : outbox_.held()) unsent_.insert(dispatch);
}

std::vector<std::string> Conversation::holding() const {
  std::vector<std::string> all(running_.begin(), running_.end());
  for (const auto& [dispatch, report] : outbox_.held()) all.push_back(dispatch);
  return all;
}

std::uint64_t Conversation::want() const {
  if (is_draining_ || !is_durable_ || outbox_.held_bytes() > kOutboxFullBytes) return 0;
  const std::uint64_t used = running_.size() + blocked_;
  const std::uint64_t slots = options_.offer.slots;
  return used >= slots ? 0 : std::min(slots - used, max_batch_);
}

std::int64_t Conversation::remarks_due_ns() const {
  return last_sync_ns_ == INT64_MIN ? INT64_MIN : last_sync_ns_ + kRemarksEveryNs;
}

Request Conversation::request(Request::Kind kind, std::string path, std::string body,
                              std::uint64_t wait_ms) {
  const bool enrols = kind == Request::Kind::kEnrol;
  return {kind,
          ++last_id_,
          std::move(path),
          std::move(body),
          enrols ? options_.token : options_.secret,
          wait_ms + kPatienceMs};
}

std::optional<Request> Conversation::next(std::int64_t now_ns) {
  if (now_ns < not_before_ns_ || phase_ == Phase::kGone) return std::nullopt;
  const auto only = [&](Request::Kind kind, const std::string& path,
                        std::string body) -> std::optional<Request> {
    if (!flights_.empty()) return std::nullopt;
    Request made = request(kind, path, std::move(body), 0);
    flights_.emplace(made.id, Flight{.kind = kind});
    return made;
  };
  switch (phase_) {
    case Phase::kEnrol:
      return only(Request::Kind::kEnrol, "/v1/workers",
                  enrol_body(options_.offer, options_.secret));
    case Phase::kSession:
      return only(Request::Kind::kSession, "/v1/workers/" + worker_ + "/session",
                  session_body(options_.process, is_first_, holding()));
    case Phase::kLeave:
      return only(Request::Kind::kLeave, "/v1/workers/" + worker_ + "/leave", leave_body(session_));
    case Phase::kSync: break;
    case Phase::kGone: return std::nullopt;
  }
  if (flights_.size() >= 2) return std::nullopt;
  if (flights_.size() == 1) {
    // One that is answered at once brings a chance to report more, and larger batches.
    const Flight& under_way = flights_.begin()->second;
    const bool has_news = has_reports() || want() > under_way.want ||
                          is_draining_ != under_way.is_draining || recipes_ != under_way.recipes ||
                          (has_remarks() && now_ns >= remarks_due_ns());
    if (!under_way.is_parked || !has_news) return std::nullopt;
  }
  return sync(now_ns);
}

Request Conversation::sync(std::int64_t now_ns) {
  last_sync_ns_ = now_ns;
  Flight flight{.kind = Request::Kind::kSync, .seq = ++last_seq_, .session = session_};
  SyncBody body;
  body.session = session_;
  body.seq = last_seq_;
  std::size_t bytes = kMaxSyncBytes;
  std::size_t entries = kMaxLogEntries;
  for (auto each = unsent_.begin(); each != unsent_.end();) {
    if (flight.reports.size() >= batch_) break;
    const auto held = outbox_.held().find(*each);
    CHECK(held != outbox_.held().end());
    const std::string_view json = json_of(held->second);
    // The last lines of a task go before its result, or with it.
    logs_.take(*each, entries, bytes, body.logs);
    if (logs_.has_unsent(*each)) break;
    if (json.size() > bytes && !flight.reports.empty()) break;
    bytes -= std::min(bytes, json.size());
    (list_of(held->second) == EntryList::kBack ? body.back : body.done).push_back(json);
    flight.reports.push_back(*each);
    each = unsent_.erase(each);
  }
  logs_.take_all(entries, bytes, body.logs);
  while (!progress_.empty() && flight.progress.size() < max_batch_ &&
         progress_.begin()->second.json.size() <= bytes) {
    bytes -= progress_.begin()->second.json.size();
    flight.progress.push_back(std::move(progress_.begin()->second));
    progress_.erase(progress_.begin());
  }
  body.progress = flight.progress;
  body.holding = holding();
  body.want = flight.want = want();
  body.is_draining = flight.is_draining = is_draining_;
  body.recipes = flight.recipes = recipes_;
  // What is reported is answered as soon as it is durable: the next request waits for work. A
  // worker that drains and holds nothing waits for nothing: it leaves with the answer.
  flight.is_parked =
      flight.reports.empty() && !has_reports() && (!is_draining_ || holds_anything());
  body.wait_ms = flight.is_parked ? max_wait_ms_ : 0;
  Request made = request(Request::Kind::kSync, "/v1/workers/" + worker_ + "/sync", sync_body(body),
                         body.wait_ms);
  flights_.emplace(made.id, std::move(flight));
  return made;
}

std::int64_t Conversation::wake_at_ns() const {
  if (phase_ == Phase::kGone) return INT64_MAX;
  if (flights_.empty()) return not_before_ns_;
  const bool waits = flights_.size() == 1 && flights_.begin()->second.is_parked && has_remarks();
  return waits ? std::max(remarks_due_ns(), not_before_ns_) : INT64_MAX;
}

void Conversation::back_off(std::int64_t now_ns, std::uint64_t at_least_s) {
  const std::uint64_t doubled = kFirstWaitMs << std::min<std::uint64_t>(failures_, 5);
  const std::uint64_t most = std::min(doubled, kLongestWaitMs);
  ++failures_;
  const std::uint64_t jittered = most / 2 + random_.next_u64() % (most / 2 + 1);
  const std::uint64_t wait_ms = std::max(jittered, std::min<std::uint64_t>(at_least_s, 600) * 1000);
  not_before_ns_ = now_ns + static_cast<std::int64_t>(wait_ms) * kNsOfMs;
}

// What a request carried may not have arrived.
void Conversation::take_back(Flight flight) {
  for (std::string& dispatch : flight.reports)
    if (outbox_.held().contains(dispatch)) unsent_.insert(std::move(dispatch));
  for (Progress& each : flight.progress)
    if (running_.contains(each.dispatch)) progress_.emplace(each.dispatch, std::move(each));
  logs_.resend();
}

News Conversation::lost(std::uint64_t id, const base::Error& why, std::int64_t now_ns) {
  const auto found = flights_.find(id);
  if (found == flights_.end()) return {};
  Flight flight = std::move(found->second);
  flights_.erase(found);
  take_back(std::move(flight));
  return failed(why, now_ns);
}

News Conversation::answered(std::uint64_t id, const Answer& answer, std::int64_t now_ns) {
  const auto found = flights_.find(id);
  if (found == flights_.end()) return {};
  Flight flight = std::move(found->second);
  flights_.erase(found);
  if (answer.status < 200 || answer.status > 299) {
    News news = refused(flight, answer, now_ns);
    take_back(std::move(flight));
    return news;
  }
  const auto taken = [&]() -> base::Result<News> {
    switch (flight.kind) {
      case Request::Kind::kEnrol: return enrolled(answer);
      case Request::Kind::kSession: return begun(answer);
      case Request::Kind::kSync: return synced(flight, answer);
      case Request::Kind::kLeave: break;
    }
    phase_ = Phase::kGone;
    return News();
  };
  auto news = taken();
  if (!news) {  // what it says is lost
    take_back(std::move(flight));
    return failed(news.error(), now_ns);
  }
  not_before_ns_ = 0;
  if (flight.kind == Request::Kind::kSync) {
    if (failures_ > 0 && was_told_) news->remark = "the server answers again";
    failures_ = 0;
    was_told_ = false;
  }
  return std::move(*news);
}

News Conversation::failed(const base::Error& why, std::int64_t now_ns) {
  News news;
  if (phase_ == Phase::kLeave && failures_ >= 2) phase_ = Phase::kGone;
  if (!std::exchange(was_told_, true))
    news.remark = "no answer from the server, trying again: " + why.to_string();
  if (now_ns >= not_before_ns_) back_off(now_ns);
  return news;
}

News Conversation::refused(const Flight& flight, const Answer& answer, std::int64_t now_ns) {
  const Refusal refusal = read_refusal(answer.body);
  const std::string what = describe_refusal(refusal, answer.status);
  News news;
  const auto end = [&](base::ErrorCode code) {
    news.fatal.emplace(code, what);
    return std::move(news);
  };
  // Another session has begun since this request was sent: its answer says nothing of that one.
  if (flight.kind == Request::Kind::kSync && flight.session != session_) return news;
  if (answer.status == 409 && refusal.code == "superseded") return end(base::ErrorCode::kConflict);
  if (answer.status == 403) return end(base::ErrorCode::kInvalid);
  if (flight.kind == Request::Kind::kEnrol && !was_enrolled_ &&
      (answer.status == 401 || answer.status == 404 || is_mistake(answer.status)))
    return end(base::ErrorCode::kInvalid);
  if (flight.kind == Request::Kind::kLeave && answer.status < 500) {
    phase_ = Phase::kGone;
    return news;
  }
  if (answer.status == 409 && refusal.code == "session") {
    if (phase_ == Phase::kSync || phase_ == Phase::kLeave) phase_ = Phase::kSession;
    // Not again and again: a server that never agrees is not asked a thousand times a second.
    if (++failures_ > 2) back_off(now_ns);
    return news;
  }
  if (answer.status == 401 || answer.status == 404) {
    if (flight.kind == Request::Kind::kEnrol) {
      if (!std::exchange(was_told_, true)) news.remark = what;
      back_off(now_ns, answer.retry_after_s);
    } else {
      phase_ = Phase::kEnrol;
      if (++failures_ > 2) back_off(now_ns);
    }
    return news;
  }
  if (is_mistake(answer.status) && flight.kind == Request::Kind::kSync) {
    news.remark = what;
    // One of the reports may be what the server does not take: find it by sending them alone.
    if (flight.reports.size() == 1) replace_by_error(flight.reports[0], what);
    batch_ = 1;
    if (flight.reports.empty()) back_off(now_ns, answer.retry_after_s);
    return news;
  }
  if (!std::exchange(was_told_, true)) news.remark = what;
  back_off(now_ns, answer.retry_after_s);
  return news;
}

base::Result<News> Conversation::enrolled(const Answer& answer) {
  const Enrolled read = TRY(read_enrolled(answer.body));
  News news;
  if (recipes_ && !read.takes_recipes) {
    news.fatal.emplace(base::ErrorCode::kInvalid,
                       "the server is older than this worker: it knows of no registry");
    return news;
  }
  if (!was_enrolled_) news.remark = "enrolled as " + plain_text(read.worker, 128);
  worker_ = read.worker;
  max_wait_ms_ = std::min(read.max_wait_ms, std::max<std::uint64_t>(read.ttl_ms / 3, 1));
  max_batch_ = std::min<std::uint64_t>(read.max_batch, kMostSlots);
  batch_ = static_cast<std::size_t>(max_batch_);
  max_result_bytes_ =
      static_cast<std::size_t>(std::min<std::uint64_t>(read.max_result_bytes, kMaxResultBytes));
  was_enrolled_ = true;
  phase_ = Phase::kSession;
  return news;
}

base::Result<News> Conversation::begun(const Answer& answer) {
  const SessionBegun read = TRY(read_session(answer.body));
  News news;
  session_ = read.session;
  is_first_ = false;
  newest_answer_ = last_seq_;  // answers of sessions before bring no work any more
  phase_ = Phase::kSync;
  for (const std::string& dispatch : read.drop) drop(dispatch, news);
  news.drains = read.mode == Mode::kDraining;
  return news;
}

base::Result<News> Conversation::synced(const Flight& flight, const Answer& answer) {
  const SyncAnswer read = TRY(read_sync(answer.body));
  News news;
  for (const ReportResult& result : read.results) {
    if (result.verdict == Verdict::kRefused) {
      replace_by_error(result.dispatch, result.detail);
    } else {
      settle(result.dispatch);
    }
  }
  // What the answer does not speak of is reported again.
  for (const std::string& dispatch : flight.reports)
    if (outbox_.held().contains(dispatch)) unsent_.insert(dispatch);
  batch_ = static_cast<std::size_t>(max_batch_);
  for (const auto& [dispatch, next] : read.logs_to) {
    logs_.acknowledge(dispatch, next);
    if (!running_.contains(dispatch) && !outbox_.held().contains(dispatch)) logs_.forget(dispatch);
  }
  if (flight.session != session_ || flight.seq <= newest_answer_) return news;
  newest_answer_ = flight.seq;
  for (const std::string& dispatch : read.drop) drop(dispatch, news);
  for (const Task& task : read.work) {
    if (running_.contains(task.dispatch) || outbox_.held().contains(task.dispatch)) continue;
    if (is_draining_) {
      decline(task.dispatch);
      continue;
    }
    running_.insert(task.dispatch);
    news.start.push_back(task);
  }
  for (const Stop& stop : read.stop)
    if (running_.contains(stop.dispatch)) news.stop.push_back(stop);
  news.drains = read.mode == Mode::kDraining;
  if (recipes_) news.swap = read.swap;
  return news;
}

void Conversation::settle(const std::string& dispatch) {
  outbox_.drop(dispatch);
  unsent_.erase(dispatch);
  progress_.erase(dispatch);
  progress_numbers_.erase(dispatch);
  if (!logs_.has_unsent(dispatch)) logs_.forget(dispatch);
}

void Conversation::drop(const std::string& dispatch, News& news) {
  if (running_.erase(dispatch) != 0) news.drop.push_back(dispatch);
  settle(dispatch);
  logs_.forget(dispatch);
}

// The server does not take the report: the task ends with an error that says so.
void Conversation::replace_by_error(const std::string& dispatch, const std::string& why) {
  if (!outbox_.held().contains(dispatch)) return;
  const Ended ended = Ended::failed("task.bad_result", why, false);
  outbox_.put(dispatch, held_entry(EntryList::kDone, done_entry(dispatch, ended, {})));
  unsent_.insert(dispatch);
}

// Work that was on its way when the drain began. Once the worker says good-bye, the server takes it
// back by itself.
void Conversation::decline(const std::string& dispatch) {
  if (phase_ != Phase::kSync) return;
  outbox_.put(dispatch, held_entry(EntryList::kBack, back_entry(dispatch, "drain")));
  unsent_.insert(dispatch);
}

void Conversation::reported(const std::string& dispatch) {
  running_.erase(dispatch);
  progress_.erase(dispatch);
  progress_numbers_.erase(dispatch);
  unsent_.insert(dispatch);
}

void Conversation::progressed(const std::string& dispatch, std::string json) {
  if (!running_.contains(dispatch)) return;
  Progress& latest = progress_[dispatch];
  latest = {dispatch, ++progress_numbers_[dispatch], std::move(json)};
}

}  // namespace holdfast::work
